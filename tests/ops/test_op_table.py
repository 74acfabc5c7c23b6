"""Every operator of the table is tested: by cases of its own, or, where Paddle cannot run it, by hand.

What tests with `@by_hand` test is listed with the reason, which is checked against the installed Paddle.
"""

import ast
import json
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gen_models import all_ops
from gen_models.harness.legacy import formats_here, legacy_python
from gen_models.harness.spec import import_paddle, paddle
from gen_models.harness.store import generated
from paddle2ov.conversion import convert
from paddle2ov.op_table import OP_TABLE
from paddle2ov.program.reading import read_program
from paddle2ov.program.signatures import ROWS, parse_signature
from paddle2ov.program.traits import TRAITS, traits_of, with_trait
from paddle2ov.translation.unsupported import NOT_YET, reason
from tests.support.by_hand import by_hand, operators_by_hand
from tests.support.models import cases_together, operator
from tests.support.paddles import told

WITHIN = {"create_array": "write_to_array"}
"""Operators without cases -> an operator whose cases' programs hold them too."""

BY_HAND = {trait: with_trait(trait) for trait in TRAITS if trait.startswith("by hand: ")}
"""Why operators have no cases -> those operators."""


def names(key):
    """What an operator is called as a legacy and as a PIR operator, its in-place form too."""
    pir_name = parse_signature(key, ROWS[key]).pir_name
    return {key} | ({pir_name, pir_name.removesuffix("_")} if pir_name else set())


def test_every_operator_has_cases_or_a_reason():
    with_cases = {name for name, op in all_ops().items() if op.cases}
    assert OP_TABLE.keys() - with_cases == set().union(*BY_HAND.values()) | WITHIN.keys()


def test_no_operator_has_two_reasons():
    reasons = [trait for key in ROWS for trait in traits_of(key) if trait.startswith(("by hand: ", "no converter: "))]
    assert len(reasons) == len({key for key in ROWS if reason(key) != NOT_YET}.union(*BY_HAND.values()))


def test_what_has_a_converter_has_no_reason_for_having_none():
    assert {key: reason(key) for key in OP_TABLE if reason(key) != NOT_YET} == {}


def test_keys_are_sorted():
    assert list(OP_TABLE) == sorted(OP_TABLE)


@pytest.mark.parametrize(("key", "other"), WITHIN.items())
def test_programs_of_other_cases_hold_it(key, other):
    op = all_ops()[other]
    for case in op.cases:
        program = read_program(generated(op, case, "pir"))
        assert key in {operator.type for operator in program.block.operators}


def test_programs_of_the_cases_of_gradients_hold_them():
    """Paddle might take them apart."""
    gradients = [key for key in OP_TABLE if key.endswith("_grad")]
    assert len(gradients) > 80
    for key in gradients:
        for format in formats_here():
            folder = cases_together(all_ops()[key], format)
            if folder is not None:
                types = [operator.type for operator in read_program(folder).block.operators]
                assert types.count(key) >= len(json.loads((folder / "case.json").read_text())["results"]), ROWS[key]


def test_what_has_no_cases_is_operators_by_hand():
    operators = operators_by_hand()
    assert set().union(*BY_HAND.values()) - operators == set()
    assert operators - OP_TABLE.keys() == set()


def test_a_test_by_hand_that_converts_something_else_fails():
    @by_hand("sigmoid")
    def names_another():
        convert(operator("relu"))

    @by_hand(argument="op")
    def is_told(op):
        convert(operator("relu"))

    is_told(op="relu")
    for test in (names_another, lambda: is_told(op="sigmoid")):
        with pytest.raises(AssertionError, match="not converted in this test"):
            test()


KERNELS = """
import paddle

kernels = paddle.base.core._get_all_register_op_kernels("all")
for name, keys in kernels.items():
    if any("place[Place(cpu)]" in key and "ONEDNN" not in key for key in keys):
        print(name)
"""


@cache
def with_kernels(python):
    """The operators that a Paddle has kernels for CPUs for."""
    return set(told(python, KERNELS).split())


def test_there_is_no_kernel():
    for python in filter(None, (sys.executable, legacy_python())):
        kernels = with_kernels(python)
        assert {"relu", "conv2d", *BY_HAND["by hand: refused"]} <= kernels
        assert {key for key in BY_HAND["by hand: no kernel"] if names(key) & kernels} == set()


