"""`check`: faults of OpenVINO and planted ones are found and cut out, and what is right is not blamed."""

import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import openvino
import pytest
from openvino import Model, PartialShape, Tensor, Type, opset16 as ops

import paddle2ov
from paddle2ov.checking.device import Device
from paddle2ov.checking.input_sets import chosen_inputs, run_orders
from paddle2ov.checking.rewrites import RewriteCheck
from paddle2ov.comparison.evaluator import Evaluator
from paddle2ov.comparison.rounding import UNITS, Rounding, compare
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph.consumers import consumers
from paddle2ov.passes import REWRITES
from tests.support.command_line import call, python
from tests.support.formats import FORMATS
from tests.support.models import network, operator
from tests.support.passes_checks import node_by_node, parameter, random
from tests.support.processor import NEEDS_BFLOAT16

ONE = np.float32(1)
WEIGHTS, ALONG = random(8, 5), random(5, 1, 1)
KERNELS = random(6, 4, 3, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": None}, "seed: None is not an integer of 0 or more"),
        ({"seed": 1.5}, "seed: 1.5 is not an integer"),
        ({"device": None}, "device: None is not the name of a device"),
        ({"inputs": "no/such.npz"}, "inputs: no/such.npz: No such file or directory"),
        ({"inputs": "a\0b"}, r"inputs: a\\x00b: .*embedded null (byte|character)"),
    ],
)
def test_arguments_of_another_kind(options, message):
    x = ops.parameter([2], np.float32)
    with pytest.raises(paddle2ov.ConversionInputError, match=message):
        paddle2ov.check(Model([ops.relu(x)], [x]), **options)


# --- faults of OpenVINO 2026.4's CPU plugin, of which test_openvino_faults.py has the others ---


def returned_input():
    x = parameter(-1, 8)
    return Model([ops.convert(x, "f32"), ops.sigmoid(ops.relu(x))], [x])


def no_code():
    x = parameter(-1, 5, 3, 8)
    weights = np.ascontiguousarray(WEIGHTS[:, :4])
    return Model([ops.sigmoid(ops.add(ops.matmul(ops.tanh(x), weights, False, False), ALONG))], [x])


def test_fault_as_files(tmp_path):
    """The smallest part as IR, with a script that needs OpenVINO only; the IR is wrong by itself."""
    report = paddle2ov.check(returned_input(), case=tmp_path / "case")
    (fault,) = report.faults
    assert fault.case == tmp_path / "case"
    assert len(fault.shapes) == 2  # a large input, and then a small one
    script = (fault.case / "reproduce.py").read_text()
    assert set(re.findall(r"^(?:import|from) (\w+)", script, re.MULTILINE)) == {"numpy", "openvino", "pathlib"}
    run = python(fault.case / "reproduce.py")
    assert "run 0, [(3, 8)]: 0 of 24 elements" in run.stdout
    assert "run 1, [(1, 8)]: 8 of 8 elements" in run.stdout
    assert json.loads((fault.case / "case.json").read_text())["nodes"] == list(fault.nodes)
    inputs = [np.load(fault.case / f"inputs_{i}.npz")["input_0"] for i in range(2)]
    model = openvino.Core().read_model(fault.case / "model.xml")
    name = model.get_parameters()[0].get_friendly_name()
    assert not paddle2ov.check(model, inputs=[{name: input_} for input_ in inputs]).ok


def test_what_the_device_cannot_compile():
    report = paddle2ov.check(no_code())
    (fault,) = report.faults
    assert [node.partition(" ")[0] for node in fault.nodes] == ["MatMul", "Add"]
    assert "OC" in fault.reason
    assert all(run.error for run in report.runs)


# --- planted faults ---


@pytest.fixture
def wrong_sinh(monkeypatch):
    """A device that computes Sinh with an error of a thousandth behind Cosh, and nowhere else."""
    compile = Device.compile

    def compile_wrongly(self, model):
        model = model.clone()
        for node in model.get_ops():
            if node.get_type_name() == "Sinh" and node.input_value(0).get_node().get_type_name() == "Cosh":
                readers = node.output(0).get_target_inputs()
                wrong = ops.multiply(node, np.float32(1.001))
                for reader in readers:
                    reader.replace_source_output(wrong.output(0))
        return compile(self, model)

    monkeypatch.setattr(Device, "compile", compile_wrongly)


