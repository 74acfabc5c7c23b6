"""Operators whose semantics changed between versions of Paddle although their name did not, or whose name did.

A program carries the version of the Paddle that wrote it (1.8.5 writes 1008005; a PIR program a number of its own).
Where that determines what an operator computes, the reader sets its `Semantics`, so that converters need not compare
versions. Legacy programs of version 0 may be written by any Paddle, such as a current development build, and have the
current semantics.

Sources: Paddle's history, models exported by Paddle 1.8.5 that were run in 1.8.5 and in 2.6.2, and all PIR cases of
`gen_models` written and run by Paddle 3.0.0, 3.1.1 and 3.2.2 (`tools/older_paddle.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from paddle2ov.program.model import Program, Semantics
from paddle2ov.program.traits import TRAITS, with_trait

_PADDLE_2_0, _PADDLE_2_1, _PADDLE_2_3 = 2_000_000, 2_001_000, 2_003_000
_PADDLE_2_4, _PADDLE_2_6 = 2_004_000, 2_006_000
_PADDLE_3_0, _PADDLE_3_1, _PADDLE_3_2, _PADDLE_3_3 = 3_000_000, 3_001_000, 3_002_000, 3_003_000
PIR_VERSIONS = (_PADDLE_3_0, _PADDLE_3_0, _PADDLE_3_1, _PADDLE_3_2, _PADDLE_3_3)
"""The Paddle that writes each `base_code.version` of PIR; 0 was that of betas."""

_CURRENT = Semantics()


class _Change(Struct, frozen=True):
    """What the operators with a trait computed before a version of Paddle."""

    trait: str
    end: int
    semantics: Semantics
    start: int = 1

    def covers(self, version: int) -> bool:
        """Whether it is what the operators computed in this version; 0 is that of an unknown Paddle."""
        return self.start <= version < self.end


_CHANGES = (
    _Change("truncated before 2.0", _PADDLE_2_0, Semantics(truncated_quotient=True)),
    _Change("truncated before 2.4", _PADDLE_2_4, Semantics(truncated_quotient=True)),
    _Change("full window before 2.0", _PADDLE_2_0, Semantics(full_window_average=True)),
    _Change("joins parts before 2.0", _PADDLE_2_0, Semantics(joins_parts=True)),
    _Change("joins parts before 2.3", _PADDLE_2_3, Semantics(joins_parts=True)),
    _Change("square grid before 2.0", _PADDLE_2_0, Semantics(square_grid=True)),
    _Change("attributes before 2.6", _PADDLE_2_6, Semantics(read_attributes=True)),
    _Change("weighted rest before 3.0", _PADDLE_3_0, Semantics(weighted_rest=True)),
    _Change("ties away before 3.1", _PADDLE_3_1, Semantics(ties_away=True), start=_PADDLE_2_1),
    _Change("counts in 32 bits before 3.1", _PADDLE_3_1, Semantics(int32_count=True)),
    _Change("coarse before 3.1", _PADDLE_3_1, Semantics(coarse_equality=True)),
    _Change("ties away before 3.2", _PADDLE_3_2, Semantics(ties_away=True)),
    _Change("single scales before 3.3", _PADDLE_3_3, Semantics(single_scales=True, first_if_single=True)),
)
_CHANGE_OF = {key: change for change in _CHANGES for key in with_trait(change.trait)}
assert len(_CHANGE_OF) == sum(len(with_trait(change.trait)) for change in _CHANGES)  # none has changed twice
_LATER_OPERANDS = {"instance_norm_grad": "bias"}
"""Operands before others that came with Paddle 3.1."""


def operands_of(name: str, operands: Sequence[str], count: int) -> Sequence[str]:
    """The names of the operands of a PIR operator that has `count` of them in the program."""
    is_older = name in _LATER_OPERANDS and count == len(operands) - 1
    return [item for item in operands if item != _LATER_OPERANDS[name]] if is_older else operands


def semantics_of(op_type: str, version: int, attributes: Mapping[str, object] | None = None) -> Semantics:
    """The semantics of the operator, with these attributes, in that version of Paddle."""
    change = _CHANGE_OF.get(op_type)
    chosen = change.semantics if change is not None and change.covers(version) else _CURRENT
    return replace(chosen, end_before_first=True) if version < _PADDLE_3_0 and _has_steps(attributes or {}) else chosen


def written_by(program: Program) -> tuple[int, str]:
    """The Paddle that wrote a program, as the number that legacy programs carry and as "1.8"; 0 and "" if unknown."""
    version = PIR_VERSIONS[program.version] if program.format == "pir" else program.version
    return version, ".".join(map(str, _release(version))) if version > 0 else ""


def _release(version: int) -> tuple[int, int]:
    return version // 1_000_000, version // 1_000 % 1_000


def older_meaning(op_type: str, program: Program, paddle: str) -> str:
    """What the operator computed in the Paddle that wrote the program; "" if `paddle`, a version, still does."""
    change = _CHANGE_OF.get(op_type)
    if change is None or not change.covers(written_by(program)[0]):
        return ""
    major, minor = _release(change.end)
    is_past = [*map(int, paddle.split(".")[:2])] >= [major, minor]
    return f"before Paddle {major}.{minor} it {TRAITS[change.trait]}" if is_past else ""


def _has_steps(attributes: Mapping[str, object]) -> bool:
    # Paddle 2 writes x[::-1] with the end -1, for "before the first element"; since Paddle 3 that is the last element.
    # The bounds may come as tensors, so that this is left to the converters.
    return "ends" in attributes and not attributes.keys().isdisjoint(("strides", "steps"))


def current_name(name: str, ports: Sequence[str] = (), operand_count: int = 0) -> str:
    """Today's name of an operator: `rms_norm` was that of `fused_rms_norm_quant` before Paddle 3.3.

    Args:
        name: the name in the program.
        ports: the ports of its operands, in a format that names them.
        operand_count: how many operands it has in a format that does not name them, missing ones among them.
    """
    if name == "rms_norm" and ("norm_weight" in ports or operand_count > 2):
        return "fused_rms_norm_quant"
    return name
