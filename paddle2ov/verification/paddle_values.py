"""Values that OpenVINO takes from Paddle, so that what is computed from them can be compared.

Random numbers are Paddle's, who draws the same ones in every run. So are values that Paddle itself computes wrongly, if
OpenVINO's are right by definition: Paddle 3.3 runs a `dequantize_linear` of a PIR program as if it were
`quantize_linear`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from paddle2ov.comparison.differences import Expected, compare_tensor
from paddle2ov.compilation.running import Result
from paddle2ov.program.model import Operator
from paddle2ov.program.traits import with_trait
from paddle2ov.typing import AnyArray
from paddle2ov.verification.values import Values

RANDOM = with_trait("random")
"""Operators whose results differ from run to run."""
PADDLE_FAULT = (
    "Paddle's own fault: it runs dequantize_linear of a PIR program as if it were quantize_linear (docs/limits.md). "
    "The converted operator is right by its definition; the results compared are those that follow from Paddle's values"
)


def with_paddle_random_values(values: Values, operators: Sequence[Operator], results: Sequence[Result]) -> list[Result]:
    """The results of the model where the operators' numbers are Paddle's, who draws the same ones in every run.

    They become `fixed` values. Numbers of another type or shape than Paddle's stay, so that they are found to differ.
    """
    names = [name for operator in operators for name in operator.output_names()]
    theirs = values.of_paddle(names)
    ours = values.of_openvino(theirs)
    taken = {
        name: want
        for name, want in theirs.items()
        if name in ours and ours[name].array.shape == want.array.shape
        if compare_tensor(replace(ours[name], array=want.array), want, 1.0).ok  # the types are the same
    }
    return with_paddle_values(values, taken, results)


def with_paddle_values(values: Values, taken: Mapping[str, Expected], results: Sequence[Result]) -> list[Result]:
    """The results of the model where it takes values inside of it from Paddle, which become `fixed` values."""
    values.fix(taken)
    outputs = [item.variable for item in values.program.outputs]
    computed = values.of_openvino(outputs)
    changed = [
        replace(result, array=values.fixed[name].array if name in values.fixed else computed[name].array)
        if name in values.fixed or name in computed
        else result
        for name, result in zip(outputs, results, strict=False)
    ]
    return [*changed, *results[len(outputs) :]]  # lengths of sequences


def faulty_values(values: Values, tolerance: float) -> dict[str, Expected]:
    """Paddle's values of the results that it computes wrongly, where OpenVINO's are right."""
    operators = [operator for operator in values.block.operators if operator.type == "dequantize_linear"]
    if values.program.format != "pir" or not operators:
        return {}
    results = [operator.outputs["y"][0] for operator in operators]
    operands = [name for operator in operators for port in ("x", "scale") for name in operator.inputs[port]]
    read, theirs = values.around(operators, [*results, *operands])
    known = {name: parameter.data for name, parameter in values.program.parameters.items() if name in operands}
    arrays = {**known, **{name: value.array for name, value in (theirs | read).items()}}
    defined = {
        result: _dequantized(operator, arrays)
        for operator, result in zip(operators, results, strict=True)
        if result in theirs and all(operator.inputs[port][0] in arrays for port in ("x", "scale"))
    }
    wrong = {name: want for name, want in defined.items() if not np.allclose(theirs[name].array, want)}
    if not wrong:
        return {}
    cuts = {name: value for name, value in read.items() if name not in values.inputs}
    computed = values.compute(cuts, list(wrong))
    if computed is None:
        return {}
    return {
        name: theirs[name]
        for (name, want), result in zip(wrong.items(), computed[0], strict=True)
        if compare_tensor(result, Expected(name, theirs[name].dtype, want), tolerance).ok
    }


def _dequantized(operator: Operator, arrays: Mapping[str, AnyArray]) -> AnyArray:
    """The definition: x · scale / qmax, with a scale for each element along an axis, or one."""
    x, scale = (arrays[operator.inputs[port][0]] for port in ("x", "scale"))
    if operator.attributes.get("only_observer"):
        return x.astype(np.float32)
    axis = operator.attributes.get("quant_axis", 0)
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    result: AnyArray = x * (scale.reshape(shape) if axis >= 0 else scale) / operator.attributes["qmax"]
    return result.astype(np.float32)
