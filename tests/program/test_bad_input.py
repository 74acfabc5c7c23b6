"""Damaged, hostile and foreign files: an error of our own that says what and where; never a crash or a hang."""

import json
import resource
import shutil
import struct
import time

import numpy as np
import pytest

import paddle2ov
from gen_models import all_ops
from gen_models.harness.building import legacy_op
from gen_models.harness.store import generated
from paddle2ov import ModelReadError, OpConversionError
from paddle2ov.errors import Place
from paddle2ov.program.framework_proto import Attr, ProgramDesc, VarType
from paddle2ov.program.model import Variable
from paddle2ov.testing import check_case
from tests.support import one_operator
from tests.support.formats import FORMATS, LEGACY, NEEDS_PADDLE_2
from tests.support.models import copied, files_of, network, save_program
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
    desc = ProgramDesc.FromString(path.read_bytes())
    for op in (op for block in desc.blocks for op in block.ops if op.type == "assign"):
        del op.inputs[:]
    path.write_bytes(desc.SerializeToString())
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
    desc = ProgramDesc.FromString(legacy.read_bytes())
    weight = next(var for var in desc.blocks[0].vars if var.persistable and var.name not in ("feed", "fetch"))
    weight.type = VarType(type=kind).SerializeToString()
    legacy.write_bytes(desc.SerializeToString())
    refused(legacy, rf"variable '{weight.name}' is no tensor: it is of Paddle's type {name}, which only {owner} have")


@pytest.mark.parametrize("field", ["block", "variable", "type", "attribute"])
def test_a_required_field_is_missing(legacy, field):
    """So does a file of another kind look that begins with a list of messages, such as SentencePiece's models."""
    desc = ProgramDesc.FromString(legacy.read_bytes())
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
    legacy.write_bytes(desc.SerializePartialToString())
    refused(legacy, "not a Paddle program, or a damaged one$|an attribute or a type cannot be decoded$")


def test_a_program_that_was_saved_for_training(tmp_path):
    """`paddle.static.save` writes the program without its inputs and results."""
    path, _ = files_of(save_program(tmp_path, lambda x: x * 2, legacy=True, x=[2, 3]))
    desc = ProgramDesc.FromString(path.read_bytes())
    kept = [op for op in desc.blocks[0].ops if op.type not in ("feed", "fetch")]
    del desc.blocks[0].ops[:]
    desc.blocks[0].ops.extend(kept)
    path.write_bytes(desc.SerializeToString())
    refused(path, r"variable 'x' is not fed, and nothing is fetched: .*`paddle.static.save_inference_model`")


def refused(path, message):
    started, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelReadError, match=message) as caught:
        paddle2ov.convert(path)
    assert time.process_time() - started < 10  # of this process: others may keep the machine busy
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # kB
    assert str(path.parent if path.is_file() else path) in str(caught.value)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.999])
def test_truncated_program(model, part):
    content = model.read_bytes()
    model.write_bytes(content[: int(part * len(content))])
    refused(model, "not a P|no blocks|neither a PIR|: empty")


@pytest.mark.parametrize(
    ("part", "message"), [(0.0, "the file ends"), (0.5, "are left|ends within"), (0.9999, "are left|ends within")]
)
def test_truncated_parameters(model, part, message):
    params = model.with_name("inference.pdiparams")
    content = params.read_bytes()
    params.write_bytes(content[: int(part * len(content))])
    refused(model, message)


def test_parameters_of_another_model(model):
    shutil.copy(network("squeezenet1_1") / "inference.pdiparams", model.with_name("inference.pdiparams"))
    refused(model, "the program declares .* the file holds")


def test_parameters_with_a_tail(model):
    with model.with_name("inference.pdiparams").open("ab") as file:
        file.write(b"\0")
    refused(model, "1 bytes are left after the last of")


@pytest.mark.parametrize(
    ("offset", "layout", "value", "message"),
    [
        (0, "<I", 7, "unknown format version 7"),
        (4, "<Q", 2**60, "absurd number of LoD levels"),
        (12, "<I", 9, "unknown tensor version 9"),
        (16, "<i", -5, "impossible description size -5"),
        (16, "<i", 2**30, "impossible description size"),
    ],
)
def test_hostile_parameters(model, offset, layout, value, message):
    params = model.with_name("inference.pdiparams")
    content = bytearray(params.read_bytes())
    struct.pack_into(layout, content, offset, value)
    params.write_bytes(content)
    refused(model, message)


