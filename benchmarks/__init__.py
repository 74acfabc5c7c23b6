"""Measurements; each says in its first lines how it is run: `python -m benchmarks.conversion`."""
