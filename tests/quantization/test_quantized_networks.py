"""Every network of the tests and benchmarks is quantized, or refused with the reason.

Some of each kind always; with `--every-form` all of them, those of the benchmarks too, which takes some ten minutes.
Accuracy is no subject here: weights are random, and a single item gives the ranges.
"""

import pytest

import paddle2ov
from gen_models import all_networks
from gen_models.harness.store import generated_network
from paddle2ov import OpenVINORunError
from paddle2ov.inputs.random_inputs import RandomInputs
from paddle2ov.program.reading import read_program
from paddle2ov.testing import load
from tests.support.formats import marks_of

SOME = (
    *("mobilenet_v3_small", "db", "picodet_fixed", "permutes_mask_rcnn"),  # pictures
    *("crnn", "seq2seq", "greedy_decoder", "growing", "tagger"),  # recurrent, generation
    *("bert", "swin_stage", "svtr_mixer"),  # attention
    *("branch_shapes", "assigned_in_loop_of_branch", "nested"),  # control flow
    *("complex_products", "stft", "quantized_tensors"),
)
_BRANCH, _WRONG = "none of the data takes one of its branches", "OpenVINO does not compute the quantized model right"
REFUSED = {
    "assigned_in_loop_of_branch": _BRANCH,
    "assigned_in_loop_of_branch_of_known_size": _BRANCH,
    "rotated_detector": _WRONG,
    "speech_speaker": _WRONG,
}


def pytest_generate_tests(metafunc):
    whole = metafunc.config.getoption("--every-form")
    if "network" in metafunc.fixturenames:
        networks = all_networks()
        formats = {
            name: "pir" if "pir" in networks[name].formats else "legacy" for name in networks if whole or name in SOME
        }
        params = [
            pytest.param(networks[name], format, id=name, marks=marks_of(format)) for name, format in formats.items()
        ]
        metafunc.parametrize(("network", "format"), params)
    if "timed" in metafunc.fixturenames:
        from benchmarks.networks import NETWORKS

        metafunc.parametrize("timed", list(NETWORKS))


@pytest.fixture(autouse=True)
def in_float32_and_int8(monkeypatch):
    """The other precisions are not measured."""
    monkeypatch.setattr("paddle2ov.compilation.precision.capabilities", lambda device: ["FP32", "INT8"])


def check(folder, inputs):
    quantized = paddle2ov.quantize(folder, inputs, subset_size=1)
    plain = paddle2ov.convert(folder)
    for ports, others in ((quantized.model.inputs, plain.inputs), (quantized.model.outputs, plain.outputs)):
        assert [port.get_names() for port in ports] == [other.get_names() for other in others]
        assert [port.get_element_type() for port in ports] == [other.get_element_type() for other in others]
    assert [precision.name for precision in quantized.precisions] == ["f32", "int8"]
    assert all(layer.precision in ("i8", "u8") or layer.why_float for layer in quantized.layers)


@pytest.mark.one_in(6)
def test_a_network_of_the_tests(network, format):
    folder = generated_network(network, format)
    inputs = dict(load(folder / "inputs_0.npz"))
    if network.name in REFUSED:
        with pytest.raises(OpenVINORunError, match=REFUSED[network.name]):
            paddle2ov.quantize(folder, inputs, subset_size=1)
        return
    check(folder, inputs)


@pytest.mark.every_form
def test_a_network_of_the_benchmarks(timed, tmp_path):
    from benchmarks.networks import export

    export(timed, str(tmp_path / "inference"))
    check(tmp_path, RandomInputs(read_program(tmp_path)).sets[0])
