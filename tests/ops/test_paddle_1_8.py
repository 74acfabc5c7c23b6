"""Programs that Paddle 1.8.5 exported, against what it computed.

`tools/record_old.py` of commit be5b4f5f recorded them (`tests/support/recorded.py`), without call stacks.
"""

import pytest

from paddle2ov.errors import OpConversionError, OpInputError
from paddle2ov.program.model import Semantics
from paddle2ov.program.op_versions import semantics_of
from paddle2ov.program.reading import read_program
from paddle2ov.testing import check_model
from tests.support.by_hand import by_hand
from tests.support.recorded import DATA, recorded

RECORDED = DATA / "paddle_1_8"

STATIC = {
    "circular_convolutions": "the width of conv_shift's filter must be known",
}
"""Programs that cannot be converted with every dimension dynamic -> the reason."""


REFUSED = {
    "elements_of_different_shapes": "elements differ in shape",
}
"""Programs that are refused -> what the message says."""


@pytest.mark.parametrize("name", sorted({folder.name for folder in RECORDED.iterdir()} - REFUSED.keys()))
def test_recorded_programs(name):
    folder, inputs, results = recorded(RECORDED / name)
    check_model(folder, inputs, results, dynamic=name not in STATIC)


@pytest.mark.parametrize(("name", "message"), REFUSED.items())
def test_what_cannot_be_converted_is_refused(name, message):
    folder, inputs, results = recorded(RECORDED / name)
    with pytest.raises(OpConversionError, match=message):
        check_model(folder, inputs, results)


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        ("conv_shift", "circular_convolutions"),
        ("cos_sim", "removed_operators"),
        ("diag", "removed_operators"),
        ("gaussian_random_batch_size_like", "removed_operators"),
        ("inplace_abn", "inplace_normalizations"),
        ("isfinite", "removed_operators"),
        ("lstmp", "projected_lstms"),
        ("pad_constant_like", "removed_operators"),
        ("prroi_pool", "precise_pooling"),
    ],
)
@by_hand(argument="operator")
def test_removed_operators_are_in_recorded_programs(operator, name):
    folder, inputs, results = recorded(RECORDED / name)
    check_model(folder, inputs, results, dynamic=False)


def test_attributes_are_those_of_the_file():
    """What the version of a program decides is no attribute."""
    program = read_program(RECORDED / "quotients_of_integers")
    (remainder, *_) = [operator for operator in program.block.operators if operator.type == "elementwise_mod"]
    assert remainder.semantics == Semantics(truncated_quotient=True)
    assert remainder.attributes.keys() == {"axis", "use_mkldnn", "x_data_format", "y_data_format"}


def test_a_filter_of_unknown_width_is_refused():
    folder, inputs, results = recorded(RECORDED / "circular_convolutions")
    with pytest.raises(OpInputError, match="a filter of unknown width"):
        check_model(folder, inputs, results, dynamic=True)


@pytest.mark.parametrize(
    ("operator", "version", "wanted"),
    [
        ("elementwise_mod", 1_008_005, {"truncated_quotient": True}),
        ("elementwise_mod", 2_000_000, {}),
        ("elementwise_floordiv", 2_003_002, {"truncated_quotient": True}),
        ("elementwise_floordiv", 2_006_002, {}),
        ("swish", 2_004_002, {"read_attributes": True}),
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
