"""The examples run, and end well."""

from functools import partial

import pytest

from gen_models.harness.legacy import ROOT
from tests.support.command_line import python

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
    own_folder = [] if script.startswith("gallery/") else [tmp_path / "model"]
    run = python(ROOT / "examples" / script, *own_folder, cwd=tmp_path, PYTHONPATH=str(ROOT), REPEATS="1")
    assert said in run.stdout
