"""The time of a conversion grows with the program, and not with its square."""

import pytest

import paddle2ov
from paddle2ov.program.model import Variable
from tests.support.growth import grows_less
from tests.support.programs import block, program

X, COND = Variable("v0", "float32", (-1, 8, 8)), Variable("cond", "bool", ())
ACTIVATIONS = ("relu", "sigmoid", "tanh", "hard_swish")


def row(i, reads, name="v"):
    return (ACTIVATIONS[i % 4], f"x={reads}", f"out={name}{i + 1}")


def chained(count, name="v", first="v0"):
    """Each operator reads the one before; the name of the last result."""
    return [row(i, f"{name}{i}" if i else first, name) for i in range(count)], f"{name}{count}"


def chain(count):
    rows, last = chained(count)
    return program(rows, [X], last)


def wide(count):
    """All read the input, and are added."""
    rows = [row(i, "v0") for i in range(count)]
    values = ",".join(f"v{i + 1}" for i in range(count))
    return program([*rows, ("sum", f"inputs={values}", "out=out")], [X], "out")


def transposes(count):
    """Transposes between activations, which rewrites move."""
    rows = []
    for i in range(0, count, 2):
        rows += [("transpose2", f"x=v{i}", f"out=v{i + 1}", {"perm": [0, 2, 1]}), row(i + 1, f"v{i + 1}")]
    return program(rows, [X], f"v{count}")


def branches(count):
    """One choice after the other, of six operators each."""
    rows, last = [], "v0"
    for i in range(count // 7):
        sides = []
        for k in (1, 2):
            inner, result = chained(3, f"s{i}_{k}_", last)
            sides.append(block(2 * i + k, *inner, outputs=result))
        rows.append(("if", "cond=cond", f"out=c{i}", {}, sides))
        last = f"c{i}"
    return program(rows, [X, COND], last)


def loop(count):
    """A loop around half of the operators, which reads what the other half computes."""
    before = [row(i, "v0") for i in range(count // 2)]
    inner, last = chained(count // 2, "b", "state")
    inner += [("elementwise_add", f"x={last} y=v{i + 1}", f"out=a{i}") for i in range(0, count // 2, 20)]
    body = block(1, *inner, inputs="state", outputs="cond a0")
    rows = [*before, ("while", "cond=cond x=v0", "out=out", {}, [body])]
    return program(rows, [X, COND], "out")


@pytest.mark.parametrize("build", [chain, wide, transposes, branches, loop])
def test_growth(build):
    def run(count):
        whole = build(count)
        return lambda: paddle2ov.convert(whole)

    assert grows_less(run, 70, 560, 20)  # eight times the operators; 64 times the time if it were quadratic
