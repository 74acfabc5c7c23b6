"""Recurrent layers: no steps, no sequences, and what lies beyond the ends of sequences."""

import numpy as np
import openvino
import pytest

import paddle2ov
from gen_models import all_ops
from gen_models.harness.store import generated
from paddle2ov.testing import load
from tests.support.formats import FORMATS


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
