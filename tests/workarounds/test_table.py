"""The table of workarounds: what a target needs, that applying it again changes nothing, and what a graph tells."""

import functools
import inspect
import re
from types import SimpleNamespace

import numpy as np
import openvino
import pytest
from openvino import Core, Model, opset16 as ops
from openvino._offline_transformations import apply_moc_transformations

from gen_models.harness.legacy import ROOT
from paddle2ov import ConversionInputError, convert, workarounds
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import NORMAL_FORM, Graph
from paddle2ov.passes.rule import at
from paddle2ov.workarounds import Target, elided, made_for, mismatch, rewrites_for
from paddle2ov.workarounds.applying import rows_for
from paddle2ov.workarounds.row import ANY, CPU, Local, Workaround
from paddle2ov.workarounds.table import AFTER_CALIBRATION, WORKAROUNDS
from paddle2ov.workarounds.target import INSTALLED
from tests.support.models import network
from tests.support.passes_checks import convolved, node_by_node, parameter, random
from tests.support.random_graphs import random_graph
from tools.faults import FAULTS
from tools.faults.prelude import check

OPENVINOS = {"Conv3D", "PrePostProcessor", "convert_color", "reverse_channels"}


def rows():
    return {row.name: row for row in (*WORKAROUNDS, *AFTER_CALIBRATION)}


def test_names_are_unique():
    assert len(rows()) == len(WORKAROUNDS) + len(AFTER_CALIBRATION)


def test_every_row_says_what_goes_wrong_and_where():
    for row in rows().values():
        assert "Given:" in row.text, row.name
        assert row.faults, row.name


def test_what_rows_name_is_there():
    """Functions, operators, faults and files; the rest is OpenVINO's."""
    files = [*(ROOT / "paddle2ov").rglob("*.py"), *(ROOT / "converters").rglob("*.py")]
    known = {name for file in files for name in re.findall(r"\w+", re.sub(r'"""(?s:.*?)"""|#.*', "", file.read_text()))}
    known |= {*rows(), *FAULTS}
    paths = {
        file.relative_to(ROOT / "paddle2ov").as_posix() for file in files if file.is_relative_to(ROOT / "paddle2ov")
    }
    named = {name for row in rows().values() for name in re.findall(r"`([\w./]+)`", row.text + row.remedy)}
    assert {"graph/safe_functions.py", "index_sample"} <= named
    assert {name for name in named if name not in paths and name.partition(".")[0] not in known} == OPENVINOS


def test_rows_of_a_target():
    of_all, of_cpu, of_gpu = (rows_for(Target(device)) for device in (None, "CPU", "GPU"))
    assert of_all == WORKAROUNDS == of_cpu
    assert of_gpu == rows_for(Target("NPU")) == tuple(row for row in WORKAROUNDS if row.where == ANY)
    assert 0 < len(of_gpu) < len(of_all)


def test_a_row_runs_until_the_release_that_is_right():
    @at("Relu")
    def anything(graph, node):
        """Given: nothing."""

    mended = Local(anything, lambda graph, site: None, "none", until="2026.5")
    assert isinstance(mended, Workaround)
    assert [mended.serves(Target("CPU", version)) for version in ((2026, 4, 9), (2026, 5), (2026, 5, 1))] == [1, 0, 0]


@pytest.mark.parametrize("name", ["post_ops.along_axis_1", "post_op_along_axis_1"], ids=["row", "fault"])
def test_a_row_can_be_left_out(name):
    left = rows_for(Target(), (name,))
    assert {row.name for row in WORKAROUNDS} - {row.name for row in left} == {"post_ops.along_axis_1"}


def test_names_to_leave_out_are_checked():
    with pytest.raises(ConversionInputError, match="without: there is no workaround, and no fault, of the name 'x'"):
        rows_for(Target(), ["x"])
    for other in (None, 5, [None], [[]]):
        with pytest.raises(ConversionInputError, match="without: names of workarounds are expected, not"):
            rows_for(Target(), other)
    with pytest.raises(ConversionInputError, match=r"did you mean 'post_ops\.along_axis_1'\?"):
        rows_for(Target(), ["post_ops.along_axis_2"])


@pytest.mark.parametrize("device", ["cpu", "TPU", "GPU.0"])
def test_devices_are_checked(device):
    with pytest.raises(ConversionInputError, match=f"device: '{device}' is none of CPU, GPU, NPU"):
        workarounds.apply(random_graph(0, 0.0)[0], device)


@functools.cache
def faults_of_cpu():
    return sorted({fault for row in WORKAROUNDS if row.where == CPU for fault in row.faults})


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", faults_of_cpu())
def test_a_fault_of_cpus_is_none_of_the_transformations_that_all_devices_share(name):
    """A row that says CPU, and whose graph these get wrong, would leave the fault in a graph for other devices."""
    shared, _, _ = FAULTS[name].graph()
    apply_moc_transformations(shared, cf=False)
    assert is_right(name, shared) or not is_right(name, FAULTS[name].graph()[0])  # a node alone may be at fault


def is_right(name, model):
    _, runs, wanted = FAULTS[name].graph()
    try:
        return all(
            np.allclose(got, expected, rtol=1e-3, atol=1e-3)
            for arrays, want in zip(runs, wanted, strict=True)
            for got, expected in zip(node_by_node(model, arrays), want, strict=True)
        )
    except RuntimeError:
        return False


