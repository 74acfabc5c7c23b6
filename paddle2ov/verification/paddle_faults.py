"""Operators that Paddle itself computes wrongly: they are compared with their definition, all others with Paddle.

Paddle 3.3 runs a `dequantize_linear` of a PIR program as if it were `quantize_linear`. OpenVINO computes it from
Paddle's input, and is compared with x · scale / qmax; then it takes Paddle's values in its place, so that what follows
is compared too.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paddle2ov.comparison.differences import Expected, compare_tensor
from paddle2ov.program.model import Operator
from paddle2ov.typing import AnyArray
from paddle2ov.verification.values import Values

NOTE = (
    "Paddle's own fault: it runs dequantize_linear of a PIR program as if it were quantize_linear (docs/limits.md). "
    "The converted operator is right by its definition; the results compared are those that follow from Paddle's values"
)


def faulty_values(values: Values, tolerance: float) -> dict[str, Expected]:
    """Paddle's values of the results that it computes wrongly, where OpenVINO's are right."""
    operators = [one for one in values.block.operators if one.type == "dequantize_linear"]
    if values.program.format != "pir" or not operators:
        return {}
    results = [operator.outputs["y"][0] for operator in operators]
    operands = [name for one in operators for port in ("x", "scale") for name in one.inputs[port]]
    read, theirs = values.around(operators, [*results, *operands])
    known = {name: one.data for name, one in values.program.parameters.items() if name in operands}
    arrays = {**known, **{name: one.array for name, one in (theirs | read).items()}}
    defined = {
        result: _dequantized(operator, arrays)
        for operator, result in zip(operators, results, strict=True)
        if result in theirs and all(operator.inputs[port][0] in arrays for port in ("x", "scale"))
    }
    wrong = {name: want for name, want in defined.items() if not np.allclose(theirs[name].array, want)}
    if not wrong:
        return {}
    cuts = {name: one for name, one in read.items() if name not in values.inputs}
    ours, _ = values.compute(cuts, list(wrong))
    return {
        name: theirs[name]
        for (name, want), result in zip(wrong.items(), ours, strict=True)
        if compare_tensor(name, result, Expected(name, theirs[name].dtype, want), tolerance).ok
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
