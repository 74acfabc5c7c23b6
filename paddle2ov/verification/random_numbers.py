"""Operators that draw random numbers: OpenVINO's are not Paddle's, but what is computed from them can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from paddle2ov.comparison.differences import Expected, compare_tensor
from paddle2ov.compilation.running import Result
from paddle2ov.program.model import Operator
from paddle2ov.program.traits import with_trait
from paddle2ov.verification.values import Values

RANDOM = with_trait("random")
"""Operators whose results differ from run to run."""


def random_operators(values: Values) -> list[Operator]:
    """Those of the main block that the results need."""
    return [operator for operator in values.block.operators if operator.type in RANDOM]


def with_paddle_random_values(values: Values, operators: Sequence[Operator], results: Sequence[Result]) -> list[Result]:
    """The results of the model where the operators' numbers are Paddle's, who draws the same ones in every run.

    They become `fixed` values. Numbers of another type or shape than Paddle's stay, so that they are found to differ.
    """
    names = [name for operator in operators for name in operator.output_names()]
    theirs = values.of_paddle(names)
    ours = values.of_openvino(theirs)
    taken = {name: theirs[name] for name, one in ours.items() if _has_same_type_and_shape(one, theirs[name])}
    return with_paddle_values(values, taken, results)


def with_paddle_values(values: Values, taken: Mapping[str, Expected], results: Sequence[Result]) -> list[Result]:
    """The results of the model where it takes values inside of it from Paddle, which become `fixed` values."""
    values.fix(taken)
    outputs = [item.variable for item in values.program.outputs]
    found = values.of_openvino(outputs)
    changed = [
        replace(result, array=values.fixed[name].array if name in values.fixed else found[name].array)
        if name in values.fixed or name in found
        else result
        for name, result in zip(outputs, results, strict=False)
    ]
    return [*changed, *results[len(outputs) :]]  # lengths of sequences


def _has_same_type_and_shape(result: Result, expected: Expected) -> bool:
    """Whether type and shape are the same."""
    if result.array.shape != expected.array.shape:
        return False
    return compare_tensor(expected.name, replace(result, array=expected.array), expected, 1.0).ok
