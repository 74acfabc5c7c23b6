"""Checks that a device computes a graph correctly in a given precision: `check`. Needs no Paddle."""
