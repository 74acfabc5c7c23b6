"""Branches and loops of which OpenVINO cannot compute what Paddle does, and shapes that its passes must not lose."""

import re
import warnings
from functools import partial

import numpy as np
import openvino
import pytest
from msgspec.structs import replace
from openvino import op

import paddle2ov
from gen_models.harness.spec import paddle
from paddle2ov.errors import OpConversionError
from paddle2ov.graph.bodies import walk
from paddle2ov.program.model import Block, Operator, Output, Variable
from tests.support.models import network, save_program
from tests.support.programs import block, program
from tests.support.steps import steps

X, COND, N = Variable("x", "float32", (2, 3)), Variable("cond", "bool", ()), Variable("n", "int64", ())


def branches(*, other_axes):
    """x or its sum over some axes, whichever `cond` says."""
    summed = {"axis": other_axes, "keepdim": len(other_axes) == 0}
    then = block(1, ("scale", "x=x", "out=kept", {"scale": 1.0}), outputs="kept")
    otherwise = block(2, ("reduce_sum", "x=x", "out=summed", summed), outputs="summed")
    choice = ("if", "cond=cond", "out=out", {}, (then, otherwise))
    return program([choice], [X, COND], "out", [Variable("out", "float32")])


def test_branches_of_different_rank_are_refused():
    with pytest.raises(OpConversionError, match="its branches give 'out' 2 and 1 dimensions") as raised:
        paddle2ov.convert(branches(other_axes=[0]))
    assert "block 0, operator 0 (if)" in str(raised.value)


def test_a_number_beside_a_tensor_becomes_one_element():
    with pytest.warns(
        paddle2ov.ConversionWarning, match="of input 'cond', is false, the rank of 'out' is 0 in Paddle and 2 here"
    ):
        model = paddle2ov.convert(branches(other_axes=[0, 1]))
    compiled = openvino.compile_model(model, "CPU")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(compiled([x, np.array(True)])[0], x)
    assert np.array_equal(compiled([x, np.array(False)])[0], [[15]])


def test_a_result_that_both_branches_leave_as_it_is_needs_no_if():
    whole = branches(other_axes=[])
    whole.block.operators[0].blocks = (block(1, outputs="x"), block(2, outputs="x"))
    model = paddle2ov.convert(whole)
    assert "If" not in [node.get_type_name() for node in model.get_ops()]
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(openvino.compile_model(model, "CPU")([x, np.array(False)])[0], x)


def branches_of_types(then, otherwise, declared):
    """x in one type or another, whichever `cond` says."""
    blocks = [
        block(i, ("cast", "x=x", f"out={out}", {"in_dtype": "float32", "out_dtype": kind}), outputs=out)
        for i, out, kind in ((1, "a", then), (2, "b", otherwise))
    ]
    names = [Variable(name, kind, (3,)) for name, kind in (("a", then), ("b", otherwise), ("out", declared))]
    choice = ("if", "cond=cond", "out=out", {}, blocks)
    return program([choice], [Variable("x", "float32", (3,)), COND], "out", names, format="legacy")


@pytest.mark.parametrize(
    ("then", "otherwise", "declared", "kind"),
    [
        ("float32", "int64", "float32", "float32"),
        ("int32", "float32", "int32", "float32"),
        ("int32", "int64", "int32", "int64"),
        ("bool", "int32", "bool", "int32"),
        ("float32", "float64", "float32", "float32"),
        ("float64", "float32", "float64", "float64"),
        ("uint8", "int8", "uint8", "int16"),
    ],
)
def test_branches_of_two_types_give_the_one_that_holds_both(then, otherwise, declared, kind):
    said = (
        rf"'if': Paddle gives 'out' as {then} where .* 'cond', is true, and else as {otherwise}; here it is {kind} in"
    )
    with pytest.warns(paddle2ov.ConversionWarning, match=said):
        model = paddle2ov.convert(branches_of_types(then, otherwise, declared))
    compiled = openvino.compile_model(model, "CPU")
    x = np.array([0, 1.75, 3], np.float32)
    for cond, dtype in ((True, then), (False, otherwise)):
        out = compiled([x, np.array(cond)])[0]
        assert out.dtype == kind
        assert np.array_equal(out, x.astype(dtype).astype(kind))


def test_branches_of_types_that_do_not_meet_are_refused():
    with pytest.raises(OpConversionError, match="give 'out' as float8_e4m3fn and float32; OpenVINO wants") as raised:
        paddle2ov.convert(branches_of_types("float8_e4m3fn", "float32", "float32"))
    assert "block 0, operator 0 (if)" in str(raised.value)


