"""The operators that a converter module's docstring names are those that it has.

After `Paddle:` stand, in backquotes, the keys of the operators that the table takes from the module, and PIR's names
of them; after `Complex forms:` those whose rule for complex numbers is a converter of the module. Either ends with the
next line that begins so (`Semantics:`, ...), or with the paragraph. Gradients go by the names of what they are of.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from paddle2ov.commands.families import families
from paddle2ov.op_table import OP_TABLE
from paddle2ov.program.signatures import ROWS, parse_signature
from paddle2ov.translation.complex_aware import ComplexAware

CONVERTERS = Path(__file__).resolve().parents[2] / "converters"
MODULES = sorted(
    path.relative_to(CONVERTERS).with_suffix("").as_posix()
    for path in CONVERTERS.rglob("*.py")
    if path.parent.name != "gradients"
)


family_of = cache(families)


def named(text, label):
    """The words in backquotes behind a label."""
    match = re.search(rf"^{label}: (.*?)(?=^[A-Z][\w ]*: |^\s*$|\Z)", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`]*)`", match[1]) if match else []


def docstring(module):
    return ast.get_docstring(ast.parse((CONVERTERS / f"{module}.py").read_text("utf-8"))) or ""


def pir_names(key):
    """PIR's name of an operator, and that of its in-place form."""
    name = parse_signature(key, ROWS[key]).pir_name
    return {name, f"{name}_"} if name else set()


def in_pir(keys):
    return set().union(*map(pir_names, keys))


def complex_forms(module):
    """The operators whose form for complex numbers is made in a module, and whose form for real ones is not."""
    home = f"paddle2ov.converters.{module.replace('/', '.')}"
    aware = {key: value for key, value in OP_TABLE.items() if isinstance(value, ComplexAware)}
    made = {key for key, value in aware.items() if value.of_complex.__module__ == home}
    return made - {key for key, other in family_of().items() if other == module}


def test_names_are_read_up_to_the_next_label_or_paragraph():
    text = "One.\n\nPaddle: `a` (PIR `b`),\n`c`.\nSemantics: `d`.\n\nPaddle has `e`.\n"
    assert named(text, "Paddle") == ["a", "b", "c"]
    assert named(text, "Semantics") == ["d"]
    assert named("Paddle: `a`.\n\n`b`", "Paddle") == ["a"]
    assert named("See Paddle: `a`", "Paddle") == []


@pytest.mark.parametrize("module", MODULES)
def test_the_docstring_names_the_operators_of_the_module(module):
    keys = {key for key, other in family_of().items() if other == module}
    names = named(docstring(module), "Paddle")
    assert set(names) - in_pir(keys) - keys == set(), "named, but the table takes them from elsewhere"
    assert keys - set(names) == set(), "taken from this module, but not named"


@pytest.mark.parametrize(
    "module", [module for module in MODULES if module.startswith("complex/") and module != "complex/rules"]
)
def test_the_docstring_names_the_complex_forms_of_the_module(module):
    assert set(named(docstring(module), "Complex forms")) == complex_forms(module)
