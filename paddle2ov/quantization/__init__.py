"""From float32 to integers of 8 or 4 bits, by NNCF: `quantize`.

- `quantize.py`: the entry point, and its result;
- `data.py`: calibration data, prepared as the settings beside a model say;
- `layers.py`: the types that the layers run in on this processor.
"""
