"""Reports: which operator became which primitive, as JSON and as tables. The HTML page has tests of its own."""

import dataclasses
import io
import json
import os
import pickle
import re
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import openvino
import pytest
from msgspec import structs
from openvino import opset16 as ops
from rich.console import Console

import paddle2ov
from gen_models.harness.legacy import ROOT
from paddle2ov.commands.shared import plain_errors
from paddle2ov.passes import REWRITES
from paddle2ov.program.model import Operator
from paddle2ov.reporting import build_report, memory_limit, print_report, refused_report, write_report
from paddle2ov.reporting.build import generated_inputs
from paddle2ov.reporting.compiled import compile_report
from paddle2ov.reporting.contents import FATES, SCHEMA, Report, ReportedOperator, ReportedTensor
from paddle2ov.reporting.drawings import draw_compiled, draw_program
from paddle2ov.reporting.folding import Group, group_nodes, nodes_of, runs
from paddle2ov.reporting.meanings import meanings
from paddle2ov.reporting.modules import modules_of
from paddle2ov.reporting.origins import trace
from paddle2ov.translation.registry import Registry
from paddle2ov.workarounds.table import AFTER_CALIBRATION, WORKAROUNDS
from tests.support.command_line import call
from tests.support.models import chain, network, operator
from tests.support.processor import has_avx512, has_bfloat16
from tests.support.settings import SETTINGS, with_settings
from tests.support.suppressions import filtered

MADE = ("Loop", "MulticlassNms")


def reported(folder, saved=None, options=(), **arguments):
    """A model's report, converted with options, and read back where it is saved in a folder."""
    conversion = paddle2ov.ConversionReport()
    model = paddle2ov.convert(folder, report=conversion, **dict(options))
    if saved is not None:
        openvino.save_model(model, saved / "model.xml", compress_to_fp16=False)
        model = openvino.Core().read_model(saved / "model.xml")
    return build_report(model, conversion, **arguments)


def printed(report, width, **options):
    out = io.StringIO()
    print_report(report, Console(file=out, width=width, **options))
    return out.getvalue()


@cache
def report_of(name):
    """A network's report, for tests that change nothing in it."""
    return reported(network(name))


def primitives_of(report, type):
    return [
        primitive
        for primitive in report.compiled.primitives
        if type in {report.operators[i].type for i in primitive.operators}
    ]


def test_what_chooses_the_boxes_belongs_to_the_suppression():
    """What decodes for these boxes only stays the decoder's."""
    with filtered():
        report = reported(network("picodet_fixed"))
    nodes = [node for primitive in report.compiled.primitives for node in primitive.nodes]
    made_for = {kind: {report.operators[node.operator].type for node in nodes if node.type == kind} for kind in MADE}
    assert made_for == {kind: {"multiclass_nms3"} for kind in MADE}
    assert {report.operators[node.operator].type for node in nodes if "/gathered/" in node.name} >= {"softmax"}
    assert not [node for node in nodes if node.inferred and node.type in MADE]


def test_preprocessing_is_an_entry_of_its_own(tmp_path):
    with_settings(network("squeezenet1_1"), tmp_path)
    report = reported(tmp_path, options={"preprocess": True})
    entry = report.operators[-1]
    assert (entry.id, entry.type, entry.fate) == (report.conversion.operators, "preprocessing", "primitive")
    nodes = [node for primitive in report.compiled.primitives for node in primitive.nodes]
    of_it = {node.type for node in nodes if node.operator == entry.id}
    assert "Transpose" in of_it
    assert of_it.isdisjoint({"Convolution", "Relu"})
    graph = draw_program(report)
    edges = [(graph.nodes[source].key, graph.nodes[target].key) for source, target in graph.edges]
    assert [target for source, target in edges if source == "i0"] == [f"o{entry.id}"]
    (reader,) = (int(target[1:]) for source, target in edges if source == f"o{entry.id}")
    assert report.operators[reader].type == "conv2d"


