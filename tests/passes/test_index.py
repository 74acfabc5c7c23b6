"""What rewrites know of a graph is what OpenVINO says of it, also where only changed nodes have been asked again."""

import pytest

from gen_models import all_networks
from gen_models.harness.store import generated_network
from paddle2ov import convert
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes import Graph
from paddle2ov.passes.index import Index


@pytest.mark.parametrize("name", ["crnn", "picodet", "swin_stage", "svtr_mixer", "permutes_ssd"])
def test_changes_are_known(monkeypatch, name):
    update, listed = Index.update, []

    def compared(known, changed):
        update(known, changed)
        asked = Index(models[-1])
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
        assert known._dims == {old: dims_of(known.nodes[old]) for old in known._dims}
        listed.append(known)

    def watch(graph):
        watched(graph)
        models.append(graph.model)

    watched, models = Graph.watch, []
    monkeypatch.setattr(Graph, "watch", watch)
    monkeypatch.setattr(Index, "update", compared)
    convert(generated_network(all_networks()[name], "pir"))
    assert listed