def test_results_of_unknown_size_are_copied_twice():
    model = paddle2ov.convert(branches(other_axes=[]), input={"x": [-1, 3]}, rewrite=False)
    (branch,) = (node for node in model.get_ops() if node.get_type_name() == "If")
    copies, value = 0, branch.output(0)
    while copied := [input_ for input_ in value.get_target_inputs() if input_.get_node().get_type_name() == "Slice"]:
        copies, value = copies + 1, copied[0].get_node().output(0)
    assert copies == 2
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(openvino.compile_model(model, "CPU")([x, np.array(True)])[0], x)


def test_a_loop_that_is_known_to_have_no_round(tmp_path):
    def build(x):
        start = [paddle.zeros([1], "int64"), x]
        return paddle.static.nn.while_loop(lambda i, x: i < 0, lambda i, x: [i + 1, x * 2], start)[1]

    data = np.ones((2, 3), np.float32)
    model = paddle2ov.convert(save_program(tmp_path, build, x=[2, 3]))
    assert np.array_equal(openvino.compile_model(model, "CPU")(data)[0], data)


def looped_once(shape):
    """A model of a loop whose condition is an input of that shape, which is false after it."""
    rows = ("logical_not", "x=a", "out=done"), ("scale", "x=b", "out=twice", {"scale": 2.0})
    body = block(1, *rows, inputs="a b", outputs="done done twice")
    loop = ("while", "cond=cond x=cond,x", "out=c,y", {}, [body])
    return paddle2ov.convert(program([loop], [X, Variable("cond", "bool", shape)], "y"))


@pytest.mark.parametrize("shape", [(1, 1), (-1, -1)])
def test_a_condition_of_one_element_may_have_any_rank(shape):
    x = np.ones((2, 3), np.float32)
    assert np.array_equal(openvino.compile_model(looped_once(shape), "CPU")([x, np.array([[True]])])[0], 2 * x)


@pytest.mark.parametrize("shape", [(0,), (2,), (1, 0), (2, 1)])
def test_a_condition_of_other_than_one_element_is_refused(shape):
    with pytest.raises(paddle2ov.OpConversionError, match="Requested output shape"):
        looped_once(shape)


def test_a_loop_over_constants_is_run_when_the_model_is(tmp_path):
    def build(x):
        i, end = paddle.zeros([1], "int64"), paddle.full([1], 3, "int64")
        (i,) = paddle.static.nn.while_loop(lambda i: i < end, lambda i: [i + 1], [i])
        return paddle.reshape(x, paddle.concat([i, paddle.full([1], -1, "int64")]))

    model = paddle2ov.convert(save_program(tmp_path, build, x=[6, 2]))
    assert model.output(0).get_partial_shape() == openvino.PartialShape([-1, -1])
    data = np.arange(12, dtype=np.float32).reshape(6, 2)
    assert np.array_equal(openvino.compile_model(model, "CPU")(data)[0], data.reshape(3, 4))


NUMBER = {"shape": [], "value": 0.0}
COUNTING = [
    ("scale", "x=i", "out=next", {"scale": 1.0, "bias": 1.0}),
    ("less_than", "x=next y=n", "out=goes_on"),
]


def loop(rows, yields, before, x, variables, format):
    """A loop of `n` rounds over y, which is the number 0 of the type `before`."""
    body = block(1, *COUNTING, *rows, inputs="i y", outputs=f"goes_on next {yields}")
    main = [
        ("fill_constant", "", "out=zero", {**NUMBER, "dtype": before}),
        ("fill_constant", "", "out=start", {**NUMBER, "dtype": "int64"}),
        ("less_than", "x=start y=n", "out=begins"),
        ("while", "cond=begins x=start,zero", "out=last,out", {}, [body]),
    ]
    counters = [Variable(name, "int64", ()) for name in ("i", "next", "start", "last")]
    return program(main, [x, N], "out", [*variables, *counters], format=format)


def counted(*, declared, yields):
    """`sum` is x + y."""
    names = [Variable(name, "float32", declared) for name in ("y", "sum", "zero", "out")]
    return loop([("elementwise_add", "x=x y=y", "out=sum")], yields, "float32", X, names, "legacy")


