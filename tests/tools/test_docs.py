"""The paths that pages and sources name are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("*.svg")])
SOURCES = sorted(
    path for folder in ("benchmarks", "converters", "gen_models", "paddle2ov") for path in (ROOT / folder).rglob("*.py")
)

TOP = ("benchmarks", "converters", "docs", "examples", "gen_models", "paddle2ov", "tests", "tools")
INSIDE = sorted(path.name for path in (ROOT / "paddle2ov").iterdir() if path.is_dir())
NAME = r"[\w*]+(?:\.(?:json|md|pyi?|svg|toml)\b)?"
PATH = re.compile(rf"(?<![\w/.*-])(?:{'|'.join([*TOP, *INSIDE])})(?:/{NAME})*/(?:{NAME})?")


def paths(text):
    """The paths in a text that name a file with its ending, or a folder with the slash behind it."""
    return {path for path in PATH.findall(text) if path.endswith("/") or "." in path.rpartition("/")[2]}


def is_there(path):
    return any(any(folder.glob(path)) for folder in (ROOT, ROOT / "paddle2ov"))


def gone(file):
    return [path for path in sorted(paths(file.read_text(encoding="utf-8"))) if not is_there(path)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_paths_of_pages(page):
    assert gone(page) == []


def test_paths_of_sources():
    assert {file: found for file in SOURCES if (found := gone(file))} == {}


def test_a_path_that_is_gone_is_found():
    text = (
        "`converters/gone.py`, [coverage](docs/coverage.md), `passes/gone/`, https://site.org/docs/other.md, tests/ops/"
    )
    assert sorted(path for path in paths(text) if not is_there(path)) == ["converters/gone.py", "passes/gone/"]
