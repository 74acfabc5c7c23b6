"""The Python of the pages runs, in the order of each page, on one small model under the names that the pages use."""

import re
import shutil
from contextlib import suppress
from unittest import SkipTest

import numpy as np
import pytest
from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser, SkipParser

from gen_models.harness.legacy import ROOT
from gen_models.harness.spec import paddle
from paddle2ov import convert, errors
from tests.support.models import save_layer

DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    DOCS / "index.md",
    *(
        DOCS / f"{name}.md"
        for name in ("quickstart", "equivalents", "speed", "serving", "report", "errors", "rewrites")
    ),
]
NAMES = ("PP-OCRv5_mobile_det_infer", "PP-OCRv4_mobile_det_infer", "model")
"""What the pages call a user's folder."""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A detector's map, as PP-OCR's have it: pictures of any size in, one channel of probabilities out."""
    paddle.seed(0)
    network = paddle.nn.Sequential(
        *(paddle.nn.Conv2D(3, 8, 3, padding=1), paddle.nn.ReLU()),
        *(paddle.nn.Conv2D(8, 1, 3, padding=1), paddle.nn.Sigmoid()),
    )
    return save_layer(tmp_path_factory.mktemp("exported"), network, x=[-1, 3, -1, -1])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_blocks_of_a_page(page, exported, tmp_path, monkeypatch):
    for name in NAMES:
        shutil.copytree(exported, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    parsers = [PythonCodeBlockParser(doctest_optionflags=0), SkipParser()]
    document = Sybil(parsers=parsers).parse(page)
    document.namespace |= {"folder": "model", "image": np.random.default_rng(0).random((1, 3, 640, 640), np.float32)}
    ran = 0
    for example in document.examples():
        with suppress(SkipTest):  # the page says which, and why, in a comment
            example.evaluate()
            ran += "```python" in document.text[example.region.start : example.region.end]
    assert ran


def test_every_error_has_its_section():
    """The page of errors has a heading for each class that a user can meet, and no other."""
    text = (DOCS / "errors.md").read_text(encoding="utf-8")
    raised = {
        variable.__name__
        for variable in vars(errors).values()
        if isinstance(variable, type) and issubclass(variable, Exception)
    }
    headings = set(re.findall(r"(?m)^### (\w+(?:Error|Warning))$", text))
    assert headings | {"Paddle2OVError"} == raised | {"ConversionWarning"}
    assert all(f"`{name}`" in text or name in headings for name in raised)


SHOWN = {
    "ModelReadError": lambda: convert("no_such_folder"),
    "OpInputError": lambda: convert("model", input="x[1,4,640,640]"),
}
"""What raises the messages that the page of errors shows, by the section that shows them."""


def test_messages_of_the_page_of_errors(exported, tmp_path, monkeypatch):
    """Each message that is shown is the code's, to the letter; names that Paddle numbers per process are left out."""
    shutil.copytree(exported, tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    sections = re.split(r"(?m)^### ", (DOCS / "errors.md").read_text(encoding="utf-8"))[1:]
    shown = {
        section.split("\n", 1)[0]: block
        for section in sections
        for block in re.findall(r"(?s)```text\n(.*?)\n```", section)
    }
    assert shown.keys() == SHOWN.keys()
    for name, message in shown.items():
        with pytest.raises(getattr(errors, name)) as raised:
            SHOWN[name]()
        assert re.sub(r"_\d+'", "_N'", str(raised.value)) == re.sub(r"_\d+'", "_N'", message)