def test_a_conversion_is_noted_with_its_preprocessing(tmp_path, monkeypatch):
    """And with what the workarounds did again, after it was built in."""
    with_settings(network("squeezenet1_1"), tmp_path)
    plain, noted = (paddle2ov.ConversionReport() for _ in range(2))
    paddle2ov.convert(tmp_path, report=plain)
    monkeypatch.setattr("paddle2ov.conversion.apply", lambda *_, **__: {"elided.abs_of_sizes": {"sites": 2}})
    model = paddle2ov.convert(tmp_path, report=noted, preprocess=True)
    assert noted.nodes_after == len(model.get_ops()) > plain.nodes_after
    assert noted.origins.keys() <= {node.get_friendly_name() for node in model.get_ops()}
    assert noted.rewrites == {**plain.rewrites, "elided.abs_of_sizes": {"sites": 2}}
    assert list(noted.seconds) == [*plain.seconds, "preprocess"]


def test_a_chain_is_one_primitive():
    report = reported(chain("convolution-relu"))
    (convolution,) = primitives_of(report, "conv2d")
    assert convolution.layer == "Convolution"
    assert convolution.chain == ["Convolution", "Add", "Relu"]
    assert [report.operators[i].type for i in convolution.operators] == ["conv2d", "elementwise_add", "relu"]
    assert report.operators[convolution.operator].type == "conv2d"
    assert convolution.kernel.startswith(("brgconv", "jit", "gemm", "acl", "ref"))
    assert convolution.microseconds > 0
    fates = {operator.type: operator.fate for operator in report.operators}
    assert [fates[type] for type in ("conv2d", "elementwise_add", "relu")] == ["primitive", "fused", "fused"]
    assert (("Convolution", "Convolution + Add + Relu", 1)) in [fusion[:3] for fusion in report.compiled.fusions()]


@pytest.mark.parametrize(
    ("name", "operators"),
    [
        # OpenVINO multiplies the scale into the weights and names the convolution after the multiplication.
        ("convolution-hard_sigmoid_0.2", {"conv2d", "elementwise_add", "hard_sigmoid"}),
        # x·sigmoid(x) becomes Swish; the sigmoid's name is lost.
        ("convolution-x_times_sigmoid", {"conv2d", "elementwise_add", "sigmoid", "elementwise_mul"}),
    ],
)
def test_operators_whose_names_openvino_loses_are_found(name, operators):
    report = reported(chain(name))
    (convolution,) = primitives_of(report, "conv2d")
    assert {report.operators[i].type for i in convolution.operators} == operators
    assert any(node.inferred for node in convolution.nodes)
    assert not any(
        operator.fate in ("removed", "folded") for operator in report.operators if operator.type in operators
    )


def test_a_convolution_that_is_fused_into_another_is_found():
    report = reported(chain("convolution-relu_depthwise_relu_512"))
    convolutions = primitives_of(report, "conv2d")
    if not has_avx512():  # where OpenVINO fuses them, and loses the names of all that follows
        (convolution,) = convolutions
        assert any(node.inferred for node in convolution.nodes)
    else:
        convolutions += primitives_of(report, "depthwise_conv2d")
    types = {report.operators[i].type for convolution in convolutions for i in convolution.operators}
    assert types == {"conv2d", "depthwise_conv2d", "elementwise_add", "relu"}
    assert not any(operator.fate in ("removed", "folded") for operator in report.operators if operator.type in types)


def test_projections_that_were_cut_keep_their_operator():
    report = report_of("swin_stage")
    types = [
        report.operators[primitive.operator].type
        for primitive in report.compiled.primitives
        if primitive.layer == "FullyConnected"
    ]
    assert set(types) == {"matmul_v2"}
    moved = [primitive for primitive in report.compiled.primitives if "windows" in primitive.name]
    assert len(moved) == 2
    assert {report.operators[item.operator].type for item in moved} == {"roll"}
    attention = [
        primitive
        for primitive in report.compiled.primitives
        if primitive.layer == "Subgraph" and "Softmax" in primitive.chain
    ]
    assert attention
    for item in attention:
        assert {"matmul_v2", "softmax"} <= {report.operators[i].type for i in item.operators}


