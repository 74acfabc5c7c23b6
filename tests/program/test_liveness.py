"""What the results of a program need: through branches, loops, and loops in loops."""

import numpy as np
import pytest

import paddle2ov
from paddle2ov.compilation.running import run
from paddle2ov.program import liveness as analysis
from paddle2ov.program.liveness import liveness, prune
from paddle2ov.program.model import Block, Variable
from tests.support.programs import block, program


def unary(kind, x, out):
    return kind, f"x={x}", f"out={out}"


def kept(block):
    """The first result of each operator that is left, those of blocks inside included."""
    return [next(child.output_names()) for child in block.walk()]


def test_what_no_result_needs_is_dropped():
    whole = block(0, unary("relu", "x", "a"), unary("relu", "a", "dead"), unary("exp", "a", "b"))
    pruned, used = prune(whole, ["b"])
    assert kept(pruned) == ["a", "b"]
    assert used == {"x", "a", "b"}
    assert isinstance(used, frozenset)
    assert len(whole.operators) == 3, "the block itself is not changed"


def test_what_is_given_needs_nothing():
    whole = block(0, unary("relu", "x", "a"), ("split", "x=a", "out=b,c"))
    assert prune(whole, ["b"], ["b"]) == (Block(0), {"b"})
    assert kept(prune(whole, ["b", "c"], ["b"])[0]) == ["a", "b"]


def branches(wanted):
    then = block(1, unary("relu", "p", "then_a"), unary("relu", "q", "then_b"), outputs="then_a then_b")
    otherwise = block(2, unary("exp", "q", "else_b"), outputs="p else_b")
    entering = [unary("abs", "x", name) for name in ("p", "q", "condition")]
    return prune(block(0, *entering, ("if", "cond=condition", "out=a,b", {}, (then, otherwise))), wanted)


def test_a_branch_computes_what_is_used_of_it():
    assert kept(branches(["a"])[0]) == ["p", "condition", "a", "then_a"]
    assert kept(branches(["b"])[0]) == ["q", "condition", "a", "then_b", "else_b"]
    assert kept(branches(["p"])[0]) == ["p"]


def counting(number, states, results, *body):
    """A loop whose states are its first arguments; `body` computes `name@out` of `name@in`."""
    inside, after = (" ".join(f"{name}{end}" for name in states) for end in ("@in", "@out"))
    first = unary("less_than", f"{states[0]}@in", f"go{number}")
    inner = block(number, first, *body, inputs=inside, outputs=f"go{number} {after}")
    return "while", f"cond=go x={','.join(states)}", f"out={results}", {}, [inner]


def test_a_loop_carries_what_the_next_round_needs():
    """a needs b of the round before, b needs c, d is needed by nothing that is read."""
    body = [
        unary("increment", "n@in", "n@out"),
        unary("relu", "b@in", "a@out"),
        unary("exp", "c@in", "b@out"),
        unary("abs", "c@in", "c@out"),
        ("add", "x=d@in y=outer", "out=d@out"),
    ]
    first = [unary("relu", "x", name) for name in ("outer", "n", "a", "b", "c", "d", "go")]
    whole = block(0, *first, counting(1, "nabcd", "n_last,a_last,b_last,c_last,d_last", *body))
    pruned, used = prune(whole, ["a_last"])
    assert kept(pruned) == ["n", "a", "b", "c", "go", "n_last", "go1", "n@out", "a@out", "b@out", "c@out"]
    assert {"b@in", "c@in"} <= used
    assert used.isdisjoint({"d", "d@in", "d@out", "outer", "b_last", "n_last"})
    # Read after the loop, though no round reads it.
    assert {"d", "d@out", "outer"} <= prune(whole, ["d_last"])[1]


def test_a_loop_in_a_loop():
    """What the outer round needs of the inner loop decides what the inner one carries, and the reverse."""
    inner = counting(
        2,
        "itu",
        "i_last,t_last,u_last",
        unary("increment", "i@in", "i@out"),
        unary("relu", "u@in", "t@out"),
        unary("exp", "outer_a@in", "u@out"),
    )
    outer = counting(
        1,
        ["outer_a", "outer_b"],
        "a_last,b_last",
        *(unary("relu", "outer_a@in", name) for name in "itu"),
        inner,
        unary("assign", "t_last", "outer_a@out"),
        unary("assign", "u_last", "outer_b@out"),
    )
    pruned, used = prune(block(0, outer), ["a_last"])
    assert "outer_b@out" not in kept(pruned)
    assert {"t@out", "u@out", "i@out", "go1", "go2"} <= set(kept(pruned))
    assert "u@in" in used
    assert "t@in" not in used
    assert "u_last" not in used


