"""Damaged, hostile and foreign files: an error of our own that says what and where; never a crash or a hang."""

import json
import resource
import shutil
import struct
import time

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.building import legacy_op
from paddle2ov import ModelReadError, OpConversionError
from paddle2ov.errors import Place
from paddle2ov.program.framework_proto import Attr, ProgramDesc, VarType
from paddle2ov.program.model import Variable
from paddle2ov.testing import check_case
from tests.support import one_operator
from tests.support.formats import FORMATS, LEGACY, NEEDS_PADDLE_2
from tests.support.models import copied, edited, files_of, network, operator, save_program
from tests.support.one_operator import program


def test_what_is_named_as_a_program(tmp_path):
    picture = tmp_path / "net.pdmodel"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    refused(picture, r"net\.pdmodel: not a Paddle program, or a damaged one$")


@pytest.fixture(params=["pir", LEGACY])
def model(request, tmp_path):
    return copied("greedy_decoder", request.param, tmp_path / "model")


@pytest.fixture
def pir(tmp_path):
    return copied("greedy_decoder", "pir", tmp_path / "pir")


@pytest.fixture(params=[LEGACY])
def legacy(request, tmp_path):
    return copied("greedy_decoder", request.param, tmp_path / "legacy")


@NEEDS_PADDLE_2
def test_an_array_that_is_read_from_nothing(tmp_path):
    """A program that concatenates an array, with assignments of nothing."""
    path = copied("array_of_selections", "legacy", tmp_path / "array")
    with edited(path) as desc:
        for op in (op for block in desc.blocks for op in block.ops if op.type == "assign"):
            del op.inputs[:]
    with pytest.raises(OpConversionError, match="assign"):
        paddle2ov.convert(path)


def test_fractional_pooling_of_unknown_size_is_refused():
    x = np.ones([1, 2, 7, 9], np.float32)
    whole, _ = program("fractional_max_pool2d", {"x": x}, {"output_size": [3, 4], "random_u": 0.5}, dynamic=True)
    with pytest.raises(OpConversionError, match="windows along a dimension of unknown size"):
        paddle2ov.convert(whole)
    assert paddle2ov.convert(whole, input={"x_0": x.shape}).output(0).shape == [1, 2, 3, 4]


def test_a_result_that_paddle_leaves_out_of_the_file(tmp_path):
    def build(x):
        return legacy_op("dropout", {"X": x}, {"Out": x.dtype, "Mask": "uint8"}, {"is_test": True})

    path, _ = files_of(save_program(tmp_path, build, legacy=True, x=[2, 3]))
    refused(path, r"\(fetch\): variable 'dropout_\S+' is used before it is written\. .*`clip_extra=False`")


def weights(desc):
    return [var for var in desc.blocks[0].vars if var.persistable and var.name not in ("feed", "fetch")]


@pytest.mark.parametrize(
    ("kind", "name", "owner"),
    [
        (8, "SELECTED_ROWS", "training and parameter servers"),
        (15, "READER", "training and parameter servers"),
        (17, "17", "training and parameter servers"),
        (27, "VOCAB", "tokenizers"),
    ],
)
def test_a_weight_that_is_no_tensor(legacy, kind, name, owner):
    with edited(legacy) as desc:
        weight = weights(desc)[0]
        weight.type = VarType(type=kind).SerializeToString()
    refused(legacy, rf"variable '{weight.name}' is no tensor: it is of Paddle's type {name}, which only {owner} have")


@pytest.mark.parametrize("field", ["block", "variable", "type", "attribute"])
def test_a_required_field_is_missing(legacy, field):
    """So does a file of another kind look that begins with a list of messages, such as SentencePiece's models."""
    with edited(legacy) as desc:
        if field == "block":
            desc.blocks[0].ClearField("idx")
        elif field == "variable":
            desc.blocks[0].vars[0].ClearField("type")
        elif field == "type":
            desc.blocks[0].vars[0].type = b""
        else:
            attribute = Attr.FromString(desc.blocks[0].ops[-1].attrs[0])
            attribute.ClearField("type")
            desc.blocks[0].ops[-1].attrs[0] = attribute.SerializePartialToString()
    refused(legacy, "not a Paddle program, or a damaged one$|an attribute or a type cannot be decoded$")


def test_a_program_that_was_saved_for_training(tmp_path):
    """`paddle.static.save` writes the program without its inputs and results."""
    path, _ = files_of(save_program(tmp_path, lambda x: x * 2, legacy=True, x=[2, 3]))
    with edited(path) as desc:
        kept = [op for op in desc.blocks[0].ops if op.type not in ("feed", "fetch")]
        del desc.blocks[0].ops[:]
        desc.blocks[0].ops.extend(kept)
    refused(path, r"variable 'x' is not fed, and nothing is fetched: .*`paddle.static.save_inference_model`")


