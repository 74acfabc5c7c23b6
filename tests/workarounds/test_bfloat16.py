"""Convolutions that OpenVINO computes wrongly in bfloat16."""

import numpy as np
import pytest
from openvino import Model
from openvino import opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import parameter, random

DEPTHS = {"one": (1, 3, 1, 1, 1), "asymmetric": (1, 3, 2, 0, 1), "dilated": (1, 3, 2, 2, 2)}


OTHER_DEPTHS = {"deeper": (2, 3, 1, 1, 0), "grows": (1, 3, 2, 1, 0), "flat": (1, 1, 0, 0, 0), "beside": (1, 3, 1, 3, 0)}


@pytest.mark.parametrize("case", [*DEPTHS.values(), *OTHER_DEPTHS.values()], ids=[*DEPTHS, *OTHER_DEPTHS])
def test_depth_padding(case):
    """Images of depth 1, filters that are deeper: in bfloat16 as in float32."""
    depth, deep, before, after, cut = case
    dilation = cut or (2 if case is OTHER_DEPTHS["beside"] else 1)
    x, filters = parameter(-1, 3, depth, 5, 4), random(2, 3, deep, 3, 3)
    out = ops.convolution(x, filters, [1, 1, 1], [before, 1, 1], [after, 1, 1], [dilation, 1, 1])
    model = Model([out], [x])
    array = random(2, 3, depth, 5, 4)
    want = compile_on_cpu(model.clone())([array])[0]
    assert row("bfloat16.deep_filter")(Graph(model)) == {"sites": 1 if cut else 0}
    np.testing.assert_allclose(compile_on_cpu(model)([array])[0], want, rtol=1e-5, atol=1e-5)
    if cut:
        np.testing.assert_allclose(compile_on_cpu(model, "default")([array])[0], want, atol=0.3)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("groups", [0, 2], ids=["one group", "groups"])
@pytest.mark.parametrize("pads", [(1, 1), (2, 0)], ids=str)
@pytest.mark.parametrize("depth", [1, -1])
def test_shallow_padding(depth, pads, groups):
    """Results that are deeper than the image, or an image of a depth that turns out to be 1: as in float32."""
    channels = 2 if groups else 3
    filters = random(2, 2, 1, 2, 3, 3) if groups else random(2, 3, 2, 3, 3)

    def build():
        x = parameter(-1, channels, depth, 5, 4)
        convolution = ops.group_convolution if groups else ops.convolution
        out = convolution(x, filters, [1, 1, 1], [pads[0], 1, 1], [pads[1], 1, 1], [1, 1, 1])
        return Model([out], [x])

    model = build()
    assert row("bfloat16.shallow_image")(Graph(model)) == {"sites": 1}
    request = compile_on_cpu(model, "default").create_infer_request()
    for size in (1, 3) if depth < 0 else (1,):
        data = random(2, channels, size, 5, 4)
        want = compile_on_cpu(build())([data])[0]
        np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(request.infer([data])[0], want, atol=0.02 * np.abs(want).max())


@pytest.mark.parametrize(
    ("dims", "filters", "pads"),
    [((3, 2), (2, 3, 2), 1), ((4, 1), (2, 4, 2), 1), ((17, -1), (2, 17, 2), 1), ((3, -1), (2, 3, 2), 0)],
    ids=["deep", "even", "many", "not padded"],
)
def test_shallow_padding_refuses(dims, filters, pads):
    x = parameter(-1, *dims, 5, 4)
    out = ops.convolution(x, random(*filters, 3, 3), [1, 1, 1], [pads, 1, 1], [pads, 1, 1], [1, 1, 1])
    assert row("bfloat16.shallow_image")(Graph(Model([out], [x]))) == {"sites": 0}


WINDOWS = {
    "padded": ((8, 1), 2, (1, 1)),
    "left over": ((8, 4), 3, (0, 0)),
    "left over in the padding": ((8, 3), 3, (0, 1)),
    "a depth": ((2, 3, 3), 3, (0, 0)),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("dims", "taps", "pads"), WINDOWS.values(), ids=WINDOWS)
