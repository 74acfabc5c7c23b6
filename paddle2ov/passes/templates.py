"""Skips rewrites in clones of a body that they left unchanged before.

A converter that builds large bodies keeps each as a template (`converters/graph/loops.py`), and the clones keep the
template's name. The same rewrites do the same on the same nodes with parameters of the same types and shapes, so that
they need not run again.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeAlias

from openvino import Model

from paddle2ov.graph.bodies import bodies_of, is_template
from paddle2ov.graph.provenance import operators_of
from paddle2ov.passes.graph import Counts, MatchFailures, log

Outcome: TypeAlias = tuple[dict[str, Counts], MatchFailures]
"""What rewrites did, and why they left matches as they are."""

_MAX_KEPT = 64
_known: OrderedDict[Hashable, Outcome | None] = OrderedDict()
"""What rewrites did to templates that they do not change; None for those that were met once, or are changed."""


def outcome(body: Model, rewrites: Hashable, rewrite: Callable[[Model], Outcome]) -> Outcome:
    """What `rewrite` does to a body; it is not called if it is known to change nothing.

    Args:
        body: the body, not rewritten yet.
        rewrites: the rewrites that `rewrite` runs.
        rewrite: runs them in a body.
    """
    if not is_template(body) or log.isEnabledFor(logging.DEBUG):  # there each node is logged
        return rewrite(body)
    inputs = [
        (str(parameter.get_element_type()), parameter.get_partial_shape().to_string())
        for parameter in body.get_parameters()
    ]
    key = body.get_friendly_name(), rewrites, *inputs
    result = _known.get(key)
    if result is None:
        # Comparing takes as long as the rewrites: it pays from the third clone on, and most processes meet no second.
        before = _content(body) if key in _known else None
        result = rewrite(body)
        _known[key] = result if before is not None and _content(body) == before else None
        while len(_known) > _MAX_KEPT:
            _known.popitem(last=False)
    body.set_friendly_name(body.get_name())  # what is done to it from now on is not done to other clones
    done, failures = result
    return {name: {**counts} for name, counts in done.items()}, failures


def _content(model: Model) -> list[Hashable]:
    """What a rewrite may change: the nodes in order, with their inputs, outputs, attributes, names and operators."""
    content: list[Hashable] = []
    for node in model.get_ordered_ops():
        read = tuple((value.get_node().get_name(), value.get_index()) for value in node.input_values())
        written = tuple(
            (output.get_partial_shape().to_string(), str(output.get_element_type())) for output in node.outputs()
        )
        about = tuple((name, str(value)) for name, value in node.get_attributes().items())
        noted = *node.get_rt_info().keys(), operators_of(node)
        content.append((node.get_name(), node.get_friendly_name(), about, noted, read, written))
        for body in bodies_of(node):
            content += _content(body)
    return content