def refused(path, message):
    started, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelReadError, match=message) as caught:
        paddle2ov.convert(path)
    assert time.process_time() - started < 10  # of this process: others may keep the machine busy
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # kB
    assert str(path.parent if path.is_file() else path) in str(caught.value)
    assert str(caught.value).isprintable()
    return caught.value


@pytest.mark.parametrize("part", [0.0, 0.3, 0.999])
def test_truncated_program(model, part):
    content = model.read_bytes()
    model.write_bytes(content[: int(part * len(content))])
    refused(model, "not a P|no blocks|neither a PIR|: empty")


def test_parameters_of_another_model(model):
    shutil.copy(network("squeezenet1_1") / "inference.pdiparams", model.with_name("inference.pdiparams"))
    refused(model, "the program declares .* the file holds")


def number(offset, layout, value):
    """What puts a number at a place of a file."""
    packed = struct.pack(layout, value)
    return lambda content: content[:offset] + packed + content[offset + len(packed) :]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: b"", "the file ends"),
        (lambda content: content[: len(content) // 2], "are left|ends within"),
        (lambda content: content[: int(0.9999 * len(content))], "are left|ends within"),
        (lambda content: content + b"\0", "1 bytes are left after the last of"),
        (number(0, "<I", 7), "unknown format version 7"),
        (number(4, "<Q", 2**60), "absurd number of LoD levels"),
        (number(12, "<I", 9), "unknown tensor version 9"),
        (number(16, "<i", -5), "impossible description size -5"),
        (number(16, "<i", 2**30), "impossible description size"),
    ],
    ids=range(9),
)
def test_damaged_parameters(model, change, message):
    params = model.with_name("inference.pdiparams")
    params.write_bytes(change(params.read_bytes()))
    refused(model, message)


def test_a_version_of_the_future(legacy):
    with edited(legacy) as desc:
        desc.version.version = 99_000_000
    refused(legacy, "program version 99000000 is not known")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"version":', b'"version":9', "PIR version 9. is not known"),
        (b'"magic":"pir"', b'"magic":"pie"', "its magic is 'pie'"),
        (b'"#":"0.a_str"', b'"#":"0.a_s\xff\xff"', "malformed|not a PIR program"),  # no Unicode
    ],
)
def test_another_text(pir, old, new, message):
    content = pir.read_bytes()
    assert old in content
    pir.write_bytes(content.replace(old, new, 1))
    refused(pir, message)


@pytest.mark.parametrize("depth", [2_000, 200_000])
def test_deep_nesting(pir, depth):
    inner = '{"regions":[{"blocks":[{"ops":[{"#":"1.if","I":[],"O":[],"A":[],"regions":[{"blocks":[{"ops":['
    pir.write_text('{"base_code":{"magic":"pir","version":1},"program":' + inner * depth)
    refused(pir, "nested too deeply|not a PIR program")
    # From Python 3.13 on the smaller one is read, as a program that has no parameters.
    attribute = '{"#":"1.x","A":[{"N":"a","AT":{"#":"0.a_array","D":' + "[" * depth + "]" * depth + "}}]}"
    blocks = '{"regions":[{"blocks":[{"ops":[' + attribute + "]}]}]}"
    pir.write_text('{"base_code":{"magic":"pir","version":1},"program":' + blocks + "}")
    refused(pir, "nested too deeply|not a PIR program|does not belong to this program")


def edit(path, change):
    program = json.loads(path.read_text())
    change(program["program"]["regions"][0]["blocks"][0]["ops"])
    path.write_text(json.dumps(program))


def put(value, operator, *keys):
    """A change of what is found by keys in an operator, the first of a type or the one of a number."""

    def change(ops):
        item = ops[operator] if isinstance(operator, int) else next(op for op in ops if op["#"] == operator)
        for key in keys[:-1]:
            item = item[key]
        item[keys[-1]] = value

    return change


NAME, COLUMN = (("1.fetch", "A", index, "AT", "D") for index in (0, 1))
UNSHOWN = ("\x1b[31mred", "a\nb", "bell\x07", "\u202egpj.exe", "\x9b2J", "\u2028")
"""What a file names is in messages, tables and pages: it must not move a cursor, or turn a line around."""
CHANGES = [
    (put({"%": 987654}, -1, "I", 0), "value 987654 is used before it is defined"),
    (lambda ops: ops.append(ops[-3]), "is defined twice"),
    (put([2**63], 0, "O", "TT", "D", 1), "impossible shape"),
    (put([2**40, 2**20], 0, "O", "TT", "D", 1), "the program declares shape"),
    (put("", 0, "A", 3), "parameter"),
    *(
        (put(value, "1.data", "A", 0, "AT"), r"block 0, operator \d+ \(1.data\): malformed")
        for value in ([], {}, -1, None, {"#": 3}, {"#": "0.a_array", "D": 5})
    ),
    (put("a\0b", "1.data", "A", 0, "AT", "D"), "holds the control character"),
    *((put(f"1.{name}", 3, "#"), "an operator's type holds the control character") for name in UNSHOWN),
    *((put(name, *NAME), "a result's name holds the control character") for name in UNSHOWN),
    *(
        (put(column, *COLUMN), r"operator \d+ \(1\.fetch\): attribute 'col' is .*; a number is expected")
        for column in ("0", 0.5, None, [0])
    ),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=range(len(CHANGES)))