def deep(x):
    """Many nodes, among them Cosh and Sinh."""
    for _ in range(8):
        x = ops.relu(ops.add(ops.convolution(x, KERNELS[:4], [1, 1], [1, 1], [1, 1], [1, 1]), ONE))
        x = ops.multiply(ops.sigmoid(x), ONE)
    x = ops.sinh(ops.cosh(ops.tanh(x)))
    for _ in range(4):
        x = ops.softmax(ops.add(x, ops.sinh(x)), 1)
    return x


def test_a_part_of_many_nodes(wrong_sinh):
    """A node that is wrong only behind another one is found with it, among many."""
    x = parameter(-1, 4, 6, 6)
    report = paddle2ov.check(Model([deep(x), ops.relu(x)], [x]))
    (fault,) = report.faults
    assert [node.partition(" ")[0] for node in fault.nodes] == ["Cosh", "Sinh"]
    assert len(fault.shapes) == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("format", FORMATS)
def test_a_rewrite_that_forgets_a_constant(format, monkeypatch):
    def forget(graph):
        node = next(n for n in graph.nodes("Multiply") if n.input_value(1).get_node().get_type_name() == "Constant")
        for reader in consumers(node.output(0)):
            reader.replace_source_output(node.input_value(0))
        return {"forgotten": 1}

    folder = network("constants_along_axis_1", format)
    assert paddle2ov.check(folder).ok
    monkeypatch.setattr("paddle2ov.workarounds.applying.REWRITES", (*REWRITES[:3], forget, *REWRITES[3:]))
    report = paddle2ov.check(folder)
    (fault,) = report.faults
    assert (fault.kind, fault.name) == ("rewrite", "forget")
    assert report.verdict == "differ"
    shown = call("check", folder)
    assert shown.exit_code == 1
    assert "The rewrite forget changes what the graph computes" in shown.output


# --- what is right ---


def amplified(x):
    """Rounding of 1e-7 becomes 1e-3."""
    return ops.subtract(ops.add(ops.multiply(ops.tanh(x), np.float32(0.1)), np.float32(1e3)), np.float32(1e3))


GOOD: dict[str, Any] = {
    "convolution": ((-1, 4, -1, 9), lambda x: ops.convolution(x, KERNELS, [2, 1], [1, 0], [0, 2], [1, 2])),
    "same upper": ((2, 4, 7, 7), lambda x: ops.convolution(x, KERNELS, [2, 2], [0, 0], [0, 0], [1, 1], "same_upper")),
    "same lower": ((2, 4, 7, 7), lambda x: ops.convolution(x, KERNELS, [2, 2], [0, 0], [0, 0], [1, 1], "same_lower")),
    "groups": (
        (2, 4, 7, 7),
        lambda x: ops.group_convolution(x, random(2, 3, 2, 3, 3), [1, 2], [1, 1], [1, 0], [1, 1]),
    ),
    "depthwise": ((2, 4, 9), lambda x: ops.group_convolution(x, random(4, 1, 1, 3), [1], [1], [1], [2])),
    "matrices": ((-1, 3, 4), lambda x: ops.matmul(x, x, True, False)),
    "vector": ((-1, 4), lambda x: ops.matmul(x, random(4), False, False)),
    "mean": ((2, 3, 40), lambda x: ops.reduce_mean(x, np.array([0, -1]), False)),
    "softmax": ((2, 3, 4), lambda x: ops.softmax(ops.multiply(x, np.float32(80)), -2)),
    "resize": (
        (1, 2, 3, 4, 5),
        lambda x: ops.interpolate(
            x,
            np.array([1, 2, 1.5], np.float32),
            "linear_onnx",
            "scales",
            axes=np.array([2, 3, 4]),
            coordinate_transformation_mode="half_pixel",
        ),
    ),
    "no evaluation": ((2, 6), lambda x: ops.elu(ops.log_softmax(x, 1), 0.5)),
    "amplified": ((-1, 50), amplified),
    "nothing": ((-1, 0), ops.relu),
    "nothing found": ((-1, 6), lambda x: ops.non_zero(ops.greater(ops.tanh(x), ONE), "i64")),
}


