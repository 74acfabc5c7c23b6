"""From float32 to integers of 8 or 4 bits, by NNCF: `quantize`, or NNCF's own functions with `ignored_scope`.

- `quantize.py`, `results.py`: the entry point, and its result;
- `nncf_calls.py`: what NNCF is told, and what is tried after a failure;
- `agreement.py`: how nearly and how fast a model computes what it does in float32;
- `floating_nodes.py`: what stays in floating point;
- `calibration.py`: calibration data, prepared as the settings beside a model say;
- `layers.py`: the types that the layers run in on this processor.
"""

from paddle2ov.quantization.nncf_calls import ignored_scope

__all__ = ["ignored_scope"]
