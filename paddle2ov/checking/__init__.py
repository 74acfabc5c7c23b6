"""Does a device compute a graph right, in a precision: `check`. Needs no Paddle.

- `check.py`, `results.py`: the entry point; its result types;
- `inputs.py`: what a model is checked on, and in which order;
- `device.py`: the device, and runs of one request;
- `reference.py`, `control_flow.py`: the graph node by node;
- `kernels.py`, `float64.py`: one node alone;
- `rounding.py`, `kinds.py`, `tensors.py`: what rounding may do, and how results are compared;
- `choices.py`: choices between nearly equal numbers;
- `judge.py`: the device beside the reference;
- `shrink.py`, `submodel.py`: the smallest part that is wrong;
- `rewrites.py`: which rewrite of the conversion is wrong;
- `primitives.py`, `case.py`: what the device made of that part; the part as files.
"""