@pytest.mark.parametrize("name", ["swin_stage", "yolov3", "bert", "crnn"])
def test_every_primitive_that_computes_has_its_operator(name):
    report = report_of(name)
    for primitive in report.compiled.primitives:
        if primitive.layer not in ("Input", "Output", "Reorder", "Convert"):
            assert primitive.operator is not None, primitive
        # A convolution, whose name gets lost with its scale, is in one of its kind; there is nothing else in it.
        held = [node.type for node in primitive.nodes if node.type in ("Convolution", "GroupConvolution")]
        assert len(held) == (primitive.layer == "Convolution"), primitive
        assert not [node.type for node in primitive.nodes if node.type == "MVN" and primitive.layer != "MVN"], primitive
        assert set(primitive.inputs) < set(range(len(report.compiled.primitives)))
    assert {operator.fate for operator in report.operators} <= set(FATES) - {"unknown"}
    assert sum(primitive.microseconds or 0 for primitive in report.compiled.primitives) > 0


def test_a_model_read_back_tells_the_same(tmp_path):
    folder = network("swin_stage")
    first, second = report_of("swin_stage"), reported(folder, saved=tmp_path)
    fates = [
        [(operator.id, operator.type, operator.fate) for operator in report.operators] for report in (first, second)
    ]
    assert fates[0] == fates[1]
    chains = [
        sorted((primitive.layer, tuple(primitive.operators)) for primitive in r.compiled.primitives)
        for r in (first, second)
    ]
    assert chains[0] == chains[1]


def test_names_of_inputs_and_results_are_as_without_a_report():
    folder = network("swin_stage")
    models = [paddle2ov.convert(folder), paddle2ov.convert(folder, report=paddle2ov.ConversionReport())]
    names = [[port.get_names() for port in (*model.inputs, *model.outputs)] for model in models]
    assert names[0] == names[1]


def test_names_with_commas():
    x = ops.parameter([2], openvino.Type.f32, name="x")
    first = ops.sin(x)
    first.set_friendly_name("a,b")
    second = ops.cos(first)
    second.set_friendly_name("c")
    origins = trace(openvino.Model([ops.result(second)], [x]), {"a,b": 0, "c": 1})
    assert origins.split("a,b,c") == ["a,b", "c"]
    assert [node.operator for node in origins.nodes] == [0, 1]
    assert origins.find("c/transpose_b") == [1]


def test_branches_and_loops():
    report = report_of("nested")
    loop = next(operator for operator in report.operators if operator.type == "while")
    inner = [operator for operator in report.operators if operator.owner == loop.id]
    assert inner
    assert {item.fate for item in inner} == {"inner"}
    (primitive,) = (
        primitive for primitive in report.compiled.primitives if primitive.layer in ("Loop", "TensorIterator")
    )
    assert primitive.operator == loop.id


def test_cut_inputs_and_unused_operators():
    folder = network("squeezenet1_1")
    program = paddle2ov.read_program(folder)
    pool = next(operator for operator in program.block.operators if operator.type == "pool2d").outputs["out"][0]
    report = reported(folder, options={"input": {pool: [2, 64, 15, 15]}})
    assert report.compiled.inputs == {pool: (2, 64, 15, 15)}
    assert next(operator for operator in report.operators if operator.type == "conv2d").fate == "unused"
    assert report.operators[-1].fate != "unused"


def test_a_model_that_cannot_run_is_still_described():
    report = reported(network("squeezenet1_1"), inputs={"x": np.zeros([1, 4, 64, 64], np.float32)})
    assert report.compiled is not None
    assert report.compiled.milliseconds is None
    assert "could not be run" in report.notes[0]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells how much memory is free")
def test_a_model_that_wants_all_memory(monkeypatch):
    """As SOLOv2's masks do on random inputs: the run fails, and neither this process nor the machine."""
    monkeypatch.setattr(memory_limit, "_free", lambda on_machine: 1 << 25)
    side = 1 << 12
    x = ops.parameter([side, 1], openvino.Type.f32, name="x")
    model = openvino.Model([ops.result(ops.multiply(x, ops.reshape(x, [1, side], False)))], [x])
    model.input(0).set_names({"x"})
    inputs = {"x": np.zeros([side, 1], np.float32)}
    with pytest.raises((RuntimeError, MemoryError)):
        compile_report(model, [], inputs)
    monkeypatch.undo()
    assert compile_report(model, [], inputs).milliseconds > 0


