"""Converters of the user's own, by every way to give them; callbacks written for OpenVINO run unchanged."""

import inspect
import re
import shutil
import textwrap
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from openvino import Type, opset16 as ops
from openvino.frontend import ConversionExtension as FrontendExtension, FrontEndManager, NodeContext as FrontendContext

import paddle2ov
from paddle2ov import ConversionExtension
from paddle2ov.compilation.running import run
from paddle2ov.program.framework_proto import Attr, ProgramDesc, VarType
from paddle2ov.program.model import Variable
from paddle2ov.program.signatures import ROWS
from paddle2ov.testing import check_case, load
from paddle2ov.translation import registry
from tests.support.command_line import python
from tests.support.formats import FORMATS
from tests.support.models import operator
from tests.support.programs import program


@pytest.fixture
def relu(request):
    return operator("relu", request.param)


@pytest.fixture
def custom(tmp_path):
    """A PIR model whose relu is an operator that only its author knows."""
    folder = shutil.copytree(operator("relu"), tmp_path / "custom")
    text = (folder / "inference.json").read_text()
    assert text.count('"1.relu"') == 1
    (folder / "inference.json").write_text(text.replace('"1.relu"', '"3.my_relu"'))
    return folder


def openvino_callback(node):
    # As in OpenVINO's documentation of its Paddle ConversionExtension: legacy port names, lists of outputs.
    return {"Out": [ops.negative(node.get_input("X")).output(0)]}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("relu", FORMATS, indirect=True)
@pytest.mark.parametrize(
    "given",
    [
        ConversionExtension("relu", openvino_callback),
        {"relu": openvino_callback},
        [{"relu": openvino_callback}],
        {"relu": lambda node: {"out": ops.negative(node.get_input("x"))}},
        {"relu": lambda node: ops.negative(node.get_input(0))},
        {"relu": lambda node: [ops.negative(node.get_ng_inputs("X")[0])]},
        {"relu": lambda node: node.default_single_output_mapping(ops.negative(node.get_input("X")), ["Out"])},
    ],
    ids=["extension", "mapping", "list", "canonical names", "bare node", "list of nodes", "mapping by OpenVINO"],
)
def test_argument_replaces_a_converter(relu, given):
    inputs = load(relu / "inputs.npz")
    (result,) = run(paddle2ov.convert(relu, extension=given), inputs)
    np.testing.assert_array_equal(result.array, -inputs["x"])
    check_case(relu)  # and only for that one conversion


def test_unknown_operator_of_ones_own(custom):
    with pytest.raises(paddle2ov.UnsupportedOpsError, match=r"- my_relu: no converter: .*\n  at block 0"):
        paddle2ov.convert(custom)
    own = ConversionExtension(
        "my_relu", lambda node: {"out": ops.relu(node.get_input("data"))}, signature="my_relu(data) -> (out)"
    )
    check_case(custom, extension=own)


def test_decorator(custom, own_converters):
    @paddle2ov.register_converter("my_relu")
    def my_relu(node):
        return ops.relu(node.get_input(0))

    check_case(custom)
    with pytest.raises(ValueError, match="already has a converter"):
        paddle2ov.register_converter("my_relu")(my_relu)
    paddle2ov.register_converter("my_relu", override=True)(my_relu)
    paddle2ov.register_converter("relu")(my_relu)
    with pytest.raises(ValueError, match="'relu' already has a converter; pass override=True"):
        paddle2ov.convert(custom)


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_installed_package(custom, tmp_path, kind):
    """A package of one's own is found through its entry point, without a word in the script."""
    site = tmp_path / "site"
    (site / "my_ops-1.0.dist-info").mkdir(parents=True)
    (site / "my_ops-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: my-ops\nVersion: 1.0\n")
    (site / "my_ops-1.0.dist-info" / "entry_points.txt").write_text(
        "[paddle2ov.converters]\nmy_ops = my_ops:CONVERTERS\n"
    )
    (site / "my_ops.py").write_text(
        textwrap.dedent(
            """
            from openvino import opset16 as ops
            CONVERTERS = {"my_relu": lambda node: ops.relu(node.get_input(0))}
            """
        )
    )
    if kind == "zip":
        site = Path(shutil.make_archive(str(site), "zip", site))
    script = f"import sys; sys.path.insert(0, {str(site)!r}); from pathlib import Path\n"
    script += f"from paddle2ov.testing import check_case; check_case(Path({str(custom)!r})); print('same as Paddle')"
    assert python("-c", script).stdout == "same as Paddle\n"