def test_versions_of_the_future(pir, legacy):
    program = json.loads(pir.read_text())
    program["base_code"]["version"] = 99
    pir.write_text(json.dumps(program))
    refused(pir, "PIR version 99 is not known")
    desc = ProgramDesc.FromString(legacy.read_bytes())
    desc.version.version = 99_000_000
    legacy.write_bytes(desc.SerializeToString())
    refused(legacy, "program version 99000000 is not known")


def test_another_magic(pir):
    pir.write_text(pir.read_text().replace('"magic":"pir"', '"magic":"pie"'))
    refused(pir, "its magic is 'pie'")


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


def test_impossible_values(pir):
    original = pir.read_text()
    for change, message in [
        (lambda ops: ops[-1]["I"].__setitem__(0, {"%": 987654}), "value 987654 is used before it is defined"),
        (lambda ops: ops.append(ops[-3]), "is defined twice"),
        (lambda ops: ops[0]["O"]["TT"]["D"].__setitem__(1, [2**63]), "impossible shape"),
        (lambda ops: ops[0]["A"].__setitem__(3, ""), "parameter"),
    ]:
        pir.write_text(original)
        edit(pir, change)
        refused(pir, message)


GARBAGE = [7628776767208443904, -1, -1]


def declare(folder, format, of):
    """Has a program declare an impossible shape for an operator's first result."""
    path = files_of(folder)[0]
    if format == "pir":
        edit(path, lambda ops: next(op for op in ops if op["#"] == of)["O"][0]["TT"]["D"].__setitem__(1, GARBAGE))
        return
    desc = ProgramDesc.FromString(path.read_bytes())
    (block,) = desc.blocks
    operator = next(op for op in block.ops if op.type == of)
    name = operator.outputs[0].arguments[0]
    variable = next(variable for variable in block.vars if variable.name == name)
    kind = VarType.FromString(variable.type)
    kind.dense_tensor.tensor.dims[:] = GARBAGE
    variable.type = kind.SerializeToString()
    path.write_bytes(desc.SerializeToString())


@pytest.mark.parametrize("format", FORMATS)
def test_impossible_sizes_of_results_are_unknown(format, tmp_path):
    """Paddle 3.3 declares results of `gather_nd` by memory that nothing has written; those of inputs are refused."""
    op = all_ops()["gather_nd"]
    source = generated(op, op.cases[0], format)
    folder = shutil.copytree(source, tmp_path / "result")
    declare(folder, format, "1.gather_nd" if format == "pir" else "gather_nd")
    assert (-1, -1, -1) in [variable.shape for variable in paddle2ov.read_program(folder).variables.values()]
    check_case(folder)
    folder = shutil.copytree(source, tmp_path / "input")
    declare(folder, format, "1.data" if format == "pir" else "feed")
    refused(files_of(folder)[0], "has an impossible shape")


def test_parameters_of_impossible_sizes(legacy):
    desc = ProgramDesc.FromString(legacy.read_bytes())
    weight = next(var for var in desc.blocks[0].vars if var.persistable and var.name not in ("feed", "fetch"))
    kind = VarType.FromString(weight.type)
    kind.dense_tensor.tensor.dims[:] = GARBAGE
    weight.type = kind.SerializeToString()
    legacy.write_bytes(desc.SerializeToString())
    refused(legacy, f"'{weight.name}' has an impossible shape")


@pytest.mark.parametrize("attribute", [[], {}, -1, None, {"#": 3}, {"#": "0.a_array", "D": 5}])
def test_inputs_with_malformed_attributes(pir, attribute):
    edit(pir, lambda ops: next(op for op in ops if op["#"] == "1.data")["A"][0].__setitem__("AT", attribute))
    refused(pir, r"block 0, operator \d+ \(1.data\): malformed")


def test_names_that_no_ir_can_hold(pir):
    edit(pir, lambda ops: next(op for op in ops if op["#"] == "1.data")["A"][0]["AT"].__setitem__("D", "a\0b"))
    refused(pir, "holds the control character")


@pytest.mark.parametrize("name", ["\x1b[31mred", "a\nb", "bell\x07", "\u202egpj.exe", "\x9b2J", "\u2028"])
def test_names_that_no_terminal_shows(pir, name):
    """What a file names is in messages, tables and pages: it must not move a cursor, or turn a line around."""
    edit(pir, lambda ops: ops[3].__setitem__("#", f"1.{name}"))
    refused(pir, "an operator's type holds the control character")
    with pytest.raises(ModelReadError) as caught:
        paddle2ov.inspect(pir)
    assert str(caught.value).isprintable()
    edit(pir, lambda ops: ops[3].__setitem__("#", "1.full"))
    edit(pir, lambda ops: attribute_of(ops, "1.fetch", "name").__setitem__("D", name))
    refused(pir, "a result's name holds the control character")