def test_narrow_types():
    """Models whose own numbers are of a narrow type, computed in float32."""
    for kind in (Type.f16, Type.bf16):
        x = parameter(3, 8, kind=kind)
        power = ops.log(ops.add(ops.exp(x), ops.convert(ops.constant(ONE), kind.get_type_name())))
        assert paddle2ov.check(Model([power], [x])).verdict == "agree"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("precision", ["fp32", pytest.param("bf16", marks=NEEDS_BFLOAT16)])
@pytest.mark.parametrize(("dims", "build"), GOOD.values(), ids=GOOD)
def test_what_is_right(dims, build, precision):
    x = parameter(*dims)
    report = paddle2ov.check(Model([build(x)], [x]), precision=precision)
    assert report.verdict == "agree"
    assert not any(run.refused for run in report.runs)


def test_how_nodes_are_computed():
    """Each node counts once, however many sizes are run."""
    x = parameter(-1, 6)
    y = ops.elu(ops.matmul(ops.exp(x), random(6, 3), False, False), 0.5)
    report = paddle2ov.check(Model([y], [x]))
    assert len(report.runs) > 3  # of several sizes
    assert report.references == {"alone": {"Elu": 1}, "evaluate": {"Exp": 1}, "float64": {"MatMul": 1}}


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_rows_written_into_constants(dtype):
    """Beside NumPy: OpenVINO's own evaluation, and a model of this node alone, put rows of one element elsewhere."""
    data, rows = np.arange(16).reshape(4, 4, 1).astype(dtype), np.arange(100, 108).reshape(2, 4, 1).astype(dtype)
    expected = data.copy()
    expected[[0, 3]] = rows
    x = parameter(4, 4, 1, kind=Type(dtype))
    model = Model([ops.add(ops.scatter_update(data, np.array([0, 3]), rows, np.int64(0)), x)], [x])
    (actual,) = node_by_node(model, [data])
    np.testing.assert_array_equal(actual, expected + data)


def test_more_elements_than_there_are():
    """The device refuses them, and OpenVINO's evaluation, which would read beyond the tensor, is not asked."""
    x = parameter(-1, -1, name="x")
    model = Model([ops.topk(x, np.int64(9), -1, "max", "value").output(0)], [x])
    report = paddle2ov.check(model, shapes=["x[2,12]", "x[2,7]"])
    assert report.verdict == "agree"
    refused = [run.refused for run in report.runs if run.inputs["x"] == (2, 7)]
    assert refused
    assert all("(9) exceeds the axis dimension (7)" in text for text in refused)


def test_an_error_above_rounding_is_one():
    """What the errors of a precision may do, and no more."""
    x = parameter(1, 1000)
    model, array = Model([amplified(x)], [x]), random(1, 1000)
    (lanes,) = Evaluator(model, rounding=Rounding()).run([Tensor(array)]).results
    right = compile_on_cpu(model)([array])[0]
    unit = UNITS["f32"]
    assert not compare(Tensor(right), lanes, unit).reason
    assert compare(Tensor(right + np.float32(0.05)), lanes, unit).wrong == 1000
    changed = right.copy()
    changed[0, 7] += np.float32(0.05)
    assert "1 of 1000 elements; the worst at [0, 7]" in compare(Tensor(changed), lanes, unit).reason
    assert "mean square" in compare(Tensor(right + np.float32(0.004)), lanes, unit).reason


def test_equal_numbers_are_ties():
    x = parameter(-1, 100)
    best = ops.topk(ops.relu(ops.multiply(x, np.float32(0))), np.int64(5), 1, "max", "value")
    positive = ops.greater(ops.reduce_sum(x, np.array([1]), True), ops.reduce_sum(x, np.array([1]), True))
    report = paddle2ov.check(Model([best.output(0), best.output(1), positive.output(0)], [x]))
    assert report.verdict == "ties"
    assert report.ok
    assert {tie.type for run in report.runs for tie in run.ties} == {"TopK"}