@pytest.mark.parametrize(
    ("converter", "message"),
    [
        (lambda node: {"other": node.get_input(0)}, "its converter left out output 'output_0', .*; it gave other"),
        (lambda node: None, "its converter gave None; a mapping of output names to nodes is expected"),
        (lambda node: "output_0", "its converter gave 'output_0'; a mapping"),
        (lambda node: {"output_0": 5}, "its converter gave 5 for '.*', which is not an OpenVINO node or output"),
        (lambda node: {"output_0": [node.get_input(0)] * 2}, "gave 2 values for output 'output_0', which has 1"),
        (lambda node: 1 / 0, ": division by zero"),
        (lambda node: node.get_input("y"), r"input 'y' \[0\] is missing; the program passes input_0"),
        (lambda node: node.get_attribute("alpha"), "attribute 'alpha' is missing"),
        (lambda node: node.refuse("no such thing", mode="odd"), "mode='odd': no such thing"),
        (
            lambda node: ops.add(node.get_input(0), ops.constant(np.ones((7, 7, 7), np.int32))),
            r"OpenVINO refuses Add\(f32\[2,3,4\], i32\[7,7,7\]\): Arguments",
        ),
    ],
)
def test_errors_of_a_converter_name_the_place(custom, converter, message):
    with pytest.raises(paddle2ov.OpConversionError, match=message) as caught:
        paddle2ov.convert(custom, extension={"my_relu": converter})
    assert (caught.value.place.op_type, caught.value.place.block) == ("my_relu", 0)
    assert "cannot convert 'my_relu'" in str(caught.value)
    assert "at block 0, operator" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("my_ops.py", r"not str \('my_ops.py'\): import it and pass its converters"),
        (print, "not builtin_function_or_method$"),
        (
            FrontendExtension("relu", openvino_callback),
            "keeps its function to itself: give paddle2ov's the same arguments",
        ),
    ],
    ids=["path", "function", "openvino"],
)
def test_what_is_no_extension(given, message, custom):
    with pytest.raises(paddle2ov.ConversionInputError, match=f"an extension is .*{message}"):
        paddle2ov.convert(custom, extension=given)


@pytest.mark.parametrize("name", ["hardswish", "pd_op.hardswish", "hard_swish"])
def test_the_name_that_pir_has_for_an_operator(name):
    folder = operator("hard_swish")
    (result,) = run(
        paddle2ov.convert(folder, extension={name: openvino_callback}), inputs := load(folder / "inputs.npz")
    )
    np.testing.assert_array_equal(result.array, -inputs["x"])


def test_the_name_of_an_older_operator_is_not_used_in_silence(caplog):
    """PIR's `matmul` is `matmul_v2` here, and `matmul` an operator of Paddle 1."""
    paddle2ov.convert(operator("matmul_v2"), extension={"matmul": openvino_callback})
    assert caplog.messages == ["extension: 'matmul' is not used: PIR's operator of that name goes by 'matmul_v2' here"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, len), "an operator's name is expected, not 3"),
        (("my_relu", 3), "the converter of 'my_relu' is not a function: 3"),
        (("my_relu", len, "my_relu"), r"cannot read the signature 'my_relu'; the form is 'my_relu\(x, y\) -> \(out\)'"),
        (("my_relu", len, 5), "cannot read the signature 5"),
        (("my_relu", len, "my_relu(x,y) -> (out)"), "cannot read the signature"),
    ],
)
def test_extension_that_cannot_work(arguments, message):
    with pytest.raises(paddle2ov.ConversionInputError, match=message):
        ConversionExtension(*arguments)


def test_a_node_that_is_no_part_of_the_model(custom):
    own = ConversionExtension("my_relu", lambda node: ops.parameter([1], np.float32), signature="my_relu(x) -> (out)")
    with pytest.raises(paddle2ov.ConversionInputError, match="a converter gave nodes that are no part of this model"):
        paddle2ov.convert(custom, extension=own)


def test_input_that_the_signature_does_not_name(custom):
    """It would be ignored in silence: PIR programs pass inputs by position."""
    short = ConversionExtension("my_relu", lambda node: ops.relu(node.get_input(0)), signature="my_relu() -> (out)")
    with pytest.raises(
        paddle2ov.OpConversionError, match=r"passes 1 input\(s\) more than its signature names \(none\)"
    ):
        paddle2ov.convert(custom, extension=short)


