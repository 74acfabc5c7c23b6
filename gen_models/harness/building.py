"""What builders share: the format being built, operators that no function of Paddle 2 reaches, parts of networks."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gen_models.harness.spec import paddle


def is_pir() -> bool:
    """Whether the program being built is a PIR one."""
    return hasattr(paddle.framework, "in_pir_mode") and bool(paddle.framework.in_pir_mode())


def as_lod(x: Any, offsets: Sequence[int] | None = None) -> Any:
    """x as sequences that begin at the offsets (LoD); without offsets as one sequence, which is how it is fed."""
    if offsets is not None:
        return legacy_op("lod_reset", {"X": x}, {"Out": x.dtype}, {"target_lod": list(offsets)})
    x.desc.set_lod_level(1)
    return x


def legacy_op(op_type: str, inputs: dict[str, Any], outputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
    """Appends an operator that no public function of Paddle 2.6 reaches; outputs: port -> dtype or dtypes, in order."""
    helper = paddle.base.layer_helper.LayerHelper(op_type)
    new = helper.create_variable_for_type_inference
    made = {k: list(map(new, kind)) if isinstance(kind, list) else new(kind) for k, kind in outputs.items()}
    inputs, results = (
        {k: v if isinstance(v, list) else [v] for k, v in ports.items() if v is not None} for ports in (inputs, made)
    )
    helper.append_op(type=op_type, inputs=inputs, outputs=results, attrs=attrs)
    return list(made.values()) if len(made) > 1 else next(iter(made.values()))


def any_op(
    op_type: str, inputs: dict[str, Any], outputs: dict[str, str], attrs: dict[str, Any], pir_name: str = ""
) -> Any:
    """The same in both formats: inputs and attributes are in the order of PIR's operator."""
    if is_pir():
        return getattr(paddle._C_ops, pir_name or op_type)(*inputs.values(), *attrs.values())
    return legacy_op(op_type, inputs, outputs, attrs)


def operator(
    op_type: str,
    ports: dict[str, str] | None = None,
    outputs: str | dict[str, str] = "Out",
    pir_name: str = "",
    names: dict[str, str] | None = None,
    results: int | None = None,
    sequences: str = "",
    **defaults: Any,
) -> Callable[..., Any]:
    """A builder that appends an operator by `any_op`: of the operands at the ports, and attributes with their defaults.

    Without ports it has one operand, `x`, at X. The type of a result is that of the first operand unless it is given;
    only the first `results` are returned. `names` are those of attributes that cases call otherwise. Operands named in
    `sequences`, with spaces between, are sequences (`as_lod`), whose offsets a case gives as `lod`.
    """
    ports, renamed = ports or {"x": "X"}, names or {}

    def build(**given: Any) -> Any:
        operands = {port: given.pop(argument, None) for argument, port in ports.items()}
        if sequences:
            lod = given.pop("lod", None)
            operands |= {ports[name]: _as_sequences(operands[ports[name]], lod) for name in sequences.split()}
        first = next(iter(operands.values()))
        dtype = (first[0] if isinstance(first, list) else first).dtype
        kinds = {outputs: ""} if isinstance(outputs, str) else outputs
        attributes = {renamed.get(name, name): value for name, value in {**defaults, **given}.items()}
        made = any_op(op_type, operands, {port: kind or dtype for port, kind in kinds.items()}, attributes, pir_name)
        return made if results is None else made[0] if results == 1 else made[:results]

    return build


def _as_sequences(x: Any, lod: Sequence[int] | None) -> Any:
    return [as_lod(item, lod) for item in x] if isinstance(x, list) else as_lod(x, lod)


def function(path: str) -> Callable[..., Any]:
    """A builder that calls the function of Paddle at a path (`nn.functional.relu`).

    Operands that come before any other argument go by position, whatever Paddle calls them, all others by name.
    """

    def call(*operands: Any, **given: Any) -> Any:
        first = dict(itertools.takewhile(lambda item: _is_operand(item[1]), given.items()))
        named = {name: value for name, value in given.items() if name not in first}
        return functools.reduce(getattr, path.split("."), paddle)(*operands, *first.values(), **named)

    return call


def weight(shape: Sequence[int], dtype: Any = "float32", low: float = -0.5, high: float = 0.5, seed: int = 0) -> Any:
    """A parameter of the program, with seeded values."""
    dtype = str(dtype).rpartition(".")[2].lower()
    values = np.random.default_rng([seed, *shape]).uniform(low, high, shape).astype(dtype)
    return paddle.static.create_parameter(list(shape), dtype, default_initializer=paddle.nn.initializer.Assign(values))


def _is_operand(value: Any) -> bool:
    return all(map(_is_operand, value)) if isinstance(value, list) and value else hasattr(value, "stop_gradient")


def make_layer(build: Any, forward: Any) -> Any:
    """A layer with the sublayers that `build()` returns by name; `forward(parts, *inputs)` runs it."""

    class Assembled(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            for name, part in build().items():
                setattr(self, name, part)

    Assembled.forward = forward
    return Assembled()


def layer_of(forward: Callable[..., Any], parts: Callable[[], dict[str, Any]] = dict) -> Callable[[], Any]:
    """What builds a layer from its `forward`, and what makes its parts, if it has any."""

    def build() -> Any:
        return make_layer(parts, forward)

    build.__module__ = forward.__module__
    return build


def conv_norm(inputs: int, outputs: int, stride: int = 1, act: Any = None) -> Any:
    """A 3 x 3 convolution, its batch norm, and an activation (a leaky ReLU unless it is given)."""
    nn = paddle.nn
    conv = nn.Conv2D(inputs, outputs, 3, stride, 1, bias_attr=False)
    return nn.Sequential(conv, nn.BatchNorm2D(outputs), act or nn.LeakyReLU(0.1))


def multiclass_nms3(boxes: Any, scores: Any, *, score_threshold: float, **options: Any) -> Any:
    """The boxes that are left, and how many each image has; no public function of Paddle reaches this operator."""
    attributes = {
        "score_threshold": score_threshold,
        "nms_top_k": 100,
        "keep_top_k": 60,
        "nms_threshold": 0.6,
        "normalized": True,
        "nms_eta": 1.0,
        "background_label": -1,
        **options,
    }
    if is_pir() or paddle.in_dynamic_mode():
        out, _, count = paddle._C_ops.multiclass_nms3(boxes, scores, None, *attributes.values())
    else:
        outputs = {"Out": boxes.dtype, "Index": "int32", "NmsRoisNum": "int32"}
        out, _, count = legacy_op("multiclass_nms3", {"BBoxes": boxes, "Scores": scores}, outputs, attributes)
    return out, count
