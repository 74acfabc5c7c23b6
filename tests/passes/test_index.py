"""What rewrites know of a graph is what OpenVINO says of it, also where only changed nodes have been asked again."""

import random

import numpy as np
import pytest
from openvino import Model, Type, opset16

from paddle2ov import convert
from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import rewire
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes import NORMAL_FORM, Graph, run_rewrites
from paddle2ov.passes.index import Index, Where
from paddle2ov.passes.replacement import insert, replace
from paddle2ov.workarounds.table import row
from tests.support.models import network
from tests.support.passes_checks import parameter


def compare(known, model):
    """Compares an index with a new one of the model, whose places may be others."""
    asked = Index(model)
    place = {known.place_of(node): number for number, node in asked.nodes.items()}
    assert len(place) == len(known.nodes) == len(asked.nodes)
    for old, new in place.items():
        assert [place[source] for source in known.sources[old]] == list(asked.sources[new])
        assert sorted(place[reader] for reader in known.readers[old]) == sorted(asked.readers[new])
        assert (known.kinds[old], known.is_free[old]) == (asked.kinds[new], asked.is_free[new])
    kinds = set(known.kinds)
    assert all(sorted(map(place.get, known.of_kind(kind))) == list(asked.of_kind(kind)) for kind in kinds)
    for order in (*map(known.of_kind, kinds), known.free, known._in_order):
        assert [known._order[old] for old in order] == sorted(known._order[old] for old in order)
    for old in place:
        assert all(known._order[source] < known._order[old] for source in known.sources[old])
    assert sorted(map(place.get, known.free)) == asked.free
    for kind in kinds:
        everywhere = Where(("Result",), needs=(kind,))
        assert bool(known.places(everywhere)) == bool(asked.places(everywhere))
    for old, new in place.items():
        assert known.is_independent(old, ("Parameter",), ("ShapeOf",)) == asked.is_independent(
            new, ("Parameter",), ("ShapeOf",)
        )
    assert known._dims == {old: dims_of(known.nodes[old]) for old in known._dims}


@pytest.mark.parametrize("name", ["crnn", "picodet", "swin_stage", "svtr_mixer", "permutes_ssd"])
def test_changes_are_known(monkeypatch, name):
    watch, update, models, updated = Graph.watch, Index.update, [], []

    def watched(graph):
        watch(graph)
        models.append(graph.model)

    def compared(known, *changed):
        update(known, *changed)
        compare(known, models[-1])
        updated.append(known)

    monkeypatch.setattr(Graph, "watch", watched)
    monkeypatch.setattr(Index, "update", compared)
    convert(network(name))
    assert updated


@pytest.mark.parametrize("seed", range(4))
def test_any_changes(seed):
    """Inputs read any tensors that do not depend on them, and new nodes over these, many at a time or one."""
    draw = random.Random(seed)
    graph = Graph(convert(network("swin_stage")))
    assert graph.index.nodes
    for _ in range(30):
        for _ in range(draw.choice((1, 1, 5))):
            nodes = graph.model.get_ordered_ops()
            number, reader = draw.choice([item for item in enumerate(nodes) if item[1].get_input_size()])
            before = [value for node in nodes[:number] for value in node.outputs()]
            new = draw.choice([value for value in before if value.get_element_type() != Type.boolean])
            for _ in range(draw.choice((0, 0, 1, 3))):
                new = ops.relu(ops.constant(1.0) if draw.random() < 0.2 else new).output(0)
            rewire(reader, draw.randrange(reader.get_input_size()), new)
        del nodes, reader, new  # which are kept otherwise
        compare(graph.index, graph.model)


def test_candidates_after_changes():
    """All nodes are looked at although the first is replaced, and the order of the nodes is not what it was."""
    x = parameter(-1, 4)
    neutral = x
    for _ in range(100):
        neutral = opset16.multiply(neutral, np.float32(1))
    sizes = opset16.shape_of(opset16.relu(neutral))
    signs = []
    for i in range(6):
        apart = opset16.subtract(opset16.gather(sizes, np.array([0]), np.array(0)), np.array([i + 5]))
        signs.append(opset16.abs(apart if i == 5 else opset16.convert(apart, np.float32)))
    limits = np.array(3), np.float32(0.5), np.float32(0)
    chosen = opset16.non_max_suppression(np.ones((1, 3, 4), np.float32), np.ones((1, 1, 3), np.float32), *limits)
    model = Model([opset16.result(item) for item in (chosen.output(0), *signs)], [x])
    done = run_rewrites(model, (row("constants.computed_once"), *NORMAL_FORM, row("elided.abs_of_sizes")))
    assert done["elided.abs_of_sizes"] == {"sites": 6}


@pytest.mark.parametrize("change", ["reads another node", "is no longer part of the model"])
def test_a_node_that_no_longer_fits_is_no_candidate(change):
    x = parameter(4)
    first = opset16.relu(opset16.relu(x))
    second = opset16.relu(first)
    model = Model([opset16.result(second), opset16.result(opset16.tanh(first))], [x])
    met = []
    for node in Graph(model).candidates(Where(("Relu",), reads=frozenset(("Relu",)))):
        met.append(node.get_name())
        if change == "reads another node":
            insert([second.input(0)], opset16.sigmoid(first).output(0), second)
        else:
            replace(second.output(0), first.output(0))
    assert met == [first.get_name()]


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([[1, -2]], np.int64), [1, -2]),
        (np.array(3, np.uint8), [3]),
        (np.array([2**63], np.uint64), [2**63]),
        (np.array([], np.int32), []),
        (np.array([0.5, 2.7], np.float32), None),
        (np.array([True]), None),
    ],
    ids=lambda item: str(getattr(item, "dtype", "")),
)
def test_only_constants_of_integers_are_integers(array, expected):
    constant = ops.constant(array)
    assert ints_of(constant.output(0)) == expected
    reader = opset16.convert(constant, "f64")
    index = Index(Model([reader], []))
    assert index.ints(index.place_of(reader), 0) == expected
