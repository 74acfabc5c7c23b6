"""What a program of a few bytes asks for is bounded: names, blocks, sizes, files that never end."""

import json
import os
import re

import numpy as np
import openvino
import pytest
from openvino.op import Constant

import paddle2ov
from gen_models.harness.legacy import ROOT
from gen_models.harness.spec import FORMATS
from paddle2ov import ConversionInputError, ModelReadError, OpConversionError, Paddle2OVError, RewriteError
from paddle2ov.conversion import translated
from paddle2ov.converters.detection.proposals import _bound as level_bound
from paddle2ov.converters.detection.score_prefilter import score_prefilter
from paddle2ov.deployment.text_fields import text_fields
from paddle2ov.graph.bodies import walk
from paddle2ov.graph.evaluation import evaluate
from paddle2ov.graph.loop_counters import counter_ranges
from paddle2ov.graph.opset import ops
from paddle2ov.inputs.linked_sizes import _proposals as size_proposals
from paddle2ov.passes import run_rewrites
from paddle2ov.passes.attention.gather_windows import gather_windows
from paddle2ov.passes.attention.split_qkv import split_qkv
from paddle2ov.passes.computed_constants import reshaped_constant
from paddle2ov.passes.layout.permutable import Role, permuted_constant
from paddle2ov.program.budget import (
    LIMITS,
    MAX_ARRAY_ELEMENTS,
    MAX_NESTED_BLOCKS,
    MAX_PROGRAM_BYTES,
    Budget,
    Limit,
    charging,
)
from paddle2ov.program.framework_proto import Attr, ProgramDesc, VarType
from paddle2ov.program.model import Variable
from paddle2ov.program.reading import read_contents
from paddle2ov.workarounds import rewrites_for
from tests.support import programs
from tests.support.models import network
from tests.support.one_operator import program, refused

# --- programs -------------------------------------------------------------------------------------------------------

