"""What a Paddle program is, once it is read: plain, typed and free of the file format it came from.

Variables are in static single assignment form: every variable is written once. Control flow is explicit: an operator
owns its blocks, and a block names the values that enter it (`inputs`) and leave it (`outputs`).

A program is a tree, so that its records need no garbage collection (`gc=False`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from paddle2ov.errors import Place
from paddle2ov.program.sources import Source
from paddle2ov.typing import AnyArray


class Variable(Struct, gc=False):
    """A value of the program. `dtype` is Paddle's name; unknown dimensions are -1, an unknown rank is None.

    `lod_level` is 1 for sequences that are concatenated along axis 0, 2 for sequences of such sequences, 0 for
    a plain tensor, and None where the program does not say.
    """

    name: str
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    is_array: bool = False
    lod_level: int | None = None

    @property
    def is_complex(self) -> bool:
        """Whether its numbers are complex."""
        return self.dtype in ("complex64", "complex128")

    @property
    def real_shape(self) -> tuple[int, ...] | None:
        """The shape of the real numbers that carry it: complex ones take a last dimension of 2."""
        return (*self.shape, 2) if self.is_complex and self.shape is not None else self.shape

    def named(self, name: str) -> Variable:
        """The same under another name."""
        return Variable(name, self.dtype, self.shape, self.is_array, self.lod_level)


class Parameter(Struct, gc=False):
    """A weight; its data may lie in the mapped file (bfloat16 and float8 as unsigned integers of that width)."""

    name: str
    dtype: str
    data: AnyArray


class Semantics(Struct, frozen=True):
    """What an operator computes that its type and attributes do not say. The default is what today's Paddle computes.

    Readers set it for programs of older Paddles (`op_versions.py`), rewrites of the program for what they changed.

    Attributes:
        truncated_quotient: `elementwise_mod`, `elementwise_floordiv`: the quotient of integers is rounded towards zero.
        full_window_average: `pool2d`, `pool3d`: an average that counts the padding is over the size of the window, also
            where the window exceeds the padding.
        joins_parts: `leaky_relu`, `elu`, `hard_shrink`: both parts count where a slope outside of 0 to 1, a negative
            alpha or a negative threshold makes them overlap.
        square_grid: `yolo_box`: both axes are divided by the number of rows.
        weighted_rest: `sigmoid_cross_entropy_with_logits`: the weight of positive examples also scales those terms of
            negative ones that are below max(x, 0).
        single_scales: resizes: the scales of a tensor are multiplied in single precision.
        first_if_single: resizes: a dimension that becomes 1 is its first element, of sequences and volumes as well.
        end_before_first: slices with steps: read backwards, an end of -1 is the one before the first element, and an
            end further before it counts as the first element.
        concatenated_along: `write_to_array`, `tensor_array_to_tensor`: the array is represented by the concatenation of
            its elements along this axis, which is its first, and a write appends to it (`concatenated_arrays.py`).
        coarse_equality: `equal`, `not_equal`, `equal_all`: floats that differ by less than 1e-8 are equal.
        ties_away: `round`, `grid_sampler`: ties are rounded away from zero; in volumes, `grid_sampler` samples what is
            inside before it is rounded.
        int32_count: `matrix_rank`, `matrix_rank_tol`, `matrix_rank_atol_rtol`: the rank is int32.
        read_attributes: `relu6`, `swish`, `hard_swish`, and their gradients: the kernel reads thresholds and factors.
        bounded_logits: `softmax`: the program tests its smallest values against 0, so that they are those of Paddle's
            kernel (`small_probabilities.py`).
    """

    truncated_quotient: bool = False
    full_window_average: bool = False
    joins_parts: bool = False
    square_grid: bool = False
    weighted_rest: bool = False
    single_scales: bool = False
    first_if_single: bool = False
    end_before_first: bool = False
    concatenated_along: int | None = None
    coarse_equality: bool = False
    ties_away: bool = False
    int32_count: bool = False
    read_attributes: bool = False
    bounded_logits: bool = False


class Operator(Struct, gc=False):
    """One operator: `type` is the registry's key; inputs, outputs and attributes carry the canonical names.

    Attributes are only those that Paddle has; what is known beyond them is in `semantics`.

    Attributes:
        source_type: the operator's name as the file spells it.
        blocks: the blocks that it owns (`if`: then, else; `while`: body).
        call_stack: the frames of the model's Python source, where the file carries them.
        semantics: what it computes that type and attributes do not say.
    """

    type: str
    inputs: dict[str, list[str]]
    outputs: dict[str, list[str]]
    attributes: dict[str, Any]
    source_type: str
    block_index: int
    index: int
    blocks: tuple[Block, ...] = ()
    call_stack: tuple[str, ...] = ()
    semantics: Semantics = Semantics()

    @property
    def place(self) -> Place:
        """The place of the operator in the program."""
        output = next(filter(None, self.output_names()), "")
        return Place(self.block_index, self.index, self.type, output, self.call_stack)

    def input_names(self) -> Iterator[str]:
        """The variables that the operator reads, those of its blocks aside."""
        return chain.from_iterable(self.inputs.values())

    def output_names(self) -> Iterator[str]:
        """The variables that the operator writes."""
        return chain.from_iterable(self.outputs.values())


class Block(Struct, gc=False):
    """A sequence of operators. `inputs` are the block's arguments, `outputs` the values that it yields."""

    index: int
    operators: list[Operator] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    def walk(self) -> list[Operator]:
        """All operators of this block and, after each, of the blocks that it owns."""
        operators = []
        for operator in self.operators:
            operators.append(operator)
            if operator.blocks:
                for block in operator.blocks:
                    operators += block.walk()
        return operators

    def mapped(self, change: Callable[[Operator], Operator]) -> Block:
        """A copy with each operator changed, in inner blocks as well."""
        operators = []
        for operator in map(change, self.operators):
            inner = tuple(block.mapped(change) for block in operator.blocks)
            operators.append(replace(operator, blocks=inner) if inner else operator)
        return replace(self, operators=operators)


class Output(Struct, gc=False):
    """A result of the program: the name that Paddle gives it and the variable that it fetches."""

    name: str
    variable: str


class Program(Struct):
    """A whole inference program.

    Attributes:
        format: "pir" or "legacy".
        version: the file's version number.
        block: the main block (its `inputs` and `outputs` repeat those of the program).
        inputs: the fed variables, in Paddle's order.
        outputs: the fetched variables, in Paddle's order.
        variables: every variable with its declared type.
        parameters: the weights by variable name.
        source: the files that it was read from, and their state at that time.
        size: the bytes of its file, without the parameters.
    """

    format: str
    version: int
    block: Block
    inputs: list[Variable]
    outputs: list[Output]
    variables: dict[str, Variable]
    parameters: dict[str, Parameter]
    source: Source | None = None
    size: int = 0
