"""The paths that pages and sources name are there, and so are the options on the page of equivalents."""

import re
import shlex
from pathlib import Path

import click
import pytest
from openvino.tools.ovc.cli_parser import get_all_cli_parser

from paddle2ov.commands.convert import convert_command

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


EQUIVALENTS = (ROOT / "docs" / "equivalents.md").read_text(encoding="utf-8")


def options_of(command):
    return {name for option in command.params for name in (*option.opts, *option.secondary_opts)}


def test_every_option_of_ovc_has_an_equivalent():
    section = EQUIVALENTS.partition("## `ovc`")[2].partition("\n## ")[0]
    rows = {
        name
        for row in section.splitlines()
        for name in re.findall(r"`(--\w+)`", row.split("|")[1] if "|" in row else "")
    }
    theirs = {name for action in get_all_cli_parser()._actions for name in action.option_strings} - {"-h", "--help"}
    assert rows == theirs


def test_equivalents_are_options():
    """The second column names options of a conversion; the commands at the top of a section parse."""
    columns = [row.split("|")[2] for row in EQUIVALENTS.splitlines() if row.count("|") == 4]
    named = {name for column in columns for name in re.findall(r"`(--?[\w-]+)`", column)}
    assert "--save_file" in named
    assert named <= options_of(convert_command) | {"--version"}
    for line in re.findall(r"^ +paddle2ov +(.*)$", EQUIVALENTS, re.MULTILINE):
        convert_command.make_parser(click.Context(convert_command)).parse_args(shlex.split(line))