def test_a_program_that_onednn_passes_have_rewritten_says_so():
    """`enable_save_optim_model` with oneDNN writes it; Paddle refuses to load it."""
    fed = Variable("x", "float32", (1, 3, 4, 4)), Variable("w", "float32", (2, 3, 1, 1))
    whole = program([("fused_conv2d", "input_0=x input_1=w", "output_0=y")], fed, "y")
    whole.block.operators[0].source_type = "onednn_op.fused_conv2d"
    with pytest.raises(
        paddle2ov.OpConversionError, match=r"passes for oneDNN.*Save it with `Config.disable_mkldnn\(\)`"
    ):
        paddle2ov.convert(whole)


def test_signatures_of_the_table_are_of_the_form():
    rows = {key: row.partition(" [")[0] for key, row in ROWS.items()}
    assert [row for key, row in rows.items() if ConversionExtension(key, len, row).signature != row] == []


def test_operator_named_twice(custom, monkeypatch):
    def negative(node):
        return ops.negative(node.get_input(0))

    plain, forced = ConversionExtension("my_relu", ops.relu), ConversionExtension("my_relu", negative, override=True)
    with pytest.raises(paddle2ov.ConversionInputError, match="'my_relu' already has a converter"):
        paddle2ov.convert(custom, extension=[forced, plain])
    model = paddle2ov.convert(custom, extension=[plain, forced])
    assert "Negative" in {node.get_type_name() for node in model.get_ops()}
    monkeypatch.setattr(registry, "_installed", lambda: (plain, plain))  # by two packages
    with pytest.raises(paddle2ov.ConversionInputError, match="'my_relu' already has a converter"):
        paddle2ov.convert(custom)


# --- OpenVINO's NodeContext ---------------------------------------------------------------------------------------

ATTRIBUTES = {
    "number": (0, 5),
    "ratio": (1, 0.5),
    "text": (2, b"abc"),
    "numbers": (3, [1, 2]),
    "ratios": (4, [0.5, 1.5]),
    "texts": (5, [b"one", b"two"]),
    "flag": (6, True),
    "large": (9, 2**40),
    "larger": (11, [2**40, 3]),
    "nothing": (3, []),
}
FIELDS = {0: "i", 1: "f", 2: "s", 3: "ints", 4: "floats", 5: "strings", 6: "b", 9: "l", 11: "longs"}


def binding(name):
    """The parameters of a method of OpenVINO's NodeContext in each of its forms: their names, None for one without."""
    forms = re.findall(rf"{name}\(self: [\w.]+(.*?)\) -> ", getattr(FrontendContext, name).__doc__)
    return [[None if re.match(r"arg\d", item) else item for item in re.findall(r"(\w+): ", form)] for form in forms]


METHODS = [name for name in vars(FrontendContext) if not name.startswith("_")]


def test_openvino_has_the_methods_that_are_compared():
    assert set(METHODS) >= {"get_attribute", "get_input", "get_input_size", "get_op_type", "has_attribute"}
    assert binding("get_attribute") == [["name", "default_value", "dtype"]]
    assert binding("get_input") == [[None], [None], [None, None]]


@pytest.mark.parametrize("name", METHODS)
def test_all_methods_of_openvinos_node_take_the_same_arguments(name):
    ours = inspect.signature(getattr(paddle2ov.NodeContext, name))
    assert binding(name)
    for parameters in binding(name):
        names = list(ours.parameters)[1 : 1 + len(parameters)]
        assert names == [own if theirs is None else theirs for own, theirs in zip(names, parameters, strict=True)]
        ours.bind("self", *parameters)  # there is no other that has to be given


