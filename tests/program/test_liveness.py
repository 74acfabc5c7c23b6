"""What the results of a program need: through branches, loops, and loops in loops."""

import numpy as np
import pytest

import paddle2ov
from paddle2ov.compilation.running import run
from paddle2ov.program.liveness import _Dependencies, liveness, prune
from paddle2ov.program.model import Block, Operator, Output, Program, Variable


def operator(kind, reads, writes, blocks=(), attributes=None):
    reads, writes = (
        {port: names if isinstance(names, list) else [names] for port, names in value.items()}
        for value in (reads, writes)
    )
    return Operator(kind, reads, writes, attributes or {}, kind, 0, 0, tuple(blocks))


def unary(kind, x, out):
    return operator(kind, {"x": x}, {"out": out})


def kept(block):
    """The first result of each operator that is left, those of blocks inside included."""
    return [next(child.output_names()) for child in block.walk()]


def test_what_no_result_needs_is_dropped():
    block = Block(0, [unary("relu", "x", "a"), unary("relu", "a", "dead"), unary("exp", "a", "b")])
    pruned, used = prune(block, ["b"])
    assert kept(pruned) == ["a", "b"]
    assert used == {"x", "a", "b"}
    assert isinstance(used, frozenset)
    assert len(block.operators) == 3, "the block itself is not changed"


def test_what_is_given_needs_nothing():
    block = Block(0, [unary("relu", "x", "a"), operator("split", {"x": "a"}, {"out": ["b", "c"]})])
    assert prune(block, ["b"], ["b"]) == (Block(0), {"b"})
    assert kept(prune(block, ["b", "c"], ["b"])[0]) == ["a", "b"]


def branches(wanted):
    then = Block(1, [unary("relu", "p", "then_a"), unary("relu", "q", "then_b")], [], ["then_a", "then_b"])
    otherwise = Block(2, [unary("exp", "q", "else_b")], [], ["p", "else_b"])
    block = Block(
        0,
        [
            *(unary("abs", "x", name) for name in ("p", "q", "condition")),
            operator("if", {"cond": "condition"}, {"out": ["a", "b"]}, (then, otherwise)),
        ],
    )
    return prune(block, wanted)


def test_a_branch_computes_what_is_used_of_it():
    assert kept(branches(["a"])[0]) == ["p", "condition", "a", "then_a"]
    assert kept(branches(["b"])[0]) == ["q", "condition", "a", "then_b", "else_b"]
    assert kept(branches(["p"])[0]) == ["p"]


def counting(body, states, number, wanted=("counted",), before=()):
    """A loop whose states are its first arguments; `body` computes `name@out` of `name@in`."""
    entering, inside, after = ([f"{name}{end}" for name in states] for end in ("", "@in", "@out"))
    inner = Block(number, [unary("less_than", inside[0], f"go{number}"), *body], inside, [f"go{number}", *after])
    loop = operator("while", {"cond": "go", "x": entering}, {"out": list(wanted)}, (inner,))
    return [*before, loop]


def test_a_loop_carries_what_the_next_round_needs():
    """a needs b of the round before, b needs c, d is needed by nothing that is read."""
    body = [
        unary("increment", "n@in", "n@out"),
        unary("relu", "b@in", "a@out"),
        unary("exp", "c@in", "b@out"),
        unary("abs", "c@in", "c@out"),
        operator("add", {"x": "d@in", "y": "outer"}, {"out": "d@out"}),
    ]
    results = ["n_last", "a_last", "b_last", "c_last", "d_last"]
    first = [unary("relu", "x", name) for name in ("outer", "n", "a", "b", "c", "d", "go")]
    block = Block(0, counting(body, "nabcd", 1, results, first))
    pruned, used = prune(block, ["a_last"])
    assert kept(pruned) == ["n", "a", "b", "c", "go", "n_last", "go1", "n@out", "a@out", "b@out", "c@out"]
    assert {"b@in", "c@in"} <= used
    assert used.isdisjoint({"d", "d@in", "d@out", "outer", "b_last", "n_last"})
    # Read after the loop, though no round reads it.
    assert {"d", "d@out", "outer"} <= prune(block, ["d_last"])[1]


def test_a_loop_in_a_loop():
    """What the outer round needs of the inner loop decides what the inner one carries, and the reverse."""
    inner = counting(
        [unary("increment", "i@in", "i@out"), unary("relu", "u@in", "t@out"), unary("exp", "outer_a@in", "u@out")],
        ["i", "t", "u"],
        2,
        ["i_last", "t_last", "u_last"],
    )
    outer = counting(
        [
            *(unary("relu", "outer_a@in", name) for name in ("i", "t", "u")),
            *inner,
            unary("assign", "t_last", "outer_a@out"),
            unary("assign", "u_last", "outer_b@out"),
        ],
        ["outer_a", "outer_b"],
        1,
        ["a_last", "b_last"],
    )
    pruned, used = prune(Block(0, outer), ["a_last"])
    assert "outer_b@out" not in kept(pruned)
    assert {"t@out", "u@out", "i@out", "go1", "go2"} <= set(kept(pruned))
    assert "u@in" in used
    assert "t@in" not in used
    assert "u_last" not in used