def test_reasons_of_having_no_kernel_are_true():
    claimed = {key for key in ROWS if "no CPU kernel to compare" in reason(key)}
    assert len(claimed) > 60
    for python in filter(None, (sys.executable, legacy_python())):
        kernels = with_kernels(python)
        assert {key for key in claimed if names(key) & kernels} <= with_trait("refuses to run")


def claimed_for_training():
    return {key for key in ROWS if reason(key).startswith("made for training")}


def test_what_is_made_for_training_reads_labels():
    """A program that is exported for inference has none, unless it computes a loss itself."""
    labels = {key: str(parse_signature(key, ROWS[key]).operands) for key in claimed_for_training()}
    assert {key for key, ports in labels.items() if "label" not in ports} == {"modified_huber_loss", "target_assign"}


def test_what_is_made_for_training_is_appended_by_functions_that_take_labels():
    """No other function or layer of Paddle appends it, so that no network in eval mode does."""
    claimed = {name: key for key in claimed_for_training() for name in names(key)}
    any_name = "|".join(claimed)
    appends = re.compile(rf"_C_ops\.({any_name})\(|type=['\"]({any_name})['\"]")
    root, seen = Path(import_paddle().__file__).parent, set()
    for path in (path for part in ("incubate", "nn", "static", "vision") for path in (root / part).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if appends.search(text) is None:
            continue
        lines = text.split("\n")
        for function in (child for child in ast.walk(ast.parse(text)) if isinstance(child, ast.FunctionDef)):
            source = "\n".join(lines[function.lineno - 1 : function.end_lineno])
            appended = {claimed[a or b] for a, b in appends.findall(source)}
            seen |= appended
            assert not appended or "label" in ast.unparse(function.args), f"{path}: {function.name} appends {appended}"
    assert seen >= {"auc", "hierarchical_sigmoid", "nce", "warpctc", "yolov3_loss"}


def test_the_kernels_that_need_a_processor_are_there():
    assert with_kernels(sys.executable) >= BY_HAND["by hand: AVX-512"]


def test_the_kernels_that_fuse_nothing_are_there():
    assert with_kernels(sys.executable) >= BY_HAND["by hand: unfused"]


def test_paddle_does_not_write_it():
    protos = import_paddle().base.framework.OpProtoHolder.instance().op_proto_map
    assert "squeeze2" in protos
    assert {
        key for key in BY_HAND["by hand: not written"] if key in protos or parse_signature(key, ROWS[key]).pir_name
    } == set()


def test_the_kernel_refuses():
    import_paddle().disable_static()
    x = paddle.ones([1, 1, 32, 32])
    with pytest.raises(RuntimeError, match="Do not support c_identity for cpu"):
        paddle._C_ops.c_identity(x, 0, True, True)
    with pytest.raises(RuntimeError, match="only supports GPU"):
        paddle.incubate.softmax_mask_fuse_upper_triangle(x)


def test_no_function_makes_it():
    import_paddle()
    assert not any(
        hasattr(paddle._C_ops, name) or hasattr(paddle._pir_ops, name) for name in BY_HAND["by hand: executor"]
    )


def test_programs_of_it_are_wrong_or_cannot_be_built():
    import_paddle().enable_static()
    x, like = np.ones([2, 3], np.float32), (paddle.base.core.DataType.FLOAT32, paddle.CPUPlace())
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            variable = paddle.static.data("x", [2, 3])
            viewed = paddle._C_ops.view_shape(variable, [3, 2])
            for name, arguments in (("ones_like", like), ("tensor_unfold", (1, 2, 1)), ("zeros_like", like)):
                with pytest.raises(ValueError, match="must be Tensor"):
                    getattr(paddle._C_ops, name)(variable, *arguments)
        (result,) = paddle.static.Executor().run(main, {"x": x}, [viewed])
        with paddle.static.program_guard(main):
            strided = paddle._C_ops.as_strided(variable, [2], [3], 0)
        with pytest.raises(RuntimeError, match=r"pd_op.as_strided\] kernel output args"):
            paddle.static.Executor().run(main, {"x": x}, [strided])
    finally:
        paddle.disable_static()
    assert result.shape == (2, 3)
    assert list(paddle.to_tensor(x).view([3, 2]).shape) == [3, 2]
