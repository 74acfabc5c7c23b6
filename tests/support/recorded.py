"""Programs that older Paddles wrote, against what these computed: `tests/data/paddle_*`."""

from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "data"


def recorded(folder):
    """The folder, and of its `arrays.npz` the inputs by name (`input:NAME`) and Paddle's results (`output:K`)."""
    with np.load(folder / "arrays.npz") as arrays:
        inputs = {key.partition(":")[2]: arrays[key] for key in arrays if key.startswith("input:")}
        results = [arrays[f"output:{k}"] for k in range(len(arrays.files) - len(inputs))]
    return folder, inputs, results
