"""Transposes move down to where they meet others or lose their meaning."""

from __future__ import annotations

from dataclasses import dataclass

from openvino import Node, Output

from paddle2ov.opset import ops
from paddle2ov.passes.graph import Counts, Graph, constant_of, ints, ints_of, name_after, only_consumer, perm_of, weight
from paddle2ov.passes.permutation import inverse
from paddle2ov.program.model import AnyArray

_UNARY = """
Abs Ceiling Clamp Convert Elu Erf Exp Floor Gelu HSigmoid HSwish HardSigmoid Log LogicalNot Mish Negative Relu Round
Selu Sigmoid Sign SoftPlus SoftSign Sqrt Swish Tanh
"""
_BINARY = """
Add Divide Equal FloorMod Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalXor Maximum Minimum Mod
Multiply NotEqual Power SquaredDifference Subtract
"""
_REDUCTIONS = """
ReduceL1 ReduceL2 ReduceLogicalAnd ReduceLogicalOr ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
"""
UNARY, BINARY, REDUCTIONS = (frozenset(names.split()) for names in (_UNARY, _BINARY, _REDUCTIONS))
_MOST_ELEMENTS = 1 << 20
"""A larger constant is not worth transposing while converting."""


def sink_transposes(graph: Graph) -> Counts:
    """A transpose moves down where that removes one.

    Given:
        x → Transpose → nodes that compute element by element with constants, reduce or pad, each the only reader of
        the one before → (a) another Transpose, (b) a node element by element, or a Concat before another Transpose,
        all of whose inputs but constants are the same Transpose, (c) a reduction after which the other axes are in
        order, or (d) a Split whose parts are read by transposes only.
    Result:
        The nodes compute on x, with axes and constants in its order; (a) the transposes stand side by side, for
        `fuse_transposes`, (b) one Transpose follows instead of several, (c) none does, (d) those that read the parts
        stand beside it.
    """
    counts = {"met another": 0, "joined": 0, "reduced away": 0, "through a split": 0}
    waiting = list(graph.nodes("Transpose"))
    gone: set[str] = set()
    for node in waiting:
        perm = perm_of(node) if node.get_name() not in gone else None
        plan = _plan(node, perm) if perm is not None else None
        if plan is None or perm is None:
            continue
        if plan.end == "joined":
            gone.update(source.get_node().get_name() for source in plan.path[-1].input_values())
        gone.add(node.get_name())
        last = _move(node, perm, plan.path)
        if plan.end == "joined":
            waiting.extend(last)  # may meet others further down
        counts[plan.end] += 1
    if any(counts.values()):
        graph.changed()
    return counts


@dataclass(frozen=True)
class _Plan:
    path: list[Node]  # the nodes that the Transpose passes
    end: str


def _plan(transpose: Node, perm: list[int]) -> _Plan | None:
    path: list[Node] = []
    output, order = transpose.output(0), perm
    while True:
        node = only_consumer(output)
        if node is None:
            return None
        kind = node.get_type_name()
        if kind == "Transpose":
            return _Plan(path, "met another") if path else None
        if kind in UNARY or (kind == "Pad" and _has_constants(node, 1, 2)):
            path.append(node)
        elif kind in BINARY or kind == "Concat":
            joins = _joins(node, output, order)
            if joins is None:
                return None
            path.append(node)
            if joins:
                return _Plan(path, "joined")
        elif kind in REDUCTIONS and _has_constants(node, 1):
            path.append(node)
            order = _order_after(node, order)
            if order == sorted(order):
                return _Plan(path, "reduced away")
        elif kind in ("Split", "VariadicSplit") and _has_constants(node, 1):
            readers = [reader.get_node() for part in node.outputs() for reader in part.get_target_inputs()]
            if readers and all(reader.get_type_name() == "Transpose" for reader in readers):
                return _Plan([*path, node], "through a split")
            return None
        else:
            return None
        output = node.output(0)