def test_a_sort_that_is_wrong_is_no_tie(monkeypatch):
    """Indices that do not belong to equal numbers."""
    run = Device.run

    def run_wrongly(self, model, sequence):
        runs = run(self, model, sequence)
        for results in runs:
            for result in results:
                if result.get_element_type() == Type.i32:
                    result.data[...] = result.data[..., ::-1].copy()
        return runs

    monkeypatch.setattr(Device, "run", run_wrongly)
    x = parameter(2, 100)
    report = paddle2ov.check(Model([ops.topk(x, np.int64(5), 1, "max", "value").output(1)], [x]))
    assert report.verdict == "differ"


def test_random_numbers_are_not_compared():
    x = parameter(2, 3)
    drawn = ops.random_uniform(np.array([2, 3]), np.float32(0), ONE, "f32", 0, 0)
    report = paddle2ov.check(Model([ops.add(x, drawn), ops.relu(x)], [x]))
    assert report.ok
    assert [output.drawn for output in report.runs[0].outputs] == [True, False]


# --- bodies, states ---


def loop_model():
    """x, and the sums of its rows so far, until the sum is above 2."""
    carried, row, count = parameter(1, 3, name="c"), parameter(1, 3, name="r"), parameter(name="i", kind=Type.i64)
    total = ops.add(carried, row)
    going = ops.less(ops.reduce_sum(total, np.array([0, 1]), False), np.float32(2))
    results = [going.output(0), total.output(0), ops.convert(count, "f32").output(0)]
    body = Model(results, [carried, row, count], "body")
    x = parameter(-1, 3)
    loop = ops.loop(ops.constant(np.int64(4)), ops.constant(True))
    loop.set_function(body)
    loop.set_special_body_ports([2, 0])
    loop.set_merged_input(carried, ops.constant(np.zeros((1, 3), np.float32)).output(0), results[1])
    loop.set_sliced_input(row, x.output(0), 0, 1, 1, -1, 0)
    outputs = [loop.get_iter_value(results[1], -1), loop.get_concatenated_slices(results[1], 0, 1, 1, -1, 0)]
    return Model([*outputs, loop.get_iter_value(results[2], -1)], [x])


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_loop(scale):
    x = np.full((6, 3), scale, np.float32)
    model = loop_model()
    want = compile_on_cpu(model)([x])
    results = Evaluator(model).run([Tensor(x)]).results
    assert [len(want[i]) for i in range(2)] == [1, 4 if scale == 0.1 else 1]
    for i, item in enumerate(results):
        np.testing.assert_allclose(item[0].data, want[i], rtol=1e-6)


@pytest.mark.parametrize("name", ["nested", "returned_of_a_branch"])
def test_branches_and_loops_of_programs(name):
    report = paddle2ov.check(network(name))
    assert (report.verdict, report.is_converted) == ("agree", True)
    assert not any(run.refused for run in report.runs)


def test_states_begin_anew():
    x = parameter(1, 3)
    info = openvino.op.util.VariableInfo()
    info.data_shape, info.data_type, info.variable_id = PartialShape([1, 3]), Type.f32, "state"
    state = openvino.op.util.Variable(info)
    read = ops.read_value(ops.constant(np.ones((1, 3), np.float32)), state)
    total = ops.add(read, x)
    model = Model([ops.result(total)], [ops.assign(total, state)], [x], "state")
    report = paddle2ov.check(model)
    assert report.verdict == "agree"
    assert len(report.runs) == 2


# --- inputs ---


def test_no_rows():
    """What has no elements is not computed: `Node.evaluate` of a TopK ended the process."""
    x = ops.parameter(PartialShape([-1, 9]), Type.f32)
    model = Model([ops.topk(x, np.int64(3), 1, "max", "value").output(0)], [x])
    x.output(0).get_tensor().set_names({"x"})
    report = paddle2ov.check(model, inputs=[{"x": random(2, 9)}, {"x": np.zeros((0, 9), np.float32)}], precision="f32")
    assert report.verdict == "agree"


def test_orders_of_runs():
    sets = [{"x": np.zeros(size)} for size in (5, 1, 9)]
    assert run_orders(sets) == [[2, 1, 0, 2], [1, 2]]
    assert run_orders(sets[:1]) == [[0, 0]]


