"""What OpenVINO makes of this processor, where tests must know it."""

from functools import cache

import pytest

import paddle2ov
from paddle2ov.compilation.precision import HINT
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph.core import shared_core
from tests.support.models import chain


@cache
def has_avx512():
    """Whether OpenVINO compiles for AVX-512, as the name of a convolution's kernel says."""
    compiled = compile_on_cpu(paddle2ov.convert(chain("convolution-relu")))
    infos = [node.get_rt_info() for node in compiled.get_runtime_model().get_ordered_ops()]
    (kernel,) = (info["primitiveType"].astype(str) for info in infos if info["layerType"].astype(str) == "Convolution")
    return "avx512" in kernel


@cache
def has_bfloat16():
    """Whether OpenVINO computes in bfloat16 here, and does so by default."""
    return "BF16" in shared_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


@cache
def takes_bfloat16():
    """Whether OpenVINO computes in bfloat16 if it is told to: it converts where AVX-512 has no instructions for it."""
    compiled = compile_on_cpu(paddle2ov.convert(chain("convolution-relu")), "bf16")
    return compiled.get_property(HINT).get_type_name() == "bf16"


NEEDS_BFLOAT16 = pytest.mark.skipif(not has_bfloat16(), reason="this processor has no bfloat16")
