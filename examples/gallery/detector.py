"""A detector as PaddleDetection exports it, with its suppression: from the folder to boxes.

    python examples/gallery/detector.py [MODEL_DIR]

Without a folder, a small YOLOv3 of random weights is exported, whose boxes mean nothing (needs Paddle).
"""

import sys

import numpy as np
import openvino
import random_weights

from paddle2ov import convert

THRESHOLD = 0.1

folder = sys.argv[1] if len(sys.argv) > 1 else random_weights.export("yolov3")
compiled = openvino.compile_model(convert(folder), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

picture = np.random.default_rng(0).integers(0, 256, (320, 480, 3), dtype=np.uint8)  # cv2.imread("street.png")
height, width = 64, 96  # what the network was made for; cv2.resize is better than taking each fifth pixel
small = picture[:: picture.shape[0] // height, :: picture.shape[1] // width]
image = np.ascontiguousarray(small.transpose(2, 0, 1)[None], np.float32) / 255
inputs = {
    "image": image,
    "im_shape": np.array([[height, width]], np.float32),  # of what the network sees
    "scale_factor": np.array([[height / picture.shape[0], width / picture.shape[1]]], np.float32),
}
boxes = compiled({port.any_name: inputs[port.any_name] for port in compiled.inputs})[0]
for label, score, left, top, right, bottom in boxes[boxes[:, 1] > THRESHOLD][:5]:
    print(f"class {label:.0f}, score {score:.2f}: ({left:.0f}, {top:.0f}) to ({right:.0f}, {bottom:.0f})")
print(f"{len(boxes)} boxes")