def test_impossible_values(pir, change, message):
    edit(pir, change)
    refused(pir, message)


GARBAGE = [7628776767208443904, -1, -1]


def declare(folder, format, of):
    """Has a program declare an impossible shape for an operator's first result."""
    path = files_of(folder)[0]
    if format == "pir":
        edit(path, put(GARBAGE, f"1.{of}", "O", 0, "TT", "D", 1))
        return
    with edited(path) as desc:
        (block,) = desc.blocks
        operator = next(op for op in block.ops if op.type == of)
        name = operator.outputs[0].arguments[0]
        declare_garbage(next(variable for variable in block.vars if variable.name == name))


def declare_garbage(variable):
    kind = VarType.FromString(variable.type)
    kind.dense_tensor.tensor.dims[:] = GARBAGE
    variable.type = kind.SerializeToString()


@pytest.mark.parametrize("format", FORMATS)
def test_impossible_sizes_of_results_are_unknown(format, tmp_path):
    """Paddle 3.3 declares results of `gather_nd` by memory that nothing has written; those of inputs are refused."""
    source = operator("gather_nd", format)
    folder = shutil.copytree(source, tmp_path / "result")
    declare(folder, format, "gather_nd")
    assert (-1, -1, -1) in [variable.shape for variable in paddle2ov.read_program(folder).variables.values()]
    check_case(folder)
    folder = shutil.copytree(source, tmp_path / "input")
    declare(folder, format, "data" if format == "pir" else "feed")
    refused(files_of(folder)[0], "has an impossible shape")


def test_parameters_of_impossible_sizes(legacy):
    with edited(legacy) as desc:
        weight = weights(desc)[0]
        declare_garbage(weight)
    refused(legacy, f"'{weight.name}' has an impossible shape")


@pytest.mark.parametrize("of", ["loop", "block"])
def test_results_of_a_loop_that_are_not_what_its_block_yields(pir, of):
    """What it writes in place follows its results: it must not take the place of one."""

    def drop(ops):
        loop = next(op for op in ops if op["#"] == "1.while")
        (loop["O"] if of == "loop" else loop["regions"][0]["blocks"][0]["ops"][-1]["I"]).pop()

    edit(pir, drop)
    refused(pir, r"operator \d+ \(1\.while\): \d+ results, for which block 1 yields \d+ values")


def test_names_of_a_megabyte(pir):
    edit(pir, put("1." + "z" * 1_000_000, 3, "#"))
    assert len(str(refused(pir, "an operator's type has 1000006 characters"))) < 1000


def test_errors_are_shown_as_text():
    place = Place(0, 7, "an\x1b[2J", call_stack=("File \x07, line 1",))
    error = OpConversionError(place, f"because of {'z' * 5000}\nand\u202emore")
    assert all(line.isprintable() for line in str(error).splitlines())
    assert "... (5000 characters)\nand\\u202emore" in str(error)
    assert len(str(error)) < 1500


def test_parameter_names_do_not_lead_out_of_the_folder(legacy):
    original = legacy.read_bytes()
    legacy.with_name("inference.pdiparams").unlink()
    first = min(var.name for var in weights(ProgramDesc.FromString(original)))
    secret = legacy.parent.parent / "secret"
    secret.write_bytes(b"\0" * 100)
    legacy.with_name(first).write_bytes(b"")
    for name in ("../secret", str(secret), "a/../../secret", "nul\0byte"):
        legacy.write_bytes(original)
        with edited(legacy) as desc:
            next(var for var in desc.blocks[0].vars if var.name == first).name = name
        with pytest.raises(ModelReadError):
            paddle2ov.read_program(legacy)


def test_a_block_inside_itself(legacy):
    with edited(legacy) as desc:
        for op in desc.blocks[1].ops:
            for i, text in enumerate(op.attrs):
                attribute = Attr.FromString(text)
                if attribute.type == 8:
                    attribute.block_idx = 1
                    op.attrs[i] = attribute.SerializeToString()
    refused(legacy, "contains itself")


