"""Several sequences in one input (LoD): their lengths as inputs and results, and in the drop-in predictor."""

import json
import shutil
from pathlib import Path

import numpy as np
import openvino
import paddle.inference
import pytest

import paddle2ov
from gen_models import all_ops
from gen_models.harness.store import generated
from paddle2ov.compilation.running import run
from paddle2ov.errors import ConversionInputError
from paddle2ov.inference import Config, create_predictor
from paddle2ov.inference.variants import MAX_FEW
from paddle2ov.program.reading import read_program
from paddle2ov.testing import load
from tests.support.command_line import call
from tests.support.formats import NEEDS_PADDLE_2
from tests.support.models import operator
from tests.support.passes_checks import check_close

PADDLE_1_8 = Path(__file__).parents[1] / "data" / "paddle_1_8"
RECURRENT = ("crf_decoding", "fused_embedding_fc_lstm", "fusion_gru", "fusion_lstm", "gru", "lstm")


def cases():
    for op in all_ops().values():
        for case in op.cases:
            offsets = case.arguments.get("lod") or case.arguments.get("lods")
            if "legacy" in case.formats and offsets and not case.xfail:
                yield pytest.param(op, case, id=case.name)


def fed_with_lengths(program, inputs):
    """The program without the `lod_reset` of its inputs; the inputs, with the lengths that these had in them."""
    fed = {input_.name: input_ for input_ in program.inputs}
    feeds = dict(inputs)
    renamed = {}
    for op in program.block.operators:
        for names in op.inputs.values():
            names[:] = [renamed.get(name, name) for name in names]
        (source,) = op.inputs.get("x", [None])[:1] or [None]
        if op.type == "lod_reset" and source in fed and op.attributes.get("target_lod"):
            renamed[op.outputs["out"][0]] = source
            fed[source].lod_level = 1
            feeds[f"{source}.lengths"] = np.diff(op.attributes["target_lod"])
    program.block.operators = [op for op in program.block.operators if op.outputs.get("out", [""])[0] not in renamed]
    return feeds


@NEEDS_PADDLE_2
@pytest.mark.one_in(12)
@pytest.mark.parametrize(("op", "case"), list(cases()))
def test_lengths_from_outside_are_those_that_lod_reset_gives_inside(op, case):
    folder = generated(op, case, "legacy")
    program = read_program(folder)
    inputs = fed_with_lengths(program, load(folder / "inputs.npz"))
    assert any(name.endswith(".lengths") for name in inputs)
    wanted = load(folder / "outputs.npz")
    assert len(wanted) >= 1
    for expected in ("many", "few") if op.name in RECURRENT else ("many",):
        model = paddle2ov.convert(program, sequence_lengths=expected)
        passed = {port.any_name for port in model.inputs}
        results = run(model, {name: array for name, array in inputs.items() if name in passed})
        for i, result in enumerate(results[: len(wanted)]):
            np.testing.assert_allclose(result.array, wanted[str(i)], atol=2e-5, rtol=2e-5)


def single(op):
    """The model of an operator's first case that is fed as one sequence."""
    case = next(case for case in all_ops()[op].cases if not case.arguments.get("lod"))
    return generated(all_ops()[op], case, "legacy")


def predictors(folder, work):
    """A predictor of `paddle.inference`, and one of the drop-in."""
    shutil.copytree(folder, work)
    files = str(work / "inference.pdmodel"), str(work / "inference.pdiparams")
    Path(files[1]).touch()  # Paddle's predictor wants the file, with no parameter in it or not
    return [module.create_predictor(module.Config(*files)) for module in (paddle.inference, paddle2ov.inference)]


def answer(predictor, inputs, sequences, offsets):
    """The results of a predictor whose input `sequences` holds sequences, and their offsets."""
    for name, array in inputs.items():
        predictor.get_input_handle(name).copy_from_cpu(array)
    predictor.get_input_handle(sequences).set_lod([offsets])
    predictor.run()
    handles = [predictor.get_output_handle(name) for name in predictor.get_output_names()]
    return [handle.copy_to_cpu() for handle in handles], [handle.lod() for handle in handles]


