"""Sizes of inputs that fit each other, found by OpenVINO's own shape inference.

Inputs of unknown sizes may depend on each other: a mask is as long as the ids, an image is a multiple of 32. The model
knows: with sizes that do not fit, its shapes cannot be inferred, and OpenVINO names the node where they meet. Sizes are
changed until shape inference gets past that node, and so on.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from itertools import combinations, permutations
from math import lcm, prod

from openvino import Dimension, Model, Node, PartialShape
from openvino.passes import ConstantFolding, Manager

from paddle2ov.graph.bodies import bodies_of
from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.node_kinds import BINARY
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.inputs.usual_sizes import clamp

Sizes = dict[str, tuple[int, ...]]
"""The shapes of inputs by their names."""
Free = Mapping[tuple[str, int], Dimension]
"""The dimensions of inputs that may be chosen, as (name, axis), and the bounds of each."""

_MULTIPLES = (2, 4, 8, 16, 32, 64)
_MOST_TRIES, _MOST_SPREADS = 3000, 40
_MOST_CONSTANTS, _MOST_NODES, _MOST_DIMS = 16, 60, 50
_Score = tuple[float, int]
_FITS: _Score = float("inf"), 0


class ShapeProbe:
    """Infers the shapes of a model for sizes of its inputs.

    Attributes:
        model: a copy, with the shapes of the last sizes.
        at_fault: the node where these do not fit.
    """

    def __init__(self, model: Model) -> None:
        self._unfolded = self.model = model.clone()
        self.at_fault: Node | None = None
        _reveal(self.model)
        ordered = list(_with_bodies(self.model))
        self._nodes = {node.get_friendly_name(): (i, node) for i, node in enumerate(ordered)}
        self._reshapes = [node for node in self.model.get_ops() if node.get_type_name() == "Reshape"]
        self._parameters = {
            name: node
            for node in self.model.get_parameters()
            for name in (node.get_friendly_name(), *node.output(0).get_names())
        }

    def infer(self, sizes: Mapping[str, tuple[int, ...]]) -> _Score:
        """How far shape inference gets: the place of the node that refuses the sizes, and how few sizes clash there."""
        for name, shape in sizes.items():
            parameter = self._parameters.get(name)
            if parameter is not None:
                rank = parameter.get_partial_shape().rank
                pairs = [2] if rank.is_static and rank.get_length() == len(shape) + 1 else []
                parameter.set_partial_shape(PartialShape([*shape, *pairs]))
        self.model, self.at_fault = self._unfolded, None
        try:
            self.model.validate_nodes_and_infer_types()
            if any(static_dims(reshape.input_value(0)) and not static_dims(reshape) for reshape in self._reshapes):
                # Sizes that are computed by more than shape inference follows.
                self.model = self._unfolded.clone()
                folding = Manager()
                folding.register_pass(ConstantFolding())
                folding.run_passes(self.model)
        except RuntimeError as error:
            names = re.findall(r"with friendly_name '([^']*)'", str(error))
            known = [name for name in names if name in self._nodes]
            if not known:
                return -1, 0
            place, node = self._nodes[known[-1]]
            if self.model is not self._unfolded:
                node = next((body for body in _with_bodies(self.model) if body.get_friendly_name() == known[-1]), node)
            self.at_fault = node
            return place, -_clashes(node)
        return _FITS


def _with_bodies(model: Model) -> Iterator[Node]:
    """The nodes in order, those of branches and of bodies of loops before their owner."""
    for node in model.get_ordered_ops():
        for body in bodies_of(node):
            yield from _with_bodies(body)
        yield node


def _reveal(model: Model) -> None:
    """Lets shape inference see the sizes that `opaque_values.opaque_one` hides from it."""
    for node in model.get_ops():
        if node.get_type_name() != "ReduceLogicalOr" or static_dims(node) != [1]:
            continue
        if node.input_value(0).get_node().input_value(0).get_node().get_type_name() == "Slice":
            for reader in consumers(node.output(0)):
                reader.replace_source_output(ops.constant([True]).output(0))


def fit_sizes(probe: ShapeProbe, sizes: Sizes, free: Free) -> Sizes:
    """Changes free sizes until the shapes of the model can be inferred, as far as such sizes are found."""
    score, tries, step = probe.infer(sizes), 0, 1
    while probe.at_fault is not None and tries < _MOST_TRIES:
        for changed, multiple in _proposals(probe.at_fault, sizes, free, step):
            tries += 1
            reached = probe.infer(changed)
            if reached > score:
                sizes, score, step = changed, reached, lcm(step, multiple)
                break
            if tries == _MOST_TRIES:
                break
        else:
            break
    probe.infer(sizes)
    return sizes


def spread_sizes(probe: ShapeProbe, sizes: Sizes, free: Free) -> Sizes:
    """Makes equal free sizes differ that nothing in the model ties together, so that swapped axes show.

    Heights and widths of pictures stay.
    """
    unused = (size for size in itertools.count(2) if all(size not in shape for shape in sizes.values()))
    tries = itertools.count()
    for size in sorted({size for shape in sizes.values() for size in shape} - {0, 1}):
        group = [
            (name, axis)
            for name, axis in free
            if sizes[name][axis] == size and (len(sizes[name]) < 4 or len(sizes[name]) - axis > 2)
        ]
        while len(group) > 1:
            other = next(unused)
            parts = itertools.chain.from_iterable(combinations(group[1:], count) for count in range(len(group) - 1))
            attempts = ((part, candidate) for part in parts for candidate in (other, size * other))
            for part, candidate in attempts:
                changed = _with(sizes, dict.fromkeys((group[0], *part), candidate), free)
                if next(tries) == _MOST_SPREADS:
                    probe.infer(sizes)
                    return sizes
                if probe.infer(changed) == _FITS:
                    sizes, group = changed, [place for place in group[1:] if place not in part]
                    break
            else:
                break
    probe.infer(sizes)
    return sizes


def _clashes(node: Node) -> int:
    """How many dimensions of the operands of an elementwise operation or a Concat cannot be broadcast."""
    kind = node.get_type_name()
    if kind not in BINARY and kind not in ("Concat", "Select"):
        return 0
    shapes = [static_dims(value) or [] for value in node.input_values()]
    length = max(map(len, shapes))
    columns = zip(*([1] * (length - len(shape)) + shape for shape in shapes), strict=True)
    return sum(len(set(sizes) - {1}) > 1 for sizes in columns)


def _proposals(node: Node, sizes: Sizes, free: Free, step: int) -> Iterator[tuple[Sizes, int]]:
    """Other sizes that may fit at a node, and what they are multiples of: a common one of this and of `step`.

    Sizes that meet at the node are made equal: one of them, by ratio or difference, or all that are the same. Where no
    size is to be 1, which fits whatever it is broadcast to, those come first.
    """
    different = dict.fromkeys(dim for value in node.input_values() for dim in dims_of(value) or () if dim)
    dims = list(different)[:_MOST_DIMS]  # each pair of them is a proposal: a Concat may have thousands of inputs
    now = {place: sizes[place[0]][place[1]] for place in free}
    pairs = list(permutations(dims, 2))
    wide = [(a, b) for a, b in pairs if b > 1]
    changes: list[tuple[dict[tuple[str, int], int], int]] = []
    for a, b in wide:
        changes += [({place: b}, 1) for place, size in now.items() if size == a]
    for a, b in wide:
        for place, size in now.items():
            changes += [({place: size * b // a}, 1)] if size * b % a == 0 else []
            changes += [({place: size + b - a}, 1)] if size + b > a else []
    changes += [({place: b for place, size in now.items() if size == a}, 1) for a, b in wide]
    factors = [
        fromkey for fromkey in dict.fromkeys((*_MULTIPLES, *_constants(node), *dims)) if 1 < fromkey <= _MULTIPLES[-1]
    ]
    for multiple in dict.fromkeys(factor * power for factor in factors for power in (1, *_MULTIPLES)):
        common = lcm(multiple, step)
        rounded = {place: -(-size // common) * common for place, size in now.items()}
        changes += [({place: size}, multiple) for place, size in rounded.items() if size != now[place]]
        changes += [({place: size for place, size in rounded.items() if place[1]}, multiple)]
    for a, b in pairs:
        changes += [({place: b}, 1) for place, size in now.items() if size == a and b == 1]
    for change, multiple in changes:
        yield _with(sizes, change, free), multiple


def _constants(node: Node) -> Iterator[int]:
    """Numbers that small operands of a node are computed from, such as the sizes that a Reshape is to give."""
    waiting, seen = list(node.input_values()), 0
    while waiting and seen < _MOST_NODES:
        value, seen = waiting.pop(0), seen + 1
        dims = static_dims(value)
        if dims is not None and prod(dims) <= _MOST_CONSTANTS and value.get_element_type().is_integral():
            yield from ints_of(value) or ()
            waiting += value.get_node().input_values()


def _with(sizes: Sizes, changes: Mapping[tuple[str, int], int], free: Free) -> Sizes:
    """The sizes with some of them changed, within the bounds."""
    changed = {name: list(shape) for name, shape in sizes.items()}
    for (name, axis), size in changes.items():
        changed[name][axis] = clamp(free[name, axis], max(size, 1))
    return {name: tuple(shape) for name, shape in changed.items()}
