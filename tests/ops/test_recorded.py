"""Programs that older Paddles exported, against what these computed.

`tools/record_old.py` of commit be5b4f5f recorded those of Paddle 1.8.5, or its function `record` did, without call
stacks, and `python -m tools.older_paddle PYTHON --filter CASE --record FOLDER` those of Paddle 3.0 to 3.2, of operators
that computed something else then. A folder has the name that the case had then.
"""

import numpy as np
import pytest

import paddle2ov
from paddle2ov.compilation.running import run
from paddle2ov.errors import OpConversionError, OpInputError
from paddle2ov.program.model import Semantics
from paddle2ov.program.op_versions import PIR_VERSIONS, semantics_of, written_by
from paddle2ov.program.reading import read_program
from paddle2ov.testing import check_model
from tests.support.by_hand import by_hand
from tests.support.recorded import DATA, recorded

PADDLE_1_8 = DATA / "paddle_1_8"

STATIC = {
    "circular_convolutions": "the width of conv_shift's filter must be known",
}
"""Programs that cannot be converted with every dimension dynamic -> the reason."""

REFUSED = {
    "elements_of_different_shapes": "elements differ in shape",
}
"""Programs that are refused -> what the message says."""

REMOVED = {
    "circular_convolutions": "conv_shift",
    "inplace_normalizations": "inplace_abn",
    "precise_pooling": "prroi_pool",
    "projected_lstms": "lstmp",
    "removed_operators": "cos_sim diag gaussian_random_batch_size_like isfinite pad_constant_like",
}
"""Programs -> the operators in them that no later Paddle has."""


def programs():
    for folder in sorted(DATA.glob("paddle_*/*")):
        if folder.name not in REFUSED:
            yield pytest.param(folder, REMOVED.get(folder.name, ""), id=f"{folder.parent.name}/{folder.name}")


@pytest.mark.parametrize(("folder", "operators"), list(programs()))
@by_hand(argument="operators")
def test_recorded_programs(folder, operators):
    check_model(*recorded(folder), dynamic=folder.name not in STATIC)


@pytest.mark.parametrize(("name", "message"), REFUSED.items())
def test_what_cannot_be_converted_is_refused(name, message):
    with pytest.raises(OpConversionError, match=message):
        check_model(*recorded(PADDLE_1_8 / name))


def test_a_filter_of_unknown_width_is_refused():
    with pytest.raises(OpInputError, match="a filter of unknown width"):
        check_model(*recorded(PADDLE_1_8 / "circular_convolutions"), dynamic=True)


@pytest.mark.parametrize(("name", "lengths"), [("two_stage_detector", [6, 6]), ("single_shot_detector", [10, 10])])
def test_the_lod_of_detections_tells_their_images(name, lengths):
    folder, inputs, (detections,) = recorded(PADDLE_1_8 / name)
    rows, of_images = run(paddle2ov.convert(folder, sequence_lengths=True), inputs)
    assert rows.array.shape == detections.shape
    assert of_images.array.tolist() == lengths


def test_attributes_are_those_of_the_file():
    """What the version of a program decides is no attribute."""
    program = read_program(PADDLE_1_8 / "quotients_of_integers")
    (remainder, *_) = [operator for operator in program.block.operators if operator.type == "elementwise_mod"]
    assert remainder.semantics == Semantics(truncated_quotient=True)
    assert remainder.attributes.keys() == {"axis", "use_mkldnn", "x_data_format", "y_data_format"}


@pytest.mark.parametrize(
    ("operator", "version", "wanted"),
    [
        ("elementwise_mod", 1_008_005, {"truncated_quotient": True}),
        ("elementwise_mod", 2_000_000, {}),
        ("elementwise_floordiv", 2_003_002, {"truncated_quotient": True}),
        ("elementwise_floordiv", 2_006_002, {}),
        ("swish", 2_004_002, {"read_attributes": True}),
        ("swish_grad", 2_004_002, {"read_attributes": True}),
        ("leaky_relu", 1_008_005, {"joins_parts": True}),
        ("leaky_relu", 2_000_000, {}),
        ("elu", 2_002_002, {"joins_parts": True}),
        ("round", 1_008_005, {}),
        ("round", 2_001_000, {"ties_away": True}),
        ("yolo_box", 0, {}),
        ("relu", 1_008_005, {}),
    ],
)
def test_the_version_of_a_program_decides_what_an_operator_means(operator, version, wanted):
    assert semantics_of(operator, version) == Semantics(**wanted)


@pytest.mark.parametrize(("steps", "version", "wanted"), [("steps", 2_006_002, True), ("strides", 3_000_000, False)])
def test_paddle_2_reads_backwards_to_before_the_first_element(steps, version, wanted):
    attributes = {"starts": [3], "ends": [-1], steps: [-1]}
    assert semantics_of("set_value", version, attributes) == Semantics(end_before_first=wanted)


@pytest.mark.parametrize("version", ["3.0", "3.1", "3.2"])
def test_each_paddle_writes_a_number_of_its_own(version):
    program = read_program(DATA / f"paddle_{version.replace('.', '_')}" / "grid_sampler_test_14")
    assert written_by(program)[1] == version


@pytest.mark.parametrize(
    ("operator", "wanted"),
    [
        ("round", [True, True, False, False, False]),
        ("grid_sampler", [True, True, True, False, False]),
        ("equal", [True, True, False, False, False]),
        ("matrix_rank", [True, True, False, False, False]),
        ("bicubic_interp_v2", [True, True, True, True, False]),
        ("relu", [False] * 5),
    ],
)
def test_which_versions_of_pir_have_older_semantics(operator, wanted):
    assert [semantics_of(operator, version) != Semantics() for version in PIR_VERSIONS] == wanted


def test_verify_says_what_the_paddle_here_computes_otherwise(tmp_path):
    halves = tmp_path / "halves.npz"
    np.savez(halves, x=np.arange(12, dtype=np.float32) / 2)
    report = paddle2ov.verify(DATA / "paddle_3_0" / "round_test_1", inputs=[halves])
    assert report.verdict == "differ"
    assert report.culprit.type == "round"
    assert report.note == (
        "'round' is converted as the Paddle computed it that wrote the program: "
        "before Paddle 3.1 it rounded ties away from zero"
    )