def test_unit_width_strides(dims, taps, pads, groups):
    """A single window along the width: in bfloat16 as in float32."""
    rank = len(dims)
    x, array = parameter(-1, 8, *dims), random(2, 8, *dims)
    filters = random(*([groups] if groups > 1 else []), 24 // groups, 8 // groups, *[1] * (rank - 1), taps)
    convolution = ops.convolution if groups == 1 else ops.group_convolution
    none, ones = [0] * (rank - 1), [1] * (rank - 1)
    out = convolution(x, filters, [*ones, 2], [*none, pads[0]], [*none, pads[1]], [1] * rank)
    model = Model([out], [x])
    want = compile_on_cpu(model.clone())([array])[0]
    assert row("bfloat16.stride_to_width_1")(Graph(model)) == {"sites": 1}
    np.testing.assert_allclose(compile_on_cpu(model)([array])[0], want, rtol=1e-5, atol=1e-5)
    rounded = compile_on_cpu(model, "default")([array])[0]
    assert np.sqrt(((rounded - want) ** 2).mean()) < 0.05 * np.sqrt((want**2).mean())


@pytest.mark.parametrize(("stride", "width"), [(1, 2), (2, 5), (2, -1)], ids=["no stride", "wider", "unknown"])
def test_strides_of_other_widths(stride, width):
    x = parameter(-1, 8, 4, width)
    out = ops.convolution(x, random(4, 8, 1, 2), [1, stride], [0, 0], [0, 0], [1, 1])
    assert row("bfloat16.stride_to_width_1")(Graph(Model([out], [x]))) == {"sites": 0}


@pytest.mark.parametrize(("kernel", "dilation"), [((2, 2), 1), ((1, 4), 1), ((2, 3), 2)])
def test_small_group_filters(kernel, dilation):
    filters, added = random(2, 3, 1, *kernel), random(1, 6, 1, 1)

    def build():
        x = parameter(-1, 2, -1, -1)
        out = ops.group_convolution(x, filters, [2, 1], [1, 0], [0, 1], [dilation] * 2)
        return Model([ops.add(out, added)], [x])

    model, data = build(), random(1, 2, 5, 7)
    assert row("bfloat16.small_group_filters")(Graph(model)) == {"sites": 1}
    want = compile_on_cpu(build())([data])[0]
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(compile_on_cpu(model, "default")([data])[0], want, atol=0.05 * np.abs(want).max())


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("dims", "kernel"),
    [
        ((-1, 2, 1, 5), (1, 2)),
        ((-1, 2, 3, 2), (2, 2)),
        ((-1, 2, 7), (3,)),
        ((-1, 2, -1), (4,)),
        ((2, 2, -1), (5,)),
        ((-1, 2, 1, 1, 4), (1, 1, 2)),
        ((-1, 2, -1, 1, 5), (1, 1, 3)),
    ],
    ids=str,
)
def test_small_group_filters_of_any_rank(dims, kernel):
    filters, added = random(2, 3, 1, *kernel), random(1, 6, *[1] * len(kernel))
    ones, pads = [1] * len(kernel), [0] * len(kernel)

    def build():
        x = parameter(*dims)
        return Model([ops.add(ops.group_convolution(x, filters, ones, pads, pads, ones), added)], [x])

    model, data = build(), random(*(2 if size < 0 else size for size in dims[:2]), *(max(d, 5) for d in dims[2:]))
    data = data[tuple(slice(size if size > 0 else None) for size in dims)]
    assert row("bfloat16.small_group_filters")(Graph(model)) == {"sites": 1}
    want = compile_on_cpu(build())([data])[0]
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(compile_on_cpu(model, "default")([data])[0], want, atol=0.05 * np.abs(want).max())


@pytest.mark.parametrize("filters", [(2, 1, 1, 2, 2), (2, 3, 2, 2, 2), (2, 3, 1, 3, 4), (2, 3, 1, 1, 1)])
def test_small_group_filters_refuses(filters):
    x = parameter(-1, filters[0] * filters[2], -1, -1)
    out = ops.group_convolution(x, random(*filters), [1, 1], [0, 0], [0, 0], [1, 1])
    assert row("bfloat16.small_group_filters")(Graph(Model([out], [x]))) == {"sites": 0}