@pytest.fixture
def legacy_relu(tmp_path):
    """A legacy program of one relu, with an attribute of each type."""
    desc = ProgramDesc()
    block = desc.blocks.add(idx=0, parent_idx=-1)
    for name, kind in (("feed", 9), ("x", 7), ("y", 7), ("fetch", 10)):
        declared = VarType(type=kind)
        if kind == 7:
            declared.dense_tensor.tensor.data_type = 5
            declared.dense_tensor.tensor.dims.extend([-1, 3])
        block.vars.add(name=name, type=declared.SerializeToString())
    column = {"col": (0, 0)}
    for kind, before, after, attributes in (
        ("feed", "feed", "x", column),
        ("relu", "x", "y", ATTRIBUTES),
        ("fetch", "y", "fetch", column),
    ):
        op = block.ops.add(type=kind)
        op.inputs.add(parameter="X", arguments=[before])
        op.outputs.add(parameter="Out", arguments=[after])
        for name, (form, value) in attributes.items():
            attribute = Attr(name=name, type=form, **{FIELDS[form]: value})
            op.attrs.append(attribute.SerializeToString())
    (tmp_path / "inference.pdmodel").write_bytes(desc.SerializeToString())
    (tmp_path / "inference.pdiparams").write_bytes(b"")
    return tmp_path


def answered(method, *arguments, **named):
    """What a method returns; "refused" where it raises an error."""
    try:
        return method(*arguments, **named)
    except Exception:
        return "refused"


def noting(answers):
    """A callback that notes what the node answers."""

    def callback(node):
        get = node.get_attribute
        for name in (*ATTRIBUTES, "absent"):
            answers[name] = value = answered(get, name)
            answers[name, "there"] = node.has_attribute(name)
            answers[name, "default"] = answered(get, name, default_value=value)
            answers[name, "default", "float"] = answered(get, name, value, dtype=float)
            for dtype in (float, int, str, Type):
                answers[name, dtype.__name__] = answered(get, name, dtype=dtype)
        answers["absent", "list"] = get("absent", default_value=[9])
        answers["absent", "integer"] = get("absent", default_value=9, dtype=float)
        answers["type"] = node.get_op_type("any")
        for arguments in (("X",), ("X", 0), ("X", 1), ("X", -1), ("Y",), (-1,), (7,)):
            value = answered(node.get_input, *arguments)
            answers[arguments] = value if value == "refused" else str(value.get_partial_shape())
        return {"Out": [ops.relu(node.get_input("X")).output(0)]}

    return callback


def test_a_callback_sees_what_it_sees_in_openvino(legacy_relu):
    """The same callback in both frontends."""
    theirs, ours = {}, {}
    frontend = FrontEndManager().load_by_framework("paddle")
    frontend.add_extension(import_module("openvino.frontend.paddle").ConversionExtension("relu", noting(theirs)))
    frontend.convert(frontend.load(str(legacy_relu / "inference.pdmodel")))
    paddle2ov.convert(legacy_relu, extension=ConversionExtension("relu", noting(ours)))
    assert {key: ours[key] for key in ours if ours[key] != theirs[key]} == {}
    assert theirs["number", "float"] == 5.0
    assert theirs["absent"] == theirs["X", -1] == "refused"


def test_constant_inputs_by_their_position(legacy_relu):
    asked = {}

    def callback(node):
        asked["computed"] = node.get_values_from_const_input(0, default=3)
        for position in (0, -1, 1):
            with pytest.raises(paddle2ov.OpConversionError, match=r"computed by the program|is asked for"):
                node.get_values_from_const_input(position)
        return {"out": ops.relu(node.get_input(0))}

    paddle2ov.convert(legacy_relu, extension={"relu": callback})
    assert asked == {"computed": 3}

    def of_constants(node):
        asked["list"] = node.get_values_from_const_input(idx=0)
        asked["dtype"] = node.get_values_from_const_input("x", dtype=int)
        assert node.get_attribute("absent", default=7) == 7
        return {"out": ops.relu(node.get_input(0))}

    weights = {"w": np.array([[1.5, 2.5]], np.float32)}
    paddle2ov.convert(program([("relu", "x=w", "out=y")], [], "y", [], weights), extension={"relu": of_constants})
    assert asked == {"computed": 3, "list": [1.5, 2.5], "dtype": [1, 2]}


def test_a_callback_gets_lists_of_its_own():
    """What it does to them is not done to the program."""

    def reversed_axes(node):
        axes = node.get_attribute("axis")
        axes.reverse()
        return {"out": ops.transpose(node.get_input("x"), np.array(axes))}

    whole = program([("transpose2", "x=x", "out=y", {"axis": [2, 0, 1]})], [Variable("x", "float32", (2, 3, 4))], "y")
    shapes = [paddle2ov.convert(whole, extension={"transpose2": reversed_axes}).output(0).get_shape() for _ in range(2)]
    assert shapes[0] == shapes[1] == [3, 2, 4]