TENSOR = {"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, [2], "NCHW", [], 0]}


def pir(operators):
    """A program whose value 1 is its input."""
    name = {"N": "name", "AT": {"#": "0.a_str", "D": "x"}}
    feed = {"#": "1.data", "I": [], "O": [{"%": 1, "TT": TENSOR}], "A": [name]}
    blocks = [{"blocks": [{"args": [], "ops": [feed, *operators]}]}]
    whole = {"base_code": {"magic": "pir", "version": 1}, "program": {"regions": blocks}}
    return json.dumps(whole).encode()


def combine(first, second, result):
    values = {"#": "0.t_vec", "D": [TENSOR, TENSOR]}
    return {"#": "0.combine", "I": [{"%": first}, {"%": second}], "O": [{"%": result, "TT": values}], "A": []}


def test_a_list_of_itself():
    """28 lists, each of which is the one before twice, would have 2^28 names."""
    content = pir([combine(i, i, i + 1) for i in range(1, 29)])
    with pytest.raises(ModelReadError, match=r"operator \d+ \(0.combine\): takes \d+ names in lists of values"):
        read_contents(content, b"")


def test_results_that_one_operator_fetches():
    """The passes would look at the readers of the value once for each of its 1,024 results."""
    named = [{"N": "name", "AT": {"#": "0.a_str", "D": "out"}}, {"N": "col", "AT": {"#": "0.a_i32", "D": 0}}]
    fetch = {"#": "1.fetch", "I": [{"%": 11}], "O": [{"%": 12, "TT": TENSOR}], "A": named}
    with pytest.raises(ModelReadError, match=r"\(1.fetch\): takes \d+ bytes for results"):
        read_contents(pir([*(combine(i, i, i + 1) for i in range(1, 11)), fetch]), b"")


def test_results_without_a_number_share_no_name():
    """The name of each would be longer than that of the one before."""
    relu = {"#": "1.relu", "I": [{"%": 1}], "O": [{"%": 0, "TT": TENSOR}], "A": []}
    whole = read_contents(pir([relu] * 5000), b"")
    assert {name for operator in whole.block.operators for name in operator.output_names()} == {""}
    assert list(whole.variables) == ["x"]


def nested(depth):
    condition = {"#": "1.if", "I": [{"%": 1}], "O": [], "A": []}
    return [{**condition, "regions": [{"blocks": [{"args": [], "ops": nested(depth - 1)}]}]}] if depth else []


def test_blocks_are_nested_to_a_bound():
    read_contents(pir(nested(MAX_NESTED_BLOCKS - 1)), b"")
    with pytest.raises(ModelReadError, match=f"nested more than {MAX_NESTED_BLOCKS} deep"):
        read_contents(pir(nested(MAX_NESTED_BLOCKS)), b"")


def legacy(held_by, levels, twice):
    """Blocks in a chain, each held by operators of the block before, twice or once."""
    desc = ProgramDesc()
    kind = VarType(type=7)
    kind.dense_tensor.tensor.data_type = 0
    for level in range(levels):
        block = desc.blocks.add(idx=level, parent_idx=level - 1)
        for name in ("x", "c") if level == 0 else ():
            block.vars.add(name=name, type=kind.SerializeToString())
        if level == 0:
            for column, name in enumerate(("x", "c")):
                feed = block.ops.add(type="feed")
                feed.outputs.add(parameter="Out", arguments=[name])
                feed.attrs.append(Attr(name="col", type=0, i=column).SerializeToString())
        for _ in range((1 + twice) if level + 1 < levels else 0):
            op = block.ops.add(type=held_by)
            op.inputs.add(parameter="Condition" if held_by == "while" else "Cond", arguments=["c"])
            op.attrs.append(Attr(name="sub_block", type=8, block_idx=level + 1).SerializeToString())
            op.attrs.append(Attr(name="is_scalar_condition", type=6, b=True).SerializeToString())
    return desc.SerializeToString()


@pytest.mark.parametrize("held_by", ["while", "conditional_block"])
def test_blocks_that_two_operators_hold(held_by):
    """40 blocks, each of which the operators of the one before hold twice, would be read 2^40 times."""
    read_contents(legacy(held_by, 40, twice=False), b"")
    with pytest.raises(ModelReadError, match=r"takes \d+ (operators in blocks|bytes of blocks that are read again)"):
        read_contents(legacy(held_by, 40, twice=True), b"")


def test_a_long_block_that_many_operators_hold():
    """It has one operator, and is read again for each of those that hold it."""
    desc = ProgramDesc.FromString(legacy("conditional_block", 2, twice=False))
    desc.blocks[1].ops.add(type="relu").attrs.append(Attr(name="text", type=2, s=b"a" * 300_000).SerializeToString())
    desc.blocks[0].ops.extend([desc.blocks[0].ops[-1]] * 20)
    with pytest.raises(ModelReadError, match=r"takes \d+ bytes of blocks that are read again"):
        read_contents(desc.SerializeToString(), b"")


def test_bodies_of_nested_loops_are_translated_to_a_bound(monkeypatch):
    """Each body is translated until its shapes hold, here twice, each time with the loops inside."""
    monkeypatch.setitem(LIMITS, "translations of operators", Limit(100, 1, "operators"))
    made = []
    for level in reversed(range(7)):
        inner = f"after{level + 1}" if made else f"state{level}"
        joined = ("concat", f"x=state{level},{inner}", f"out=following{level}", {"axis": 0})
        body = programs.block(level + 1, *made, joined, inputs=f"state{level}", outputs=f"c following{level}")
        made = [
            ("fill_constant", "", f"out=start{level}", {"shape": [1], "value": 1.0, "dtype": "float32"}),
            ("while", f"cond=c x=start{level}", f"out=after{level}", {}, [body]),
        ]
    whole = programs.program(made, [Variable("c", "bool", (1,))], "after0")
    with pytest.raises(OpConversionError, match=r"takes \d+ translations of operators"):
        paddle2ov.convert(whole)


# --- sizes that attributes ask for ----------------------------------------------------------------------------------

HUGE = 2**40
NEEDED = f"an array of {HUGE} elements is needed at conversion"
COPIES, REPEATS = "bytes of copied constants", "repetitions of nodes"
X = np.ones((2, 3), np.float32)
LONG = np.broadcast_to(np.int64(1), (2**31 - 1,))
SIZES = {
    "tril_indices": ({}, {"rows": HUGE, "cols": HUGE, "offset": 0, "dtype": "int64"}),
    "triu_indices": ({}, {"row": 2**20, "col": 2**20, "offset": 0, "dtype": "int64"}),
    "repeat_interleave": ({"x": X}, {"repeats": HUGE, "axis": 0}),
    "linspace": ({}, {"start": 0.0, "stop": 1.0, "number": -1, "dtype": "float32"}),
    "fill_constant": ({}, {"shape": [HUGE, HUGE], "value": 1.0, "dtype": "int64"}),
    "range": ({}, {"start": 0, "end": HUGE, "step": 1, "dtype": "int64"}),
    "fold": (
        {"x": np.ones((1, 4, 4), np.float32)},
        {"output_sizes": [3, 3], "kernel_sizes": [2, 2], "strides": [], "dilations": [1, 1], "paddings": [0]},
    ),
    "pool2d": ({"x": np.ones((1, 1, 4, 4), np.float32)}, {"kernel_size": [1, 1], "strides": [2**62, 1]}),
    "polygamma": ({"x": X}, {"n": 10**6}),
    "fake_channel_wise_dequantize_max_abs": ({"x": X, "scales": [X[0]]}, {"quant_bits": [HUGE], "quant_axis": 1}),
    "multi_dot": ({"x": [np.ones((2, 2), np.float32)] * 101}, {}),
    "anchor_generator": (
        {"input": np.broadcast_to(np.float32(0), (1, 1, 2**13, 2**13))},
        {"anchor_sizes": [1.0], "aspect_ratios": [1.0], "variances": [1.0] * 4, "stride": [1.0, 1.0]},
    ),
    "prior_box": (
        {"input": np.broadcast_to(np.float32(0), (1, 1, 2**13, 2**13)), "image": np.ones((1, 3, 4, 4), np.float32)},
        {"min_sizes": [1.0], "aspect_ratios": [1.0], "variances": [1.0] * 4},
    ),
    "sequence_enumerate": ({"x": np.ones((2, 1), np.int64)}, {"win_size": HUGE, "pad_value": 0}),
    "split": ({"x": X}, {"num": HUGE, "axis": 1, "sections": []}),
    "expand_v2": ({"x": X, "shape": LONG}, {}),
    "tile": ({"x": X, "repeat_times": LONG}, {}),
    "randint": ({"shape": LONG}, {"low": 0, "high": 2, "dtype": "int64"}),
    "strided_slice": ({"x": X, "starts": LONG, "ends": LONG, "strides": LONG}, {"axes": [1]}),
    "unsqueeze2": ({"x": X}, {"axis": [0] * 100}),
    "as_strided": ({"input": X}, {"dims": [2000, 2000, 2000], "stride": [0, 0, 0], "offset": 0}),
    "set_value": ({"x": X}, {"axes": [0], "none_axes": [0] * 100, "values": [1.0], "shape": [1]}),
    "grid_sampler": (
        {"x": np.ones((1,) * 24, np.float32), "grid": np.ones((*(1,) * 23, 22), np.float32)},
        {"mode": "bilinear", "padding_mode": "zeros", "align_corners": True},
    ),
    "meshgrid": ({"inputs": [X[0]] * 65}, {}),
}
RESULTS = {"anchor_generator": ("anchors",)}
DIMENSIONS = {
    "fill_constant": ({}, {"shape": [2**60] * 100_000, "value": 1.0, "dtype": "float32"}),
    "transpose2": ({"x": X}, {"perm": [0] * 100}),
    "reshape2": ({"x": X}, {"shape": [2**62] * 65}),
    "tile": ({"x": X}, {"repeat_times": [1] * 100}),
    "strided_slice": ({"x": X}, {"axes": [0] * 100, "starts": [0] * 100, "ends": [1] * 100, "strides": [1] * 100}),
}


@pytest.mark.parametrize("name", DIMENSIONS)
def test_lists_of_too_many_dimensions(name):
    refused("at most 64", name, *DIMENSIONS[name])


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_refused_before_they_are_made(name):
    error = refused(name, name, *SIZES[name], RESULTS.get(name, ("out",)))
    assert not isinstance(error.__cause__, MemoryError)


IMAGE = np.ones((1, 3, 4, 4), np.float32)
MANY = {"aspect_ratios": [1.0 + i for i in range(10_000)], "variances": [1.0] * 4}
PRIORS = {
    "anchor_generator": ({"input": IMAGE}, {**MANY, "anchor_sizes": [1.0] * 10_000, "stride": [1.0, 1.0]}),
    "prior_box": ({"input": IMAGE, "image": IMAGE}, {**MANY, "min_sizes": [1.0] * 10_000}),
}


@pytest.mark.parametrize("name", PRIORS)
def test_boxes_of_each_size_and_ratio_are_bounded(name):
    """Of two lists of 10,000 numbers there would be 10^8 boxes at each position."""
    refused("boxes at one position; at most 1000", name, *PRIORS[name], RESULTS.get(name, ("out",)))


def test_channels_that_no_input_tells_are_bounded():
    inputs = {"x": IMAGE, "boxes": np.ones((1, 4), np.float32)}
    sizes = {"pooled_height": 1, "pooled_width": 1, "group_size": [1, 1], "part_size": [1, 1], "sample_per_part": 1}
    attributes = {**sizes, "output_dim": HUGE, "no_trans": True, "trans_std": 0.1, "spatial_scale": 1.0}
    refused(NEEDED, "deformable_psroi_pooling", inputs, attributes, dynamic=True)


@pytest.mark.parametrize(("level", "refer"), [(5, 4), (-3, 2), (2**24 + 2, 2**24), (2**30 + 128, 2**30), (0, 10**9)])
def test_where_a_level_begins_is_found_at_once(level, refer):
    """The logarithms of many numbers are rounded to one where levels are large."""
    with np.errstate(divide="ignore"):
        bound = np.float32(level_bound(level, refer))
        before, own = (np.floor(np.log2(x) + np.float32(refer)) for x in (np.nextafter(bound, np.float32(0)), bound))
    assert before < level <= own


def test_a_level_beyond_all_numbers_begins_at_infinity():
    assert level_bound(10**9, 0) == np.inf


@pytest.mark.parametrize(("anchors", "side", "splits"), [(6, 100, 1), (1000, 50, 0)])
def test_boxes_of_a_position_are_looked_at_one_by_one_to_a_bound(anchors, side, splits):
    """Scores are rows of two of a map, whose channels say how many boxes each position has."""
    maps = ops.parameter([1, 2 * anchors, side, side], np.float32)
    rows = ops.reshape(ops.transpose(maps, np.array([0, 2, 3, 1])), np.array([1, side * side * anchors, 2]), False)
    scores = ops.transpose(ops.softmax(rows, 2), np.array([0, 2, 1])).output(0)
    boxes = ops.parameter([1, side * side * anchors, 4], np.float32)
    candidates = score_prefilter(boxes.output(0), scores, 0.1, 0)
    assert counted(openvino.Model([ops.result(candidates.scores)], [maps]), "VariadicSplit") == splits


@pytest.mark.parametrize("format", FORMATS)
def test_inputs_of_too_many_dimensions(format):
    shape = [1] * 5000
    content = pir([]).replace(b"[2]", json.dumps(shape).encode())
    if format == "legacy":
        made = ProgramDesc()
        kind = VarType(type=7)  # a tensor, of float32
        kind.dense_tensor.tensor.data_type = 5
        kind.dense_tensor.tensor.dims.extend(shape)
        made.blocks.add(idx=0, parent_idx=-1).vars.add(name="x", type=kind.SerializeToString())
        content = made.SerializeToString()
    with pytest.raises(ModelReadError, match="a tensor of 5000 dimensions; at most 64"):
        read_contents(content, b"")


OUT = np.ones((1, 1, 101, 101), np.float32)
WINDOWS = {"strides": [1, 1], "paddings": [0, 0], "padding_algorithm": "EXPLICIT", "data_format": "NCHW"}
NONE = np.ones((1, 1, 400, 400), np.float32)
REPEATED = {
    "conv2d_grad": (
        {"input": NONE, "filter": NONE[:, :, :300, :300], "out_grad": OUT},
        {**WINDOWS, "dilations": [1, 1], "groups": 1},
        ("filter_grad",),
    ),
    "pool2d_grad": (
        {"x": NONE, "out": OUT, "out_grad": OUT},
        {**WINDOWS, "kernel_size": [300, 300], "pooling_type": "max", "ceil_mode": False, "adaptive": False},
        ("x_grad",),
    ),
}


@pytest.mark.parametrize("name", REPEATED)
def test_positions_of_windows_are_bounded(name):
    """The gradient has nodes for each of the 90,000 positions."""
    refused("takes 90000 repetitions of nodes", name, *REPEATED[name])


POWERS = ("spectral_norm", "weight=x u=u v=v", {"dim": 0, "power_iters": 20, "eps": 1e-12})
DERIVATIVES = ("polygamma", "x=x", {"n": 20})


@pytest.mark.parametrize("row", [POWERS, DERIVATIVES], ids=["spectral_norm", "polygamma"])
def test_what_many_operators_repeat_is_bounded(monkeypatch, row):
    """Each of them may repeat its nodes as often; together they may not."""
    monkeypatch.setitem(LIMITS, REPEATS, Limit(50, 0, "operators"))
    kind, reads, attributes = row
    inputs = [Variable("x", "float32", (2, 3)), Variable("u", "float32", (2,)), Variable("v", "float32", (3,))]
    rows = [(kind, reads, f"out=out{i}", attributes) for i in range(3)]
    paddle2ov.convert(programs.program(rows[:2], inputs, "out0 out1"))
    with pytest.raises(OpConversionError, match=f"'{kind}': takes 60 {REPEATS}; a program of this size may take 50"):
        paddle2ov.convert(programs.program(rows, inputs, "out0 out1 out2"))


def test_axes_before_the_first_that_is_normalized_are_of_the_tensor():
    inputs = {"x": X, "mean": X[:, 0], "variance": X[:, 0], "out_grad": X}
    attributes, message = {"begin_norm_axis": HUGE, "epsilon": 1e-5}, f"begin_norm_axis={HUGE}: out of range for rank 2"
    refused(message, "layer_norm_grad", inputs, attributes, ("x_grad", "bias_grad"))


def test_windows_of_an_axis_of_unknown_length_are_bounded():
    refused(NEEDED, "tensor_unfold", {"input": X}, {"axis": 0, "size": HUGE, "step": 1}, dynamic=True)


@pytest.mark.parametrize("kind", ["split", "split_with_num"])
def test_a_split_has_as_many_slices_as_results(kind):
    """OpenVINO makes any number of them, whatever there is to split."""
    attributes = {"num": 1 << 16, "axis": 0, "sections": []}
    refused(f"num={1 << 16}: the operator has 1 results", kind, {"x": X}, attributes, dynamic=True)


def test_tensors_that_share_a_shape_take_a_node_or_two_each():
    """Each was broadcast with every other one."""
    names = [f"x{i}" for i in range(40)]
    reads = "input=" + ",".join(names)
    rows = [("broadcast_tensors", reads, "out=" + ",".join(f"y{name}" for name in names))]
    inputs = [Variable(name, "float32", (-1, 3)) for name in names]
    model = paddle2ov.convert(programs.program(rows, inputs, " ".join(f"y{name}" for name in names)))
    assert counted(model, "Broadcast") == 2 * (len(names) - 1)


def test_converters_make_arrays_by_functions_that_check_their_size():
    unchecked = re.compile(r"\bnp\.(arange|eye|full|indices|ones|repeat|tile|zeros)\(")
    for path in (ROOT / "converters").rglob("*.py"):
        assert not unchecked.search(path.read_text()), f"{path} has such a function in paddle2ov.graph.arrays"


# --- constants that many operators read -----------------------------------------------------------------------------

LARGE = np.ones((300, 300), np.float32)
COPYING = {
    "dequantize_linear": ("x=w scale=s", "y", {"quant_axis": -1, "bit_length": 8, "is_test": True}),
    "batch_norm": ("x=x mean=v variance=v scale=v bias=v", "out", {"is_test": True, "epsilon": 1e-5}),
    "rnn": (
        "x=x pre_state=h weight_list=w,w,b,b",
        "out",
        {"mode": "RNN_TANH", "num_layers": 1, "hidden_size": 300, "is_bidirec": False, "is_test": True},
    ),
}
INPUTS: dict[str, dict[str, tuple[int, ...]]] = {
    "dequantize_linear": {},
    "batch_norm": {"x": (1, 90_000, 1, 1)},
    "rnn": {"x": (3, 1, 300), "h": (1, 1, 300)},
}


@pytest.mark.parametrize("kind", COPYING)
def test_what_converters_copy_of_weights_is_bounded(monkeypatch, kind):
    """A program of a few kilobytes has a hundred readers of one weight, each with a copy in another form."""
    monkeypatch.setitem(LIMITS, COPIES, Limit(4_000_000, 0, "operators"))
    reads, result, attributes = COPYING[kind]
    weights = {"w": LARGE, "s": LARGE[0, :1], "v": LARGE.reshape(-1), "b": LARGE[0]}
    inputs = [Variable(name, "float32", shape) for name, shape in INPUTS[kind].items()]

    def convert(count):
        rows = [(kind, reads, f"{result}=out{i}", attributes) for i in range(count)]
        names = {item.partition("=")[2] for item in reads.split()} | {"w", "b"}
        used = {name: array for name, array in weights.items() if name in names}
        return paddle2ov.convert(
            programs.program(rows, inputs, " ".join(f"out{i}" for i in range(count)), parameters=used)
        )

    convert(3)
    with pytest.raises(OpConversionError, match=rf"cannot convert '{kind}': takes \d+ {COPIES}"):
        convert(100)


@pytest.mark.parametrize("between", [0, 100])
def test_what_bodies_compute_from_constants_is_bounded(monkeypatch, between):
    """A constant of a few bytes fills a matrix of any size, of which each body has a copy; so has each step to it."""
    monkeypatch.setitem(LIMITS, COPIES, Limit(10_000_000, 0, "operators"))
    steps = [("tanh", f"x=w{i}", f"out=w{i + 1}") for i in range(between)]
    full = ("fill_constant", "", "out=w0", {"shape": [400, 400], "value": 1.0, "dtype": "float32"})
    paths = [
        ("viterbi_decode", f"potentials=x transition_params=w{between} lengths=n", f"scores=s{i} path=p{i}", TAGS)
        for i in range(1 if between else 20)
    ]
    inputs = [Variable("x", "float32", (1, 10, 400)), Variable("n", "int64", (1,))]
    whole = programs.program([full, *steps, *paths], inputs, " ".join(f"p{i}" for i in range(len(paths))))
    model = paddle2ov.convert(whole)
    held = sum(node.data.nbytes for node in walk(model) if isinstance(node, Constant))
    assert held < 10_000_000


TAGS = {"include_bos_eos_tag": False}


def test_large_products_of_constants_are_left_to_each_run():
    """OpenVINO takes minutes for them as it evaluates a node."""
    sides = [ops.broadcast(ops.constant(np.float32(1)), [size, size]) for size in (600, 700)]
    small, large = (ops.matmul(side, side, False, False).output(0) for side in sides)
    assert evaluate(small, 1 << 24, 0) is not None
    assert evaluate(large, 1 << 24, 0) is None


def test_conditions_that_are_joined_with_themselves_are_looked_at_once():
    """Of 60 joints there are 2^60 ways up."""
    counter = ops.parameter([], np.int64)
    condition = ops.less(counter, np.int64(5))
    for _ in range(60):
        condition = ops.logical_and(condition, condition)
    after = ops.add(counter, np.int64(1)).output(0)
    joined = ops.less(after, np.int64(5))
    for _ in range(60):
        joined = ops.logical_and(joined, joined)
    assert counter_ranges([(counter, 0, after)], joined.output(0)) == {counter.get_name(): (0, 4)}


def test_a_large_grid_is_computed_by_nodes():
    theta = np.ones((1, 2, 3), np.float32)
    size = 1 + int((MAX_ARRAY_ELEMENTS / 3) ** 0.5)
    whole, _ = program("affine_grid", {"input": theta}, {"output_shape": [1, 1, size, size]}, ("output",))
    (result,) = paddle2ov.convert(whole).outputs
    assert list(result.shape) == [1, size, size, 2]


# --- rewrites -------------------------------------------------------------------------------------------------------


def test_layers_over_constants_are_left_to_each_run():
    x, weights = (ops.broadcast(ops.constant(np.float32(1)), shape) for shape in ([1, 1, 2048, 2048], [64, 1, 9, 9]))
    out = ops.convolution(x, weights, [1, 1], [0, 0], [0, 0], [1, 1])
    model = openvino.Model([ops.result(out)], [])
    run_rewrites(model, rewrites_for())
    assert counted(model, "Convolution") == counted(model, "RandomUniform") == 1


def counted(model, kind):
    return sum(node.get_type_name() == kind for node in model.get_ops())


def written_by_rows(arrays):
    """Constants of 64 x 1024 x 256 elements that are written row by row, and returned."""
    row = ops.constant(np.ones((1, 1024, 256), np.float32))
    made = []
    for k in range(arrays):
        out = ops.broadcast(ops.constant(np.float32(k)), [64, 1024, 256])
        for i in (63, 0, 5):
            out = ops.slice_scatter(out, row, *(np.array([value]) for value in (i, i + 1, 1, 0)))
        made.append(out)
    return openvino.Model([ops.result(out) for out in made], [])


def test_arrays_that_are_written_by_rows_are_not_held_more_than_once():
    """Some networks assemble the biases of their attention by hundreds of assignments."""
    model = written_by_rows(1)
    run_rewrites(model, rewrites_for())
    (result,) = model.get_results()
    values = result.input_value(0).get_node().get_data()
    assert [float(values[i].min()) for i in (0, 1, 5, 62, 63)] == [1, 0, 1, 0, 1]


def test_arrays_over_constants_are_computed_to_a_bound():
    model = written_by_rows(3)
    run_rewrites(model, rewrites_for())
    assert counted(model, "SliceScatter") == 4


PAIR = ops.constant(np.ones((2, 3000), np.float32)).output(0)


@pytest.mark.parametrize(
    "copy",
    [lambda: permuted_constant(PAIR, Role.DATA, [1, 0]), lambda: reshaped_constant(PAIR, [3000, 2])],
    ids=["permuted", "reshaped"],
)
def test_copies_of_constants_are_bounded(monkeypatch, copy):
    """Many nodes may read one constant, and a rewrite copies what each of them reads."""
    monkeypatch.setitem(LIMITS, COPIES, Limit(50_000, 0, "operators"))
    with charging(Budget()):
        copy()
        copy()
        with pytest.raises(ModelReadError, match=f"takes 72000 {COPIES}; a program of this size may take 50000"):
            copy()


@pytest.mark.parametrize(("rewrite", "size"), [(split_qkv, 12_288), (gather_windows, 256)])
def test_rewrites_that_would_copy_too_much_leave_matches(monkeypatch, rewrite, size):
    """Of two matches that copy this many bytes each, the first is changed still."""

    def done(most):
        monkeypatch.setitem(LIMITS, COPIES, Limit(most, 0, "operators"))
        with charging(Budget()):
            return run_rewrites(translated(network("swin_stage")), (rewrite,))[rewrite.__name__][rewrite.counts[0]]

    assert [done(most) for most in (size - 1, size, 2 * size - 1, 2 * size)] == [0, 1, 1, 2]


def test_what_rewrites_copy_is_counted_for_each_program(monkeypatch):
    monkeypatch.setitem(LIMITS, COPIES, Limit(0, 0, "operators"))
    report = paddle2ov.ConversionReport()
    paddle2ov.convert(network("swin_stage"), report=report)
    assert report.rewrites["split_qkv"]["projections"] == report.rewrites["gather_windows"]["chains"] == 0


def test_a_rewrite_that_fails_is_named():
    def broken(graph):
        return {"nodes": 1 // 0}

    x = ops.parameter([1], np.float32)
    with pytest.raises(RewriteError, match="'broken' failed: ZeroDivisionError") as caught:
        run_rewrites(openvino.Model([ops.result(ops.relu(x))], [x]), (broken,))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


# --- the border -----------------------------------------------------------------------------------------------------


def test_a_reader_that_fails_is_reported_with_the_file(monkeypatch):
    monkeypatch.setattr("paddle2ov.program.pir.read_pir", lambda *_: {}["no such key"])
    with pytest.raises(ModelReadError, match=r"inference.json: cannot be read: KeyError") as caught:
        read_contents(pir([]), b"")
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_array_with_a_loop_of_other_numbers():
    rows = [
        ("create_array", "", "out=array"),
        ("while", "cond=c x=array", "out=after", {}, [programs.block(1, inputs="inside more", outputs="c inside")]),
        ("tensor_array_to_tensor", "x=after", "out=out", {"axis": 0}),
    ]
    array = Variable("array", "float32", (), is_array=True)
    whole = programs.program(rows, [Variable("c", "bool", (1,))], "out", [array])
    with pytest.raises(Paddle2OVError):
        paddle2ov.convert(whole)


def test_an_input_of_a_type_that_does_not_fit():
    folder = network("greedy_decoder")
    for kind in (openvino.Type.string, openvino.Type.u1, openvino.Type.nf4):
        for name in (input_.name for input_ in paddle2ov.read_program(folder).inputs):
            with pytest.raises(ConversionInputError, match=f"'{name}' cannot be of that type"):
                paddle2ov.convert(folder, input={name: kind})


def test_sizes_that_are_tried_where_many_meet_are_few():
    """A Concat may have thousands of inputs, each of another size: not all pairs are proposals."""
    inputs = [ops.parameter([1, size], np.float32) for size in range(2, 402)]
    concat = ops.concat(inputs, 1)
    free = {("x", 0): openvino.Dimension()}
    assert sum(1 for _ in size_proposals(concat, {"x": (1, 3)}, free, 1)) < 10_000


def test_fields_of_a_long_text_are_read_in_one_walk():
    text = "a: 'x' 'y'\n" * 100_000
    fields = list(text_fields(text))
    assert len(fields) == 100_000
    assert {(field.name, field.value) for field in fields} == {("a", "'x' 'y'")}


# --- files ----------------------------------------------------------------------------------------------------------


def test_files_that_never_begin_or_never_end(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "device.pdmodel").symlink_to("/dev/zero")
    (tmp_path / "kernel.pdmodel").symlink_to("/proc/self/mounts")
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(ModelReadError):
            paddle2ov.read_program(path)
        folder = tmp_path / f"{path.stem}-model"
        folder.mkdir()
        (folder / "__model__").symlink_to(path)
        with pytest.raises(ModelReadError):
            paddle2ov.read_program(folder)


def test_a_program_file_that_is_too_large(tmp_path):
    path = tmp_path / "inference.pdmodel"
    with path.open("wb") as file:
        file.truncate(MAX_PROGRAM_BYTES + 1)
    with pytest.raises(ModelReadError, match=f"more than the {MAX_PROGRAM_BYTES} that are read"):
        paddle2ov.read_program(path)
