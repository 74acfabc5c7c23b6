"""What is served goes with its last reference: nothing of ours waits for Python's cyclic collector.

The collector counts objects of Python, not the memory that OpenVINO holds for them: hundreds of models may be gone and
not yet released.
"""

import contextlib
import gc

import numpy as np
import pytest

import paddle2ov
from gen_models import all_ops
from gen_models.harness.spec import case, tensor
from gen_models.harness.store import generated
from paddle2ov import ConversionExtension, compile_model, convert, inspect
from paddle2ov.errors import OpConversionError, OpenVINORunError
from paddle2ov.inference import Config, create_predictor
from tests.support.formats import FORMATS
from tests.support.models import network


def _serve(folder):
    predictor = create_predictor(Config(folder))
    lines = [np.zeros((1, 3, 32, 64), np.float32)] * 3
    predictor.run([[line] for line in lines])  # in spare predictors, which are kept
    predictor.clone().run(lines[:1])


def _fail(folder):
    predictor = create_predictor(Config(folder))
    for width in (4, 3, 4, 3):
        with contextlib.suppress(OpenVINORunError):
            predictor.run([np.zeros((2, 3), np.float32), np.zeros((2, width), np.float32)])


def _report(folder):
    convert(folder, report=paddle2ov.ConversionReport())


def _refuse(folder):
    def divide(node):
        return [node.get_input("X") / 0, 1 / 0]

    with contextlib.suppress(OpConversionError):
        convert(folder, extension=ConversionExtension("elementwise_add", divide))


def _left_by(use, folder):
    """The kinds of paddle2ov's and OpenVINO's objects that the cyclic collector finds afterwards."""
    use(folder)  # what is made once in a process
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        use(folder)
        gc.collect()
        kinds = {type(item) for item in gc.garbage}
        return sorted(str(kind) for kind in kinds if kind.__module__.startswith(("paddle2ov", "openvino")))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("use", [convert, inspect, _report, compile_model, _serve])
@pytest.mark.parametrize("kind", FORMATS)
def test_nothing_waits_for_the_collector(use, kind):
    folder = network("crnn", kind)
    assert _left_by(use, folder) == []


@pytest.mark.parametrize("use", [_fail, _refuse])
def test_what_fails_leaves_nothing(use):
    vector = tensor([2, 3], dims=[-1, -1])
    folder = generated(all_ops()["elementwise_add"], case(x=vector, y=vector), "pir")
    assert _left_by(use, folder) == []