def change_attribute(path, op_type, name, **values):
    """Gives an attribute of the first operator of that type another kind and value."""
    with edited(path) as desc:
        op = next(op for block in desc.blocks for op in block.ops if op.type == op_type)
        kept = [text for text in op.attrs if Attr.FromString(text).name != name]
        del op.attrs[:]
        op.attrs.extend([*kept, Attr(name=name, **values).SerializeToString()])


@pytest.mark.parametrize(
    ("op_type", "name", "values", "message"),
    [
        ("feed", "col", {"type": 2, "s": b"x"}, r"\(feed\): attribute 'col' is 'x'"),
        ("feed", "col", {"type": 3, "ints": [1, 2]}, r"\(feed\): attribute 'col' is \[1, 2\]"),
        ("fetch", "col", {"type": 1, "f": 0.5}, r"\(fetch\): attribute 'col' is 0.5"),
        ("while", "sub_block", {"type": 2, "s": b"x"}, "sub_block is missing"),
    ],
)
def test_attributes_of_another_type_in_the_structure(legacy, op_type, name, values, message):
    change_attribute(legacy, op_type, name, **values)
    refused(legacy, message)


@pytest.mark.parametrize(
    ("number", "reason"), [(99, "block 99 does not exist; the program has"), (0, "block 0 contains")]
)
def test_an_operator_is_named_whatever_its_message_begins_with(legacy, number, reason):
    change_attribute(legacy, "while", "sub_block", type=8, block_idx=number)
    refused(legacy, rf"inference\.pdmodel: block 0, operator \d+ \(while\): {reason}")


def test_a_call_stack_that_is_a_block(legacy):
    change_attribute(legacy, "while", "op_callstack", type=8, block_idx=99)
    paddle2ov.convert(legacy)


ZEROS = np.zeros((2, 3), np.float32)
PADS = {"x": np.zeros((1, 2, 3, 4, 5), np.float32), "paddings": np.ones(12, np.float32)}
BOXES = {"bboxes": np.zeros((1, 5, 4), np.float32)}
SCORED = {**BOXES, "scores": np.zeros((1, 2, 5), np.float32)}
PRELU = {"x": np.zeros((2, 4, 3), np.float32), "alpha": ZEROS}
OPERATORS = [
    *(
        ("elementwise_add", {"x": ZEROS, "y": ZEROS[0]}, {"axis": axis}, f"axis={axis}: out of range for rank 2")
        for axis in (-(2**31), -2, 4, 2**40)
    ),
    ("pad3d", PADS, {"mode": "constant"}, r"6 paddings are expected; they have the shape \[12\]"),
    ("prelu", PRELU, {"mode": "channel", "data_format": "NCHW"}, r"'channel': slopes of shape \[2, 3\] for 4 channels"),
    ("multiclass_nms3", SCORED, {"score_threshold": "high"}, "attribute 'score_threshold' is 'high'"),
    ("multiclass_nms3", BOXES, {"score_threshold": 0.1}, r"input 'scores' .* is missing"),
    *(
        (
            "index_put",
            {"x": np.ones((4, 3), np.float32), "indices": [np.ones(mask, bool)], "value": np.ones(1, np.float32)},
            {"accumulate": False},
            r"cannot convert 'index_put': a mask of shape \[.*\] for a tensor of",
        )
        for mask in ((5,), (4, 4))
    ),
]


@pytest.mark.parametrize(("op_type", "inputs", "attributes", "message"), OPERATORS)
def test_operators_that_do_not_fit_their_inputs(op_type, inputs, attributes, message):
    one_operator.refused(message, op_type, inputs, attributes)


@pytest.mark.parametrize(
    ("op_type", "port", "inputs"),
    [
        ("full_with_tensor", "shape", {"value": np.ones([1], np.float32)}),
        ("empty", "shape", {}),
        ("expand_v2", "shape", {"x": np.ones([3, 1], np.float32)}),
        ("gaussian_random", "shape", {}),
        ("randint", "shape", {}),
        ("tile", "repeat_times", {"x": np.ones([2, 3], np.float32)}),
        ("uniform_random", "shape", {}),
        ("reshape2", "shape", {"x": np.ones([2, 3], np.float32)}),
    ],
)
def test_a_rank_that_only_the_run_shows_is_refused(op_type, port, inputs):
    arrays = {**inputs, port: np.array([3, 2], np.int64)}
    attributes = {"value": 1.5, "dtype": "float32", "low": 0, "high": 9}
    whole, _ = program(op_type, arrays, attributes, dynamic=True)
    whole.variables["out"] = Variable("out", "float32", (-1,))
    with pytest.raises(OpConversionError, match="how many dimensions"):
        paddle2ov.convert(whole)
