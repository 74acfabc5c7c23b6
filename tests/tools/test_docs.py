"""What pages name and link is there, and so are the paths in sources and the options on the page of equivalents."""

import ast
import re
from functools import cache

import pytest

from gen_models.harness.legacy import ROOT
from paddle2ov.commands.convert import convert_command
from paddle2ov.commands.shared import with_dashes

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
    assert {file: missing for file in SOURCES if (missing := gone(file))} == {}


def test_a_path_that_is_gone_is_found():
    text = (
        "`converters/gone.py`, [coverage](docs/coverage.md), `passes/gone/`, https://site.org/docs/other.md, tests/ops/"
    )
    assert sorted(path for path in paths(text) if not is_there(path)) == ["converters/gone.py", "passes/gone/"]


def prose(page):
    return re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8"))


@cache
def anchors(page):
    """The anchors that GitHub gives a page's headings."""
    headings = re.findall(r"(?m)^#+ (.*)$", prose(page))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [path for path in PAGES if path.suffix == ".md"], ids=lambda path: path.name)
def test_links_of_pages(page):
    """They lead somewhere in the repository as it is, where nothing is included or built."""
    astray = []
    for path, anchor in re.findall(r"\]\((?!https?:|pictures/)([^)\s#]*)#?([^)\s]*)\)", prose(page)):
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            astray.append((path, anchor))
    assert astray == []


def test_options_of_the_equivalents():
    """Every option that stands in the column of paddle2ov is one of `paddle2ov convert`, with dashes or underscores."""
    rows = [
        row.split("|") for row in (ROOT / "docs" / "equivalents.md").read_text().splitlines() if row.startswith("|")
    ]
    named = {option for row in rows for option in re.findall(r"(?<=[` ])--?[a-z][\w-]*", row[2])}
    known = {option for param in convert_command.params for option in (*param.opts, *param.secondary_opts)}
    assert len(named) > 10
    assert set(map(with_dashes, named)) <= known


UNIX_ONLY = {"fcntl", "grp", "posix", "pwd", "resource", "syslog", "termios"}


def imported_first(tree):
    """The modules that a module imports as soon as it is imported itself."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)


def test_no_module_of_unix_is_needed():
    for folder in ("paddle2ov", "converters"):
        for path in (ROOT / folder).rglob("*.py"):
            imported = set(imported_first(ast.parse(path.read_text(encoding="utf-8"))))
            assert not imported & UNIX_ONLY, path
    assert set(imported_first(ast.parse("try:\n    import pwd\nfinally:\n    pass"))) == {"pwd"}


def test_rewrites_of_the_graph_know_nothing_of_programs():
    """What a rewrite may import, also within its functions: what graphs are made of, and other rewrites."""
    allowed = re.compile(r"paddle2ov\.(graph|passes|errors|typing)\b|(?!paddle2ov\b)")
    for path in (ROOT / "paddle2ov" / "passes").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        names = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        assert {name for name in names if not allowed.match(name)} == set(), path
