"""Rewrites of what detectors do after their network."""
