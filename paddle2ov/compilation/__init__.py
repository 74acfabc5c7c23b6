"""Models compiled for a device, and kept so between processes."""

from paddle2ov.compilation.cache import clear_cache
from paddle2ov.compilation.compile import compile_model

__all__ = ["clear_cache", "compile_model"]
