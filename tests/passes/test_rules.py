"""What all rewrites have in common: their reasons, what they hand on to new nodes, and their descriptions."""

import logging
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from openvino import Model, opset16 as ops

from gen_models.harness.legacy import ROOT
from paddle2ov import ConversionReport, convert
from paddle2ov.graph.provenance import PADDLE_OPERATORS, operators_of, set_operators
from paddle2ov.passes import REWRITES, Graph, run_rewrites
from paddle2ov.passes.detection.gather_pushdown import gather_pushdown
from paddle2ov.passes.detection.pushdown import NOT_INSIDE
from paddle2ov.passes.layout.absorb_transposes import absorb_transposes
from paddle2ov.passes.layout.fuse_transposes import fuse_transposes
from paddle2ov.passes.layout.squeeze_unit_axes import squeeze_unit_axes
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import Rule, at
from paddle2ov.workarounds.table import row
from tests.support.models import network
from tests.support.passes_checks import apply, kinds, model_of, parameter, transpose

NOT_UNDONE = "something else reads the first transpose, and the second does not undo it"


def read_twice():
    """Two transposes in a row, the first of which something else reads too."""
    x = parameter(2, 3, 4)
    first = transpose(x, 0, 2, 1)
    return Model([transpose(first, 2, 0, 1), ops.relu(first)], [x])


def attention(keys):
    q, k = parameter(2, 8, 4, name="q"), parameter(2, keys, 4, name="k")
    return Model([ops.matmul(ops.softmax(ops.matmul(q, k, False, True), -1), k, False, False)], [q, k])


def along_the_axis():
    x = parameter(2, 3)
    wide = ops.unsqueeze(x, np.array([2]))
    return Model([ops.squeeze(ops.reduce_sum(wide, np.array([2]), True), np.array([2]))], [x])


def not_of_the_last_two():
    x = parameter(3, 3, 3)
    return Model([ops.matmul(x, transpose(x, 2, 1, 0), False, False)], [x])


def erf_in_gelu():
    x = parameter(3)
    return Model([ops.add(ops.erf(x), np.float32(1))], [x])


def pooled_noise():
    shape, zero, one = np.array([1, 1, 4, 4]), np.float32(0), np.float32(1)
    noise = ops.random_uniform(shape, zero, one, "f32", 1, 2)
    return Model([ops.avg_pool(noise, [2, 2], [0, 0], [0, 0], [2, 2], False)], [])


def gathered_result():
    """What is gathered from is a result, too."""
    x, mask = parameter(6, 4), parameter(6, name="mask")
    y = ops.exp(x)
    index = ops.squeeze(ops.non_zero(ops.greater(mask, np.float32(0)), "i64"), np.array([0]))
    return Model([ops.gather(y, index, np.array(0)), y], [x, mask])