def attribute_of(ops, kind, name):
    operator = next(op for op in ops if op["#"] == kind)
    return next(attribute["AT"] for attribute in operator["A"] if attribute["N"] == name)


@pytest.mark.parametrize("column", ["0", 0.5, None, [0]])
def test_a_position_of_a_result_that_is_no_number(pir, column):
    edit(pir, lambda ops: attribute_of(ops, "1.fetch", "col").__setitem__("D", column))
    refused(pir, r"operator \d+ \(1\.fetch\): attribute 'col' is .*; a number is expected")


@pytest.mark.parametrize("of", ["loop", "block"])
def test_results_of_a_loop_that_are_not_what_its_block_yields(pir, of):
    """What it writes in place follows its results: it must not take the place of one."""

    def drop(ops):
        loop = next(op for op in ops if op["#"] == "1.while")
        (loop["O"] if of == "loop" else loop["regions"][0]["blocks"][0]["ops"][-1]["I"]).pop()

    edit(pir, drop)
    refused(pir, r"operator \d+ \(1\.while\): \d+ results, for which block 1 yields \d+ values")


def test_names_of_a_megabyte(pir):
    edit(pir, lambda ops: ops[3].__setitem__("#", "1." + "z" * 1_000_000))
    with pytest.raises(ModelReadError, match="an operator's type has 1000006 characters") as caught:
        paddle2ov.inspect(pir)
    assert len(str(caught.value)) < 1000


def test_errors_are_shown_as_text():
    place = Place(0, 7, "an\x1b[2J", call_stack=("File \x07, line 1",))
    error = OpConversionError(place, f"because of {'z' * 5000}\nand\u202emore")
    assert all(line.isprintable() for line in str(error).splitlines())
    assert "... (5000 characters)\nand\\u202emore" in str(error)
    assert len(str(error)) < 1500


def test_text_that_is_no_unicode(pir):
    pir.write_bytes(pir.read_bytes().replace(b'"#":"0.a_str"', b'"#":"0.a_s\xff\xff"', 1))
    refused(pir, "malformed|not a PIR program")


def test_absurd_sizes_need_no_memory(pir):
    edit(pir, lambda ops: ops[0]["O"]["TT"]["D"].__setitem__(1, [2**40, 2**20]))
    refused(pir, "the program declares shape")


def test_parameter_names_do_not_lead_out_of_the_folder(legacy):
    desc = ProgramDesc.FromString(legacy.read_bytes())
    legacy.with_name("inference.pdiparams").unlink()
    names = sorted(var.name for var in desc.blocks[0].vars if var.persistable and var.name not in ("feed", "fetch"))
    secret = legacy.parent.parent / "secret"
    secret.write_bytes(b"\0" * 100)
    legacy.with_name(names[0]).write_bytes(b"")
    for name in ("../secret", str(secret), "a/../../secret", "nul\0byte"):
        changed = ProgramDesc.FromString(desc.SerializeToString())
        for var in changed.blocks[0].vars:
            if var.name == names[0]:
                var.name = name
        legacy.write_bytes(changed.SerializeToString())
        legacy.with_name(names[0]).write_bytes(b"")
        with pytest.raises(ModelReadError):
            paddle2ov.read_program(legacy)


def test_a_block_inside_itself(legacy):
    desc = ProgramDesc.FromString(legacy.read_bytes())
    for op in desc.blocks[1].ops:
        for i, text in enumerate(op.attrs):
            attribute = Attr.FromString(text)
            if attribute.type == 8:
                attribute.block_idx = 1
                op.attrs[i] = attribute.SerializeToString()
    legacy.write_bytes(desc.SerializeToString())
    refused(legacy, "contains itself")


def change_attribute(path, op_type, name, **values):
    """Gives an attribute of the first operator of that type another kind and value."""
    desc = ProgramDesc.FromString(path.read_bytes())
    op = next(op for block in desc.blocks for op in block.ops if op.type == op_type)
    kept = [text for text in op.attrs if Attr.FromString(text).name != name]
    del op.attrs[:]
    op.attrs.extend([*kept, Attr(name=name, **values).SerializeToString()])
    path.write_bytes(desc.SerializeToString())


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
