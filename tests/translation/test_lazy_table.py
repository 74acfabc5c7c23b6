"""The operator table imports the module of a converter when it is asked for it."""

import builtins
import sys

import pytest

from paddle2ov.op_table import OP_TABLE
from paddle2ov.translation.lazy_table import Lazy, LazyTable, evaluated, lazy_imports
from tests.support.command_line import python
from tests.support.models import network


def test_rows_are_evaluated_once():
    calls = []
    table = LazyTable({"a": Lazy(lambda: calls.append("a") or len), "b": max})
    assert ("a" in table, "c" in table, list(table), len(table), calls) == (True, False, ["a", "b"], 2, [])
    assert [table["a"], table.get("a"), table["b"], table.get("c")] == [len, len, max, None]
    assert calls == ["a"]


def test_only_the_imports_of_one_module_are_lazy():
    ordinary = builtins.__import__
    with lazy_imports("mine"):
        mine, other = {"__name__": "mine"}, {"__name__": "other"}
        for names in (mine, other):
            exec("import json\nfrom xml.dom import minidom as found", names)
    assert isinstance(mine["found"], Lazy)
    assert evaluated(mine["found"]) is other["found"] is sys.modules["xml.dom.minidom"]
    assert mine["json"] is other["json"]
    with pytest.raises(ZeroDivisionError), lazy_imports("mine"):
        _ = 1 / 0
    assert builtins.__import__ is ordinary


def test_modules_are_imported_for_the_operators_that_are_asked_for():
    code = """
import sys
from gen_models import all_networks
from gen_models.harness.store import generated_network
from paddle2ov.op_table import OP_TABLE
print(*(name for name in sys.modules if name.startswith("paddle2ov.converters.")))
OP_TABLE["relu"], OP_TABLE["bilinear_interp_v2"]
print("paddle2ov.converters.resize.interpolation" in sys.modules, "paddle2ov.converters.detection" in sys.modules)
"""
    assert python("-c", code).stdout.splitlines() == ["", "True False"]


def test_every_row_is_a_converter():
    assert all(callable(value) and not isinstance(value, Lazy) for value in OP_TABLE.values())


def test_what_a_conversion_imports_is_made_of_structs():
    """Importing a dataclass takes a millisecond, a Struct none. Those here are part of the public API."""
    code = """
import dataclasses, sys
made, plain = [], dataclasses._process_class
dataclasses._process_class = lambda cls, *rest: made.append(f"{cls.__module__}.{cls.__name__}") or plain(cls, *rest)
from paddle2ov import convert
convert(sys.argv[1])
print(*sorted(name for name in made if name.startswith("paddle2ov.")))
"""
    assert python("-c", code, network("picodet")).stdout.split() == [
        "paddle2ov.errors.Place",
        "paddle2ov.errors.Refusal",
        "paddle2ov.translation.extension.ConversionExtension",
    ]
