"""Recurrent layers and decoding over sequences: any number of steps, of sequences, and what lies beyond their ends."""

import numpy as np
import openvino
import pytest

import paddle2ov
from gen_models import all_ops
from gen_models.harness.store import generated
from paddle2ov.compilation.running import run
from paddle2ov.testing import load
from tests.support.formats import FORMATS, marks_of

SEQUENCES = [[0, 1], [0, 4], [0, 5], [0, 6], [0, 11], [0, 1, 7], [0, 0, 5, 5, 16], [0, 3]]
"""Offsets of sequences, one after the other on one request; an iteration takes 5 steps."""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("format", [pytest.param("legacy", marks=marks_of("legacy"))])
@pytest.mark.parametrize("op", ["gru", "lstm"])
@pytest.mark.parametrize("index", [0, 1], ids=["forward", "reverse"])
def test_sequences_of_any_length(op, index, format):
    import paddle.inference

    case = all_ops()[op].cases[index]
    assert case.arguments.get("is_reverse", False) == bool(index)
    folder = generated(all_ops()[op], case, format)
    (folder / "inference.pdiparams").touch()  # Paddle's predictor wants the file, with no parameter in it or not
    config = paddle.inference.Config(str(folder / "inference.pdmodel"), str(folder / "inference.pdiparams"))
    config.disable_glog_info()
    predictor = paddle.inference.create_predictor(config)
    arrays = load(folder / "inputs.npz")
    plain, several = (paddle2ov.convert(folder, sequence_lengths=lengths) for lengths in (False, True))
    requests = [openvino.compile_model(model, "CPU").create_infer_request() for model in (plain, several)]
    for offsets in SEQUENCES:
        rows = np.arange(offsets[-1]) * 7 % len(arrays["input"])
        inputs = arrays | {"input": arrays["input"][rows]}
        for name, array in inputs.items():
            handle = predictor.get_input_handle(name)
            handle.copy_from_cpu(array)
            if name == "input":
                handle.set_lod([offsets])
        predictor.run()
        wanted = [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]
        single = len(offsets) == 2
        for request in requests[not single :]:
            lengths = {"input.lengths": np.diff(offsets)} if request is requests[1] else {}
            results = list(request.infer(inputs | lengths).values())
            for expected, result in zip(wanted, results, strict=False):
                np.testing.assert_allclose(result, expected, atol=2e-6, rtol=2e-6)
        if single:
            fixed = plain.clone()
            fixed.reshape({port: inputs[port.any_name].shape for port in fixed.inputs})
            for expected, known in zip(wanted, run(fixed, inputs), strict=True):
                np.testing.assert_allclose(known.array, expected, atol=2e-6, rtol=2e-6)


def layer_with_lengths(mode, format):
    """A layer with states; its inputs, and the name of the lengths."""
    arguments = {"mode": mode, "sequence_length": True, "states": True}
    case = next(
        case
        for case in all_ops()["rnn"].cases
        if case.arguments["mode"] == mode and all(case.arguments.get(name) for name in arguments)
    )
    folder = generated(all_ops()["rnn"], case, format)
    inputs = load(folder / "inputs.npz")
    (lengths,) = (name for name, array in inputs.items() if array.dtype.kind == "i")
    return openvino.compile_model(paddle2ov.convert(folder), "CPU"), inputs, lengths


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("mode", ["LSTM", "GRU", "RNN_TANH"])
def test_what_lies_beyond_the_end_of_a_sequence_does_not_count(mode, format):
    compiled, inputs, lengths = layer_with_lengths(mode, format)
    wanted = list(compiled(inputs).values())
    for i, count in enumerate(inputs[lengths]):
        inputs["x"][i, count:] = 1e30
    for expected, result in zip(wanted, compiled(inputs).values(), strict=True):
        np.testing.assert_allclose(result, expected, atol=1e-6)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("batch", "steps"), [(0, 5), (0, 0), (3, 0)])
def test_no_sequences_and_no_steps(batch, steps, format):
    compiled, inputs, lengths = layer_with_lengths("LSTM", format)
    initial = {name: array[:, :batch] for name, array in inputs.items() if name not in ("x", lengths)}
    ends = {"x": inputs["x"][:batch, :steps], lengths: np.minimum(inputs[lengths][:batch], steps)}
    out, *states = compiled(initial | ends).values()
    assert out.shape[:2] == (batch, steps)
    for state, before in zip(states, initial.values(), strict=True):
        assert state.shape == before.shape
        if not steps:
            np.testing.assert_array_equal(state, before)
