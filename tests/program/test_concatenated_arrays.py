"""Arrays that are only filled and concatenated are carried as the concatenation; others are left as they are."""

import pytest

from paddle2ov.program.concatenated_arrays import concatenate_arrays
from tests.support.programs import block
from tests.support.steps import steps

LENGTH = ("lod_array_length", "x=array@1", "out=length")
CARRIED = {"inputs": "array@1 i@1", "outputs": "go_on array@2 i@2"}


def fill(place="length"):
    return "write_to_array", f"array=array@1 x=part i={place}", "out=array@2"


BODY = block(1, LENGTH, fill(), **CARRIED)


def main(inner, *more, axis=0, use_stack=False):
    return block(
        0,
        ("create_array", "", "out=array@0"),
        ("while", "cond=go x=array@0,i@0", "out=array@3,i@3", {}, [inner]),
        ("tensor_array_to_tensor", "x=array@3", "out=joined out_index=sizes", {"axis": axis, "use_stack": use_stack}),
        *more,
    )


def marked(whole, wanted=("joined",)):
    return [
        child for child in concatenate_arrays(whole, wanted).walk() if child.semantics.concatenated_along is not None
    ]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_filled_and_concatenated_array_is_joined(axis):
    whole = main(BODY, axis=axis)
    write, concatenation = marked(whole)
    assert {value.semantics.concatenated_along for value in (write, concatenation)} == {axis}
    assert (write.type, concatenation.type) == ("write_to_array", "tensor_array_to_tensor")
    assert "i" not in write.inputs
    assert write.attributes == {}, "attributes are Paddle's alone"
    assert not [child for child in whole.walk() if child.semantics.concatenated_along is not None], (
        "the block itself is not changed"
    )


def test_branches_of_a_loop_may_fill_the_array():
    choice = (
        "if",
        "cond=some",
        "out=array@5",
        {},
        [block(1, LENGTH, fill(), outputs="array@2"), block(2, outputs="array@1")],
    )
    assert len(marked(main(block(3, choice, inputs="array@1 i@1", outputs="go_on array@5 i@2")))) == 2


@pytest.mark.parametrize(
    "whole",
    [
        main(BODY, ("tensor_array_to_tensor", "x=array@3", "out=other", {"axis": 1})),
        main(BODY, use_stack=True),
        main(BODY, ("scale", "x=sizes", "out=scaled")),
        main(BODY, ("read_from_array", "array=array@3 i=zero", "out=first")),
        main(block(1, LENGTH, fill(), ("less_than", "x=length y=limit", "out=go_on"), **CARRIED)),
        main(block(1, LENGTH, fill("i@1"), **CARRIED)),
    ],
    ids=["axis", "stack", "sizes", "element", "length", "place"],
)
def test_other_arrays_are_left(whole):
    assert marked(whole) == []


def test_wanted_arrays_and_sizes_are_left():
    assert marked(main(BODY), ["joined", "sizes"]) == []
    assert marked(main(BODY), ["joined", "array@3"]) == []


def appended(count, concatenations=1):
    """An array to which each of many operators appends, concatenated at the end."""
    rows = [("create_array", "", "out=array@0")]
    for k in range(count):
        rows.append(("lod_array_length", f"x=array@{k}", f"out=length@{k}"))
        rows.append(("write_to_array", f"array=array@{k} x=part i=length@{k}", f"out=array@{k + 1}"))
    for k in range(concatenations):
        outputs = f"out=joined@{k} out_index=sizes@{k}"
        rows.append(("tensor_array_to_tensor", f"x=array@{count}", outputs, {"axis": 0}))
    return block(0, *rows)


@pytest.mark.parametrize("concatenations", [lambda count: 1, lambda count: count], ids=["one", "many"])
def test_it_takes_linear_time(concatenations):
    def run(count):
        whole = appended(count, concatenations(count))
        return lambda: concatenate_arrays(whole, ["joined@0"])

    assert len(marked(appended(3, 2), ["joined@0", "joined@1"])) == 5
    assert steps(run(160)) < 6 * steps(run(40))  # four times the work; 16 times if it were quadratic
