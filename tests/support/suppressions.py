"""What tests of suppressions share: models that look at all boxes, and which nodes compute for some boxes only."""

from collections import Counter
from unittest.mock import patch

from paddle2ov.compilation.running import compile_on_cpu, infer
from paddle2ov.converters.detection import nms, score_prefilter
from tests.support.passes_checks import check_close


def unfiltered():
    """A context where suppressions look at all boxes."""
    return patch.object(nms, "score_prefilter", lambda *_: None)


def filtered():
    """A context where suppressions look only at boxes that can survive, however few there are."""
    return patch.object(score_prefilter, "_LEAST_SCORES", 0)


def gathered(model):
    """How many nodes of each kind compute for some rows only."""
    named = (node for node in model.get_ops() if "/gathered/" in node.get_friendly_name())
    return Counter(item.get_type_name() for item in named)


def check_same(one, other, *inputs):
    """That two models give the same, compiled; returns the numbers of boxes, for each of the inputs.

    Suppressions are loops, which take long node by node.
    """
    counts = []
    assert [port.names for port in one.outputs] == [port.names for port in other.outputs]
    one, other = compile_on_cpu(one), compile_on_cpu(other)
    for feeds in inputs:
        got, wanted = ([port.array for port in infer(model, feeds)] for model in (one, other))
        check_close(got, wanted, 1e-4)
        counts.append(got[-1].tolist())
    return counts
