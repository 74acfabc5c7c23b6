"""From float32 to integers of 8 or 4 bits, by NNCF: `quantize`, or NNCF's own functions with `ignored_scope`."""

from paddle2ov.quantization.nncf_calls import ignored_scope

__all__ = ["ignored_scope"]
