"""The decoder of a formula recogniser, with its loop in the model: from the folder to tokens.

    python examples/gallery/formula.py [MODEL_DIR]

Without a folder, a small decoder of random weights is exported, whose tokens mean nothing (needs Paddle). A whole
recogniser (PP-FormulaNet, UniMERNet) takes the picture itself: PaddleX's pipeline prepares it and has the vocabulary.
"""

import sys

import numpy as np
import openvino
import random_weights

from paddle2ov import convert

END = 2

folder = sys.argv[1] if len(sys.argv) > 1 else random_weights.export("formula_decoder")
compiled = openvino.compile_model(convert(folder), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

inputs = {
    "features": np.random.default_rng(0).standard_normal((2, 9, 16)).astype(np.float32),  # of two pictures
    "limit": np.array([40], np.int64),  # of tokens
    "ends": np.array([[40], [12]], np.int64),  # for each picture
}
for tokens in compiled(inputs)[0]:
    ends = np.flatnonzero(tokens == END)
    formula = tokens[: ends[0]] if len(ends) else tokens
    print(f"{len(formula)} tokens, the first of them {formula[:6].tolist()}")
print("2 formulas")