@NEEDS_PADDLE_2
@pytest.mark.parametrize("op", ["sequence_softmax", "sequence_conv"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_predictor_as_paddles(op, count, tmp_path):
    inputs = load(single(op) / "inputs.npz")
    offsets = [*range(count), len(inputs["x"])]
    theirs, ours = (answer(item, inputs, "x", offsets) for item in predictors(single(op), tmp_path / "model"))
    check_close(ours[0], theirs[0], 2e-5)
    assert [list(map(list, lod)) for lod in ours[1]] == [list(map(list, lod)) for lod in theirs[1]] == [[offsets]]


@NEEDS_PADDLE_2
@pytest.mark.parametrize("op", ["gru", "lstm", "tagger"])
def test_one_few_and_many_sequences_in_turn(op, tmp_path):
    name = "lstm" if op == "lstm" else "gru"
    wanted = next(case for case in all_ops()[name].cases if bool(case.arguments.get("tagger")) == (op == "tagger"))
    folder = generated(all_ops()[name], wanted, "legacy")
    both, arrays = predictors(folder, tmp_path / "model"), load(folder / "inputs.npz")
    rng = np.random.default_rng(0)
    for lengths in ([7], [3, 1, 12], [2, 1] * (MAX_FEW // 2 + 1), [4]):
        like, offsets = arrays["input"], np.cumsum([0, *lengths]).tolist()
        rows = rng.uniform(0, 8 if op == "tagger" else 1, (offsets[-1], *like.shape[1:])).astype(like.dtype)
        theirs, ours = (answer(predictor, arrays | {"input": rows}, "input", offsets)[0] for predictor in both)
        check_close(ours, theirs, 2e-5)


SEQUENCES = [[0, 1], [0, 4], [0, 5], [0, 6], [0, 11], [0, 1, 7], [0, 0, 5, 5, 16], [0, 3]]
"""Offsets of sequences, one after the other on one request; an iteration takes 5 steps."""


@NEEDS_PADDLE_2
@pytest.mark.one_in(2)
@pytest.mark.parametrize("op", ["gru", "lstm"])
@pytest.mark.parametrize("index", [0, 1], ids=["forward", "reverse"])
def test_sequences_of_any_length(op, index, tmp_path):
    case = all_ops()[op].cases[index]
    assert case.arguments.get("is_reverse", False) == bool(index)
    folder = generated(all_ops()[op], case, "legacy")
    predictor, arrays = predictors(folder, tmp_path / "model")[0], load(folder / "inputs.npz")
    plain, several = (paddle2ov.convert(folder, sequence_lengths=lengths) for lengths in (False, True))
    requests = [openvino.compile_model(model, "CPU").create_infer_request() for model in (plain, several)]
    for offsets in SEQUENCES:
        rows = np.arange(offsets[-1]) * 7 % len(arrays["input"])
        inputs = arrays | {"input": arrays["input"][rows]}
        wanted, _ = answer(predictor, inputs, "input", offsets)
        results = list(requests[1].infer(inputs | {"input.lengths": np.diff(offsets)}).values())
        check_close(results[: len(wanted)], wanted, 2e-6)
        if len(offsets) == 2:
            fixed = plain.clone()
            fixed.reshape({port: inputs[port.any_name].shape for port in fixed.inputs})
            check_close(requests[0].infer(inputs).values(), wanted, 2e-6)
            check_close([known.array for known in run(fixed, inputs)], wanted, 2e-6)


@pytest.mark.parametrize("expected", [False, "one", "few"])
def test_steps_of_one_row_have_known_shapes_and_weights(expected):
    model = paddle2ov.convert(PADDLE_1_8 / "sequence_network", sequence_lengths=expected)
    loops = [node for node in model.get_ops() if node.get_type_name() == "TensorIterator"]
    assert loops
    for node in (node for loop in loops for node in loop.get_function().get_ops()):
        assert all(output.get_partial_shape().is_static for output in node.outputs())
        if node.get_type_name() == "MatMul":
            assert node.input_value(1).get_node().get_type_name() == "Constant"
    lengths = [str(port.get_partial_shape()) for port in model.inputs if port.any_name.endswith(".lengths")]
    assert set(lengths) == ({"[1]" if expected == "one" else "[?]"} if expected else set())


def test_what_is_no_number_of_sequences():
    with pytest.raises(ConversionInputError, match="sequence_lengths: 'some' is neither"):
        paddle2ov.convert("model", sequence_lengths="some")


@NEEDS_PADDLE_2
@pytest.mark.parametrize(
    ("lod", "message"),
    [
        ([[0, 3], [0, 1, 6]], "sequences of sequences"),
        ([[0, 4, 2, 6]], "no offsets of sequences"),
        ([[1, 6]], "no offsets of sequences"),
        ([[0]], "no offsets of sequences"),
        ([[0, 3, 5]], r"has 6 rows, its sequences \(LoD\) end at 5"),
    ],
)
def test_bad_offsets(lod, message):
    folder = single("sequence_softmax")
    predictor = create_predictor(Config(str(folder)))
    handle = predictor.get_input_handle("x")
    handle.copy_from_cpu(load(folder / "inputs.npz")["x"])

    def use():
        handle.set_lod(lod)
        predictor.run()

    with pytest.raises(ConversionInputError, match=message):
        use()


def test_an_input_without_sequences_takes_no_offsets():
    predictor = create_predictor(Config(str(operator("relu"))))
    handle = predictor.get_input_handle(predictor.get_input_names()[0])
    handle.set_lod([])
    handle.set_lod([[0, 1]])  # one sequence, as without
    with pytest.raises(ConversionInputError, match="takes one sequence: the program declares no LoD of one level"):
        handle.set_lod([[0, 1, 2]])


@NEEDS_PADDLE_2
def test_command_and_report(tmp_path):
    command = ["convert", single("sequence_softmax"), "-o", tmp_path / "model.xml", "--sequence-lengths"]
    assert call(*command, "--report", tmp_path / "report.json").exit_code == 0
    model = openvino.Core().read_model(tmp_path / "model.xml")
    assert [port.any_name for port in model.inputs] == ["x", "x.lengths"]
    report = json.loads((tmp_path / "report.json").read_text())
    assert "x.lengths" in json.dumps(report)
