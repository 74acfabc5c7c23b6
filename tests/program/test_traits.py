"""What is known of an operator stands in its row: its traits are known, and no other list names operators."""

import ast
import re
from pathlib import Path

import pytest

from gen_models.harness.legacy import ROOT
from paddle2ov.program.signatures import ROWS
from paddle2ov.program.traits import TRAITS, traits_of, with_trait

OTHERS = {
    "paddle2ov/program/legacy.py": "what the reader does with each operator that owns blocks",
    "paddle2ov/program/concatenated_arrays.py": "the operators that the rewrite knows, each otherwise",
    "paddle2ov/translation/control_flow/grown_lengths.py": "what decides how often a loop runs, each otherwise",
    "converters/fused/layers.py": "values of an attribute",
    "tools/older_paddle.py": "cases that older Paddles compute otherwise, of which docs/limits.md tells",
    "tools/mutation/formats.py": "operators of no inputs, whose numbers damaged files exchange",
}
"""Files that name several operators, or what is called like them -> what they are."""


_LISTING = (ast.Set, ast.Tuple, ast.List, ast.Dict, ast.Constant)


def named_in(node: ast.AST) -> list[str]:
    """The texts that a display of constants, the keys of a dict or a text of words lists."""
    match node:
        case ast.Set(elts=items) | ast.Tuple(elts=items) | ast.List(elts=items):
            return [item.value for item in items if isinstance(item, ast.Constant)]
        case ast.Dict(keys=items):
            return [item.value for item in items if isinstance(item, ast.Constant)]
        case ast.Constant(value=str(text)):
            return text.replace("|", " ").split()
    return []


def are_operators(names: list[str]) -> bool:
    return len(names) >= 4 and 5 * sum(name in ROWS for name in names) >= 4 * len(names)


def lists_operators(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    names, texts = re.findall(r'"(\w+)"', text), re.findall(r'"([^"]*)"', text)
    if len(ROWS.keys() & names) < 4 and not any(are_operators(re.findall(r"\w+", words)) for words in texts):
        return False  # which takes a tenth of the time of its syntax
    return any(are_operators(named_in(node)) for node in ast.walk(ast.parse(text)) if isinstance(node, _LISTING))


def test_no_other_list_names_operators():
    paths = [path for folder in ("paddle2ov", "converters", "tools") for path in (ROOT / folder).rglob("*.py")]
    names = {path.relative_to(ROOT).as_posix() for path in paths if lists_operators(path)}
    assert names - OTHERS.keys() == {"paddle2ov/program/signatures.py"}
    assert OTHERS.keys() - names == set()


@pytest.mark.parametrize(
    "text", ['{"abs", "relu", "tanh", "exp"}', '"abs relu tanh exp"', '{"abs": 1, "relu": 2, "tanh": 3, "exp": 4}']
)
def test_a_list_of_operators_is_found(tmp_path, text):
    (tmp_path / "module.py").write_text(f"NAMES = {text}")
    assert lists_operators(tmp_path / "module.py")


def test_every_trait_is_that_of_an_operator():
    assert {trait for trait in TRAITS if not with_trait(trait)} == set()
    assert {trait for key in ROWS for trait in traits_of(key)} == TRAITS.keys()
