"""Names of nodes are unique, and where a report is asked for every node says which operators it was made for."""

from collections import Counter

import numpy as np
import pytest
from openvino import Model, Type, opset16 as ops

import paddle2ov
from gen_models.harness.store import generated_network
from paddle2ov.graph.bodies import walk
from paddle2ov.graph.node_names import Names, is_generated, make_unique
from paddle2ov.graph.provenance import operators_of
from paddle2ov.graph.values import ConstantValue
from paddle2ov.reporting.operators import describe_operators
from tests.support.formats import FORMATS, networks
from tests.support.models import network
from tests.support.passes_checks import branched

INNER = ("Constant", "Parameter", "Result")


def names_of(model):
    return Counter(node.get_friendly_name() for node in walk(model))


@pytest.mark.one_in(14)
@pytest.mark.parametrize(("network", "format"), list(networks()))
def test_networks(network, format):
    """Names are unique with a report and without one; of each node the report names operators that the program has."""
    folder = generated_network(network, format)
    assert not [name for name, count in names_of(paddle2ov.convert(folder)).items() if count > 1]
    report = paddle2ov.ConversionReport()
    model = paddle2ov.convert(folder, report=report)
    assert not [name for name, count in names_of(model).items() if count > 1]
    handed_on = copies_of_inputs(model)
    inner = [node.get_friendly_name() for node in walk(model) if node.get_type_name() not in INNER]
    assert [item for item in inner if item not in report.origins and item not in handed_on] == []
    assert all(ids and set(ids) <= set(range(report.operators)) for ids in report.origins.values())


def copies_of_inputs(model):
    """The names of the nodes that copy an input of the model into a result, for which no operator asks."""
    copies = set()
    for result in model.get_results():
        path, node = [], result.input_value(0).get_node()
        while node.get_type_name() in ("Squeeze", "Unsqueeze"):
            path.append(node.get_friendly_name())
            node = node.input_value(0).get_node()
        copies.update(path if node.get_type_name() == "Parameter" else ())
    return copies


def types_of(name, format="pir"):
    """(type of a node, whether it is in a branch or loop) -> the types of the operators that nodes of it are from."""
    report = paddle2ov.ConversionReport()
    model = paddle2ov.convert(network(name, format), report=report)
    operators, _ = describe_operators(report.program)
    outer = {node.get_friendly_name() for node in model.get_ops()}
    by_type = {}
    for node in walk(model):
        types = {operators[id].type for id in report.origins.get(node.get_friendly_name(), ())}
        by_type.setdefault((node.get_type_name(), node.get_friendly_name() not in outer), set()).update(types)
    return by_type


def test_nodes_are_of_the_operator_whose_converter_made_them():
    types = types_of("squeezenet1_1")
    assert types["Convolution", False] == {"conv2d"}
    assert types["Relu", False] == {"relu"}
    assert types["MaxPool", False] <= {"pool2d"}


def test_what_takes_the_place_of_several_is_of_all_of_them():
    """The windows of Swin: a roll, reshapes and a transpose are one gather."""
    report = paddle2ov.ConversionReport()
    paddle2ov.convert(network("swin_stage"), report=report)
    operators, _ = describe_operators(report.program)
    (first, *_) = (ids for name, ids in report.origins.items() if "/windows/" in name)
    assert operators[first[0]].type == "roll"
    assert {operators[id].type for id in first} == {"roll", "transpose2"}


@pytest.mark.parametrize("format", FORMATS)
def test_nodes_in_a_loop_are_of_its_operators(format):
    types = types_of("nested", format)
    assert types["Loop", False] == {"while"}
    inner = set.union(*(operators for (_, is_inner), operators in types.items() if is_inner))
    assert len(inner - {"while", "if"}) > 1


def test_marks_only_where_a_report_is_asked_for():
    folder = network("squeezenet1_1")
    assert not any(operators_of(node) for node in walk(paddle2ov.convert(folder)))
    model = paddle2ov.convert(folder, report=paddle2ov.ConversionReport())
    assert all(operators_of(node) for node in walk(model) if node.get_type_name() not in INNER)


# --- names ------------------------------------------------------------------------------------------------------------


def test_a_name_is_given_once():
    x = ops.parameter([2], Type.f32, name="x")
    names = Names(["weight"])
    names.reserve([x])
    nodes = [ops.relu(x) for _ in range(5)]
    for node, name in zip(nodes, ("y", "y", "weight", "x", "Relu_7"), strict=True):
        names.give(node, name)
    friendly_names = [node.get_friendly_name() for node in nodes]
    assert friendly_names[0] == "y"
    assert friendly_names[1:] == [
        f"{name}/{node.get_name()}" for name, node in zip(("y", "weight", "x", "Relu_7"), nodes[1:], strict=True)
    ]


@pytest.mark.parametrize("name", ["Relu_7", "x/Relu_7", "x/moved/MatMul_12"])
def test_names_that_openvino_or_a_rewrite_might_give(name):
    assert is_generated(name)


@pytest.mark.parametrize("name", ["relu_7", "relu_7.tmp_0", "save_infer_model/scale_0.tmp_0", "x", "X", ""])
def test_names_of_programs(name):
    assert not is_generated(name)


def test_a_weight_that_is_viewed_has_its_name_once():
    weight = ConstantValue(np.zeros((8, 16), np.float32), None, "w")
    views = [weight.view(weight.array.reshape(shape)) for shape in ((16, 8), (4, 32))]
    nodes = [value.constant() for value in (views[0], weight, weight, views[1])]
    assert [node.get_friendly_name() for node in nodes[:2]] == ["w", f"w/{nodes[1].get_name()}"]
    assert len({node.get_friendly_name() for node in nodes}) == len({node.get_name() for node in nodes}) == 3


def test_converters_of_ones_own_may_give_any_name():
    def doubled(node):
        first = ops.abs(node.get_input("x"))
        second = ops.relu(first)
        for value in (first, second):
            value.set_friendly_name("mine")
        return {"out": second}

    extension = paddle2ov.ConversionExtension("relu", doubled, signature="relu(x) -> (out)")
    model = paddle2ov.convert(network("squeezenet1_1"), extension=extension)
    assert max(names_of(model).values()) == 1
    assert names_of(model)["mine"] == 1


def test_names_are_made_unique_in_branches_too():
    x, flag = ops.parameter([2], Type.f32, name="x"), ops.parameter([], Type.boolean)

    def same(value):
        node = ops.relu(value)
        node.set_friendly_name("same")
        return node

    model = Model([branched(flag, x.output(0), same, same), same(x).output(0)], [x, flag])
    assert names_of(model)["same"] == 3
    make_unique(model)
    assert max(names_of(model).values()) == 1


def test_what_is_no_report_is_refused():
    with pytest.raises(paddle2ov.ConversionInputError, match="report: a ConversionReport to fill is expected, not str"):
        paddle2ov.convert("model", report="report.html")