@pytest.mark.parametrize("seed", range(12))
def test_applied_again_it_does_nothing(seed):
    model, _ = random_graph(seed, 0.3 if seed % 2 else 0.0)
    workarounds.apply(model)
    assert workarounds.apply(model) == {}


@pytest.mark.parametrize("name", sorted(FAULTS.keys() - {"unique_of_no_elements"}))  # which no process survives
def test_applied_again_to_the_graph_of_a_fault(name):
    model, _, _ = FAULTS[name].graph()
    workarounds.apply(model)
    assert workarounds.apply(model) == {}


@pytest.mark.parametrize(
    ("name", "fault", "sites"),
    [
        ("constants.compute", "shape_of_accumulated_constants", 2),
        ("constants.computed_once", "suppression_of_constants", 2),
        ("memory.loop_invariants", "loop_overwrites_what_softmax_reads", 1),
        ("memory.loop_invariants", "loop_overwrites_what_views_show", 1),
        ("recurrent.layer_of_computed_shape", "recurrent_layer_of_computed_shape", 1),
        ("recurrent.layer_of_constants", "recurrent_layer_of_zeros_in_bfloat16", 1),
    ],
)
def test_a_row_goes_around_a_fault_by_itself(name, fault, sites):
    fault = FAULTS[fault]
    model, runs, want = fault.graph()
    assert rows()[name](Graph(model)) == {"sites": sites}
    check((model, runs, want), fault.precision, fault.tolerance)


def repeated(x):
    column = ops.unsqueeze(ops.reduce_max(x, np.array([0, 1, 2]), False), np.array([0]))
    height = ops.gather(ops.shape_of(x), np.array([2]), np.array(0))
    return ops.reduce_sum(ops.broadcast(column, ops.concat([height, np.array([1])], 0)), np.array([0]), False)


OTHER_SIZES = {
    "strided": (lambda x: convolved(x, np.ones((1, 1, 3, 3), np.float32), stride=2), (1, 1, 9, 3), (1, 1, 9, 9)),
    "deep": (lambda x: convolved(x, np.ones((2, 2, 3, 3, 3), np.float32), pad=1), (1, 2, 1, 4, 4), (1, 2, 5, 4, 4)),
    "repeated": (repeated, (1, 1, 1, 1), (1, 1, 4, 1)),
}


@pytest.mark.parametrize(("build", "small", "large"), OTHER_SIZES.values(), ids=OTHER_SIZES)
def test_sizes_after_others(build, small, large):
    """A converted model is reshaped to sizes for which something has no effect, and then to others."""
    x = parameter(*small[:2], *[-1] * (len(small) - 2))
    model, array = Model([build(x)], [x]), random(*large)
    (want,) = node_by_node(model, [array])
    workarounds.apply(model)
    model.reshape(small)
    workarounds.apply(model)
    model.reshape(large)
    np.testing.assert_allclose(compile_on_cpu(model)([array])[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["bert", "crnn", "swin_stage"])
def test_a_network_for_another_device(name):
    """It has no remedy that CPUs alone need; what is static stays so, and it computes the same, node by node."""
    folder = network(name)
    models = {device: convert(folder, device=device) for device in (None, "GPU")}
    assert made_for(models["GPU"]) == Target("GPU")
    dynamic = {
        device: sum(output.get_partial_shape().is_dynamic for node in model.get_ops() for output in node.outputs())
        for device, model in models.items()
    }
    assert dynamic["GPU"] <= dynamic[None]
    assert workarounds.apply(models[None]) == {}


def test_what_a_graph_was_made_for(tmp_path):
    x = parameter(1, 3)
    model = Model([ops.relu(x)], [x])
    assert made_for(model) is None
    assert mismatch(model, "GPU") == ""
    workarounds.apply(model, "CPU")
    openvino.save_model(model, tmp_path / "model.xml")
    model = Core().read_model(tmp_path / "model.xml")
    assert made_for(model) == Target("CPU")
    assert [mismatch(model, device) for device in ("CPU", "CPU.0")] == ["", ""]
    assert mismatch(model, "GPU.1").startswith("the model was converted for CPU by OpenVINO 20")
    workarounds.apply(model, Target(None, (*INSTALLED[:2], INSTALLED[2] + 1)))
    assert "is newer than the installed one" in mismatch(model, "GPU")


def test_rewrites_alone_are_left_out():
    assert set(rewrites_for(rewrite=False)) == {*NORMAL_FORM, *WORKAROUNDS}


def test_the_example_of_the_guide():
    """Its script is that of the fault that its row names, which its finder and remedy mend."""
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Add a workaround\n")[2]
    _, script, finder = (part.partition("```\n")[0] for part in guide.split("```python\n")[:3])
    module = vars(elided).copy()
    exec(finder, module)
    (line,) = re.findall(r"^    (Local\(.*\)),$", guide, re.MULTILINE)
    row = eval(line, {"Local": Local, "elided": SimpleNamespace(**module)})
    fault = FAULTS["".join(row.faults)]
    assert script.partition("\n")[2] == inspect.getsource(fault.graph).partition("\n")[2]
    model, runs, wanted = fault.graph()
    assert row(Graph(model)) == {"sites": 1}
    check((model, runs, wanted), fault.precision, fault.tolerance)
    assert row(Graph(model)) == {"sites": 0}
