"""tools/new_op.py on small trees of its own: what it writes, what it leaves alone, what it refuses."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gen_models.harness.legacy import ROOT
from paddle2ov.program.signatures import ROWS
from paddle2ov.translation.extension import SIGNATURE
from tools import check_op, new_op

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
    "lerp": "lerp(x, y, weight) -> (out)",
    "log_loss": "log_loss(input=Predicted, label=Labels) -> (out=Loss); epsilon=eps",
    "mish": "mish(x) -> (out); lambda=threshold",
    "p_norm": "p_norm(x) -> (out)",
    "rank_loss": "-(label, left_side=Left) -> (out, all_losses=Losses|losses)",
}
''',
    "gen_models/activation.py": '''"""Activations."""

from gen_models.harness.spec import Op, case, tensor


def _abs(x):
    return x.abs()


OPS = [
    Op("abs", _abs, case(x=tensor([2]))),
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


def refused(tree, capsys, message, *arguments):
    """Asserts that a call is refused with a message, and writes nothing."""
    before = contents(tree)
    assert scaffold(tree, *arguments) == 1
    assert contents(tree) == before
    assert message in capsys.readouterr().err


def test_new_operator_of_a_known_family(tree, capsys):
    assert scaffold(tree, "hard_swish", "--family", "activation") == 0
    table, converter, signatures, generator = (contents(tree)[name] for name in TREE)

    assert '    "abs": activation.abs,\n    "hard_swish": activation.hard_swish,\n    "p_norm"' in table
    assert "def hard_swish(node: NodeContext) -> NamedOutputs:" in converter
    assert 'node.refuse("the converter of hard_swish is not written yet")' in converter
    assert '"hard_swish": "hard_swish(x) -> (out)",\n    "lerp"' in signatures
    assert "from gen_models.harness.spec import Op, case, tensor\n" in generator
    assert 'operator("hard_swish", {"x": "X"})' in generator
    assert generator.index('Op("abs"') < generator.index('Op("hard_swish"')
    assert "make check-op OP=hard_swish" in capsys.readouterr().out


ROOMS = {
    "op_table.py": '''"""Paddle's operators and their converters."""

from paddle2ov.converters import activation, elementwise
from paddle2ov.converters.fused import elementwise as fused_elementwise, onednn
from paddle2ov.converters.lod import pool as lod_pool
from paddle2ov.converters.resize import interpolation

