"""Converts every model below a folder: finding them, one job per model, what came of them."""
