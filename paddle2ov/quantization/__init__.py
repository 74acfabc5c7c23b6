"""From float32 to integers of 8 or 4 bits, by NNCF: `quantize`.

- `quantize.py`: the entry point, and its result;
- `data.py`: calibration data, prepared as the settings beside a model say;
- `measures.py`: what a loss of accuracy is measured in;
- `layers.py`: the types that the layers run in on this processor.
"""
