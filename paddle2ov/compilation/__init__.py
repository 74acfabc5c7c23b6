"""Compiles models for a device, and caches the compiled models across processes."""
