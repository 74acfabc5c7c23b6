"""The register of OpenVINO's faults: scripts, the places that work around them, and what `check` makes of them."""

from functools import partial

import numpy as np
import pytest
from openvino import Tensor, opset16 as ops

from paddle2ov import check
from paddle2ov.checking.device import chosen_device
from paddle2ov.errors import OpenVINORunError
from tools import openvino_faults
from tools.faults import FAULTS, places, showing
from tools.faults.remarks import REASONS, unmarked, unmarked_in
from tools.faults.showing import outcome, table

ENDING_THE_PROCESS = {
    "average_pool_without_dilations",
    "broadcast_to_number",
    "factors_behind_an_integer_convolution",
    "gather_by_empty_constant",
    "gather_in_one_batch",
    "gather_nd_out_of_range",
    "group_normalization_in_residual_block",
    "irdft_to_nothing",
    "reshape_of_matmul_to_number",
    "slice_scatter_between_computed_bounds",
    "unique_of_no_elements",
}
"""Among them is one that crashes while its graph is built."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sorted(FAULTS))
def test_the_script_needs_nothing_else(name):
    """It builds the model, its inputs and the right results; whether the fault shows is for `make faults` to tell."""
    fault, names = FAULTS[name], {}
    if name in ENDING_THE_PROCESS:
        assert "is not built" not in outcome(fault.script(), seconds=1000)
        return
    exec(fault.script().removesuffix(f"{fault.call}\n"), names)
    _, runs, expected = names[name]()
    assert len(runs) == len(expected)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("pass", "-"),
        ("def check():\n    assert False\ncheck()", "shows"),
        ("assert False, 'no graph'", "is not built: AssertionError: no graph"),
        ("import os; os.abort()", "ends the process"),
        ("import time; time.sleep(1000)", "runs longer than 1 s"),
    ],
    ids=["right", "wrong", "not built", "crash", "hang"],
)
def test_what_becomes_of_a_script(script, expected):
    assert outcome(script, seconds=1 if "sleep" in script else 1000) == expected


def test_table_of_faults(monkeypatch):
    """One column for each level that takes something away from the processor."""
    monkeypatch.setattr(showing, "_flags", lambda: {"avx2", "avx512f", "avx512_vnni", "avx512_bf16"})
    monkeypatch.setattr(showing, "outcome", lambda script, level: "shows" if level else "-")
    release, _, head, _, row = table(["greater_than_nan"]).splitlines()
    assert release.endswith("on a processor with avx2, avx512_bf16, avx512_vnni, avx512f")
    assert head == "| fault | registered for | all abilities | AVX512_CORE | AVX512_CORE_VNNI |"
    assert row == "| greater_than_nan | avx512f | - | shows | shows |"


def test_places_and_register_agree():
    """What says that it works around a fault names one, and each one is worked around somewhere."""
    assert sorted(places()) == sorted(FAULTS)


def test_remarks_are_marked():
    """What is said of OpenVINO says which fault it is, or why it is none: register it, or add the reason."""
    assert unmarked() == set(REASONS)


UNSEEN = {
    "division_by_inverse": "it is as small as rounding",
    "fake_quantize_of_odd_levels": "it is less than a step of the levels",
    "hard_sigmoid_of_alpha_zero": "OpenVINO computes the node alone as wrongly",
    "integers_reversed_in_float32": "OpenVINO computes the node alone as wrongly",
    "is_finite_of_denormals": "OpenVINO computes the node alone as wrongly",
    "layer_of_odd_levels": "it is less than a step of the levels",
    "layers_of_one_weight": "it shows on one thread",
    "resize_of_kept_size": "OpenVINO computes the node alone as wrongly",
    "selu_of_alpha_zero": "OpenVINO computes the node alone as wrongly",
    "slice_backwards_before_first": "OpenVINO computes the node alone as wrongly",
    "split_beyond_the_tensor": "OpenVINO computes the node alone as wrongly",
    "tile_of_no_rows": "it shows in three runs of one order",
    "topk_of_no_rows": "it shows in three runs of one order",
    "unique_of_nothing": "OpenVINO computes the node alone as wrongly",
}
"""What `check` does not find, and why."""


def checked(fault, model, runs, **options):
    for i, port in enumerate(model.inputs):
        port.get_tensor().set_names({f"input_{i}"})
    inputs = [{f"input_{i}": array for i, array in enumerate(arrays)} for arrays in runs]
    return check(model, inputs=inputs, precision=fault.precision, **options)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("name", sorted(FAULTS.keys() - ENDING_THE_PROCESS - UNSEEN.keys()))
def test_check_finds_the_fault(name):
    """In a graph that nothing works around, where OpenVINO computes it, and wrongly."""
    fault = FAULTS[name]
    model, runs, expected = fault.graph()
    try:
        computed = chosen_device("CPU", fault.precision).run(model, [[Tensor(item) for item in run] for run in runs])
        report = checked(fault, model, runs, timeout=1e-9)
    except (OpenVINORunError, RuntimeError):
        return
    if all(map(partial(are_close, fault.tolerance), computed, expected)):
        pytest.skip("OpenVINO computes it right on this processor")
    assert report.verdict == "differ"


PARTS = {
    "result_converted_to_its_own_type": {"Convert"},
    "integer_select_in_float32": {"Greater", "Select"},
    "post_op_along_axis_1": {"MatMul", "Add"},
    "transpose_view_of_joined_memory": {"Relu", "Transpose", "Convolution", "Concat"},
    "transpose_view_in_recurrent_layer": {"Relu", "Transpose", "Reshape", "RNNSequence"},
    "reshape_after_reduction": {"ReduceMean", "Reshape"},
    "attention_compiled_for_one_key": {"MatMul", "Softmax"},
    "statistics_without_their_axis": {"Exp", "ReduceSum", "Divide"},
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", PARTS)
def test_check_cuts_the_fault_down_to_the_nodes_that_make_it(name):
    """Beside nodes that have nothing to do with it."""
    model, runs, _ = FAULTS[name].graph()
    model.add_results([ops.result(ops.negative(ops.abs(model.get_parameters()[0])))])
    report = checked(FAULTS[name], model, runs)
    assert report.verdict == "differ"
    (found,) = report.faults
    assert (found.kind, {node.partition(" ")[0] for node in found.nodes}) == ("device", PARTS[name])
    assert found.reason
    assert found.name == found.nodes[0]


def test_a_fault_that_there_is_not_is_said_to_be_none(capsys):
    for option in ("--run", "--script"):
        assert openvino_faults.main([option, "unique_of_everything"]) == 2
        assert capsys.readouterr().err == "error: tools/faults/ has no unique_of_everything\n"


def are_close(tolerance, computed, expected):
    """Whether results are the right ones, or an error, as a script of a fault compares."""
    if isinstance(computed, str) or expected is None:
        return isinstance(computed, str) and expected is None
    absolute = 0 if tolerance < 1e-5 else tolerance
    pairs = zip(computed, expected, strict=True)
    return all(
        actual.data.shape == desired.shape and np.allclose(actual.data, desired, tolerance, absolute, equal_nan=True)
        for actual, desired in pairs
    )


REMARK = "    # In OpenVINO\n    # 2026.4 this is garbage.\n    return 0\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"def f():\n{REMARK}", ["m.f"]),
        (f'@works_around("one")\ndef f():\n{REMARK}', []),
        (f'@works_around("one")\nclass A:\n  def f():\n{REMARK}', []),
        (f'@works_around("one")\ndef g():\n    return 0\n\n\ndef f():\n{REMARK}', ["m.f"]),
        ('"""OpenVINO\'s CPU plugin\nis wrong."""\n', ["m"]),
        ('"""OpenVINO\'s CPU plugin\nis wrong."""\n\n@works_around("one")\ndef g():\n    return 0\n', []),
    ],
)
def test_a_remark_without_a_mark_is_found(text, found):
    assert list(unmarked_in(text, "m")) == found