def test_random_inputs_of_a_model():
    """Sizes within bounds, indices within what they index."""
    index = parameter((1, 2), -1, name="i", kind=Type.i64)
    gathered = ops.gather(ops.constant(random(4, 3)), ops.unsqueeze(index, np.array([0])), np.int64(0))
    sets = chosen_inputs(Model([gathered], [index]), None, None, (), 0)
    assert [len(item["i"]) for item in sets] == [1, 2, 2]
    assert all(item["i"].min() >= 0 and item["i"].max() < 4 for item in sets)
    with pytest.raises(paddle2ov.ConversionInputError, match="'i' is missing"):
        chosen_inputs(Model([gathered], [index]), None, {"j": np.zeros(1)}, (), 0)


@pytest.mark.parametrize(
    ("dims", "kind", "expected"),
    [
        (((1, -1), -1, -1, 3), Type.u8, [(1, 224, 224, 3), (2, 160, 320, 3), (3, 320, 128, 3)]),
        (((1, -1), -1, -1, 1), Type.u8, [(1, 224, 224, 1), (2, 160, 320, 1), (3, 320, 128, 1)]),
        ((-1, -1, -1, 3), Type.f32, [(1, 16, 16, 3), (2, 7, 7, 3), (3, 33, 33, 3)]),  # see test_channels.py
        ((-1, 3, -1, -1), Type.f32, [(1, 3, 224, 224), (2, 3, 160, 320), (3, 3, 320, 128)]),
        ((-1, 3, -1, 4), Type.u8, [(1, 3, 224, 4), (2, 3, 160, 4), (3, 3, 320, 4)]),
        ((-1, -1, -1, 4), Type.f32, [(1, 3, 224, 4), (2, 3, 160, 4), (2, 3, 320, 4)]),
    ],
)
def test_pictures_have_their_channels_first_or_last(dims, kind, expected):
    x = parameter(*dims, kind=kind)
    sets = chosen_inputs(Model([ops.convert(x, "f32")], [x]), None, None, (), 0)
    assert [item["x"].shape for item in sets] == expected


@pytest.mark.parametrize("size", [(375, 257), (150, 60)])
def test_a_resize_reads_at_places_in_float32(size):
    """The place in a row of 320 is off by some 1e-5, and the numbers beside each other differ by 10."""
    x = parameter(1, 3, 320, 128, kind=Type.u8)
    kind = {"mode": "linear_onnx", "shape_calculation_mode": "sizes"}
    resized = ops.interpolate(ops.convert(x, "f32"), np.array(size), **kind, axes=np.array([2, 3]))
    report = paddle2ov.check(Model([resized], [x]))
    assert report.verdict == "agree", report.faults


@pytest.mark.parametrize("shape", ["x[1,4,32,32]", "x[1,3,32,31]"])
def test_shapes_that_the_model_does_not_take(ir, tmp_path, shape):
    x = parameter(-1, 3, -1, 32)
    message = (
        f"error: shapes: 'x' has shape {shape[1:].replace(',', ', ')}, the model takes [?,3,?,32]; leave out --input"
    )
    shown = call("check", ir(Model([ops.relu(x)], [x])), "--input", shape)
    assert (shown.exit_code, shown.output.startswith(message)) == (2, True), shown.output


# --- the command ---


@pytest.fixture
def ir(tmp_path):
    def write(model):
        openvino.save_model(model, tmp_path / "model.xml", compress_to_fp16=False)
        return tmp_path / "model.xml"

    return write


def test_command_on_ir(ir, tmp_path):
    x = parameter(-1, 8)
    shown = call("check", ir(Model([ops.tanh(x)], [x])))
    assert shown.exit_code == 0
    assert "CPU computes in f32" in shown.output
    assert "compared with the graph of the file; its nodes" in shown.output
    assert "1 by OpenVINO's reference evaluation" in shown.output
    shown = call("check", ir(returned_input()), "--case", tmp_path / "case", "--timeout", "0")
    assert shown.exit_code == 1
    assert re.search(r"The smallest part that is wrong\n  Convert '", shown.output)
    assert f"as files: {tmp_path / 'case'}" in shown.output
    np.savez(tmp_path / "x.npz", x=random(2, 8))
    shown = call("check", ir(returned_input()), "--inputs", tmp_path / "x.npz", "--json")
    assert shown.exit_code == 0  # one shape only
    data = json.loads(shown.output)
    assert data["verdict"] == "agree"
    assert [run["inputs"] for run in data["runs"]] == [{"x": [2, 8]}] * 2


