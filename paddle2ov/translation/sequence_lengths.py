"""Lengths of the sequences that are concatenated in one tensor (LoD), also as inputs and results of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from openvino import Output, PartialShape, Type
from openvino.op import Parameter, Result

from paddle2ov.graph.aliases import alias
from paddle2ov.graph.node_names import LENGTHS_SUFFIX
from paddle2ov.graph.opset import ops
from paddle2ov.graph.provenance import copy_operators
from paddle2ov.graph.values import (
    UNKNOWN_LOD,
    ComplexValue,
    LoDTensor,
    PlainValue,
    SequenceLayout,
    SequenceLengths,
    Value,
    unmarked,
)
from paddle2ov.program.model import Output as ProgramOutput, Variable
from paddle2ov.translation.scope import Scope


def lengths_of(value: Output, layout: SequenceLayout) -> Output:
    """How many rows each sequence of a value has, int64 [count]."""
    if isinstance(layout, SequenceLengths):
        known = layout.output.get_element_type() == Type.i64
        return layout.output if known else ops.convert(layout.output, Type.i64).output(0)
    number = ops.constant(np.array([layout])) if isinstance(layout, int) else ops.reshape(layout, np.array([1]), False)
    rows = ops.gather(ops.shape_of(value, Type.i64), np.array([0]), 0)
    return ops.broadcast(ops.divide(rows, number), number).output(0)


def with_input_lod(value: PlainValue | ComplexValue, lod_level: int | None) -> Value:
    """An input of the program: one sequence if it is declared with LoD and no lengths are given."""
    if not lod_level:
        return value
    return LoDTensor(value, 1 if lod_level == 1 else UNKNOWN_LOD)


SequenceCount: TypeAlias = Literal["one", "few", "many"]
"""How many sequences the inputs are expected to hold, which any number may follow but for "one"."""


def lengths_inputs(inputs: Iterable[Variable], scope: Scope, expected: SequenceCount) -> list[Parameter]:
    """An input `NAME.lengths`, int64 [count], for each of the inputs that holds sequences; the scope has both."""
    parameters = []
    for variable in inputs:
        if variable.lod_level == 1 and variable.name in scope.values:
            name = variable.name + LENGTHS_SUFFIX
            lengths = ops.parameter(PartialShape([1 if expected == "one" else -1]), Type.i64, name=name)
            lengths.output(0).set_names({name})
            rows = scope.values[variable.name]
            within = rows.value if isinstance(rows, LoDTensor) else rows
            layout = 1 if expected == "one" else SequenceLengths(lengths.output(0), expected == "few")
            scope.values[variable.name] = LoDTensor(within, layout)
            parameters.append(lengths)
    return parameters


def lengths_results(outputs: Sequence[ProgramOutput], scope: Scope) -> list[Result]:
    """A result `NAME.lengths`, int64 [count], for each of the results that is known to hold sequences."""
    results = []
    for item in outputs:
        value = scope.find(item.variable)
        if not isinstance(value, LoDTensor) or value.lod is None:
            continue
        rows = unmarked(value)
        if not isinstance(rows, Output):
            continue
        lengths = alias(lengths_of(rows, value.lod))
        copy_operators(lengths, rows.get_node())
        result = ops.result(lengths, name=item.name + LENGTHS_SUFFIX)
        result.output(0).set_names({item.name + LENGTHS_SUFFIX})
        results.append(result)
    return results
