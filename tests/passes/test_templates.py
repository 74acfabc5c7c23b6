"""Bodies that are clones of one template: rewrites that change nothing in the first of them are not run in others."""

from __future__ import annotations

import pytest
from openvino import Model, Type

from paddle2ov.converters.graph.loops import loop
from paddle2ov.graph.guards import empty_constants
from paddle2ov.graph.opset import ints, ops
from paddle2ov.passes import run_rewrites
from paddle2ov.passes.replacement import replace


@pytest.fixture(autouse=True)
def _nothing_seen():
    """Nodes are checked, and bodies not kept, where something without elements was made before, as in other tests."""
    empty_constants.seen = False


def looped(width: int, template: str | None) -> Model:
    """A loop whose body takes the ReLU of the state."""
    x = ops.parameter([width], Type.f32)
    return Model(loop(ints(3), [x], [], lambda _, state, __: ([ops.relu(state[0])], None), template), [x])


class Rewrite:
    """Notes in which graphs it was run; it replaces each ReLU by a Clamp if it `changes` them."""

    def __init__(self, changes: bool) -> None:
        self.__name__ = "rewrite"
        self.changes, self.runs = changes, 0

    def __call__(self, graph):
        nodes = graph.nodes("Relu")
        self.runs += bool(nodes)
        for node in nodes:
            if self.changes:
                replace(node.output(0), ops.clamp(node.input_value(0), 0, 1e30).output(0))
            else:
                graph.match_failed("rewrite", node, "it stays")
        return {"nodes": len(nodes)}


def rewritten(rewrite: Rewrite, *models: Model) -> list[object]:
    """What a rewrite does in each model, and why it leaves matches as they are."""
    outcomes: list[object] = []
    for model in models:
        failures: dict[str, dict[str, int]] = {}
        outcomes.append((run_rewrites(model, (rewrite,), failures), failures))
    return outcomes


def test_what_changes_nothing_is_run_twice():
    """And tells the same about each clone; a body for another shape is another one."""
    rewrite = Rewrite(changes=False)
    first, *others = rewritten(rewrite, *(looped(4, "unchanged") for _ in range(4)))
    assert first == ({"rewrite": {"nodes": 1}}, {"rewrite": {"it stays": 1}})
    assert others == [first, first, first]
    assert rewrite.runs == 2
    assert rewritten(rewrite, looped(5, "unchanged")) == [first]
    assert rewrite.runs == 3


@pytest.mark.parametrize(("template", "changes"), [("changed", True), (None, False)])
def test_other_rewrites_run_in_every_body(template, changes):
    """Those that change something, and all in bodies that are no clones."""
    rewrite = Rewrite(changes)
    rewritten(rewrite, *(looped(4, template) for _ in range(3)))
    assert rewrite.runs == 3


def test_rewrites_run_again_where_the_types_of_inputs_have_changed():
    rewrite = Rewrite(changes=False)
    rewritten(rewrite, looped(6, "reshaped"), looped(6, "reshaped"))
    other = looped(6, "reshaped")
    other.reshape([7])
    rewritten(rewrite, other)
    assert rewrite.runs == 3
