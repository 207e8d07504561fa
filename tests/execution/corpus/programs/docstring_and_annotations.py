"""What it does."""
from __future__ import annotations

x: int = 3
print(__doc__, __annotations__)
