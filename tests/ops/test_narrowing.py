"""Detectors decode only boxes that can survive: the same boxes, scores, order and counts as where all are decoded."""

import numpy as np
import pytest
from openvino import Model, PartialShape, Type

from gen_models import all_networks
from gen_models.harness.store import generated_network
from paddle2ov import ConversionReport, convert
from paddle2ov.converters.detection.choice import Place, choice_of
from paddle2ov.converters.detection.narrowing import Narrowing
from paddle2ov.graph.opset import ops
from paddle2ov.program import read_program
from paddle2ov.program.merging import CHOSEN
from paddle2ov.program.vocabulary import Vocabulary
from paddle2ov.testing import compile_model, infer, load
from paddle2ov.translation.model_builder import convert_program
from paddle2ov.translation.registry import Registry
from tests.support.formats import FORMATS

RNG = np.random.default_rng(0)
DECODED = {
    "ppyoloe": {"Softmax": 3, "Convolution": 3, "Sigmoid": 1},
    "ppyoloe_fixed": {"Softmax": 3, "Convolution": 1, "Sigmoid": 1},
    "picodet": {"Softmax": 3, "MatMul": 3},
    "picodet_fixed": {"Softmax": 3, "MatMul": 3},
    "ssd": {"Softmax": 1},
    "ssd_in_pixels": {"Exp": 6, "Softmax": 1},
}
"""Network -> kinds of nodes that decode, and how many of them do so for some boxes only."""


def chosen(model):
    """How many nodes of each kind compute for some boxes only."""
    kinds = [one.get_type_name() for one in model.get_ops() if one.get_friendly_name().endswith(CHOSEN)]
    return {kind: kinds.count(kind) for kind in kinds}


def test_report_counts_what_computes_less():
    folder = generated_network(all_networks()["ssd"], "pir")
    report = ConversionReport()
    model = convert(folder, report=report)
    assert report.rewrites["merge_suppressions"] == {"heads": 0, "chosen": sum(chosen(model).values())}
    assert report.rewrites["merge_suppressions"]["chosen"] > 0


def program_of(name, format="pir"):
    return read_program(generated_network(all_networks()[name], format), None, [])


def suppression(program):
    return next(one for one in program.block.operators if one.type.endswith("nms3"))


def translated(program, outputs=(), merge=True):
    return convert_program(program, [], outputs, Registry(), Vocabulary([]), merge=merge)


def check_same(one, other, *inputs):
    one, other = compile_model(one), compile_model(other)
    counts = []
    for feeds in inputs:
        got, wanted = infer(one, feeds), infer(other, feeds)
        assert [port.names for port in got] == [port.names for port in wanted]
        for port, reference in zip(got, wanted, strict=True):
            assert port.array.shape == reference.array.shape
            np.testing.assert_allclose(port.array, reference.array, rtol=1e-5, atol=1e-4)
        counts.append(int(got[-1].array.sum()))
    return counts


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", DECODED)
def test_networks(name, format):
    folder = generated_network(all_networks()[name], format)
    model = convert(folder)
    found = chosen(model)
    assert {kind: found.get(kind) for kind in DECODED[name]} == DECODED[name]
    inputs = [load(folder / f"inputs_{i}.npz") for i in range(2)]
    dull = {**inputs[0], "image": 0 * inputs[0]["image"]}  # other boxes survive, if any
    check_same(model, convert(folder, rewrite=False), *inputs, dull)


@pytest.mark.parametrize(("threshold", "some"), [(1.5, False), (0.01, True)])
def test_no_box_and_every_box(threshold, some):
    program = program_of("picodet_fixed")
    suppression(program).attributes["score_threshold"] = threshold
    inputs = load(generated_network(all_networks()["picodet_fixed"], "pir") / "inputs_0.npz")
    (count,) = check_same(translated(program), translated(program, merge=False), inputs)
    assert (count > 0) == some


def test_numbers_of_the_boxes():
    program = program_of("ppyoloe")
    names = [suppression(program).outputs[port][0] for port in ("index", "out", "nms_rois_num")]
    inputs = load(generated_network(all_networks()["ppyoloe"], "pir") / "inputs_0.npz")
    model = translated(program, names)
    assert chosen(model)
    check_same(model, translated(program, names, merge=False), inputs)


# --- left as it is ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.0, -0.1])
def test_a_threshold_that_all_boxes_pass(threshold):
    program = program_of("ppyoloe")
    suppression(program).attributes["score_threshold"] = threshold
    assert not chosen(translated(program))


