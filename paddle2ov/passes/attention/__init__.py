"""Rewrites of attention: projections, windows, masks."""