def test_verification():
    folder = network("squeezenet1_1")
    conversion = paddle2ov.ConversionReport()
    model = paddle2ov.convert(folder, report=conversion)
    report = build_report(model, conversion, verification=paddle2ov.verify(folder, operators=True))
    convolution = next(operator for operator in report.operators if operator.type == "conv2d")
    assert convolution.agrees is True
    assert 0 <= convolution.difference < 1e-4
    assert report.compiled.precision == "f32"
    usual = [note for note in report.notes if "by default, OpenVINO computes in bf16 on this processor" in note]
    assert bool(usual) == has_bfloat16()
    text = printed(report, 150)
    assert "in f32, tolerance 0.0001" in text
    assert re.search(r"^    runs as a primitive of its own: \d+$", text, re.MULTILINE)
    if has_bfloat16():
        config = {"INFERENCE_PRECISION_HINT": "bf16"}
        other = build_report(model, conversion, verification=report.verification, config=config)
        assert other.compiled.precision == "bf16"
        assert "paddle2ov verify --precision bf16 compares in that" in other.notes[0]


def test_json(tmp_path):
    report = report_of("swin_stage")
    write_report(report, tmp_path / "new" / "report.json")
    data = json.loads((tmp_path / "new" / "report.json").read_text())
    assert data["schema"] == SCHEMA
    assert data["conversion"]["rewrites"]["gather_windows"]["chains"] == 2
    assert len(data["operators"]) == data["conversion"]["operators"]
    assert data["compiled"]["primitives"][0]["layer"] == "Input"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["report.json"]


def test_every_field_is_documented():
    """docs/report.md names every key of the JSON."""
    text = (ROOT / "docs" / "report.md").read_text()
    report = report_of("swin_stage").to_dict()
    parts = [report, report["conversion"], report["operators"][0], report["inputs"][0]]
    parts += [report["compiled"], report["compiled"]["primitives"][0], report["conversion"]["seconds"]]
    parts += [next(item["nodes"][0] for item in report["compiled"]["primitives"] if item["nodes"])]
    missing = [key for part in parts for key in part if f"`{key}`" not in text]
    assert not missing
    assert not [fate for fate in FATES if f"`{fate}`" not in text]
    assert SCHEMA in text


def test_stages_have_one_name():
    """The terminal and the page call them as the JSON does."""
    report = report_of("swin_stage")
    assert list(report.conversion.seconds) == ["read", "translate", "rewrite"]
    assert re.search(r"\(read [\d.]+ ms, translate [\d.]+ ms, rewrite [\d.]+ ms\)", printed(report, 10_000))


def test_names_are_printed_as_they_are():
    """Nothing in a name is highlighted or replaced: rich's highlighter takes time quadratic in the length of a word."""
    name = "[red]:smile:3.5'" + "x" * 3000
    report = Report("model", "", "", "pir", notes=[name])
    assert f"\x1b[33m{name}\x1b[0m" in printed(report, 10_000, force_terminal=True, color_system="standard")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("is_full", [True, False])
def test_tables_that_nobody_reads(monkeypatch, is_full):
    """What fails is the output, of which the command line speaks; that is no error of a model."""
    reader, writer = os.pipe()
    os.close(reader)
    if is_full:
        os.dup2(os.open("/dev/full", os.O_WRONLY), writer)
    with io.TextIOWrapper(io.FileIO(writer, "wb"), write_through=True) as out:
        monkeypatch.setattr(sys, "stdout", out)
        error, text = (OSError, "No space left") if is_full else (BrokenPipeError, "")
        with pytest.raises(error, match=text), plain_errors():
            print_report(Report("net", "1", "2", "pir", refusals=("nothing",)))


def test_tables_in_a_narrow_terminal():
    """Names stay whole; what did nothing is not listed."""
    report = report_of("picodet")
    text = printed(report, 80)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert "split_qkv" not in text
    types = {operator.type for operator in report.operators}
    first = next(i for i, line in enumerate(lines) if line.startswith("operators ")) + 1
    last = next(i for i, line in enumerate(lines) if " more  " in line)
    assert sum(line.rstrip().endswith("%") for line in lines[first : last + 1]) == 16  # 15 and the others together
    words = {line.split()[0] for line in lines[first:last]}
    assert words & types
    assert words - types <= {"(OpenVINO's", "own)", "+"}