def _has_constants(node: Node, *inputs: int) -> bool:
    return all(constant_of(node.input_value(i)) is not None for i in inputs)


def _joins(node: Node, output: Output, perm: list[int]) -> bool | None:
    """Whether other inputs come from the same transpose; None where one of them stands in the way."""
    joined = False
    for source in node.input_values():
        if source == output:
            continue
        other = source.get_node()
        array = constant_of(source)
        if array is not None and node.get_type_name() != "Concat":
            if array.ndim > len(perm) or array.size > _MOST_ELEMENTS:
                return None
        elif other.get_type_name() == "Transpose" and only_consumer(source) is not None and perm_of(other) == perm:
            joined = True
        else:
            return None
    follower = only_consumer(node.output(0))
    if node.get_type_name() == "Concat" and (follower is None or follower.get_type_name() != "Transpose"):
        return None  # transposes that write where the Concat wants their results cost no more than one after it
    if node.get_type_name() in BINARY and node.get_attributes().get("auto_broadcast", "numpy") != "numpy":
        return None
    return joined


def _order_after(node: Node, perm: list[int]) -> list[int]:
    """The order of the axes after a reduction of transposed data."""
    axes = {axis % len(perm) for axis in ints_of(node.input_value(1)) or []}
    if node.get_attributes()["keep_dims"]:
        return perm
    left = [axis for i, axis in enumerate(perm) if i not in axes]
    places = {axis: i for i, axis in enumerate(sorted(left))}
    return [places[axis] for axis in left]


def _move(transpose: Node, perm: list[int], path: list[Node]) -> list[Node]:
    """Lets the nodes of a path compute on what the Transpose reads; returns the transposes that follow them."""
    source, order = transpose.output(0), perm
    value = transpose.input_value(0)
    readers = [list(part.get_target_inputs()) for part in path[-1].outputs()]
    for node in path:
        after = _order_after(node, order) if node.get_type_name() in REDUCTIONS else order
        _reorder(node, source, value, order)
        node.validate_and_infer_types()
        source = value = node.output(0)
        order = after
    followers: list[Node] = []
    for part, inputs in zip(path[-1].outputs(), readers, strict=True):
        if order == sorted(order):
            continue
        follower = ops.transpose(part, ints(order))
        name_after(follower, transpose.get_friendly_name(), len(followers))
        followers.append(follower)
        for reader in inputs:
            reader.replace_source_output(follower.output(0))
    return followers


def _reorder(node: Node, source: Output, value: Output, perm: list[int]) -> None:
    """Lets one node compute on `value`, which is `source` before the transpose."""
    kind = node.get_type_name()
    for reader in node.inputs():
        old = reader.get_source_output()
        array = constant_of(old)
        if old == source:
            reader.replace_source_output(value)
        elif kind in BINARY and array is not None:
            if array.size > 1:
                reader.replace_source_output(_reordered(array, perm).output(0))
        elif kind in BINARY or kind == "Concat":
            reader.replace_source_output(old.get_node().input_value(0))
    if kind == "Concat":
        node.set_attribute("axis", perm[node.get_attributes()["axis"] % len(perm)])
    elif kind == "Pad":
        for i in (1, 2):
            pads = ints_of(node.input_value(i)) or []
            node.input(i).replace_source_output(ints([pads[i] for i in inverse(perm)]).output(0))
    elif kind in REDUCTIONS or kind in ("Split", "VariadicSplit"):
        axes = constant_of(node.input_value(1))
        assert axes is not None
        moved = [perm[int(axis) % len(perm)] for axis in axes.reshape(-1)]
        node.input(1).replace_source_output(ints(moved if axes.ndim else moved[0]).output(0))


def _reordered(array: AnyArray, perm: list[int]) -> Node:
    full = array.reshape((1,) * (len(perm) - array.ndim) + array.shape)
    return weight(full.transpose(inverse(perm)).copy())
