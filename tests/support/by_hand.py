"""Operators without cases: `@by_hand` says which of them a test's programs, made or recorded by hand, hold."""

import functools
import importlib
from contextlib import contextmanager
from pathlib import Path

import pytest

from paddle2ov.translation.registry import Registry

HOMES = ("ops", "program")
"""The folders of tests/ that such tests are in."""


def by_hand(*operators, argument=""):
    """Decorates a test of operators that have no cases; it fails unless it converts each of them.

    Args:
        operators: their names in the operator table.
        argument: instead of names, the argument of the test that holds them, as words.
    """

    def decorate(test):
        @functools.wraps(test)
        def checked(**arguments):
            with conversions() as converted:
                test(**arguments)
            wanted = set(arguments[argument].split() if argument else operators)
            assert wanted - converted == set(), "named by @by_hand, and not converted in this test"

        vars(checked)["by_hand"] = operators, argument
        return checked

    return decorate


@contextmanager
def conversions():
    """The names of the operators that are converted meanwhile."""
    converted = set()

    def get(registry, key):
        converter = original(registry, key)
        return converter and noted(key, converter)

    def noted(key, converter):
        def convert(node):
            results = converter(node)
            converted.add(key)
            return results

        return convert

    original = Registry.get
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Registry, "get", get)
        yield converted


def operators_by_hand():
    """Every operator that a test names so."""
    folder = Path(__file__).parents[1]
    modules = [f"tests.{home}.{path.stem}" for home in HOMES for path in sorted((folder / home).glob("test_*.py"))]
    return {name for module in modules for test in vars(importlib.import_module(module)).values() for name in of(test)}


def of(test):
    """The operators that a test names."""
    operators, argument = getattr(test, "by_hand", ((), ""))
    return {*operators, *_arguments(test, argument)}


def _arguments(test, argument):
    """The values of an argument that a test is parametrized with."""
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names, rows = mark.args
            names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
            if argument in names:
                for row in rows:
                    values = getattr(row, "values", row)  # of pytest.param
                    yield from (values if isinstance(values, str) else values[names.index(argument)]).split()