OP_TABLE = {
    "abs": activation.abs,
    "bicubic_interp": interpolation.interpolate("cubic"),
    "elementwise_add": elementwise.elementwise_add,
    "fused_elementwise_add": fused_elementwise.fused_elementwise_add,
    "fused_matmul": onednn.fused_matmul,
    "sequence_pool": lod_pool.sequence_pool,
}
''',
    "converters/elementwise.py": TREE["converters/activation.py"],
    "converters/fused/elementwise.py": TREE["converters/activation.py"],
    "converters/fused/pool.py": TREE["converters/activation.py"],
    "converters/graph/common.py": TREE["converters/activation.py"],
    "converters/lod/pool.py": TREE["converters/activation.py"],
    "converters/resize/interpolation.py": TREE["converters/activation.py"].replace(
        "Activations.", "Resizing.\n\nPaddle: `bicubic_interp` (PIR, too).\nSemantics: `there`.\n"
    ),
    "gen_models/resizing.py": TREE["gen_models/activation.py"].replace("abs", "bicubic_interp"),
}


@pytest.fixture
def rooms(tree):
    for name, text in ROOMS.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    return tree


@pytest.mark.parametrize("family", ["interpolation", "resize/interpolation"])
def test_a_module_in_a_room(rooms, family):
    assert scaffold(rooms, "linear_interp", "--family", family) == 0
    after = contents(rooms)
    assert after["op_table.py"] == ROOMS["op_table.py"].replace(
        '    "sequence_pool"', '    "linear_interp": interpolation.linear_interp,\n    "sequence_pool"'
    )
    assert (
        "Paddle: `bicubic_interp` (PIR, too), `linear_interp`.\nSemantics"
        in after["converters/resize/interpolation.py"]
    )
    assert "def linear_interp(node: NodeContext)" in after["converters/resize/interpolation.py"]
    # Where the cases of the module's other operators are; gen_models has no rooms.
    assert 'operator("linear_interp", {' in after["gen_models/resizing.py"]
    assert not (rooms / "gen_models" / "resize").exists()


@pytest.mark.parametrize(
    ("family", "line", "row", "generator"),
    [
        ("fused/elementwise", None, "fused_elementwise.mine", "fused_elementwise"),
        (
            "fused/activation",
            "fused import activation as fused_activation, elementwise as fused_elementwise, onednn",
            "fused_activation.mine",
            "fused_activation",
        ),
        (
            "fused/attention",
            "fused import attention, elementwise as fused_elementwise, onednn",
            "attention.mine",
            "attention",
        ),
        ("lod/window", "lod import pool as lod_pool, window as lod_window", "lod_window.mine", "window"),
    ],
)
def test_imports_from_rooms(rooms, family, line, row, generator):
    assert scaffold(rooms, "mine", "--family", family, "--new-family") == 0
    after = contents(rooms)
    imports = ROOMS["op_table.py"].partition("OP_TABLE")[0]
    if line is None:
        assert after["op_table.py"].startswith(imports)
    else:
        assert f"from paddle2ov.converters.{line}\n" in after["op_table.py"]
    assert f'    "mine": {row},\n' in after["op_table.py"]
    assert "def mine(node" in after[f"converters/{family}.py"]
    assert 'operator("mine", {"x": "X"})' in after[f"gen_models/{generator}.py"]
    accepted_by_ruff(rooms)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("pool", "family 'pool' is several modules: name one of fused/pool, lod/pool"),
        ("graph/common", "the folders of converters/ with operators are fused, lod, resize"),
        ("nowhere/common", "the folders of converters/ with operators are fused, lod, resize"),
        ("a/b/c", "family 'a/b/c': use Paddle's snake_case name"),
        ("resize", "family 'resize' is a folder: name a module in it, as resize/interpolation"),
        ("resize/interpolate", "no family 'resize/interpolate': did you mean resize/interpolation?"),
    ],
)
def test_rooms_that_are_refused(rooms, capsys, family, message):
    refused(rooms, capsys, message, "mine", "--family", family)


def test_each_check_is_there_and_named_in_the_guide():
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for check in (*check_op.OF_ONE_OPERATOR, *check_op.OF_ALL_OPERATORS):
        file, _, test = check.partition("::")
        assert f"def {test}" in (ROOT / file).read_text("utf-8")
        assert f"| `{check}` |" in guide


def test_what_is_checked_is_selected():
    """The patterns name tests that there are."""
    command = next(check_op.commands("softshrink", "activation"))
    run = subprocess.run([*command, "--collect-only"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = {line.partition("::")[0] for line in run.stdout.splitlines() if "::" in line}
    assert files == check_op.OF_ONE_OPERATOR.keys()
    assert "[activation]" in run.stdout
    assert "[softshrink]" in run.stdout
    assert "testOpFuzzy/softshrink_test_1/legacy" in run.stdout


def test_an_operator_that_fails_is_said_to(monkeypatch, capsys):
    statuses = dict(
        zip(map(tuple, check_op.commands("softshrink", "activation")), [check_op.NO_TESTS, 1, 0, 0, 0, 0], strict=True)
    )
    monkeypatch.setattr(
        subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, statuses[tuple(command)], "said\n")
    )
    assert check_op.main(["softshrink"]) == 1
    said = capsys.readouterr().out
    assert said.count("\nsaid\n") == 6
    assert "test_signatures.py" in said.partition("\nFailed:\npython")[2]
    assert check_op.main(["hardtanh"]) == 1
    assert "op_table.py has no hardtanh: did you mean brelu?" in capsys.readouterr().err


def test_what_is_not_run_is_said(monkeypatch, capsys):
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 0, ""))
    for python, said in ((ROOT / "python", False), ("", True)):
        monkeypatch.setenv("PADDLE2OV_LEGACY_PYTHON", str(python))
        assert check_op.main(["softshrink"]) == 0
        assert ("NOT RUN: everything in the legacy format" in capsys.readouterr().out) is said


def test_new_family(tree):
    assert scaffold(tree, "a_first", "--family", "zeta", "--new-family") == 0
    after = contents(tree)
    assert after["converters/zeta.py"].startswith('"""Paddle\'s zeta operators.\n\nPaddle: `a_first`.\nSemantics: ')
    assert "from paddle2ov.converters import activation, reduction, zeta\n" in after["op_table.py"]
    assert 'OP_TABLE = {\n    "a_first": zeta.a_first,\n    "abs"' in after["op_table.py"]
    assert 'operator("a_first", {"x": "X"})' in after["gen_models/zeta.py"]
    accepted_by_ruff(tree)


def test_last_row_and_bracketed_imports(tree):
    table = TREE["op_table.py"].replace(
        "import activation, reduction\n", "import (\n    activation,\n    reduction,\n)\n"
    )
    (tree / "op_table.py").write_text(table, encoding="utf-8")
    assert scaffold(tree, "zeta", "--family", "loss", "--new-family") == 0
    after = contents(tree)["op_table.py"]
    assert "import (\n    activation,\n    loss,\n    reduction,\n)\n" in after
    assert after.endswith('    "p_norm": reduction.p_norm,\n    "zeta": loss.zeta,\n}\n')


def test_operands_are_those_of_the_row(tree):
    for op in ("lerp", "log_loss"):
        assert scaffold(tree, op, "--family", "activation") == 0
    after = contents(tree)
    assert '"""out = ... (what the operator computes, in one line)."""' in after["converters/activation.py"]
    generator = after["gen_models/activation.py"]
    assert 'function("lerp")' in generator
    assert "        case(x=tensor([2, 3]), y=tensor([2, 3]), weight=tensor([2, 3])),\n" in generator
    assert "case(input=tensor([2, 3], dims=[-1, 3]), label=tensor([2, 3], dims=[-1, 3]))" in generator
    if importlib.util.find_spec("paddle"):
        assert 'function("nn.functional.log_loss")' in generator
    accepted_by_ruff(tree)


def test_what_only_legacy_programs_have_is_appended(tree):
    assert scaffold(tree, "rank_loss", "--family", "activation") == 0
    generator = contents(tree)["gen_models/activation.py"]
    ports, results = '{"label": "Label", "left_side": "Left"}', '{"Out": "", "Losses": ""}'
    assert f'operator("rank_loss", {ports}, {results}),\n' in generator
    assert "case(label=tensor([2, 3]), left_side=tensor([2, 3]), **OLD)," in generator
    assert "left_side=tensor([2, 3], dims=[-1, 3]), **OLD)," in generator
    accepted_by_ruff(tree)


def test_a_row_that_is_given(tree, capsys):
    many = ", ".join(f"an_operand_{i}" for i in range(12))
    for op, row in {"mine": "mine_(x, lambda, y=Input) -> (a, b); axis=dim", "many": f"-({many}) -> ({many})"}.items():
        assert scaffold(tree, op, "--family", "activation", "--row", row) == 0
        assert f'    "{op}": "{row}",\n' in contents(tree)["paddle2ov/program/signatures.py"]
    assert "correct the row" not in capsys.readouterr().out
    ports, results = '{"x": "X", "lambda_": "Lambda", "y": "Input"}', '{"A": "", "B": ""}'
    assert f'operator("mine", {ports}, {results}, pir_name="mine_"),\n' in contents(tree)["gen_models/activation.py"]
    assert scaffold(tree, "none", "--family", "activation", "--row", "none() -> (out)") == 0
    assert (
        'Op("none", lambda: any_op("none", {}, {"Out": "float32"}, {}), case())'
        in contents(tree)["gen_models/activation.py"]
    )
    (tree / "paddle2ov/program/signatures.py").unlink()  # where long rows are admitted, unlike here
    accepted_by_ruff(tree)


@pytest.mark.parametrize(
    ("op", "row", "message"),
    [
        ("lerp", "lerp(x, y) -> (out)", 'has a row for lerp; correct it there: "lerp": "lerp(x, y, weight) -> (out)"'),
        ("mine", "mine(x, y)", "row 'mine(x, y)': write it as 'mine(x, y) -> (out)'"),
        ("mine", "mine(x,y) -> (out)", "row 'mine(x,y) -> (out)': write it as 'mine(x, y) -> (out)'"),
    ],
)
def test_rows_that_are_refused(tree, capsys, op, row, message):
    refused(tree, capsys, message, op, "--family", "activation", "--row", row)


def test_all_rows_of_this_repository_are_understood():
    assert [key for key, row in ROWS.items() if not re.fullmatch(SIGNATURE, row.partition(" [")[0])] == []


def test_python_keyword_becomes_a_function_name(tree):
    assert scaffold(tree, "assert", "--family", "control_flow", "--new-family") == 0
    assert '"assert": control_flow.assert_,' in contents(tree)["op_table.py"]


def test_the_tree_of_this_repository(tree):
    for name in ("op_table.py", "paddle2ov/program/signatures.py"):
        shutil.copy2(ROOT / name, tree / name)
    assert scaffold(tree, "a_name_of_nobody", "--family", "zeta", "--new-family") == 0
    after = contents(tree)
    assert '    "a_name_of_nobody": zeta.a_name_of_nobody,\n' in after["op_table.py"]
    assert '    "a_name_of_nobody": "a_name_of_nobody(x) -> (out)",\n' in after["paddle2ov/program/signatures.py"]
    assert keys_are_sorted(after["op_table.py"])
    assert keys_are_sorted(after["paddle2ov/program/signatures.py"])


def keys_are_sorted(text):
    return new_op.keys(text) == sorted(new_op.keys(text))


def test_a_name_that_the_table_has_otherwise(tree, capsys):
    shutil.copy2(ROOT / "op_table.py", tree)
    message = "argmax is PIR's name of arg_max, which op_table.py has (search)"
    refused(tree, capsys, message, "argmax", "--family", "search")


@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("warpctc", "signatures.py: its row loses the trait that says why it had no converter: made for training"),
        ("sgd", "unsupported.py: take it out of LEFT_OUT, which says why it has no converter: an optimiser"),
        ("mean", "mean is the legacy operator; what PIR calls mean is reduce_mean here"),
        ("softshrunk", "signatures.py: knows no softshrunk (did you mean softshrink"),
        ("mish", 'paddle2ov/program/signatures.py: has its row: "mish": "mish(x) -> (out)'),
    ],
)
def test_what_is_known_of_an_operator_is_told(tree, capsys, op, words):
    assert scaffold(tree, op, "--family", "activation") == 0
    assert words in capsys.readouterr().out


def test_another_spelling(tree, capsys):
    """It takes the converter and the row's operands; its cases call the operator itself, as Paddle has no function."""
    assert scaffold(tree, "abs_v2", "--spelling-of", "abs") == 0
    after = contents(tree)
    assert '    "abs_v2": activation.abs,\n' in after["op_table.py"]
    assert after["converters/activation.py"] == TREE["converters/activation.py"]
    assert '    "abs_v2": "abs_v2(x) -> (out)",\n' in after["paddle2ov/program/signatures.py"]
    assert 'Op("abs_v2", function("abs"), ' in after["gen_models/activation.py"]
    accepted_by_ruff(tree)
    capsys.readouterr()
    refused(tree, capsys, "op_table.py has no abz", "mine", "--spelling-of", "abz")


def accepted_by_ruff(tree):
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
        ("hardtanh", "activation", "hardtanh is PIR's name of brelu: make new-op OP=brelu"),
        ("while", "activation", "while is part of a program's structure"),
        ("relu", "activatons", "no family 'activatons': did you mean activation? For a new one: NEW_FAMILY=1"),
        ("relu", "zeta", "no family 'zeta': there are activation, reduction. For a new one: NEW_FAMILY=1"),
    ],
)
def test_refusals_write_nothing(tree, capsys, op, family, message):
    refused(tree, capsys, message, op, "--family", family)


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
    refused(tree, capsys, message, "relu", "--family", "activation")