def test_the_time_of_a_conversion_is_without_what_is_loaded_once(monkeypatch):
    def loading(extension):
        time.sleep(0.3)
        return Registry(extension)

    monkeypatch.setattr("paddle2ov.conversion.Registry", loading)
    report = paddle2ov.ConversionReport()
    started = time.perf_counter()
    paddle2ov.convert(chain("convolution-relu"), report=report)
    assert sum(report.seconds.values()) < time.perf_counter() - started - 0.3


def test_complex_numbers_of_a_refused_program_are_pairs():
    program = paddle2ov.read_program(operator("fft_c2c"))
    (port,) = refused_report(program, paddle2ov.ConversionInputError("for want of a reason")).outputs
    assert program.variables[port.variable].dtype == "complex64"
    assert (port.dtype, port.shape.endswith(",2]")) == ("f32", True)


def test_tables():
    report = report_of("swin_stage")
    out = printed(report, 150)
    texts = meanings(report.conversion)
    assert {"split_qkv", "constants.compute", "transpose_feature_maps"} <= texts.keys()
    left = report.conversion.match_failures
    assert {name for name, text in texts.items() if text not in out} <= left.keys()
    assert left
    assert [reason for reasons in left.values() for reason in reasons if reason in out] == []
    shown = ("Transposes", "split_qkv", "projections 2, parts 6", "matmul_v2 + gelu", "FullyConnected", "ms per run")
    assert [words for words in shown if words not in out] == []


def test_a_conversion_report_can_be_sent_to_another_process():
    conversion = paddle2ov.ConversionReport()
    paddle2ov.convert(network("squeezenet1_1"), report=conversion)
    assert conversion.parameter_bytes > 2e6
    assert len(pickle.dumps(conversion)) < 1e6


def test_an_empty_report():
    model = paddle2ov.convert(network("squeezenet1_1"))
    with pytest.raises(paddle2ov.ConversionInputError, match="the ConversionReport is empty"):
        build_report(model, paddle2ov.ConversionReport())


@pytest.mark.parametrize(("height", "wanted"), [(8, (1, 8, 320, 3)), (-1, (1, 224, 224, 3))])
def test_inputs_of_a_model_that_takes_pictures_as_they_are(height, wanted):
    """As with preprocessing built in: other type, other layout than the program's."""
    x = ops.parameter([1, height, -1, 3], openvino.Type.u8, name="x")
    model = openvino.Model([ops.result(ops.relu(x))], [x])
    model.input(0).set_names({"x"})
    array = generated_inputs(model, paddle2ov.read_program(network("squeezenet1_1")))["x"]
    assert (array.shape, array.dtype) == (wanted, np.uint8)


def test_a_model_is_measured_at_the_size_that_its_settings_name(tmp_path):
    with_settings(network("squeezenet1_1"), tmp_path, SETTINGS.replace("[64, 64]", "[96, 160]"))
    conversion = paddle2ov.ConversionReport()
    paddle2ov.convert(tmp_path, report=conversion)
    (image,) = conversion.program.inputs
    program = structs.replace(conversion.program, inputs=[structs.replace(image, shape=(-1, 3, -1, -1))])
    program.variables[image.name] = program.inputs[0]

    def measured(*shape):
        x = ops.parameter(list(shape), openvino.Type.f32, name=image.name)
        model = openvino.Model([ops.result(ops.relu(x))], [x])
        model.input(0).set_names({image.name})
        filled = dataclasses.replace(conversion, program=program)
        return build_report(model, filled).compiled.inputs[image.name]

    assert measured(-1, 3, -1, -1) == (1, 3, 96, 160)
    assert measured(2, 3, 48, 48) == (2, 3, 48, 48)
    conversion.settings = None
    assert measured(-1, 3, -1, -1) == (1, 3, 224, 224)


def test_inputs_that_lack_one():
    with pytest.raises(paddle2ov.ConversionInputError, match="inputs: 'n' is missing"):
        reported(network("nested"), inputs={"x": np.zeros([2, 4], np.float32)})


def outline(group):
    """A tree of groups in a line: nodes as numbers, groups as label(...)."""
    inside = [
        str(member) if isinstance(member, int) else f"{member.label}({outline(member)})" for member in group.members
    ]
    return " ".join(inside)


