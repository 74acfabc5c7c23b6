"""What tests of suppressions share: models that look at all boxes, and which nodes compute for some boxes only."""

from collections import Counter
from unittest.mock import patch

import numpy as np
from openvino import CompiledModel

from paddle2ov.compilation.running import compile_on_cpu, infer
from paddle2ov.converters.detection import nms, score_prefilter


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


def compiled(model):
    return model if isinstance(model, CompiledModel) else compile_on_cpu(model)


def check_same(one, other, *inputs):
    """That two models, compiled or not, give the same; returns the numbers of boxes, for each of the inputs."""
    one, other = compiled(one), compiled(other)
    counts = []
    for feeds in inputs:
        got, wanted = infer(one, feeds), infer(other, feeds)
        assert [port.names for port in got] == [port.names for port in wanted]
        for port, reference in zip(got, wanted, strict=True):
            assert port.kind == reference.kind
            assert port.array.shape == reference.array.shape
            np.testing.assert_allclose(port.array, reference.array, rtol=1e-5, atol=1e-4)
        counts.append(got[-1].array.tolist())
    return counts
