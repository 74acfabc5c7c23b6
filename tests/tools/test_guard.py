"""A conversion does no more than it did: what is counted stays below the recorded ceilings."""

import pytest

from benchmarks import conversion_kinds, guard
from paddle2ov.workarounds import rewrites_for

NETWORKS = ("choosing_queries", "db", "dense_flow", "grown_states", "permutes_yolo", "series_blocks", "squeezenet1_1")

NEEDS_PROFILER = pytest.mark.skipif(not guard.COUNTS_ALL, reason="the profiler of this Python misses calls")


@NEEDS_PROFILER
@pytest.mark.parametrize("network", NETWORKS)
def test_counts_stay_below_their_ceilings(network):
    assert guard.above({network: guard.counted(network)}, guard.ceilings()) == []


@NEEDS_PROFILER
def test_a_slow_rewrite_is_noticed(monkeypatch):
    def look_at_every_node(graph):
        for node in graph.model.get_ordered_ops():
            node.get_type_name()
        return {}

    before = {"db": guard.counted("db")}
    monkeypatch.setattr(guard, "rewrites_for", lambda target: (*rewrites_for(target), look_at_every_node))
    (line,) = guard.above({"db": guard.counted("db")}, before)
    assert line.startswith("db: rewrites: bindings ")


def test_every_network_has_ceilings():
    names = {name for kind in conversion_kinds.KINDS.values() for name in kind}
    assert names == guard.ceilings().keys(), "python -m benchmarks.guard NAME --record; those of others go"
