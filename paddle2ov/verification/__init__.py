"""Compares a converted model with Paddle, and finds the operator at fault where they differ: `verify`."""