def recurrent(wanted):
    body = Block(
        1,
        [
            operator("add", {"x": "part", "y": "state@in"}, {"out": "state@out"}),
            unary("relu", "other@in", "other@out"),
            unary("exp", "state@out", "y@out"),
            unary("abs", "second_part", "z@out"),
        ],
        ["part", "second_part", "state@in", "other@in"],
        ["state@out", "other@out", "y@out", "z@out"],
    )
    reads = {"x": ["rows", "second_rows"], "states": ["state", "other"]}
    loop = operator("recurrent", reads, {"out": ["state_last", "other_last", "y", "z"]}, (body,))
    return prune(Block(0, [loop]), wanted)


def test_rows_and_states():
    pruned, used = recurrent(["y"])
    assert kept(pruned) == ["state_last", "state@out", "y@out"]
    assert used >= {"rows", "state", "part"}
    assert used.isdisjoint({"second_rows", "other", "other@in"})
    assert kept(recurrent(["z"])[0]) == ["state_last", "z@out"]
    assert "rows" in recurrent(["z"])[1], "the length of the first one is the number of rounds"
    assert kept(recurrent(["other_last"])[0]) == ["state_last", "other@out"]


def test_an_operator_that_is_not_known_needs_all_of_its_blocks():
    block = Block(
        0, [operator("mine", {"x": "x"}, {"out": ["a", "b"]}, (Block(1, [unary("relu", "y", "z")], [], ["z"]),))]
    )
    assert kept(prune(block, ["a"])[0]) == ["a", "z"]
    assert prune(block, ["a"])[1] == {"x", "a", "z", "y"}


def test_malformed_programs_are_left_to_the_translation():
    body = Block(1, [], ["a", "b", "c"], [])
    for kind in ("if", "while", "recurrent"):
        assert kept(prune(Block(0, [operator(kind, {}, {"out": ["r"]}, (body,))]), ["r"])[0]) == ["r"]


def nested(depth, kind):
    """Blocks in blocks, of which each is read only by the result of the one around it."""
    operators = [unary("relu", "x", "y0")]
    for i in range(depth):
        inner = Block(i + 1, operators, [f"s{i}@in"], [f"go{i}", f"y{i}", f"y{i}"])
        if kind == "if":
            inner = Block(i + 1, operators, [], [f"y{i}"])
            operators = [operator("if", {"cond": "go"}, {"out": f"y{i + 1}"}, (inner, inner))]
        else:
            operators = [operator("while", {"cond": "go", "x": "x"}, {"out": f"y{i + 1}"}, (inner,))]
    return Block(0, operators)


@pytest.mark.parametrize("kind", ["if", "while"])
def test_each_block_is_looked_at_once(kind, monkeypatch):
    """Both branches of each `if` are one block: looked at again and again, they would be 2 ** 100."""
    looked = []
    enter = _Dependencies._enter
    monkeypatch.setattr(_Dependencies, "_enter", lambda *arguments: looked.append(arguments) or enter(*arguments))
    block = nested(100, kind)
    assert "x" in liveness(block, ["y100"]).names
    assert len(looked) == 100


def test_a_loop_is_translated_without_what_nothing_needs():
    """The second state has an operator without a converter for it, and is not read: the model has one state."""
    variables = [Variable("n", "int64", (1,)), Variable("x", "float32", (2,)), Variable("go", "bool", (1,))]
    inner = Block(
        1,
        [
            operator("scale", {"x": "n@in"}, {"out": "n@out"}, attributes={"scale": 1.0, "bias": 1.0}),
            operator("fill_constant", {}, {"out": "limit"}, attributes={"shape": [1], "value": 3.0, "dtype": "int64"}),
            operator("less_than", {"x": "n@out", "y": "limit"}, {"out": "go@out"}),
            operator("no_such_operator", {"x": "x@in"}, {"out": "x@out"}),
        ],
        ["n@in", "x@in"],
        ["go@out", "n@out", "x@out"],
    )
    loop = operator("while", {"cond": "go", "x": ["n", "x"]}, {"out": ["n_last", "x_last"]}, (inner,))
    names = ("n@in", "x@in", "n@out", "x@out", "n_last", "x_last")
    declared = {
        variable.name: variable for variable in (*variables, *(Variable(name, "int64", (1,)) for name in names))
    }
    block = Block(0, [loop], ["n", "x", "go"], ["n_last"])
    program = Program("pir", 1, block, variables, [Output("n_last", "n_last")], declared, {})
    model = paddle2ov.convert(program)
    (loop,) = [node for node in model.get_ops() if node.get_type_name() == "Loop"]
    assert loop.get_output_size() == 1
    inputs = {"n": np.array([0]), "x": np.zeros(2, np.float32), "go": np.array([True])}
    (result,) = run(model, inputs)
    assert result.array.tolist() == [3]
