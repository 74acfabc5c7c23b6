"""docs/coverage.md: the module that it names is the one that the operator table takes the converter from."""

import importlib
import re
from pathlib import Path

import pytest

from gen_models.harness.legacy import ROOT
from paddle2ov import op_table
from paddle2ov.commands.families import families, families_of
from paddle2ov.op_table import OP_TABLE
from tools import coverage

TABLE = """
from paddle2ov.converters import cast, math
from paddle2ov.converters.lod import pool as lod_pool
from paddle2ov.converters.resize import interpolation
from paddle2ov.elsewhere import cast as another

OP_TABLE = {
    "acos": math.acos,
    "assign": cast.identity(),
    "nearest_interp": interpolation.interpolate("nearest", version=1),
    "sequence_pool": lod_pool.sequence_pool,
}
"""


def test_modules_of_plain_names_calls_and_aliases():
    assert families_of(TABLE) == {
        "acos": "math",
        "assign": "cast",
        "nearest_interp": "resize/interpolation",
        "sequence_pool": "lod/pool",
    }


def test_every_operator_stands_in_the_module_that_is_named():
    modules = families()
    assert list(modules) == list(OP_TABLE)
    rows = dict(re.findall(r'^    "(\w+)": \w+\.(\w+),$', Path(op_table.__file__).read_text("utf-8"), re.MULTILINE))
    for name, attribute in rows.items():
        module = importlib.import_module("paddle2ov.converters." + modules[name].replace("/", "."))
        assert getattr(module, attribute) is OP_TABLE[name], name


@pytest.mark.parametrize(
    ("op", "module"), [("acos", "math"), ("bilinear_interp_v2", "resize/interpolation"), ("sequence_pool", "lod/pool")]
)
def test_the_page_names_it(op, module):
    (row,) = (line for line in coverage.table().splitlines() if line.startswith(f"| `{op}` |"))
    assert row.split(" | ")[2] == module
    assert (ROOT / "converters" / f"{module}.py").is_file()
