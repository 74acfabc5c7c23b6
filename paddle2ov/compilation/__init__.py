"""Compiles models for a device, and caches the compiled models across processes."""

from paddle2ov.compilation.cache import clear_cache
from paddle2ov.compilation.compile import compile_model

__all__ = ["clear_cache", "compile_model"]
