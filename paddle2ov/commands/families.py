"""The module of `converters/` that the operator table takes each converter from, read from the table's source.

A converter's own `__module__` does not tell: those that a factory makes, as `unary(ops.acos)`, name the factory's.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

PACKAGE = "paddle2ov.converters"
RULES = "complex/rules"
"""The module whose functions wrap converters in the table without being converters."""


def families() -> dict[str, str]:
    """Operator -> module, with its folder: `activation`, `resize/interpolation`."""
    from paddle2ov import op_table

    return families_of(Path(op_table.__file__).read_text(encoding="utf-8"))


def families_of(table: str) -> dict[str, str]:
    """As `families`, of the source of a table."""
    modules = imported_modules(table)
    (rows,) = (node for node in ast.walk(ast.parse(table)) if isinstance(node, ast.Dict))
    return {
        str(ast.literal_eval(key)): _module(value, modules)
        for key, value in zip(rows.keys, rows.values, strict=True)
        if key is not None
    }


def imported_modules(table: str) -> dict[str, str]:
    """The converter modules that the source of a table imports: their name in the table -> `folder/module`."""
    modules = {}
    for statement in ast.walk(ast.parse(table)):  # in a `with` block of their own
        if isinstance(statement, ast.ImportFrom) and f"{statement.module}.".startswith(f"{PACKAGE}."):
            folders = (statement.module or "").removeprefix(PACKAGE).split(".")
            for alias in statement.names:
                modules[alias.asname or alias.name] = "/".join([*filter(None, folders), alias.name])
    return modules


def _module(value: ast.expr, modules: Mapping[str, str]) -> str:
    """The first module that a row names, such as `joining` in `on_complex.linear(joining.concat)`."""
    named = (modules[node.id] for node in ast.walk(value) if isinstance(node, ast.Name))
    return next(name for name in named if name != RULES)