@pytest.mark.parametrize(
    ("declared", "yields", "after"),
    [((2, 3), "sum", lambda x, n: n * x), (None, "sum", lambda x, n: n * x), ((), "x", lambda x, n: x)],
    ids=["declared", "undeclared", "read by no round"],
)
def test_a_number_that_a_loop_makes_a_tensor_is_one_element(declared, yields, after):
    message = "no iteration, as input 'n' may decide, the rank of 'out' is 0"
    with pytest.warns(paddle2ov.ConversionWarning, match=message):
        model = paddle2ov.convert(counted(declared=declared, yields=yields))
    compiled = openvino.compile_model(model, "CPU")
    x = np.arange(6, dtype=np.float32).reshape(2, 3) + 1
    for rounds in (0, 3, 0, 1, 2, 0):
        assert np.array_equal(compiled([x, np.array(rounds)])[0], after(x, rounds) if rounds else [[0]])


def test_a_number_that_stays_one_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error", paddle2ov.ConversionWarning)
        model = paddle2ov.convert(counted(declared=(), yields="y"))
    assert model.output(0).get_partial_shape() == openvino.PartialShape([])


@pytest.mark.parametrize(
    "whole", [counted(declared=(), yields="x"), branches(other_axes=[0, 1])], ids=["loop", "branch"]
)
@pytest.mark.parametrize(
    ("kind", "reads", "attributes"),
    [
        ("slice", {"input": ["out"]}, {"axes": [1], "starts": [0], "ends": [2]}),
        ("elementwise_add", {"x": ["x"], "y": ["out"]}, {"axis": -1}),
    ],
)
def test_a_number_whose_rank_nothing_shows_is_not_warned_of(whole, kind, reads, attributes, recwarn):
    """Decoders slice what the loop has collected, which Paddle refuses of a number; others add it to a tensor."""
    main = Block(0, [*whole.block.operators], whole.block.inputs, ["read"])
    main.operators.append(Operator(kind, reads, {"out": ["read"]}, attributes, kind, 0, 9))
    variables = {**whole.variables, "read": Variable("read", "float32", (2, 3))}
    paddle2ov.convert(replace(whole, block=main, outputs=[Output("read", "read")], variables=variables))
    assert [item for item in recwarn.list if item.category is paddle2ov.ConversionWarning] == []


def totals(before, after):
    """A loop of `n` rounds that adds x, as `after`, to y, which is the number 0 of the type `before`."""
    rows = [
        ("cast", "x=x", "out=x_cast", {"out_dtype": after}),
        ("cast", "x=y", "out=y_cast", {"out_dtype": after}),
        ("elementwise_add", "x=x_cast y=y_cast", "out=sum"),
    ]
    names = [Variable(name, before, ()) for name in ("y", "zero", "out")]
    names += [Variable(name, after, ()) for name in ("x_cast", "y_cast", "sum")]
    return loop(rows, "sum", before, Variable("x", "float32", ()), names, "pir")


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("int64", "float32", "float32"),
        ("int32", "int64", "int64"),
        ("int64", "int32", "int32"),
        ("float32", "int64", "float32"),
    ],
)
def test_a_number_to_which_a_loop_gives_another_type_has_one_that_holds_both(before, after, kind):
    where = "as input 'n' may decide" if kind == after else "after an iteration"
    said = f"{where}, the type of 'out' is {before if kind == after else after} in Paddle and {kind} here"
    with pytest.warns(paddle2ov.ConversionWarning, match=said):
        model = paddle2ov.convert(totals(before, after))
    compiled = openvino.compile_model(model, "CPU")
    x = np.array(2.5, np.float32)
    for rounds in (3, 0, 1, 2):
        total = compiled([x, np.array(rounds)])[0]
        assert total.dtype == kind
        assert total == rounds * x.astype(after)


def test_a_loop_that_changes_to_a_type_that_does_not_meet_the_one_before_is_refused():
    with pytest.raises(OpConversionError, match="'y' is float32 before an iteration and float8_e4m3fn after") as raised:
        paddle2ov.convert(totals("float32", "float8_e4m3fn"))
    assert "operator 3 (while)" in str(raised.value)


@pytest.mark.parametrize("name", ["array", "array_of_slices"])
def test_a_body_that_is_translated_again_keeps_its_names(name):
    """Their loops are translated several times, until the shapes that they carry hold in every iteration."""
    model = paddle2ov.convert(network(name), rewrite=False)
    names = {node.get_friendly_name() for node in walk(model)}
    derived = {name.rpartition("/")[0] for name in names if re.fullmatch(r"[a-z]\w*/[A-Z]\w*_\d+", name)}
    assert derived <= names


def numbered(name, count):
    return [f"{name}{i}" for i in range(count)]


