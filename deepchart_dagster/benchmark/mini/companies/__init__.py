"""The invented companies: what they do and what they earned. A filing shows two or three years of it."""
