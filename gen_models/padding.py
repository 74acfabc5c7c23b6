"""Padding: modes, layouts, negative and computed paddings."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gen_models.harness.marks import COMPLEX_HERE, F64
from gen_models.harness.spec import Case, Op, case, paddle, tensor


def _pad(x, pad, *, mode="constant", value=0.0, data_format="NCHW") -> Any:
    return paddle.nn.functional.pad(x, pad, mode, value, data_format)


PAD = [
    case(x=tensor([2, 3]), pad=[1, 0, 2, 1]),
    case(x=tensor([2, 3]), pad=[1, 0, 2, 1], value=1.5),
    case(x=tensor([4]), pad=[1, 2], value=-1.0),
    case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), pad=[0, 1, 2, 0, 1, 1]),
    case(x=tensor([2, 3, 4, 5]), pad=[0, 0, 1, 2, 0, 1, 3, 0], value=2.0),
    case(x=tensor([2, 3, 4, 5, 2]), pad=[0, 0, 1, 2, 0, 1, 3, 0, 1, 1]),
    case(x=tensor([2, 3], "int64"), pad=[1, 0, 2, 1], value=7),
    case(x=tensor([2, 3], "int32"), pad=[1, 0, 2, 1]),
    case(x=tensor([2, 3], "float64"), pad=[1, 0, 2, 1], **F64),
    case(x=tensor([2, 3]), pad=[1, 1, 0, 0], value=float("-inf")),
    case(
        x=tensor([2, 3], dims=[-1, 3]),
        pad=[1, 0, 2, 1],
        value=tensor([1], values=[2.5]),
        formats=("pir",),
        why="Paddle 2.6 forgets to feed a tensor that only an attribute names",
    ),
    case(
        x=tensor([3], "int64", values=[2**24 + 1, 2**31 - 1, 5], dims=[-1]),
        pad=[1, 0],
        value=tensor([1], "int64", values=[2**25 + 3]),
        formats=("pir",),
        why="Paddle 2.6 forgets to feed a tensor that only an attribute names",
    ),
    case(x=tensor([2, 3], "complex64", dims=[-1, 3]), pad=[1, 0, 2, 1], value=1.5, **COMPLEX_HERE),
]

PAD3D = [
    case(x=tensor([1, 2, 3, 4]), pad=[1, 2, 0, 1]),
    case(x=tensor([1, 2, 3, 4], dims=[-1, 2, -1, -1]), pad=[1, 2, 0, 1], value=1.5),
    case(x=tensor([1, 2, 3, 4]), pad=[1, 2, 0, 1], mode="reflect"),
    case(x=tensor([1, 2, 3, 4]), pad=[3, 2, 2, 1], mode="reflect"),
    case(x=tensor([1, 2, 3, 4]), pad=[5, 2, 4, 1], mode="replicate"),
    case(x=tensor([1, 2, 3, 4], dims=[-1, 2, -1, -1]), pad=[1, 2, 0, 1], mode="circular"),
    case(x=tensor([1, 2, 3, 4]), pad=[6, 5, 4, 7], mode="circular"),
    case(x=tensor([1, 3, 4, 2]), pad=[1, 2, 0, 1], data_format="NHWC", value=1.0),
    case(x=tensor([1, 3, 4, 2]), pad=[1, 2, 0, 1], data_format="NHWC", mode="reflect"),
    case(x=tensor([1, 3, 4, 2], dims=[-1, -1, -1, 2]), pad=[1, 2, 0, 1], data_format="NHWC", mode="circular"),
    case(x=tensor([1, 2, 4]), pad=[1, 2], data_format="NCL"),
    case(x=tensor([1, 2, 4]), pad=[1, 2], data_format="NCL", mode="replicate"),
    case(x=tensor([1, 4, 2]), pad=[1, 2], data_format="NLC", mode="reflect"),
    case(x=tensor([1, 2, 3, 4, 5]), pad=[1, 2, 0, 1, 2, 0], data_format="NCDHW"),
    case(x=tensor([1, 2, 3, 4, 5]), pad=[1, 2, 0, 1, 2, 0], data_format="NCDHW", mode="reflect"),
    case(x=tensor([1, 2, 3, 4, 5]), pad=[1, 2, 0, 1, 2, 0], data_format="NCDHW", mode="circular"),
    case(x=tensor([1, 3, 4, 5, 2]), pad=[1, 2, 0, 1, 2, 0], data_format="NDHWC", mode="replicate"),
    case(x=tensor([1, 3, 4, 5, 2]), pad=[1, 2, 0, 1, 2, 0], data_format="NDHWC", value=-2.0),
    case(x=tensor([1, 2, 5, 6]), pad=[-1, 2, 1, -2]),
    case(x=tensor([1, 2, 5, 6]), pad=[-1, -1, 0, -2], value=3.0),
    case(x=tensor([1, 2, 5, 6]), pad=[-1, 2, 1, -2], mode="reflect"),
    case(x=tensor([1, 2, 5, 6]), pad=[-1, 2, 1, -2], mode="replicate"),
    case(x=tensor([1, 2, 3, 4]), pad=tensor([4], "int32", values=[1, 2, 0, 1])),
    case(x=tensor([1, 2, 3, 4]), pad=tensor([4], "int32", values=[1, 2, 0, 1]), mode="reflect"),
    case(x=tensor([1, 2, 3, 4]), pad=tensor([4], "int32", values=[1, 2, 0, 1]), mode="replicate"),
    case(x=tensor([1, 2, 3, 4]), pad=tensor([4], "int32", values=[1, 5, 0, 1]), mode="circular"),
    case(x=tensor([1, 3, 4, 2]), pad=tensor([4], "int32", values=[1, 2, 0, 1]), data_format="NHWC", value=2.0),
    case(x=tensor([1, 2, 3, 4], "int64"), pad=[1, 2, 0, 1], value=3),
    case(x=tensor([1, 2, 3, 2]), pad=tensor([4], "int32", values=[-3, 4, 4, -5]), value=1.5),
    case(x=tensor([1, 2, 3, 2]), pad=[-3, 4, 4, -5], value=1.5),
    case(x=tensor([1, 2, 4], "complex64"), pad=[1, 2], data_format="NCL", value=1.5, **COMPLEX_HERE),
]


def _pad_random(draw) -> Case:
    shape = [draw(st.integers(1, 4)) for _ in range(draw(st.integers(1, 5)))]
    pad = [draw(st.integers(0, 3)) for _ in range(2 * len(shape))]
    return case(x=tensor(shape), pad=pad, value=draw(st.sampled_from([0.0, 1.5, -2.0])))


def _spatial_random(draw) -> Case:
    spatial, last = draw(st.integers(1, 3)), draw(st.booleans())
    dims = [draw(st.integers(2, 6)) for _ in range(spatial)]
    shape = [1, *dims, 2] if last else [1, 2, *dims]
    mode = draw(st.sampled_from(["constant", "reflect", "replicate", "circular"]))
    limit = {"reflect": 1, "circular": 9}.get(mode, 3)
    return case(
        x=tensor(shape),
        pad=[draw(st.integers(0, limit)) for _ in range(2 * spatial)],
        mode=mode,
        data_format={1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}[spatial][last],
    )


OPS = [
    Op("pad", _pad, *PAD, random=_pad_random),
    Op("pad3d", _pad, *PAD3D, random=_spatial_random),
]
