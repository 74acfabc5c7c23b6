"""A segmenter as PaddleSeg exports it: from the folder to a class for each pixel.

    python examples/gallery/segmenter.py [MODEL_DIR]

Without a folder, a small network of random weights is exported, whose classes mean nothing (needs Paddle).
"""

import sys

import numpy as np
import openvino
import random_weights

from paddle2ov import convert

folder = sys.argv[1] if len(sys.argv) > 1 else random_weights.export("dense_segmenter")
compiled = openvino.compile_model(convert(folder), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

picture = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)  # cv2.imread("street.png")
image = (picture.transpose(2, 0, 1)[None].astype(np.float32) / 255 - 0.5) / 0.5  # as deploy.yaml says
labels = compiled(image)[0][0]

assert labels.shape == picture.shape[:2]
for label, count in zip(*np.unique(labels, return_counts=True), strict=True):
    print(f"class {label}: {count / labels.size:.0%} of the picture")
print(f"{labels.shape[0]} x {labels.shape[1]} pixels have a class")
