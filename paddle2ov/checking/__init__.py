"""Checks that a device computes a graph correctly in a given precision: `check`. Needs no Paddle.

- `check.py`, `results.py`: the entry point; its result types;
- `inputs.py`: what a model is checked on, and in which order;
- `device.py`: the device, and runs of one request;
- `choices.py`: choices between nearly equal numbers;
- `judge.py`: compares the device with the reference;
- `shrink.py`, `submodel.py`: the smallest part that is wrong;
- `rewrites.py`: which rewrite of the conversion is wrong;
- `primitives.py`, `case.py`: what the device made of that part; the part as files.
"""
