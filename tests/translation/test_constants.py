"""Constants and the memory that they read."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from openvino import Type

import paddle2ov
from paddle2ov.graph.types import constant, value_of
from paddle2ov.program.model import Variable
from paddle2ov.translation.scope import Scope
from tests.support.programs import program


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("share", [True, False])
def test_types_that_numpy_lacks_have_memory_of_their_own(dtype: str, share: bool):
    # OpenVINO would not keep the array alive: a mapped file would be gone when the model runs.
    array = np.arange(1, 21).astype(np.uint16 if dtype == "bfloat16" else np.uint8)
    node = constant(array, dtype, share=share)
    array[:] = 0
    assert node.get_tensor_view().data.view(array.dtype).tolist() == list(range(1, 21))


def test_bfloat16_is_no_float16():
    """OpenVINO hands out its bits as float16."""
    node = constant(np.array([0x3F80, 0xC020], np.uint16), "bfloat16")
    outer = Scope()
    outer.values["x"] = node.output(0)
    inner = Scope(outer).find("x")
    assert inner.get_element_type() == Type.bf16
    assert value_of(node).tolist() == value_of(inner.get_node()).tolist() == [1, -2.5]


def test_shared_arrays_live_as_long_as_their_constant():
    class Watched(np.ndarray):
        """An array that can be referred to weakly."""

    array = np.arange(20.0).view(Watched)
    reference = weakref.ref(array)
    node = constant(array)
    del array
    gc.collect()
    assert reference() is not None
    del node
    gc.collect()
    assert reference() is None


def test_small_weights_keep_their_names():
    """Also where a converter asks how large they are before it reads them."""
    x = Variable("x", "float32", (1, 4, 8, 8))
    attributes = {"groups": 4, "strides": [1, 1], "paddings": [1, 1], "dilations": [1, 1]}
    rows = [("depthwise_conv2d", "input=x filter=filters", "out=y", attributes)]
    model = paddle2ov.convert(program(rows, [x], "y", parameters={"filters": np.ones((4, 1, 3, 3), np.float32)}))
    assert "filters" in {node.get_friendly_name() for node in model.get_ops() if node.get_type_name() == "Constant"}
