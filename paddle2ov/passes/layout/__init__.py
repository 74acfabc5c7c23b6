"""Rewrites of transposes, reshapes and axes of size 1."""
