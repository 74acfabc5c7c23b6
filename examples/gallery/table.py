"""A table recogniser of SLANet's kind: from the folder to the table's tags and the corners of its cells.

    python examples/gallery/table.py [MODEL_DIR]

Without a folder, a small network of random weights is exported, whose tags mean nothing (needs Paddle).
"""

import sys

import numpy as np
import openvino
import random_weights

from paddle2ov import convert

TAGS = ("<s>", "<tr>", "</tr>", "<td>", "</td>", "<td", ' colspan="2"', ">", "</s>")  # inference.yml has a model's own

folder = sys.argv[1] if len(sys.argv) > 1 else random_weights.export("table")
compiled = openvino.compile_model(convert(folder), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

picture = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)  # cv2.imread("table.png"), padded
image = picture.transpose(2, 0, 1)[None].astype(np.float32) / 255
corners, scores = (compiled(image)[i][0] for i in (0, 1))  # one step after the other: [steps, 8], [steps, tags]

best = scores.argmax(axis=1)
steps = int(np.argmax(best == len(TAGS) - 1)) if (best == len(TAGS) - 1).any() else len(best)
print("".join(TAGS[label] for label in best[:steps]))
for step in range(steps):
    if TAGS[best[step]].startswith("<td"):
        print(f"cell at {(corners[step] * picture.shape[0]).round().astype(int).tolist()}")
print(f"{steps} tags")
