"""A table of converters whose modules are imported when an operator asks for its converter.

    with lazy_imports(__name__):
        from package import module

    OP_TABLE = LazyTable({"op": module.factory(module.converter)})

Importing all converters takes longer than converting a small network with the few that it needs. Within
`lazy_imports`, `module` is a `Lazy` expression: it remembers attributes and calls instead of evaluating them, and the
table evaluates a row when it is read for the first time. Type checkers see ordinary imports.
"""

from __future__ import annotations

import builtins
import importlib
from collections import UserDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle2ov.translation.node_context import Converter


class Lazy:
    """An expression that is evaluated later; its attributes and calls are such expressions as well."""

    __slots__ = ("_evaluate",)

    def __init__(self, evaluate: Callable[[], Any]) -> None:
        self._evaluate = evaluate

    def __getattr__(self, name: str) -> Lazy:
        """The attribute of what this expression is."""
        return Lazy(lambda: getattr(evaluated(self), name))

    def __call__(self, *values: Any, **named: Any) -> Lazy:
        """A call of what this expression is."""
        return Lazy(
            lambda: evaluated(self)(
                *map(evaluated, values), **{name: evaluated(value) for name, value in named.items()}
            )
        )


def evaluated(value: Any) -> Any:
    """The value of an expression; any other value is returned unchanged."""
    return value._evaluate() if isinstance(value, Lazy) else value


class _Package:
    """A package as `from package import module` sees it, whose modules are expressions."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, module: str) -> Lazy:
        name = f"{self._name}.{module}"
        return Lazy(lambda: importlib.import_module(name))


@contextmanager
def lazy_imports(importer: str) -> Iterator[None]:
    """Within, what the module `importer` imports from packages, as `from package import module`, is `Lazy`.

    Other modules, and those that other threads import meanwhile, are imported as ever.
    """
    ordinary = builtins.__import__

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if fromlist and globals is not None and globals.get("__name__") == importer:
            return _Package(name)
        return ordinary(name, globals, locals, fromlist or (), level)

    builtins.__import__ = import_
    try:
        yield
    finally:
        builtins.__import__ = ordinary


class LazyTable(UserDict[str, "Converter"]):
    """A mapping whose values may be expressions; each is evaluated once, when it is read."""

    def __getitem__(self, key: str) -> Converter:
        """The value of a row."""
        row = self.data[key]
        if isinstance(row, Lazy):
            row = self.data[key] = evaluated(row)
        return row

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a row, or `default`; that of `Mapping` takes five times as long, with an exception for none."""
        row = self.data.get(key, default)
        return self[key] if isinstance(row, Lazy) else row