@pytest.mark.parametrize(
    ("rewrite", "build", "reason"),
    [
        (fuse_transposes, read_twice, NOT_UNDONE),
        (row("attention.single_key"), lambda: attention(3), "the number of keys is known"),
        (squeeze_unit_axes, along_the_axis, "a node computes along the axes of size 1"),
        (absorb_transposes, not_of_the_last_two, "the transpose does not just swap the last two axes"),
        (row("functions.small_values"), erf_in_gelu, "it is only added to constants, as in a Gelu"),
        (row("constants.compute"), pooled_noise, "it depends on random numbers, a variable, a branch or a loop"),
        (gather_pushdown, gathered_result, NOT_INSIDE),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_what_is_left_alone_has_a_reason(rewrite, build, reason):
    graph = Graph(build())
    assert not any(rewrite(graph).values())
    assert graph.match_failures == {rewrite.__name__: {reason: 1}}


def test_what_fires_has_none():
    graph = Graph(attention(-1))
    assert row("attention.single_key")(graph) == {"sites": 1}
    assert not graph.match_failures


def test_reasons_in_branches_are_counted_with_the_others():
    outer = read_twice()
    condition = ops.parameter([], bool, name="c")
    branch = ops.if_op(condition)
    branch.set_then_body(read_twice())
    branch.set_else_body(read_twice())
    inputs = [branch.get_then_body().get_parameters()[0], branch.get_else_body().get_parameters()[0]]
    branch.set_input(outer.get_parameters()[0].output(0), *inputs)
    results = [branch.get_then_body().get_results()[0], branch.get_else_body().get_results()[0]]
    chosen = branch.set_output(*results)
    outputs = [result.input_value(0) for result in outer.get_results()]
    failures = {}
    run_rewrites(Model([chosen, *outputs], [condition, *outer.get_parameters()]), (fuse_transposes,), failures)
    assert failures == {"fuse_transposes": {NOT_UNDONE: 3}}


def test_each_node_is_logged_on_demand(caplog):
    model = read_twice()
    name = next(node for node in model.get_ops() if node.get_type_name() == "Transpose").get_friendly_name
    with caplog.at_level(logging.INFO, "paddle2ov.passes"):
        fuse_transposes(Graph(model))
    assert not caplog.messages
    with caplog.at_level(logging.DEBUG, "paddle2ov.passes"):
        fuse_transposes(Graph(model))
    (message,) = caplog.messages
    assert message.startswith("fuse_transposes leaves Transpose 'Transpose_")
    assert message.endswith(NOT_UNDONE)
    assert name().startswith("Transpose_")


def test_verbose_conversions_log_the_reasons(caplog):
    with caplog.at_level(logging.INFO, "paddle2ov"):
        convert(network("swin_stage"), verbose=True)
    assert [message for message in caplog.messages if message.startswith("move_transposes left alone ")]


def test_the_report_has_a_line_for_each_reason():
    report = ConversionReport(match_failures={"fuse_transposes": {NOT_UNDONE: 3}})
    assert f"  fuse_transposes left alone 3: {NOT_UNDONE}" in report.table().splitlines()


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda one: one.__name__)
def test_descriptions(rewrite):
    """A rewrite goes by its module's name, and says what it makes of what."""
    (module,) = (module for name, module in sys.modules.items() if name.endswith(f".{rewrite.__name__}"))
    assert getattr(module, rewrite.__name__) is rewrite
    lines = [line.strip() for line in rewrite.__doc__.splitlines()]
    assert lines.index("Given:") < lines.index("Result:")


# --- what a new node gets ---------------------------------------------------------------------------------------------


def test_a_new_node_has_the_name_and_the_operators_of_the_old_one():
    x = parameter(2, 3)
    old = ops.relu(x)
    old.set_friendly_name("relu")
    set_operators(old.outputs(), "0:1")
    inner = ops.abs(x)
    new = ops.sqrt(inner)
    model = Model([old], [x])
    replace(old.output(0), new.output(0))
    assert [new.get_friendly_name(), old.get_friendly_name()] == ["relu", old.get_name()]
    assert [operators_of(new), operators_of(inner)] == ["0:1", "0:1"]
    assert model.get_results()[0].input_value(0).get_node().get_type_name() == "Sqrt"


def test_one_node_in_the_place_of_several_is_of_all_their_operators():
    x = parameter(2, 3, 4)
    first = transpose(x, 0, 2, 1)
    second = transpose(first, 2, 0, 1)
    set_operators(first.outputs(), "0:1")
    set_operators(second.outputs(), "0:2")
    model = Model([second], [x])
    assert fuse_transposes(Graph(model)) == {"fused": 1, "cancelled": 0}
    assert operators_of(model.get_results()[0].input_value(0).get_node()) == "0:2 0:1"


def test_nothing_is_marked_without_a_report():
    x = parameter(2, 3, 4)
    model = Model([transpose(transpose(x, 0, 2, 1), 2, 0, 1)], [x])
    fuse_transposes(Graph(model))
    assert not any(PADDLE_OPERATORS in node.get_rt_info() for node in model.get_ops())


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda one: one.__name__)
def test_sections(rewrite):
    pages = (ROOT / "docs" / "rewrites.md").read_text("utf-8")
    directive = f".. {'automodule' if isinstance(rewrite, Rule) else 'autofunction'}:: "
    has_section = re.search(rf"^{re.escape(directive)}[\w.]+\.{rewrite.__name__}$", pages, re.MULTILINE) is not None
    assert has_section, f"docs/rewrites.md has no section with a line `{directive}...{rewrite.__name__}`"


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda one: one.__name__)
def test_each_is_applied_alone(rewrite):
    tests = "\n".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    is_applied = re.search(rf"\b(apply|compare|stays)\({rewrite.__name__}\b", tests) is not None
    assert is_applied, "no test in tests/passes/ applies it: one where it fires, one where it must not"


def test_the_example_of_the_guide(monkeypatch):
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Add a rewrite\n")[2]
    module = ModuleType("paddle2ov.passes.fuse_relus")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(guide.partition("```python\n")[2].partition("```\n")[0], vars(module))

    def build(x, more=()):
        inner = ops.relu(x)
        return [ops.relu(ops.relu(inner)), *(item(inner) for item in more)]

    assert module.fuse_relus.__name__ == "fuse_relus"
    model, counts = apply(module.fuse_relus, build, [2, 3])
    assert counts == {"relus": 2}
    assert kinds(model)["Relu"] == 1
    graph = Graph(model_of(lambda x: build(x, [ops.sqrt]), [2, 3]))
    assert module.fuse_relus(graph) == {"relus": 1}
    assert graph.match_failures == {"fuse_relus": {"something else reads the first Relu": 1}}


@pytest.mark.parametrize(("counted", "expected"), [(None, 0), ({}, 0), ({"relus": 3}, 6)])
def test_what_a_rule_counts(counted, expected):
    rule = Rule(at("Relu")(lambda graph, node: counted), "relus")
    assert rule(Graph(model_of(lambda x: ops.relu(ops.relu(x)), [2]))) == {"relus": expected}


def test_the_guide_says_which_rewrites_are_no_rules():
    guide = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = guide.partition("| Rewrite | Why it is no `Rule` |\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == {
        rewrite.__name__ for rewrite in REWRITES if not isinstance(rewrite, Rule)
    }
