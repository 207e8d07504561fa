"""The code location that Dagster loads."""
