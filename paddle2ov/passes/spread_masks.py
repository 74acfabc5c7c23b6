"""The mask of shifted windows is added where the scores lie: OpenVINO's attention kernel takes no 5-D detour."""

from __future__ import annotations

import math

from openvino import Node, Output, Type

from paddle2ov.opset import ops
from paddle2ov.passes.graph import (
    Counts,
    Dims,
    Graph,
    dims_of,
    ints,
    name_after,
    only_consumer,
    perm_of,
    replace,
)


def spread_masks(graph: Graph) -> Counts:
    """Scores keep their rank where a mask per window is added.

    Given:
        scores [B·n, h, N, N] → Reshape [B, n, h, N, N] → Add(mask [n or 1, n, 1 or h, N, N]) → Reshape [B·n, h, N, N],
        the first axis of the mask 1 or missing.
    Result:
        scores → Add(mask [n, 1 or h, N, N], B times). OpenVINO then runs the attention as one kernel. Where B is known
        and the mask is constant, so is its repetition.
    """
    counts = {"masks": 0}
    for add in graph.nodes("Add") if graph.nodes("Softmax") else ():
        last = only_consumer(add.output(0))
        if last is None or last.get_type_name() != "Reshape":
            continue
        sides = add.input_values()
        for value, mask in (sides, sides[::-1]):
            first = value.get_node()
            if first.get_type_name() == "Reshape" and only_consumer(value) is not None and _fits(first, mask, last):
                _rewrite(first, mask, last, add.get_friendly_name())
                counts["masks"] += 1
                break
    if counts["masks"]:
        graph.changed()
    return counts


def _fits(first: Node, mask: Output, last: Node) -> bool:
    before, split, after = (dims_of(output) for output in (first.input_value(0), first.output(0), last.output(0)))
    shape = dims_of(mask)
    if not before or not split or not after or not shape or len(before) < 3 or len(split) != len(before) + 1:
        return False
    windows = split[1]
    shape = [*[1] * (len(split) - len(shape)), *shape]
    same = before[1:] == split[2:] == after[1:] and None not in before[1:] and len(after) == len(before)
    return (
        same
        and windows is not None
        and windows > 1
        and len(shape) == len(split)
        and shape[0] == 1
        and shape[1] == windows
        and all(one == 1 or one == dim for one, dim in zip(shape[2:], split[2:], strict=True))
    )


def _rewrite(first: Node, mask: Output, last: Node, name: str) -> None:
    scores = first.input_value(0)
    dims, shape = dims_of(scores), dims_of(mask)
    windows = (dims_of(first.output(0)) or [])[1]
    assert dims is not None
    assert shape is not None
    assert windows is not None
    inner = ([1] * (len(dims) + 1 - len(shape)) + [dim or 1 for dim in shape])[2:]
    flat = ops.reshape(mask, ints([windows, *inner]), False)
    length = ops.gather(ops.shape_of(_projected(scores) or scores, Type.i64), ints([0]), ints(0))
    times = ops.concat([ops.divide(length, ints([windows])), ints([1] * (len(dims) - 1))], 0)
    masked = ops.add(scores, ops.tile(flat, times))
    name_after(masked, name, "spread")
    replace(last.output(0), masked.output(0))


def _projected(value: Output) -> Output | None:
    """What scores, queries or keys are projected from, if its first dimension is theirs.

    OpenVINO takes attention as one kernel only if nothing else reads what lies between, not even its shape.
    """
    while True:
        node = value.get_node()
        if not node.get_input_size():
            return None
        kind, source = node.get_type_name(), node.input_value(0)
        before, after = dims_of(source), dims_of(value)
        if not before or not after:
            return None
        item_before, item_after = _item(before), _item(after)
        if item_before is None or item_after is None:
            return None
        if kind == "MatMul":
            other = dims_of(node.input_value(1))
            if other is not None and len(other) == 2:
                same = not node.get_attributes()["transpose_a"] and len(before) > 2
                return source if same else None
            one, another = (_projected(side) for side in node.input_values())
            return one if one is not None and one == another else None
        if kind in ("Add", "Multiply"):
            other = dims_of(node.input_value(1))
            same = other is not None and len(before) == len(after) and (len(other) < len(after) or other[0] == 1)
        elif kind == "Transpose":
            same = (perm_of(node) or [1])[0] == 0
        else:
            same = kind == "Reshape" and math.prod(item_before) == math.prod(item_after)
        if not same:
            return None
        value = source


def _item(dims: Dims) -> list[int] | None:
    """All dimensions but the first, if they are known."""
    item = [dim for dim in dims[1:] if dim is not None]
    return item if len(item) == len(dims) - 1 else None
