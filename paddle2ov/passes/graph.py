"""The model as rewrites see it: its nodes by type, listed once for all of them."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import numpy as np
from openvino import Input, Model, Node, Output, Shape, Tensor, Type
from openvino.op import Constant

from paddle2ov.graph.aliases import alias, may_be_input
from paddle2ov.graph.evaluation import evaluate_node
from paddle2ov.graph.names import bodies_of, is_unnamed, move_name
from paddle2ov.graph.provenance import copy_operators
from paddle2ov.graph.shapes import Dims as Dims
from paddle2ov.graph.shapes import dims_of as dims_of
from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.types import bits_to_values as bits_to_values
from paddle2ov.graph.types import value_of
from paddle2ov.program.model import AnyArray

Counts: TypeAlias = dict[str, int]
"""What a rewrite did: kind -> how often."""
MatchFailures: TypeAlias = dict[str, Counts]
"""Rewrite -> reason why it left a match as it is -> how often."""

log = logging.getLogger("paddle2ov.passes")

_OWNERS = ("If", "Loop", "TensorIterator")


class Graph:
    """A model with its nodes listed by type.

    A rewrite that changes something must call `changed()`, after which the nodes are listed again. If it leaves a match
    as it is, it reports the reason: `match_failed(...)`.
    """

    def __init__(self, model: Model, match_failures: MatchFailures | None = None, *, is_branch: bool = False) -> None:
        self.model = model
        self.is_branch = is_branch
        """Whether the model is a branch, which OpenVINO inlines if the condition of the If is constant."""
        self.match_failures: MatchFailures = {} if match_failures is None else match_failures
        self._by_type: dict[str, list[Node]] = {}
        self._read_only_by: dict[tuple[str, str], bool] = {}

    def nodes(self, *kinds: str) -> list[Node]:
        """The nodes of some types, one type after the other, those of a type in topological order."""
        if not self._by_type:
            self._by_type = _listed(self.model)
        if len(kinds) == 1:
            return self._by_type.get(kinds[0], [])
        return [node for kind in kinds for node in self._by_type.get(kind, ())]

    def bodies(self) -> list[Graph]:
        """The bodies of branches and loops."""
        return [
            Graph(body, self.match_failures, is_branch=node.get_type_name() == "If")
            for node in self.nodes(*_OWNERS)
            for body in bodies_of(node)
        ]

    def is_read_only_by(self, node: Node, kind: str) -> bool:
        """Whether only nodes of one type read a node; the first answer is cached until `changed()`."""
        key = node.get_name(), kind
        if key not in self._read_only_by:
            self._read_only_by[key] = all(reader.get_type_name() == kind for reader in readers(node))
        return self._read_only_by[key]

    def changed(self) -> None:
        """Drops the cached nodes, as the graph has changed."""
        self._by_type = {}
        self._read_only_by = {}

    def match_failed(self, rewrite: str, node: Node, reason: str) -> None:
        """Counts the reason why a rewrite leaves a node as it is, and logs it at the level DEBUG."""
        reasons = self.match_failures.setdefault(rewrite, {})
        reasons[reason] = reasons.get(reason, 0) + 1
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s leaves %s '%s': %s", rewrite, node.get_type_name(), node.get_friendly_name(), reason)


def _listed(model: Model) -> dict[str, list[Node]]:
    """The nodes by type, without those in bodies.

    One list of all takes as long as three runs of OpenVINO's matcher, which finds some types, in bodies as well.
    """
    found: dict[str, list[Node]] = {}
    for node in model.get_ordered_ops():
        found.setdefault(node.get_type_name(), []).append(node)
    return found


def target_of(reshape: Node) -> list[int | Output | None] | None:
    """The elements of the target shape of a Reshape; a [1] tensor for one that is computed, None if it is not known.

    None for a shape that is neither a constant nor a Concat of constants and such tensors.
    """
    source = reshape.input_value(1)
    if source.get_node().get_type_name() != "Concat":
        known = ints_of(source)
        return None if known is None else list(known)
    found: list[int | Output | None] = []
    for piece in source.get_node().input_values():
        node = piece.get_node()
        value = ints_of(node.input_value(0) if node.get_type_name() == "Unsqueeze" else piece)
        if value is not None:
            found += value
            continue
        length = (dims_of(piece) or [None])[0]
        if length is None:
            return None
        found += [piece] if length == 1 else [None] * length
    return found


def reshaped_dims(reshape: Node) -> Dims | None:
    """The output dimensions of a Reshape; where OpenVINO infers none, the constants in its target shape, a Concat."""
    dims, source = dims_of(reshape.output(0)), reshape.input_value(1).get_node()
    if dims is None or None not in dims or source.get_type_name() != "Concat":
        return dims
    named = target_of(reshape)
    if named is None or len(named) != len(dims):
        return dims
    known = [one if isinstance(one, int) and one > 0 else None for one in named]
    return [one if one is not None else other for one, other in zip(dims, known, strict=True)]


def constant_of(output: Output) -> AnyArray | None:
    """The elements of a Constant; None for any other node.

    OpenVINO returns the bits of bfloat16 as float16: use `number_of` or `value_of` for numbers.
    """
    node = output.get_node()
    return node.get_data() if isinstance(node, Constant) else None


def number_of(output: Output) -> float | None:
    """The value of a Constant of one element, whatever its type and rank; None for any other node."""
    node = output.get_node()
    if not isinstance(node, Constant) or math.prod(node.get_output_shape(0)) != 1:
        return None
    return float(value_of(node).reshape(-1)[0])


def reshaped_constant(constant: Output, shape: Sequence[int]) -> Output:
    """A Constant with the same elements in another shape; of any type, those that NumPy lacks included."""
    node = constant.get_node()
    assert isinstance(node, Constant)
    tensor = Tensor(node.get_data().copy(), Shape(list(shape)), constant.get_element_type())
    return Constant(tensor, shared_memory=False).output(0)


def computed_constant_of(output: Output, depth: int = 4) -> AnyArray | None:
    """The value of a Constant, or of up to `depth` nodes over constants if it is as small as a bias; else None."""
    tensor = _computed(output, depth) if output.get_node().get_type_name() != "Constant" else None
    return constant_of(output) if tensor is None else tensor.data.copy()


def _computed(output: Output, depth: int) -> Tensor | None:
    node = output.get_node()
    if isinstance(node, Constant):
        return node.get_tensor_view()
    dims = static_dims(output) if depth and node.get_type_name() in _COMPUTED else None
    if dims is None or math.prod(dims) > _MAX_COMPUTED:
        return None
    inputs = [_computed(one, depth - 1) for one in node.input_values()]
    known = [one for one in inputs if one is not None]
    results = evaluate_node(node, known) if len(known) == len(inputs) else None
    return None if results is None else results[output.get_index()]


_COMPUTED = frozenset(("Broadcast", "Concat", "Convert", "Multiply", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))
_MAX_COMPUTED = 1 << 14


def ints_of(output: Output) -> list[int] | None:
    """The values of an integer Constant; None for any other node."""
    value = constant_of(output)
    return None if value is None else [int(one) for one in value.reshape(-1)]


def perm_of(node: Node) -> list[int] | None:
    """The permutation of a Transpose; None where it is computed."""
    perm = ints_of(node.input_value(1))
    if perm:
        return perm
    dims = dims_of(node.input_value(0))  # an empty order reverses the axes
    return list(range(len(dims)))[::-1] if perm is not None and dims is not None else None


def consumers(output: Output) -> list[Input]:
    """The inputs that read a tensor."""
    return list(output.get_target_inputs())


def only_consumer(output: Output) -> Node | None:
    """The only node that reads a tensor; None if there are several inputs that do."""
    inputs = output.get_target_inputs()
    return next(iter(inputs)).get_node() if len(inputs) == 1 else None


def producers(node: Node) -> list[Node]:
    """The nodes that a node reads."""
    return [value.get_node() for value in node.input_values()]


def readers(node: Node) -> list[Node]:
    """The nodes that read a node."""
    return [reader.get_node() for output in node.outputs() for reader in consumers(output)]


def nearest(
    nodes: list[Node], kinds: Collection[str], between: Collection[str], follow: Callable[[Node], list[Node]]
) -> list[Node]:
    """The nodes of types `kinds` that `follow` reaches from `nodes`, through at most six nodes of types `between`."""
    found: list[Node] = []
    seen: set[str] = set()
    for _ in range(_MAX_BETWEEN + 1):
        new = {node.get_name(): node for node in nodes if node.get_name() not in seen}
        seen |= new.keys()
        found += [node for node in new.values() if node.get_type_name() in kinds]
        nodes = [one for node in new.values() if node.get_type_name() in between for one in follow(node)]
    return found


_MAX_BETWEEN = 6
"""OpenVINO does not fuse more nodes into one kernel."""


def replace(old: Output, new: Output, *more: Node) -> None:
    """Redirects all consumers of `old` to `new`, which takes the old node's friendly name if it has none of its own.

    The nodes created to compute `new` are attributed to the operators that the node of `old` comes from, and to those
    of `more`, the other nodes that they replace.
    """
    inherit_name(new.get_node(), old.get_node(), *more)
    is_taken: bool | None = None  # whether another Result has the name of `new`; looked up once, as there may be many
    for reader in old.get_target_inputs():
        is_result = reader.get_node().get_type_name() == "Result"
        if is_result and is_taken is None:
            is_taken = _is_named(new) or may_be_input(new)
        if is_result and is_taken:
            other = alias(new)
            copy_operators(other, old.get_node(), *more)
            reader.replace_source_output(other)
        else:
            reader.replace_source_output(new)
            is_taken = True if is_result else is_taken


def inherit_name(new: Node, old: Node, *more: Node) -> None:
    """Gives a node the friendly name of the node that it replaces, if it has none of its own, and its operators."""
    if new.get_type_name() not in ("Parameter", "Constant") and is_unnamed(new):
        move_name(old, new)
    copy_operators(new.output(0), old, *more)


def insert(readers: Collection[Input], new: Output, node: Node) -> None:
    """Redirects some inputs to a tensor that was created on behalf of a node that stays."""
    copy_operators(new, node)
    for reader in readers:
        reader.replace_source_output(new)


def name_after(new: Node, old: Node, part: str | int, *more: Node) -> None:
    """Names a node after the one that it partly replaces, and attributes it to the operators of that and of `more`."""
    new.set_friendly_name(f"{old.get_friendly_name()}/{part}/{new.get_name()}")
    copy_operators(new.output(0), old, *more)


def _is_named(output: Output) -> bool:
    """Whether a tensor has a name already, as a model input or output, which another Result would take from it."""
    readers = output.get_target_inputs()
    return output.get_node().get_type_name() == "Parameter" or any(
        reader.get_node().get_type_name() == "Result" for reader in readers
    )


def without(values: Sequence[int], index: int) -> list[int]:
    """The list without the element at `index`."""
    return [value for i, value in enumerate(values) if i != index]


def ints(values: Sequence[int] | int) -> Node:
    """An int64 Constant; created without the checks of `ops.constant`, it takes a quarter of the time."""
    return Constant(np.asarray(values, np.int64))


_WITHOUT_NUMPY = (Type.bf16, Type.f8e4m3, Type.f8e5m2)


def large_constant(array: AnyArray, element_type: Type) -> Node:
    """A Constant that shares the memory of an array, if that is writeable (OpenVINO insists); else it copies.

    Elements of a type that NumPy lacks are copied: the node would not keep their memory alive.
    """
    if element_type in _WITHOUT_NUMPY:
        return Constant(Tensor(array, Shape(array.shape), element_type), shared_memory=False)
    return Constant(array if array.flags.writeable else array.copy(), shared_memory=True)


def elements_of(numbers: AnyArray, element_type: Type) -> AnyArray:
    """Numbers as the elements of a Constant: for bfloat16, which must hold them exactly, their bits as uint16."""
    if element_type == Type.bf16:
        return (numbers.view(np.uint32) >> 16).astype(np.uint16)
    return numbers
