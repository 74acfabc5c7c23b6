"""The forms of `input` and `output` that `convert` takes."""

import re

import numpy as np
import pytest
from openvino import Dimension, PartialShape, Shape, Type

from paddle2ov import ConversionInputError
from paddle2ov.translation.input_spec import parse_input, parse_output
from tests.support.growth import grows_less

RANGED = PartialShape([1, 3, Dimension(224, 640), -1])


@pytest.mark.parametrize(
    ("argument", "name", "shape", "kind"),
    [
        ("x", "x", None, None),
        ("x[1,3,224..640,?]", "x", RANGED, None),
        ("x[1,3]{f16}", "x", PartialShape([1, 3]), Type.f16),
        ("x[]", "x", PartialShape([]), None),
        ("conv2d_0.tmp_0[?,..8]", "conv2d_0.tmp_0", PartialShape([-1, Dimension(0, 8)]), None),
        ([1, 3, (224, 640), -1], None, RANGED, None),
        (PartialShape([1, -1]), None, PartialShape([1, -1]), None),
        (Type.f32, None, None, Type.f32),
        (np.int64, None, None, Type.i64),
        (("x", [1, "3", "224..640", "?"]), "x", RANGED, None),
        (("x", (1, 3), np.float16), "x", PartialShape([1, 3]), Type.f16),
        ([("x", [1, 3], "float64")], "x", PartialShape([1, 3]), Type.f64),
        (([1, 9], Type.i64), None, PartialShape([1, 9]), Type.i64),
        ([[1, 9], Type.i64], None, PartialShape([1, 9]), Type.i64),
        ((Type.i64, [1, 9]), None, PartialShape([1, 9]), Type.i64),
        (["x", [1, 3]], "x", PartialShape([1, 3]), None),
        (["x", Type.i64], "x", None, Type.i64),
        (["x"], "x", None, None),
        ({"x": [1, 3]}, "x", PartialShape([1, 3]), None),
        ({"x": PartialShape([2])}, "x", PartialShape([2]), None),
        ({"x": ([1, -1], Type.i32)}, "x", PartialShape([1, -1]), Type.i32),
        ({"x": ((1, 8), 3)}, "x", PartialShape([Dimension(1, 8), 3]), None),
        ({"x": [(1, 8), (2, -1)]}, "x", PartialShape([Dimension(1, 8), Dimension(2, -1)]), None),
        ({"x": ((1, 8), (2, 4))}, "x", PartialShape([Dimension(1, 8), Dimension(2, 4)]), None),
        ([("x", [(1, 8), (2, 4)])], "x", PartialShape([Dimension(1, 8), Dimension(2, 4)]), None),
        ({"x": [None, (224, 640), None]}, "x", PartialShape([-1, Dimension(224, 640), -1]), None),
        ({"x": (None, None)}, "x", PartialShape([-1, -1]), None),
        ([1, None], None, PartialShape([1, -1]), None),
        ([("x", [None, 3], np.int64)], "x", PartialShape([-1, 3]), Type.i64),
        ({"x": Shape([1, 2])}, "x", PartialShape([1, 2]), None),
        ({"float32": [3]}, "float32", PartialShape([3]), None),
        ({"x": Type.i32}, "x", None, Type.i32),
        ({"x": None}, "x", None, None),
    ],
)
def test_one_input(argument, name, shape, kind):
    (parsed,) = parse_input(argument)
    assert (parsed.name, parsed.dtype) == (name, kind)
    assert (parsed.shape is None) == (shape is None)
    if shape is not None:
        assert parsed.shape == shape


def test_several_inputs():
    assert [(item.name, item.shape) for item in parse_input("a[1,2],b,c[?]")] == [
        ("a", PartialShape([1, 2])),
        ("b", None),
        ("c", PartialShape([-1])),
    ]
    assert [item.name for item in parse_input(["a", ("b", [1])])] == ["a", "b"]
    assert [item.name for item in parse_input({"a": [1], "b": [2]})] == ["a", "b"]
    assert [item.shape for item in parse_input([[1, 2], [3]])] == [PartialShape([1, 2]), PartialShape([3])]
    assert [item.shape for item in parse_input([(1, 2), (3, 4)])] == [PartialShape([1, 2]), PartialShape([3, 4])]
    assert parse_input(None) == parse_input([]) == parse_input({}) == []


@pytest.mark.parametrize("argument", [{"x": [(8, 1), 3]}, "x[8..1]"])
def test_range_that_holds_no_size(argument):
    with pytest.raises(ConversionInputError, match="no size is at least 8 and at most 1"):
        parse_input(argument)


@pytest.mark.parametrize(
    "argument", ["x[-5..-3]", [("x", [(-(2**70), -(2**66))])], {"x": [f"-{2**70}..-{2**66}", 3]}], ids=str
)
def test_range_below_zero(argument):
    with pytest.raises(ConversionInputError, match="no size is at least 0 and at most -"):
        parse_input(argument)


@pytest.mark.parametrize(
    "argument", [3.5, [object()], "x[1,a]", "x[1", {"x": [1.5, "b"]}, [("x", [-2])], "x{float33}", "x[-5,3]", "x[..-4]"]
)
def test_what_is_no_input(argument):
    with pytest.raises(ConversionInputError, match="input"):
        parse_input(argument)


@pytest.mark.parametrize(
    ("shape", "size"), [("1,a", "a"), ("1 2", "1 2"), ("1,,2", ""), ("-5", "-5"), ("3..b", "3..b")]
)
def test_a_size_that_is_none_is_named_with_the_forms(shape, size):
    message = rf"input: '{size}' is no size of a shape: write a number from 0 on, a range such as 224\.\.640, or \?"
    with pytest.raises(ConversionInputError, match=message):
        parse_input(f"x[{shape}]")


@pytest.mark.parametrize("size", [{}, 64.5, "b", (2.5, 4)], ids=repr)
@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_with_a_number_is_meant_as_a_shape(size, kind):
    message = rf"input: {re.escape(repr(size))} is no size of a shape: write .*, or \? or -1 for any$"
    shape = kind([1, size])
    for argument in (shape, {"x": shape}, {"x": (shape, "f32")}, [("x", shape)]):
        with pytest.raises(ConversionInputError, match=message):
            parse_input(argument)


def test_commas_within_brackets_and_without():
    def parsing(count):
        return lambda: parse_input("a," * count + "a")

    assert len(parsing(100)()) == 101
    assert grows_less(parsing, 4000, 32000, factor=24)
    assert [item.shape for item in parse_input("a[1,2],b[3,4]")] == [PartialShape([1, 2]), PartialShape([3, 4])]
    for argument in ("a]", "a]1,2[", "a,b]", "a[[1,2]"):
        with pytest.raises(ConversionInputError, match=r"cannot read|bracket"):
            parse_input(argument)


@pytest.mark.parametrize("size", [2**63 - 1, 2**63, 10**30])
def test_absurd_sizes(size):
    for argument in (f"x[{size}]", f"x[1..{size}]", {"x": [size]}, {"x": [(1, size)]}):
        with pytest.raises(ConversionInputError, match=f"dimension {size}$"):
            parse_input(argument)


def test_outputs():
    assert parse_output(None) == []
    assert parse_output("a") == ["a"]
    assert parse_output("a, b") == ["a", "b"]
    assert parse_output(["a", "b"]) == ["a", "b"]
    with pytest.raises(ConversionInputError, match="names are expected"):
        parse_output([1])
    with pytest.raises(ConversionInputError, match="names are expected, not 1"):
        parse_output(1)
