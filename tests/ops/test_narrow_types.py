"""Cases of the operators in the other types that Paddle 3 computes on a CPU: half precision, narrow integers."""

import dataclasses

import numpy as np
import pytest

import paddle2ov
from gen_models import all_ops
from gen_models.harness.generate import GenerationError
from gen_models.harness.spec import TensorSpec, paddle
from gen_models.harness.store import generated
from paddle2ov.compilation.running import run
from paddle2ov.testing import check_cases
from tests.support.models import save_layer
from tests.support.one_operator import program

HALVES = ("float16", "bfloat16")
BYTES = ("int8", "uint8", "int16")
CASES_PER_TYPE = 2

TYPES: dict[str, dict[tuple[str, ...], str]] = {
    "float32": {
        HALVES: """argsort assign bicubic_interp_v2 bilinear_interp_v2 cast ceil concat copysign dropout
            elementwise_floordiv equal expand_v2 fill_any_like floor greater_equal greater_than index_put isfinite_v2
            isinf_v2 isnan_v2 less_equal less_than linear_interp_v2 log log10 log1p log2 masked_fill masked_select
            median nearest_interp_v2 not_equal reduce_as reduce_sum reshape2 scale set_value slice split
            split_with_num squeeze2 stack strided_slice sum transpose2 trilinear_interp_v2 trunc_divide unbind""",
        ("float16",): """atan2 broadcast_tensors diag_v2 erf exp expm1 fill_diagonal fill_diagonal_tensor
            fractional_max_pool2d fractional_max_pool3d index_add kron pool2d pool3d rrelu tile top_k_v2 trace tril
            triu""",
        ("bfloat16",): """elementwise_max elementwise_min elementwise_mul elementwise_pow elementwise_sub
            flatten_contiguous_range gather index_select mean pad pad3d repeat_interleave unsqueeze2""",
    },
    "int32": {
        BYTES: """bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor cast ceil
            copysign elementwise_div equal expand_v2 floor greater_equal greater_than less_equal less_than not_equal
            reciprocal reduce_sum rsqrt set_value sign sqrt strided_slice transpose2""",
        ("int8", "uint8"): "elementwise_floordiv",
    },
    "int64": {
        BYTES: "cumsum",
    },
}
"""Type that the cases have -> types to compute them in instead -> operators."""


def other_type(value, old, new):
    """The arguments of a case with every tensor of type `old` in type `new`."""
    if isinstance(value, TensorSpec):
        if value.dtype != old:
            return value
        if new == "uint8" and (value.low is None or value.low < 0):
            return dataclasses.replace(value, dtype=new, low=None, high=None, values=None)
        return dataclasses.replace(value, dtype=new)
    if isinstance(value, dict):
        return {key: other_type(item, old, new) for key, item in value.items()}
    return type(value)(other_type(item, old, new) for item in value) if isinstance(value, list | tuple) else value


def parameters():
    for old, groups in TYPES.items():
        for kinds, names in groups.items():
            for name in names.split():
                for kind in kinds:
                    yield pytest.param(name, old, kind, id=f"testNarrowTypes/{name}/{kind}")


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("name", "old", "new"), list(parameters()))
def test_narrow_types(name, old, new):
    op = all_ops()[name]
    folders = []
    for case in op.cases:
        arguments = other_type(case.arguments, old, new)
        if "pir" not in case.formats or arguments == case.arguments:
            continue
        try:
            folders.append(generated(op, dataclasses.replace(case, arguments=arguments), "pir"))
        except GenerationError:
            continue  # a tensor that gives a shape or an axis has a type of its own
        if len(folders) == CASES_PER_TYPE:
            break
    assert folders
    check_cases(folders)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_sums_wrap_around(dtype, axis, tmp_path):
    """Paddle adds narrow integers in their type."""
    folder = save_layer(tmp_path, lambda x: paddle.sum(x, axis), x=([-1, 300], dtype))
    limits = np.iinfo(dtype)
    data = np.random.default_rng(0).integers(limits.min, limits.max, (200, 300)).astype(dtype)
    (result,) = run(paddle2ov.convert(folder), {"x": data})
    np.testing.assert_array_equal(result.array, data.sum(axis, dtype=dtype))


@pytest.mark.parametrize("op_type", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits_of_bytes_stay_bytes(op_type):
    """Nothing wraps around: no wider type is needed, nor that of the result."""
    x = np.arange(3, dtype=np.uint8)
    whole, _ = program(op_type, {"x": x, "y": x}, {})
    kinds = sorted(node.get_type_name() for node in paddle2ov.convert(whole).get_ops())
    assert kinds == [f"Bitwise{op_type[8:].title()}", "Parameter", "Parameter", "Result"]
