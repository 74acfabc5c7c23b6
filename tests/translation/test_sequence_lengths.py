"""Several sequences in one input (LoD): their lengths as inputs and results, and in the drop-in predictor."""

import json
import shutil
from pathlib import Path

import numpy as np
import openvino
import pytest
from click.testing import CliRunner

import paddle2ov
from gen_models import all_ops
from gen_models.harness.store import generated
from paddle2ov.cli import cli
from paddle2ov.compilation.running import run
from paddle2ov.errors import ConversionInputError
from paddle2ov.inference import Config, create_predictor
from paddle2ov.inference.variants import MAX_FEW
from paddle2ov.program.reading import read_program
from paddle2ov.testing import load
from tests.support.formats import marks_of

PADDLE_1_8 = Path(__file__).parents[1] / "data" / "paddle_1_8"
RECURRENT = ("crf_decoding", "fused_embedding_fc_lstm", "fusion_gru", "fusion_lstm", "gru", "lstm")


def cases():
    for op in all_ops().values():
        for case in op.cases:
            offsets = case.arguments.get("lod") or case.arguments.get("lods")
            if "legacy" in case.formats and offsets and not case.xfail:
                yield pytest.param(op, case, id=case.name, marks=marks_of("legacy"))


def fed_with_lengths(program, inputs):
    """The program without the `lod_reset` of its inputs; the inputs, with the lengths that these had in them."""
    fed = {input_.name: input_ for input_ in program.inputs}
    feeds = dict(inputs)
    renamed = {}
    for operator in program.block.operators:
        for names in operator.inputs.values():
            names[:] = [renamed.get(name, name) for name in names]
        (source,) = operator.inputs.get("x", [None])[:1] or [None]
        if operator.type == "lod_reset" and source in fed and operator.attributes.get("target_lod"):
            renamed[operator.outputs["out"][0]] = source
            fed[source].lod_level = 1
            feeds[f"{source}.lengths"] = np.diff(operator.attributes["target_lod"])
    program.block.operators = [
        operator for operator in program.block.operators if operator.outputs.get("out", [""])[0] not in renamed
    ]
    return feeds


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


def predicted(module, folder, offsets):
    """What a predictor of `paddle.inference`, or of the drop-in, makes of the case's rows in these sequences."""
    predictor = module.create_predictor(
        module.Config(str(folder / "inference.pdmodel"), str(folder / "inference.pdiparams"))
    )
    for name, array in load(folder / "inputs.npz").items():
        handle = predictor.get_input_handle(name)
        handle.copy_from_cpu(array)
        if name == "x":
            handle.set_lod([offsets])
    predictor.run()
    result = predictor.get_output_handle(predictor.get_output_names()[0])
    return result.copy_to_cpu(), [list(level) for level in result.lod()]


@pytest.mark.parametrize("op", ["sequence_softmax", "sequence_conv"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("format", [pytest.param("legacy", marks=marks_of("legacy"))])
def test_predictor_as_paddles(op, count, format, tmp_path):
    import paddle.inference

    folder = shutil.copytree(single(op), tmp_path / "model")
    (folder / "inference.pdiparams").touch()  # Paddle's predictor wants the file, with no parameter in it or not
    rows = len(load(folder / "inputs.npz")["x"])
    offsets = [*range(count), rows]
    wanted, lod = predicted(paddle.inference, folder, offsets)
    actual, actual_lod = predicted(paddle2ov.inference, folder, offsets)
    np.testing.assert_allclose(actual, wanted, atol=2e-5, rtol=2e-5)
    assert actual_lod == lod == [offsets]


@pytest.mark.parametrize("op", ["gru", "lstm", "tagger"])
@pytest.mark.parametrize("format", [pytest.param("legacy", marks=marks_of("legacy"))])
def test_one_few_and_many_sequences_in_turn(op, format, tmp_path):
    import paddle.inference

    name = "lstm" if op == "lstm" else "gru"
    wanted = next(case for case in all_ops()[name].cases if bool(case.arguments.get("tagger")) == (op == "tagger"))
    folder = shutil.copytree(generated(all_ops()[name], wanted, "legacy"), tmp_path / "model")
    (folder / "inference.pdiparams").touch()
    files = str(folder / "inference.pdmodel"), str(folder / "inference.pdiparams")
    predictors = [module.create_predictor(module.Config(*files)) for module in (paddle.inference, paddle2ov.inference)]
    arrays = load(folder / "inputs.npz")
    rng = np.random.default_rng(0)
    for lengths in ([7], [3, 1, 12], [2, 1] * (MAX_FEW // 2 + 1), [4]):
        results = []
        like = arrays["input"]
        rows = rng.uniform(0, 8 if op == "tagger" else 1, (sum(lengths), *like.shape[1:])).astype(like.dtype)
        for predictor in predictors:
            for name, array in (arrays | {"input": rows}).items():
                predictor.get_input_handle(name).copy_from_cpu(array)
            predictor.get_input_handle("input").set_lod([np.cumsum([0, *lengths]).tolist()])
            predictor.run()
            results.append([predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()])
        for ours, theirs in zip(*results, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("expected", [False, "one", "few"])
def test_steps_of_one_row_have_known_shapes_and_weights(expected):
    model = paddle2ov.convert(PADDLE_1_8 / "sequence_network", sequence_lengths=expected)
    loops = [node for node in model.get_ops() if node.get_type_name() == "TensorIterator"]
    assert loops
    for node in (node for loop in loops for node in loop.get_function().get_ops()):
        assert all(output.get_partial_shape().is_static for output in node.outputs())
        if node.get_type_name() == "MatMul":
            assert node.input_value(1).get_node().get_type_name() == "Constant"


def test_what_is_no_number_of_sequences():
    with pytest.raises(ConversionInputError, match="sequence_lengths: 'some' is neither"):
        paddle2ov.convert("model", sequence_lengths="some")


@pytest.mark.parametrize("format", [pytest.param("legacy", marks=marks_of("legacy"))])
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
def test_bad_offsets(format, lod, message):
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
    folder = generated(all_ops()["relu"], all_ops()["relu"].cases[0], "pir")
    predictor = create_predictor(Config(str(folder)))
    handle = predictor.get_input_handle(predictor.get_input_names()[0])
    handle.set_lod([])
    handle.set_lod([[0, 1]])  # one sequence, as without
    with pytest.raises(ConversionInputError, match="takes one sequence: the program declares no LoD of one level"):
        handle.set_lod([[0, 1, 2]])


@pytest.mark.parametrize("format", [pytest.param("legacy", marks=marks_of("legacy"))])
def test_command_and_report(format, tmp_path):
    command = [str(single("sequence_softmax")), "-o", str(tmp_path / "model.xml"), "--sequence-lengths"]
    assert CliRunner().invoke(cli, ["convert", *command, "--report", str(tmp_path / "report.json")]).exit_code == 0
    model = openvino.Core().read_model(tmp_path / "model.xml")
    assert [port.any_name for port in model.inputs] == ["x", "x.lengths"]
    report = json.loads((tmp_path / "report.json").read_text())
    assert "x.lengths" in json.dumps(report)