def test_layers_of_the_source_are_groups():
    report = report_of("squeezenet1_1")
    assert report.modules == "layers"
    relu = next(operator for operator in report.operators if operator.type == "relu" and len(operator.module) == 2)
    assert [name.rstrip("_0123456789") for name in relu.module] == ["MakeFire", "MakeFireConv"]
    graph, compiled = draw_program(report), draw_compiled(report.compiled, report.operators)
    assert sorted(nodes_of(graph.root)) == list(range(len(graph.nodes)))
    fires = [
        member for member in graph.root.members if isinstance(member, Group) and member.label.startswith("MakeFire")
    ]
    assert len(fires) == 8
    assert relu.id in {graph.nodes[i].ref for fire in fires if fire.label == relu.module[0] for i in nodes_of(fire)}
    labels = [member.label for member in compiled.root.members if isinstance(member, Group)]
    assert [label for label in labels if label.startswith("MakeFire")] == [fire.label for fire in fires]


def test_a_variable_that_is_written_again_is_read_from_its_last_writer():
    operators = [
        ReportedOperator(i, "relu", 0, i, None, (read,), (written,), {}, ())
        for i, (read, written) in enumerate([("x", "y"), ("y", "y"), ("y", "z")])
    ]
    port, result = (ReportedTensor(name, "f32", "[2]", name) for name in "xy")
    graph = draw_program(Report("net", "1", "2", "legacy", [port], [result], operators=operators))
    assert [node.key for node in graph.nodes] == ["i0", "o0", "o1", "o2", "r0"]
    assert graph.edges == [(0, 1), (1, 2), (2, 3), (2, 4)]


def test_modules_that_the_call_stack_tells():
    def operator_at(*lines):
        frames = [(f'File "/home/me/net.py", line {line}, in forward', f"line_{line}") for line in lines]
        return Operator("relu", {}, {}, {}, "relu", 0, 0, (), sum(frames, ()))

    source, paths = modules_of([operator_at(1, 5, 7), operator_at(1, 5, 8), operator_at(1, 6, 8)])
    assert source == "call stack"
    assert paths == [("line_5  net.py:5",), ("line_5  net.py:5",), ("line_6  net.py:6",)]


def test_modules_that_names_tell():
    operators = [Operator("relu", {}, {"out": [name]}, {}, "relu", 0, 0) for name in ("a/b/x", "a/c/x", "y")]
    assert modules_of(operators) == ("names", [("b",), ("c",), ()])
    assert modules_of(operators[2:]) == ("", [()])


def test_a_module_that_is_called_twice_is_two_groups():
    paths = runs([["a"], ["a", "b"], ["a", "b"], ["c"], ["a"], ["a"], []] * 7)
    assert outline(group_nodes(paths, [])).startswith("a(0 b(1 2)) 3 a(4 5) 6 a(7 b(8 9)) 10 ")


def test_small_graphs_are_not_folded():
    assert not [member for member in group_nodes(runs([["a"]] * 40), []).members if isinstance(member, Group)]


def test_long_graphs_are_cut_where_few_edges_cross():
    edges = [(i - 1 - (i % 10 > 1), i) for i in range(1, 3000)]  # few before each tenth
    whole = group_nodes([()] * 3000, edges, {0, 2999})
    waiting = [whole]
    while waiting:
        group = waiting.pop()
        assert len(group.members) <= 42
        waiting += [member for member in group.members if isinstance(member, Group)]
        starts = [next(iter(nodes_of(member))) for member in group.members if isinstance(member, Group)]
        assert all(start % 10 in (0, 9) for start in starts[1:])
    assert list(whole.members[:2]) == [0, 2999]
    assert sorted(nodes_of(whole)) == list(range(3000))


def test_html_without_jinja(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    run = call("nowhere", "--report", tmp_path / "r.html")
    assert run.exit_code == 2
    assert "needs Jinja2, which is not installed: pip install '.[report]' in the checkout" in run.stderr
    assert not list(tmp_path.iterdir())


def test_every_pass_says_what_it_is_for():
    """In a first line that stands alone."""
    every = [rewrite.__name__ for rewrite in REWRITES] + [row.name for row in (*WORKAROUNDS, *AFTER_CALIBRATION)]
    texts = meanings(paddle2ov.ConversionReport(rewrites={name: {"sites": 1} for name in every}))
    assert [name for name in every if not texts[name].endswith(".") or texts[name].startswith("The same")] == []