@pytest.mark.parametrize("port", ["bboxes", "scores"])
def test_a_cut_keeps_its_value(port):
    program = program_of("ppyoloe_fixed")
    operator = suppression(program)
    names = [operator.inputs[port][0], *(operator.outputs[one][0] for one in ("out", "nms_rois_num"))]
    model = translated(program, names)
    kinds = chosen(model)
    assert ("Softmax" not in kinds) if port == "bboxes" else ("Sigmoid" not in kinds)
    inputs = load(generated_network(all_networks()["ppyoloe_fixed"], "pir") / "inputs_0.npz")
    check_same(model, translated(program, names, merge=False), inputs)


def test_a_box_used_elsewhere_is_decoded_once():
    program = program_of("ppyoloe_fixed")
    (softmax, *_) = [one for one in program.block.operators if one.type == "softmax"]
    names = [softmax.outputs["out"][0], *(item.name for item in program.outputs)]
    assert chosen(translated(program, names))["Softmax"] == 2


def test_boxes_that_are_given():
    """Nothing computes them, so there is nothing to gain."""
    program = program_of("ppyoloe_fixed")
    operator = suppression(program)
    inputs = [operator.inputs[port][0] for port in ("bboxes", "scores")]
    from paddle2ov.translation.input_spec import parse_input

    model = convert_program(program, parse_input(inputs), [], Registry(), Vocabulary([]))
    assert not chosen(model)
    assert len(model.inputs) == 2


# --- the choice, node by node -----------------------------------------------------------------------------------------


def parameter(name, *dims):
    node = ops.parameter(PartialShape(list(dims)), Type.f32, name=name)
    node.output(0).set_names({name})
    return node


def check_choice(build, place, dims, *shapes, parts=None, narrowed=None, bare=None):
    """`build(*inputs)` gives a value; that some of its entries are what the narrowed value has."""
    inputs = [parameter(f"x{i}", *one) for i, one in enumerate(dims)]
    value = build(*inputs).output(0)
    shape = value.get_partial_shape()
    for given in shapes:
        arrays = [RNG.standard_normal(one).astype(np.float32) for one in given]
        whole = compile_model(Model([value], inputs))(arrays)[0]
        mask = RNG.uniform(size=whole.shape[place.axis]) < 0.4
        masks = np.split(mask, np.cumsum(parts)[:-1]) if parts else [mask]
        for part in masks:
            part[0] = True
        known = shape[place.axis].is_static
        given_masks = [ops.constant(part) for part in masks]
        if not known:
            given_masks = [ops.parameter([-1], Type.boolean) for _ in masks]
        narrowing = Narrowing(choice_of(given_masks))
        few = narrowing(value, place)
        if narrowed is not None:
            assert narrowing.computed == narrowed
        ports = [*inputs, *(given_masks if not known else [])]
        got = compile_model(Model([few], ports))([*arrays, *(masks if not known else [])])[0]
        np.testing.assert_allclose(got, np.compress(mask, whole, place.axis), rtol=1e-6, atol=1e-6)


def test_one_entry_for_all_or_all():
    """Where dimensions are not known, either operand may be the one that is spread over the other."""

    def build(x, y):
        return ops.multiply(ops.sigmoid(x), ops.tanh(y))

    for shapes in ([(2, 6, 4), (2, 6, 4)], [(2, 1, 4), (2, 6, 4)], [(2, 6, 4), (2, 1, 4)]):
        check_choice(build, Place(1), [(-1, -1, 4), (-1, -1, 4)], shapes, narrowed=3)


def test_rows_of_a_matrix():
    """Softmax over rows that hold the sides of all boxes of all images, as PicoDet has it."""

    def build(x):
        rows = ops.softmax(ops.reshape(ops.transpose(x, np.array([0, 2, 3, 1])), np.array([-1, 3]), False), 1)
        return ops.reshape(ops.matmul(rows, np.ones((3, 1), np.float32), False, False), np.array([-1, 20, 4]), False)

    check_choice(build, Place(1), [(-1, 12, 4, 5)], [(2, 12, 4, 5)], [(1, 12, 4, 5)], narrowed=3)


def test_a_reshape_that_mixes_boxes():
    def build(x):
        return ops.relu(ops.reshape(x, np.array([2, 6, 4]), False))

    check_choice(build, Place(1), [(2, 4, 6)], [(2, 4, 6)], narrowed=1)


def test_parts_of_unknown_lengths_in_another_order():
    def build(x, y):
        return ops.exp(ops.concat([ops.relu(x), ops.abs(y)], 1))

    check_choice(build, Place(1), [(-1, -1, 2), (-1, -1, 2)], [(1, 3, 2), (1, 5, 2)], parts=[5, 3], narrowed=3)


def test_what_mixes_boxes_stops_the_choice():
    def build(x):
        return ops.relu(ops.add(ops.softmax(x, 1), ops.cum_sum(x, np.array(1))))

    check_choice(build, Place(1), [(2, 6, 4)], [(2, 6, 4)], narrowed=2)
