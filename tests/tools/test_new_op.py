"""tools/new_op.py on small trees of its own: what it writes, what it leaves alone, what it refuses."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import new_op

ROOT = Path(__file__).resolve().parents[2]

TREE = {
    "op_table.py": '''"""Paddle's operators and their converters."""

from paddle2ov.converters import activation, reduction

OP_TABLE = {
    "abs": activation.abs,
    "p_norm": reduction.p_norm,
}
''',
    "converters/activation.py": '''"""Activations."""

from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def abs(node: NodeContext) -> NamedOutputs:
    """out = |x|."""
    return {"out": ops.abs(node.get_input("x"))}
''',
    "paddle2ov/program/signatures.py": '''"""Signatures."""

ROWS = {
    "abs": "abs(x) -> (out)",
    "mish": "mish(x) -> (out); lambda=threshold",
    "p_norm": "p_norm(x) -> (out)",
}
''',
    "gen_models/activation.py": '''"""Activations."""

from gen_models.harness.spec import Op, case, tensor


def _abs(x):
    return x.abs()


OPS = [
    Op("abs", _abs, cases=[case(x=tensor([2]))]),
]
''',
}


@pytest.fixture
def tree(tmp_path):
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def contents(tree):
    return {str(path.relative_to(tree)): path.read_text("utf-8") for path in sorted(tree.rglob("*.py"))}


def scaffold(tree, *arguments):
    return new_op.main([*arguments, "--root", str(tree)])


def test_new_operator_of_a_known_family(tree, capsys):
    assert scaffold(tree, "hard_swish", "--family", "activation") == 0
    table, converter, signatures, generator = (contents(tree)[name] for name in TREE)

    assert '    "abs": activation.abs,\n    "hard_swish": activation.hard_swish,\n    "p_norm"' in table
    assert "def hard_swish(node: NodeContext) -> NamedOutputs:" in converter
    assert 'node.refuse("the converter of hard_swish is not written yet")' in converter
    assert '"hard_swish": "hard_swish(x) -> (out)",\n    "mish"' in signatures
    assert "from gen_models.harness.spec import Op, case, paddle, tensor\n" in generator
    assert "def _hard_swish(x):\n    return paddle.hard_swish(x)\n\n\nOPS = [" in generator
    assert generator.index('Op("abs"') < generator.index('Op("hard_swish"')
    assert "make fuzz FILTER='testOp*/hard_swish*'" in capsys.readouterr().out


def test_new_family(tree):
    assert scaffold(tree, "a_first", "--family", "zeta") == 0
    after = contents(tree)
    assert after["converters/zeta.py"].startswith('"""Paddle\'s zeta operators: a_first.\n')
    assert "from paddle2ov.converters import activation, reduction, zeta\n" in after["op_table.py"]
    assert 'OP_TABLE = {\n    "a_first": zeta.a_first,\n    "abs"' in after["op_table.py"]
    assert 'Op("a_first", _a_first,' in after["gen_models/zeta.py"]


def test_last_row_and_bracketed_imports(tree):
    table = TREE["op_table.py"].replace(
        "import activation, reduction\n", "import (\n    activation,\n    reduction,\n)\n"
    )
    (tree / "op_table.py").write_text(table, encoding="utf-8")
    assert scaffold(tree, "zeta", "--family", "loss") == 0
    after = contents(tree)["op_table.py"]
    assert "import (\n    activation,\n    loss,\n    reduction,\n)\n" in after
    assert after.endswith('    "p_norm": reduction.p_norm,\n    "zeta": loss.zeta,\n}\n')


def test_python_keyword_becomes_a_function_name(tree):
    assert scaffold(tree, "while", "--family", "control_flow") == 0
    assert '"while": control_flow.while_,' in contents(tree)["op_table.py"]


def test_the_tree_of_this_repository(tree):
    for name in ("op_table.py", "paddle2ov/program/signatures.py"):
        shutil.copy2(ROOT / name, tree / name)
    assert scaffold(tree, "a_name_of_nobody", "--family", "zeta") == 0
    after = contents(tree)
    assert '    "a_name_of_nobody": zeta.a_name_of_nobody,\n' in after["op_table.py"]
    assert '    "a_name_of_nobody": "a_name_of_nobody(x) -> (out)",\n' in after["paddle2ov/program/signatures.py"]
    assert keys_are_sorted(after["op_table.py"])
    assert keys_are_sorted(after["paddle2ov/program/signatures.py"])


def keys_are_sorted(text):
    return new_op.keys(text) == sorted(new_op.keys(text))


def test_existing_signature_is_left_alone(tree, capsys):
    assert scaffold(tree, "mish", "--family", "activation") == 0
    assert contents(tree)["paddle2ov/program/signatures.py"] == TREE["paddle2ov/program/signatures.py"]
    assert "has a row for mish, left as it is" in capsys.readouterr().out


def test_everything_written_is_python_that_ruff_accepts(tree):
    scaffold(tree, "hard_swish", "--family", "activation")
    scaffold(tree, "a_first", "--family", "zeta")
    for text in contents(tree).values():
        ast.parse(text)
    ruff = shutil.which("ruff", path=Path(sys.executable).parent)
    if ruff is None:
        pytest.skip("ruff is not installed beside this Python")
    shutil.copy2(ROOT / "pyproject.toml", tree)
    for command in (["format", "--check"], ["check"]):
        run = subprocess.run([ruff, *command, "."], cwd=tree, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout


@pytest.mark.parametrize(
    ("op", "family", "message"),
    [
        ("abs", "activation", "abs already stands in op_table.py"),
        ("abs", "another", "abs already stands in op_table.py"),
        ("relu_", "activation", "in-place variants resolve by themselves, name 'relu'"),
        ("CamelCase", "activation", "operator 'CamelCase': use Paddle's snake_case name"),
        ("relu", "../elsewhere", "family '../elsewhere': use Paddle's snake_case name"),
    ],
)
def test_refusals_write_nothing(tree, capsys, op, family, message):
    before = contents(tree)
    assert scaffold(tree, op, "--family", family) == 1
    assert contents(tree) == before
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "op_table.py",
            "from paddle2ov.converters import",
            "from elsewhere import",
            "op_table.py has no `from paddle2ov",
        ),
        ("op_table.py", '    "abs"', "    'abs'", "abs"),
        ("gen_models/activation.py", "OPS = [", "CASES = [", "has no list `OPS = [`"),
        ("converters/activation.py", "def abs(", "def relu(", "converters/activation.py already has a relu"),
    ],
)
def test_a_tree_it_does_not_understand_is_left_alone(tree, capsys, file, old, new, message):
    text = TREE[file].replace(old, new)
    (tree / file).write_text(text.replace('    "p_norm"', "    'p_norm'") if "'abs'" in new else text, encoding="utf-8")
    before = contents(tree)
    assert scaffold(tree, "relu", "--family", "activation") == 1
    assert contents(tree) == before
    assert message in capsys.readouterr().err
