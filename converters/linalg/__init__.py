"""Linear algebra: decompositions, determinants, inverses and linear systems."""
