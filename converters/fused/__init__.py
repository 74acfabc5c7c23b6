"""Layers that Paddle's passes fuse into one operator."""
