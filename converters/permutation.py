"""Permutation of elements: transposition, flips, rolls, shuffles between channels and space.

Paddle: `transpose2`, `transpose`, `flip`, `reverse`, `roll`, `pixel_shuffle`, `pixel_unshuffle`, `channel_shuffle`,
`shuffle_channel`, `space_to_depth`.
Semantics: `paddle/phi/kernels/cpu/{transpose,flip,roll}_kernel.cc`,
`paddle/phi/kernels/impl/{pixel_shuffle,pixel_unshuffle,channel_shuffle}_kernel_impl.h`.
"""

from __future__ import annotations

from collections.abc import Callable

from openvino import Node, Type

from paddle2ov.converters.graph.dims import dim_vector, normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.reshaping import keeps_shape
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import reverse_along
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


@keeps_shape
def transpose(node: NodeContext) -> NamedOutputs:
    """out[i] = x[i[perm]]: axis k of out is axis perm[k] of x; axes beyond a shorter perm stay where they are."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    perm = [normalize_axis(node, axis, rank, "perm") for axis in node.get_ints("perm")]
    perm += range(len(perm), rank)
    node.require(sorted(perm) == list(range(rank)), f"no permutation of {rank} axes", perm=perm)
    # As it is: `paddle2ov.passes.layout.transposes_to_reshapes` removes it where no data moves, and counts it.
    return {"out": ops.transpose(x, ints(perm))}


def flip(node: NodeContext) -> NamedOutputs:
    """out = x reversed along each axis."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    axes = sorted({normalize_axis(node, axis, rank) for axis in node.get_ints("axis")})
    return {"out": reverse_along(x, axes) if axes and rank else x}


def roll(node: NodeContext) -> NamedOutputs:
    """out[(i + shift) mod n] = x[i] along each axis; without axes over the flattened tensor."""
    x = node.get_input("x")
    axes = node.get_ints("axis", [])
    rank = rank_of(node, x)
    shifts = node.get_tensor("shifts", Type.i64)
    if not axes:
        flat = ops.reshape(x, ints([-1]), False)
        shift = ops.reduce_sum(shifts, ints([0]), True) if node.get_input_size("shifts") > 1 else shifts
        return {"out": ops.reshape(ops.roll(flat, shift, ints([0])), shape_of(x), False)}
    return {"out": ops.roll(x, shifts, ints([normalize_axis(node, axis, rank) for axis in axes]))}


def _channels_first(node: NodeContext) -> bool:
    layout = node.get_str("data_format", "NCHW")
    node.require(layout in ("NCHW", "NHWC"), "the layout must be NCHW or NHWC", data_format=layout)
    return bool(layout == "NCHW")


def pixel_shuffle(node: NodeContext) -> NamedOutputs:
    """out[n, c, h·r + i, w·r + j] = x[n, c·r² + i·r + j, h, w], r = upscale_factor."""
    return _rearrange_blocks(node, ops.depth_to_space, node.get_int("upscale_factor", 1))


def pixel_unshuffle(node: NodeContext) -> NamedOutputs:
    """out[n, c·r² + i·r + j, h, w] = x[n, c, h·r + i, w·r + j], r = downscale_factor."""
    return _rearrange_blocks(node, ops.space_to_depth, node.get_int("downscale_factor", 1))


def _rearrange_blocks(node: NodeContext, rearrange: Callable[..., Node], factor: int) -> NamedOutputs:
    """x rearranged in blocks of factor · factor, in its own layout."""
    x = node.get_input("x")
    if _channels_first(node):
        return {"out": rearrange(x, "depth_first", factor)}
    moved = rearrange(ops.transpose(x, ints([0, 3, 1, 2])), "depth_first", factor)
    return {"out": ops.transpose(moved, ints([0, 2, 3, 1]))}


def channel_shuffle(node: NodeContext) -> NamedOutputs:
    """out channel k·g + j = x channel j·(C/g) + k, g = groups."""
    x = node.get_input("x")
    groups = node.get_int("groups")
    axis = 1 if _channels_first(node) else 3
    return {"out": ops.shuffle_channels(x, axis, groups)}


def shuffle_channel(node: NodeContext) -> NamedOutputs:
    """out channel k·g + j = x channel j·(C/g) + k, g = group."""
    return {"out": ops.shuffle_channels(node.get_input("x"), 1, node.get_int("group", 1))}


def space_to_depth(node: NodeContext) -> NamedOutputs:
    """out = the memory of depth_to_space(x), read as blocksize² times the channels: what darknet's `reorg` does."""
    x, block = node.get_input("x"), node.get_int("blocksize")
    node.require(block > 1, "a block of more than one element is expected", blocksize=block)
    batch, channels, spatial = (dim_vector(x, axes) for axes in ([0], [1], [2, 3]))
    area = block * block
    target = ops.concat([batch, ops.multiply(channels, ints([area])), ops.divide(spatial, ints([block]))], 0)
    # Channel (i, j, c) of x gives the elements (i, j) of the blocks of channel c.
    rearranged = ops.depth_to_space(x, "blocks_first", block)
    return {"out": ops.reshape(rearranged, target, False)}