def many_states(count):
    """A loop that adds floats to numbers that begin as integers."""
    before, inside, after, results = (numbered(name, count) for name in ("before", "inside", "after", "result"))
    sums = [("elementwise_add", f"x={x} y=x", f"out={out}", {"axis": -1}) for x, out in zip(inside, after, strict=True)]
    go_on = ("logical_not", "x=cond", "out=go_on")
    body = block(1, *sums, go_on, inputs=" ".join(inside), outputs=" ".join(["go_on", *after]))
    rows = [("fill_constant", "", f"out={name}", {"shape": [1], "dtype": 3, "value": 0.0}) for name in before]
    rows.append(("while", f"cond=cond x={','.join(before)}", f"out={','.join(results)}", {}, [body]))
    known = [Variable(name, "int64", (1,)) for name in before]
    known += [Variable(name, "float32", (1,)) for name in (*inside, *after, *results)]
    return program(rows, [Variable("x", "float32", (1,)), COND], " ".join(results), known)


def many_choices(count):
    """A branch with many results, each of a value of its own."""
    before, then, otherwise, results = (numbered(name, count) for name in ("before", "then", "otherwise", "result"))
    blocks = [
        block(
            k, *((kind, f"x={x}", f"out={out}") for x, out in zip(before, after, strict=True)), outputs=" ".join(after)
        )
        for k, (kind, after) in enumerate((("relu", then), ("tanh", otherwise)), 1)
    ]
    rows = [("scale", "x=x", f"out={name}", {"scale": float(i)}) for i, name in enumerate(before)]
    rows.append(("if", "cond=cond", f"out={','.join(results)}", {}, blocks))
    return program(rows, [X, COND], " ".join(results), [Variable(name, "float32", (2, 3)) for name in results])


def many_sizes(count):
    """A loop over inputs of unknown sizes, and a branch over what it makes of them."""
    before, inside, after, last, results = (numbered(n, count) for n in ("before", "inside", "after", "last", "result"))
    step = block(
        1,
        *(("relu", f"x={a}", f"out={b}") for a, b in zip(inside, after, strict=True)),
        ("logical_not", "x=cond", "out=go_on"),
        inputs=" ".join(inside),
        outputs=" ".join(["go_on", *after]),
    )
    choices = [
        block(
            k,
            *(("scale", f"x={x}", f"out={x}in{k}", {"scale": float(k)}) for x in last),
            outputs=" ".join(f"{x}in{k}" for x in last),
        )
        for k in (2, 3)
    ]
    rows = [
        ("while", f"cond=cond x={','.join(before)}", f"out={','.join(last)}", {}, [step]),
        ("if", "cond=cond", f"out={','.join(results)}", {}, choices),
    ]
    inputs = [COND, *(Variable(name, "float32", (-1,)) for name in before)]
    known = [Variable(name, "float32", (-1,)) for name in (*inside, *after, *last, *results)]
    return program(rows, inputs, " ".join(results), known)


@pytest.mark.filterwarnings("ignore::paddle2ov.ConversionWarning")
@pytest.mark.parametrize("build", [many_states, many_choices, many_sizes])
def test_branches_and_loops_take_linear_time(build):
    paddle2ov.convert(build(3))
    small, large = (steps(partial(paddle2ov.convert, build(count))) for count in (40, 160))
    assert large < 6 * small  # four times the work; 16 times if it were quadratic


@pytest.mark.filterwarnings("ignore::paddle2ov.ConversionWarning")
@pytest.mark.parametrize(("build", "kind"), [(many_states, op.loop), (many_choices, op.if_op)])
def test_bodies_are_validated_as_often_whatever_enters_and_leaves_them(monkeypatch, build, kind):
    """OpenVINO validates the bodies in each call that sets an input or an output."""
    calls = []
    for name in ("get_iter_value", "set_input", "set_invariant_input", "set_merged_input", "set_output"):
        if hasattr(kind, name):
            monkeypatch.setattr(kind, name, noted(getattr(kind, name), calls))
    validate = noted(kind.validate_and_infer_types, calls)
    monkeypatch.setattr(kind, "validate_and_infer_types", validate, raising=False)
    counts = []
    for count in (2, 20):
        calls.clear()
        assert kind.__name__ in [type(node).__name__ for node in paddle2ov.convert(build(count)).get_ops()]
        counts.append(len(calls))
    assert counts[0] == counts[1]


def noted(function, calls):
    def call(*arguments):
        calls.append(function)
        return function(*arguments)

    return call
