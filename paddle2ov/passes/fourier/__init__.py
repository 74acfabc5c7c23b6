"""Rewrites of Fourier transforms."""
