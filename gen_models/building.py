"""What builders share: which format is being built, and operators that no function of Paddle 2 reaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gen_models.spec import paddle


def in_pir() -> bool:
    """Whether the program being built is a PIR one."""
    return hasattr(paddle.framework, "in_pir_mode") and bool(paddle.framework.in_pir_mode())


def in_sequences(x: Any, offsets: Sequence[int] | None = None) -> Any:
    """x as sequences that begin at the offsets (LoD); without offsets as one sequence, which is how it is fed."""
    if offsets is not None:
        return legacy_op("lod_reset", {"X": x}, {"Out": x.dtype}, {"target_lod": list(offsets)})
    x.desc.set_lod_level(1)
    return x


def legacy_op(
    op_type: str,
    inputs: dict[str, Any],
    outputs: dict[str, str],
    attrs: dict[str, Any],
) -> Any:
    """Appends an operator that no public function of Paddle 2.6 reaches; outputs: port -> dtype, in order."""
    helper = paddle.base.layer_helper.LayerHelper(op_type)
    made = {port: helper.create_variable_for_type_inference(dtype) for port, dtype in outputs.items()}
    helper.append_op(
        type=op_type,
        inputs={k: v if isinstance(v, list) else [v] for k, v in inputs.items() if v is not None},
        outputs={k: [v] for k, v in made.items()},
        attrs=attrs,
    )
    return list(made.values()) if len(made) > 1 else next(iter(made.values()))
