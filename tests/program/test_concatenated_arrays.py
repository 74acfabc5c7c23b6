"""Arrays that are only filled and concatenated are carried as the concatenation; others are left as they are."""

import pytest

from paddle2ov.program.concatenated_arrays import concatenate_arrays
from paddle2ov.program.model import Block, Operator


def operator(kind, reads, writes, attributes=None, blocks=()):
    reads, writes = (
        {port: names if isinstance(names, list) else [names] for port, names in value.items()}
        for value in (reads, writes)
    )
    return Operator(kind, reads, writes, attributes or {}, kind, 0, 0, tuple(blocks))


def body(*more, place="length"):
    operators = [
        operator("lod_array_length", {"x": "array@1"}, {"out": "length"}),
        operator("write_to_array", {"array": "array@1", "x": "part", "i": place}, {"out": "array@2"}),
        *more,
    ]
    return Block(1, operators, ["array@1", "i@1"], ["go_on", "array@2", "i@2"])


def main(inner, *more, axis=0, use_stack=False, sizes="sizes"):
    return Block(
        0,
        [
            operator("create_array", {}, {"out": "array@0"}),
            operator("while", {"cond": "go", "x": ["array@0", "i@0"]}, {"out": ["array@3", "i@3"]}, blocks=[inner]),
            operator(
                "tensor_array_to_tensor",
                {"x": "array@3"},
                {"out": "joined", "out_index": sizes},
                {"axis": axis, "use_stack": use_stack},
            ),
            *more,
        ],
    )


def marked(block, wanted=("joined",)):
    return [
        child for child in concatenate_arrays(block, wanted).walk() if child.semantics.concatenated_along is not None
    ]


def test_a_filled_and_concatenated_array_is_joined():
    block = main(body())
    write, concatenation = marked(block)
    assert {value.semantics.concatenated_along for value in (write, concatenation)} == {0}
    assert (write.type, concatenation.type) == ("write_to_array", "tensor_array_to_tensor")
    assert "i" not in write.inputs
    assert write.attributes == {}, "attributes are Paddle's alone"
    assert not [child for child in block.walk() if child.semantics.concatenated_along is not None], (
        "the block itself is not changed"
    )


def test_branches_of_a_loop_may_fill_the_array():
    fills = body()
    fills.inputs, fills.outputs = [], ["array@2"]
    keeps = Block(2, [], [], ["array@1"])
    choice = operator("if", {"cond": "some"}, {"out": "array@5"}, blocks=[fills, keeps])
    block = main(Block(3, [choice], ["array@1", "i@1"], ["go_on", "array@5", "i@2"]))
    assert len(marked(block)) == 2


@pytest.mark.parametrize("axis", [1, -1])
def test_along_any_axis(axis):
    assert [item.semantics.concatenated_along for item in marked(main(body(), axis=axis))] == [axis, axis]


@pytest.mark.parametrize(
    "block",
    [
        main(body(), operator("tensor_array_to_tensor", {"x": "array@3"}, {"out": "other"}, {"axis": 1})),
        main(body(), use_stack=True),
        main(body(), operator("scale", {"x": "sizes"}, {"out": "scaled"})),
        main(body(), operator("read_from_array", {"array": "array@3", "i": "zero"}, {"out": "first"})),
        main(body(operator("less_than", {"x": "length", "y": "limit"}, {"out": "go_on"}))),
        main(body(place="i@1")),
    ],
    ids=["axis", "stack", "sizes", "element", "length", "place"],
)
def test_other_arrays_are_left(block):
    assert marked(block) == []


def test_wanted_arrays_and_sizes_are_left():
    assert marked(main(body()), ["joined", "sizes"]) == []
    assert marked(main(body()), ["joined", "array@3"]) == []
