"""What rewrites know of a graph is what OpenVINO says of it, also where only changed nodes have been asked again."""

import pytest

from gen_models import all_networks
from gen_models.harness.store import generated_network
from paddle2ov import convert
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes import Graph
from paddle2ov.passes.index import Index


@pytest.mark.parametrize("name", ["crnn", "picodet", "swin_stage"])
def test_changes_are_known(monkeypatch, name):
    changed, listed = Graph.changed, []

    def compared(graph):
        changed(graph)
        known, asked = graph.index, Index(graph.model)
        assert known.nodes == asked.nodes
        for what in ("kinds", "readers", "of_kind", "is_free", "free"):
            assert getattr(known, what) == getattr(asked, what)
        assert list(map(list, known.sources)) == list(map(list, asked.sources))
        assert known._dims == {place: dims_of(known.nodes[place]) for place in known._dims}
        listed.append(known)

    monkeypatch.setattr(Graph, "changed", compared)
    convert(generated_network(all_networks()[name], "pir"))
    assert listed
