"""Convolutions that OpenVINO computes wrongly in bfloat16."""

import pytest
from openvino import opset16 as ops

from paddle2ov.workarounds.table import row
from tests.support.passes_checks import compare, random, stays_test


def convolved(filters, before=(), after=(), strides=(), dilations=(), groups=False):
    """A convolution by filters, or by those of groups, with nothing padded and no strides where none are given."""
    rank = len(filters) - (3 if groups else 2)
    layer, none, ones = ops.group_convolution if groups else ops.convolution, [0] * rank, [1] * rank
    geometry = [list(strides or ones), list(before or none), list(after or none), list(dilations or ones)]
    weights = random(*filters)
    return lambda x: layer(x, weights, *geometry)


WINDOWS = {
    "padded": ((8, 1), 2, (1, 1)),
    "left over": ((8, 4), 3, (0, 0)),
    "left over in the padding": ((8, 3), 3, (0, 1)),
    "a depth": ((2, 3, 3), 3, (0, 0)),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("dims", "taps", "pads"), WINDOWS.values(), ids=WINDOWS)
def test_strides_to_width_1(dims, taps, pads, groups):
    """A single window along the width: in bfloat16 as in float32."""
    none, ones = [0] * (len(dims) - 1), [1] * (len(dims) - 1)
    filters = (*([groups] if groups > 1 else []), 24 // groups, 8 // groups, *ones, taps)
    build = convolved(filters, [*none, pads[0]], [*none, pads[1]], [*ones, 2], groups=groups > 1)
    compare(row("bfloat16.stride_to_width_1"), build, (-1, 8, *dims), rounded=0.05)


SMALL_FILTERS = {
    **{
        f"{kernel}, dilated by {dilation}": ((-1, 2, -1, -1), kernel, (2, 1), (1, 0), (0, 1), dilation)
        for kernel, dilation in (((2, 2), 1), ((1, 4), 1), ((2, 3), 2))
    },
    **{
        f"{kernel} over {dims}": (dims, kernel, (), (), (), 1)
        for dims, kernel in (
            ((-1, 2, 1, 5), (1, 2)),
            ((-1, 2, 7), (3,)),
            ((2, 2, -1), (5,)),
            ((-1, 2, -1, 1, 5), (1, 1, 3)),
        )
    },
}


@pytest.mark.parametrize(
    ("dims", "kernel", "strides", "before", "after", "dilation"), SMALL_FILTERS.values(), ids=SMALL_FILTERS
)
def test_small_group_filters(dims, kernel, strides, before, after, dilation):
    added = random(1, 6, *[1] * len(kernel))
    layer = convolved((2, 3, 1, *kernel), before, after, strides, [dilation] * len(kernel), groups=True)
    shapes = [[[2 if i < 1 else 7 if size < 0 else size for i, size in enumerate(dims)]]]
    name = "bfloat16.small_group_filters"
    compare(row(name), lambda x: ops.add(layer(x), added), dims, shapes=shapes, rounded=0.05)


STAYS = {
    "bfloat16.stride_to_width_1": {
        name: (convolved((4, 8, 1, 2), strides=[1, stride]), (-1, 8, 4, width))
        for name, stride, width in (("no stride", 1, 2), ("wider", 2, 5), ("unknown", 2, -1))
    },
    "bfloat16.small_group_filters": {
        str(filters): (convolved(filters, groups=True), (-1, filters[0] * filters[2], -1, -1))
        for filters in ((2, 1, 1, 2, 2), (2, 3, 2, 2, 2), (2, 3, 1, 3, 4), (2, 3, 1, 1, 1))
    },
}

test_stays = stays_test(STAYS)
