"""The examples run, and end well."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("read_text.py", "Same lines in the same places"),
        ("rapidocr_openvino.py", "Same lines, with RapidOCR's engine"),
        ("digits.py", "Same digit for 540 of 540"),
        ("text_lines.py", "Same text everywhere"),
        ("detector.py", "Same boxes everywhere"),
        ("int8.py", "int8 keeps the accuracy"),
        ("own_op.py", "Largest difference from the definition"),
        ("gallery/detector.py", " boxes"),
        ("gallery/segmenter.py", "48 x 64 pixels have a class"),
        ("gallery/table.py", " tags"),
        ("gallery/formula.py", "2 formulas"),
        ("gallery/ocr.py", "5 lines"),
    ],
)
def test_example(tmp_path, script, said):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    own_folder = [] if script.startswith("gallery/") else [str(tmp_path / "model")]
    command = [sys.executable, str(ROOT / "examples" / script), *own_folder]
    run = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert said in run.stdout