def test_what_cannot_be_checked(ir, tmp_path):
    x = parameter(-1, 8)
    alone = ir(Model([ops.matmul(x, np.ones((8, 8), np.float32), False, False)], [x])).rename(tmp_path / "alone.xml")
    path = ir(Model([ops.tanh(x)], [x]))
    texts = {
        "empty": "",
        "cut": '<net name="x"',
        "old": '<?xml version="1.0"?><net version="7"></net>',
        "unknown_encoding": '<?xml version="1.0" encoding="none"?><net version="11"></net>',
        "other_encoding": '<?xml version="1.0" encoding="big5"?><net version="11"></net>',
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.xml").write_text(text)
    for arguments, text in (
        ([tmp_path / "none.xml"], "no such file"),
        ([tmp_path / "none.xml", "--params", "x"], "params: they are those of a Paddle model"),
        *(([tmp_path / f"{name}.xml"], f"{name}.xml: not an OpenVINO IR of version 10 or 11") for name in texts),
        ([alone], "its weights, alone.bin, are not beside it"),
        ([path, "--device", "TPU"], "device: TPU"),
        ([path, "--input", "y[1,8]"], "no input 'y'"),
        ([path, "--inputs", tmp_path / "bad.npz"], "is not an .npz file"),
    ):
        (tmp_path / "bad.npz").write_text("no")
        shown = call("check", *arguments)
        assert (shown.exit_code, text in shown.output) == (2, True), shown.output
    rows = parameter(-1, -1)
    product = Model([ops.matmul(rows, WEIGHTS, False, False)], [rows])
    with pytest.raises(RuntimeError, match="MatMul"):  # the device may read what lies behind the input
        Evaluator(product).run([Tensor(random(2, 7))])
    y = parameter(-1, 3, name="y")
    model = Model([ops.add(y, ops.reshape(y, np.array([2, 3]), False))], [y])
    with pytest.raises(paddle2ov.OpenVINORunError, match="for any of the inputs"):
        paddle2ov.check(model, inputs={"y": random(5, 3)})


def test_batch(tmp_path, inline, monkeypatch):
    folder = operator("relu")
    shown = call("batch", folder, "-o", tmp_path / "out", "--check")
    assert shown.exit_code == 0, shown.output
    (model,) = json.loads((tmp_path / "out" / "summary.json").read_text())["models"]
    assert (model["state"], model["device"], model["precision"]) == ("computed right", "CPU", "f32")
    run = Device.run

    def wrong(self, model, sequence):
        runs = run(self, model, sequence)
        for results in runs:
            results[0].data[...] += 1
        return runs

    monkeypatch.setattr(Device, "run", wrong)
    shown = call("batch", folder, "-o", tmp_path / "out", "--check", "--again")
    assert shown.exit_code == 1
    assert "computed wrong: the device computes Relu" in shown.output


@pytest.mark.parametrize("wrong", [{5}, {1, 2, 3, 4, 5}, {2, 5}, {1, 3, 4, 5}, {1, 2, 4, 5}])
def test_the_rewrite_that_is_named_changes_the_result(wrong, monkeypatch):
    """Whatever later rewrites undo. `wrong`: the numbers of rewrites after which something differs."""
    x = ops.parameter([1], np.float32)
    check = RewriteCheck(lambda: Model([ops.relu(x)], [x]), Device("CPU", "f32"), lambda *_: None)
    check._rewrites = [SimpleNamespace(__name__=str(number)) for number in range(1, 6)]
    monkeypatch.setattr(check, "_reason", lambda count, *_: "differs" if count in wrong else "")
    name, reason, _ = check.run([[Tensor(np.zeros(1, np.float32))]])
    assert int(name) in wrong
    assert int(name) - 1 not in wrong
    assert reason == "differs"
