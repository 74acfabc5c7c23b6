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
        str(ast.literal_eval(key)): modules[_first_name(_without_rule(value, modules))]
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


def _without_rule(value: ast.expr, modules: Mapping[str, str]) -> ast.expr:
    """`joining.concat` of `on_complex.linear(joining.concat)`."""
    if isinstance(value, ast.Call) and modules[_first_name(value)] == RULES:
        return value.args[0]
    return value


def _first_name(value: ast.expr) -> str:
    """`cast` of `cast.identity()`."""
    while not isinstance(value, ast.Name):
        assert isinstance(value, ast.Attribute | ast.Call), ast.dump(value)
        value = value.value if isinstance(value, ast.Attribute) else value.func
    return value.id
