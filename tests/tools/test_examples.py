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
        ("digits.py", "Same digit for 540 of 540"),
        ("text_lines.py", "Same text everywhere"),
        ("detector.py", "Same boxes everywhere"),
        ("int8.py", "int8 keeps the accuracy"),
        ("own_op.py", "Largest difference from the definition"),
    ],
)
def test_example(tmp_path, script, said):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "examples" / script), str(tmp_path / "model")]
    run = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert said in run.stdout