def recurrent(wanted):
    body = block(
        1,
        ("add", "x=part y=state@in", "out=state@out"),
        unary("relu", "other@in", "other@out"),
        unary("exp", "state@out", "y@out"),
        unary("abs", "second_part", "z@out"),
        inputs="part second_part state@in other@in",
        outputs="state@out other@out y@out z@out",
    )
    reads = "x=rows,second_rows states=state,other"
    return prune(block(0, ("recurrent", reads, "out=state_last,other_last,y,z", {}, [body])), wanted)


def test_rows_and_states():
    pruned, used = recurrent(["y"])
    assert kept(pruned) == ["state_last", "state@out", "y@out"]
    assert used >= {"rows", "state", "part"}
    assert used.isdisjoint({"second_rows", "other", "other@in"})
    assert kept(recurrent(["z"])[0]) == ["state_last", "z@out"]
    assert "rows" in recurrent(["z"])[1], "the length of the first one is the number of rounds"
    assert kept(recurrent(["other_last"])[0]) == ["state_last", "other@out"]


def test_an_operator_that_is_not_known_needs_all_of_its_blocks():
    whole = block(0, ("mine", "x=x", "out=a,b", {}, [block(1, unary("relu", "y", "z"), outputs="z")]))
    assert kept(prune(whole, ["a"])[0]) == ["a", "z"]
    assert prune(whole, ["a"])[1] == {"x", "a", "z", "y"}


def test_malformed_programs_are_left_to_the_translation():
    for kind in ("if", "while", "recurrent"):
        assert kept(prune(block(0, (kind, "", "out=r", {}, [block(1, inputs="a b c")])), ["r"])[0]) == ["r"]


def nested(depth, kind):
    """Blocks in blocks, of which each is read only by the result of the one around it."""
    row = unary("relu", "x", "y0")
    for i in range(depth):
        if kind == "if":
            row = kind, "cond=go", f"out=y{i + 1}", {}, [block(i + 1, row, outputs=f"y{i}")] * 2
        else:
            inner = block(i + 1, row, inputs=f"s{i}@in", outputs=f"go{i} y{i} y{i}")
            row = kind, "cond=go x=x", f"out=y{i + 1}", {}, [inner]
    return block(0, row)


@pytest.mark.parametrize("kind", ["if", "while"])
def test_each_block_is_looked_at_once(kind, monkeypatch):
    """Both branches of each `if` are one block: looked at again and again, they would be 2 ** 100."""
    looked = []
    counterparts = analysis.counterparts
    monkeypatch.setattr(analysis, "counterparts", lambda *owner: looked.append(owner) or counterparts(*owner))
    assert "x" in liveness(nested(100, kind), ["y100"]).names
    assert len(looked) == 100


def test_a_loop_is_translated_without_what_nothing_needs():
    """The second state has an operator without a converter for it, and is not read: the model has one state."""
    inner = block(
        1,
        ("scale", "x=n@in", "out=n@out", {"scale": 1.0, "bias": 1.0}),
        ("fill_constant", "", "out=limit", {"shape": [1], "value": 3.0, "dtype": "int64"}),
        ("less_than", "x=n@out y=limit", "out=go@out"),
        ("no_such_operator", "x=x@in", "out=x@out"),
        inputs="n@in x@in",
        outputs="go@out n@out x@out",
    )
    fed = [Variable("n", "int64", (1,)), Variable("x", "float32", (2,)), Variable("go", "bool", (1,))]
    states = [Variable(name, "int64", (1,)) for name in ("n@in", "x@in", "n@out", "x@out", "n_last", "x_last")]
    loop = ("while", "cond=go x=n,x", "out=n_last,x_last", {}, [inner])
    model = paddle2ov.convert(program([loop], fed, "n_last", states))
    (loop,) = [node for node in model.get_ops() if node.get_type_name() == "Loop"]
    assert loop.get_output_size() == 1
    inputs = {"n": np.array([0]), "x": np.zeros(2, np.float32), "go": np.array([True])}
    (result,) = run(model, inputs)
    assert result.array.tolist() == [3]
