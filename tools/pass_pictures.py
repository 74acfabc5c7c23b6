"""Draw what each rewrite of paddle2ov/passes does: a small graph before and after it, as SVG.

    python -m tools.pass_pictures FOLDER

The pictures show what the rewrites really make of these graphs; the documentation's build calls this.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from statistics import fmean

import numpy as np
from openvino import Model, Node, Output
from openvino.op import Parameter

from paddle2ov.graph.opset import ops
from paddle2ov.graph.upstream import upstream
from paddle2ov.passes import REWRITES, run_rewrites

MOVES = {"Transpose", "Roll", "Gather", "Split", "VariadicSplit", "Reshape", "Slice", "Concat"}
"""Nodes that move data, or may; they are drawn in a colour of their own."""

WIDTH, HEIGHT, GAP, LAYER = 150.0, 34.0, 26.0, 62.0
"""Of a node, between two, and of a layer."""

STYLE = """
text { font: 12px system-ui, sans-serif; text-anchor: middle; fill: #1c2733 }
.shape { font-size: 10px; fill: #5b6b7b } .title { font-weight: 600; font-size: 13px }
rect { fill: #eef2f6; stroke: #9fb0c0 } rect.moves { fill: #ffe9d6; stroke: #d98a45 }
path { fill: none; stroke: #9fb0c0 } .ground { fill: #ffffff; stroke: none }
"""


def parameter(*shape: int) -> Output:
    return ops.parameter(list(shape), np.float32).output(0)


def weight(*shape: int) -> Node:
    return ops.constant(np.linspace(0.5, 1.5, int(np.prod(shape)), dtype=np.float32).reshape(shape))


def reshape(x: Node | Output, *shape: int) -> Node:
    return ops.reshape(x, np.array(shape), False)


def transpose(x: Node | Output, *axes: int) -> Node:
    return ops.transpose(x, np.array(axes))


def model(*values: Node | Output) -> Model:
    results = [ops.result(value) for value in values]
    return Model(results, [node for node in upstream(results) if isinstance(node, Parameter)])


def permutes_without_moves() -> Model:
    """Three permutes of a detector's head; one moves data."""
    head = parameter(1, 255, 19, 19)
    pooled = transpose(parameter(1, 512, 1, 1), 0, 2, 3, 1)
    row = transpose(parameter(1, 1, 8, 4), 1, 0, 2, 3)
    return model(transpose(head, 0, 2, 3, 1), pooled, row)


def chain() -> Model:
    """There and back; there and elsewhere."""
    x = transpose(parameter(2, 8, 4, 4), 0, 2, 3, 1)
    return model(ops.relu(transpose(x, 0, 3, 1, 2)), transpose(x, 0, 3, 2, 1))


def between_layouts() -> Model:
    """A residual sum in NHWC between convolutions in NCHW."""
    steps = [1, 1], [0, 0], [0, 0], [1, 1]
    x = ops.relu(transpose(parameter(2, 8, 4, 4), 0, 2, 3, 1))
    y = ops.convolution(transpose(x, 0, 3, 1, 2), weight(8, 8, 1, 1), *steps)
    y = ops.add(ops.multiply(transpose(y, 0, 2, 3, 1), weight(8)), x)
    return model(ops.convolution(transpose(y, 0, 3, 1, 2), weight(8, 8, 1, 1), *steps))


def attention() -> Model:
    """A fused projection to q, k and v."""
    x = ops.add(ops.matmul(parameter(4, 49, 96), weight(96, 288), False, False), weight(288))
    parts = transpose(reshape(x, 4, 49, 3, 3, 32), 2, 0, 3, 1, 4)
    q, k, v = (ops.gather(parts, np.array(i), np.array(0)) for i in range(3))
    scores = ops.softmax(ops.matmul(q, k, False, True), -1)
    return model(ops.matmul(scores, v, False, False))


def windows() -> Model:
    """Shifted windows of 4 x 4 tokens, cut out."""
    x = ops.roll(parameter(1, 8, 8, 32), np.array([-2, -2]), np.array([1, 2]))
    return model(reshape(transpose(reshape(x, 1, 2, 4, 2, 4, 32), 0, 1, 3, 2, 4, 5), 4, 16, 32))


def corners() -> Model:
    """Every other row and column, from four corners."""
    x = parameter(1, 8, 8, 32)
    ends, steps, axes = np.array([8, 8]), np.array([2, 2]), np.array([1, 2])
    return model(ops.concat([ops.slice(x, np.array([i, j]), ends, steps, axes) for j in (0, 1) for i in (0, 1)], 3))


def grids() -> Model:
    """Tokens of a picture, convolved as one."""
    x = ops.parameter([-1, 64, 32], np.float32).output(0)
    image = reshape(transpose(x, 0, 2, 1), -1, 32, 8, 8)
    return model(ops.group_convolution(image, weight(32, 1, 1, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]))


def masks() -> Model:
    """A mask for each of four windows."""
    q, k, v = parameter(8, 3, 49, 32), parameter(8, 3, 49, 32), parameter(8, 3, 49, 32)
    scores = ops.matmul(q, k, False, True)
    masked = ops.add(reshape(scores, 2, 4, 3, 49, 49), weight(1, 4, 1, 49, 49))
    return model(ops.matmul(ops.softmax(reshape(masked, 8, 3, 49, 49), -1), v, False, False))


def key() -> Model:
    """k is transposed for the product with q."""
    q, k = parameter(2, 3, 49, 32), parameter(2, 3, 49, 32)
    return model(ops.softmax(ops.matmul(q, transpose(k, 0, 1, 3, 2), False, False), -1))


def sequence() -> Model:
    """A convolution of a sequence, and what follows it."""
    x = ops.unsqueeze(parameter(2, 8, 40), np.array([2]))
    y = ops.convolution(x, weight(8, 8, 1, 3), [1, 1], [0, 1], [0, 1], [1, 1])
    y = ops.squeeze(ops.add(y, weight(1, 8, 1, 1)), np.array([2]))
    return model(ops.relu(ops.multiply(y, weight(1, 8, 1))))


def longer_sequence() -> Model:
    """A transposed convolution of a sequence, and its batch norm."""
    x = ops.unsqueeze(parameter(2, 8, 40), np.array([3]))
    y = ops.squeeze(ops.convolution_backprop_data(x, weight(8, 8, 2, 1), [2, 1]), np.array([3]))
    return model(ops.add(ops.multiply(y, weight(1, 8, 1)), weight(1, 8, 1)))


def decoder() -> Model:
    """The boxes of a feature map, of which some are gathered."""
    codes = transpose(parameter(1, 12, 10, 10), 0, 2, 3, 1)
    boxes = ops.multiply(ops.exp(reshape(codes, 1, 300, 4)), weight(300, 1))
    index = ops.squeeze(ops.non_zero(ops.parameter([300], np.bool_), "i64"), np.array(0))
    return model(ops.gather(boxes, index, np.array(1)))


def spectrum() -> Model:
    """The lowest frequencies of an image, as two parts."""
    pairs = ops.multiply(ops.rdft(parameter(1, 8, 32, 32), np.array([2, 3])), np.float32(0.1))
    bounds = np.array([0, 0]), np.array([8, 8]), np.array([1, 1]), np.array([2, 3])
    return model(*(ops.slice(ops.gather(pairs, np.array(i), np.array(-1)), *bounds) for i in (0, 1)))


PICTURES: dict[str, Callable[[], Model]] = {
    "transposes_to_reshapes": permutes_without_moves,
    "split_qkv": attention,
    "gather_windows": windows,
    "merge_patches": corners,
    "add_masks_to_scores": masks,
    "absorb_transposes": key,
    "squeeze_unit_axes": sequence,
    "sink_squeezes": longer_sequence,
    "move_transposes": between_layouts,
    "fuse_transposes": chain,
    "transforms_to_products": spectrum,
    "gather_pushdown": decoder,
    "transpose_feature_maps": grids,
}
"""Rewrite -> the graph it is shown on."""


def layout(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Centres of nodes, in topological order: layers by longest path, in each near what they are joined to."""
    ranks = [0] * count
    for source, target in edges:
        ranks[target] = max(ranks[target], ranks[source] + 1)
    for node in range(count - 1, -1, -1):  # sources stand right above their first reader
        if all(target != node for _, target in edges) and (readers := [b for a, b in edges if a == node]):
            ranks[node] = min(ranks[reader] for reader in readers) - 1
    beside = [[b if a == node else a for a, b in edges if node in (a, b)] for node in range(count)]
    layers = [[node for node in range(count) if ranks[node] == rank] for rank in range(max(ranks) + 1)]
    xs = [float(layers[rank].index(node)) for node, rank in enumerate(ranks)]
    for _ in range(60):
        for layer in layers:
            wanted = {node: fmean([xs[other] for other in beside[node]] or [xs[node]]) for node in layer}
            layer.sort(key=lambda node: wanted[node])
            middle = fmean(wanted.values())
            for i, node in enumerate(layer):
                xs[node] = middle + (i - (len(layer) - 1) / 2) * (WIDTH + GAP)
    left = min(xs) - WIDTH / 2
    return [(x - left, (rank + 0.5) * LAYER) for x, rank in zip(xs, ranks, strict=True)]


def drawing(graph: Model) -> tuple[str, float, float]:
    """The SVG elements of a graph, and its size. Constants are not drawn; an edge past a layer bends aside."""
    nodes = [node for node in graph.get_ordered_ops() if node.get_type_name() != "Constant"]
    number = {node.get_name(): i for i, node in enumerate(nodes)}
    edges = [
        (number[source], number[node.get_name()])
        for node in nodes
        for port in node.inputs()
        if (source := port.get_source_output().get_node().get_name()) in number
    ]
    positions = layout(len(nodes), edges)
    width = max(x for x, _ in positions) + WIDTH / 2
    parts = []
    for (x0, y0), (x1, y1) in ((positions[source], positions[target]) for source, target in edges):
        far = WIDTH if y1 - y0 > LAYER and abs(x1 - x0) < WIDTH else 0.0
        y0, y1 = y0 + HEIGHT / 2, y1 - HEIGHT / 2
        bend = min(LAYER, (y1 - y0) / 2)
        curve = f"{x0 + far:.0f},{y0 + bend:.0f} {x1 + far:.0f},{y1 - bend:.0f} {x1:.0f},{y1:.0f}"
        parts.append(f'<path d="M{x0:.0f},{y0:.0f} C{curve}"/>')
        width = max(width, max(x0, x1) + far)
    for node, (x, y) in zip(nodes, positions, strict=True):
        kind = node.get_type_name()
        moves = ' class="moves"' if kind in MOVES else ""
        shape = escape(str(node.get_output_partial_shape(0)))
        parts.append(
            f'<rect{moves} x="{x - WIDTH / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{WIDTH:.0f}" height="{HEIGHT:.0f}"'
            f' rx="4"/><text x="{x:.0f}" y="{y - 2:.0f}">{kind}</text>'
            f'<text class="shape" x="{x:.0f}" y="{y + 12:.0f}">{shape}</text>'
        )
    return "".join(parts), width, LAYER * (max(y for _, y in positions) // LAYER + 1)


def picture(name: str) -> str:
    """Before and after, side by side."""
    graph = PICTURES[name]()
    before = drawing(graph)
    done = run_rewrites(graph, tuple(rewrite for rewrite in REWRITES if rewrite.__name__ == name))
    if not any(count for counts in done.values() for count in counts.values()):
        raise RuntimeError(f"{name} did nothing to its example")
    after = drawing(graph)
    left, top, gap = 20.0, 50.0, 90.0
    width = left * 2 + before[1] + gap + after[1]
    height = top + max(before[2], after[2]) + 10
    panels = ""
    for title, (elements, size, _), x in (("before", before, left), ("after", after, left + before[1] + gap)):
        panels += f'<text class="title" x="{x + size / 2:.0f}" y="20">{title}</text>'
        panels += f'<g transform="translate({x:.0f},{top:.0f})">{elements}</g>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"><style>{STYLE}</style>'
        f'<rect class="ground" width="100%" height="100%"/>{panels}</svg>\n'
    )


def main(arguments: list[str]) -> int:
    """Write a picture for each rewrite."""
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name in PICTURES:
        (folder / f"{name}.svg").write_text(picture(name))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
