"""Partition definitions."""
