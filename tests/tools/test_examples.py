"""The examples run, and end well."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

rare = partial(pytest.param, marks=pytest.mark.every_form)  # tests train, read, quantize and install as these do


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("read_text.py", "Same lines in the same places"),
        rare("rapidocr_openvino.py", "Same lines, with RapidOCR's engine"),
        rare("digits.py", "Same digit for 540 of 540"),
        rare("int8.py", "int8 keeps the accuracy"),
        rare("own_op.py", "Largest difference from the definition"),
        rare("gallery/detector.py", " boxes"),
        rare("gallery/segmenter.py", "48 x 64 pixels have a class"),
        rare("gallery/table.py", " tags"),
        rare("gallery/formula.py", "2 formulas"),
        rare("gallery/ocr.py", "5 lines"),
    ],
)
def test_example(tmp_path, script, said):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "REPEATS": "1"}
    own_folder = [] if script.startswith("gallery/") else [str(tmp_path / "model")]
    command = [sys.executable, str(ROOT / "examples" / script), *own_folder]
    run = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert said in run.stdout
