"""Write the end of docs/architecture.md: what each module is for, by the first line of its docstring.

    python -m tools.module_index           # write it
    python -m tools.module_index --check   # exit with 1 if it is stale

What stands before that section is written by hand.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from tools.written import ROOT, write_or_check

TARGET = ROOT / "docs" / "architecture.md"
ROOMS = ("paddle2ov", "converters", "gen_models", "tools")
WITHOUT_MODULES = ("gen_models", "gen_models/networks", "gen_models/programs")
"""Rooms that are described, and their modules not: they bear the names of families, as in converters/."""
BEGIN = "## Modules\n"
HEAD = """
Written by `python -m tools.module_index` from the first lines of the docstrings; CI fails when it is stale. A
package of `paddle2ov/` has its tests in the folder of `tests/` of that name; those of `graph/` are with translation,
those of `comparison/` with `checking/` and `verification/`, those of dimensions (`passes/implied_dims.py`,
`passes/invariant_dims.py`) with translation, as they convert programs. Operators have theirs in `tests/ops/`,
generators and tools in `tests/tools/`; `tests/support/` is what tests share.
"""


def main(arguments: list[str]) -> int:
    """Write or check the section."""
    before = TARGET.read_text(encoding="utf-8").partition(BEGIN)[0]
    inits = [init for room in ROOMS for init in sorted((ROOT / room).rglob("__init__.py"))]
    text = before + BEGIN + HEAD + "".join(_room(init.parent) for init in inits)
    return write_or_check("module_index", {TARGET: text}, arguments)


def _room(folder: Path) -> str:
    name = folder.relative_to(ROOT).as_posix()
    text = f"\n### {name}/\n\n{_first_line(folder / '__init__.py')}\n"
    modules = [path for path in sorted(folder.glob("*.py")) if not path.stem.startswith("__")]
    if not modules or name in WITHOUT_MODULES:
        return text
    return f"{text}\n| | |\n|---|---|\n" + "".join(f"| `{path.name}` | {_first_line(path)} |\n" for path in modules)


def _first_line(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    return docstring.partition("\n")[0].replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
