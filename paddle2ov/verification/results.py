"""What `verify` found, as typed results."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from paddle2ov.report import jsonable
from paddle2ov.verification.comparison import TensorComparison
from paddle2ov.verification.ties import Tie


@dataclass(frozen=True, slots=True)
class Run:
    """One set of inputs.

    Attributes:
        inputs: the shapes by the inputs' names.
        outputs: the results, compared.
        refused: why Paddle did not take these inputs; "" if it did.
        ties: the sorts and selections that decided otherwise between equal scores, where the results differ.
        explained: whether these ties are all that differs.
    """

    inputs: dict[str, tuple[int, ...]]
    outputs: tuple[TensorComparison, ...] = ()
    refused: str = ""
    ties: tuple[Tie, ...] = ()
    explained: bool = False

    @property
    def ok(self) -> bool:
        """Whether no result differs."""
        return all(one.ok for one in self.outputs)


@dataclass(frozen=True, slots=True)
class ComparedOperator:
    """An operator of the main block: its type, its place, its results compared, and whether its inputs agree."""

    type: str
    index: int
    place: str
    outputs: tuple[TensorComparison, ...]
    inputs_agree: bool

    @property
    def error(self) -> float:
        """The largest relative difference of its results."""
        return max((one.relative for one in self.outputs), default=0.0)


@dataclass(frozen=True, slots=True)
class Culprit:
    """The first operator whose results differ although its inputs agree.

    Attributes:
        type: the operator's type.
        index: its position in its block.
        block: its block.
        place: the same in words, with the model's source where it is known.
        outputs: its results in the whole model, compared.
        isolated: its results when OpenVINO gets Paddle's inputs, compared; None where it cannot be run alone.
        amplifies: it agrees with Paddle when it gets Paddle's inputs: it only magnifies earlier rounding.
        within: the `if` and `while` that it is in, outermost first, with the first round of a loop that differs.
        case: the folder with its inputs and results, see `verify(case=...)`.
    """

    type: str
    index: int
    block: int
    place: str
    outputs: tuple[TensorComparison, ...]
    isolated: tuple[TensorComparison, ...] | None
    amplifies: bool
    case: Path | None = None
    within: tuple[str, ...] = ()


@dataclass(slots=True)
class Verification:
    """What `verify` found.

    Attributes:
        model: the program's file.
        format: "pir" or "legacy".
        paddle: Paddle's version.
        openvino: OpenVINO's version.
        tolerance: of floats, relative to the largest value of each result.
        precision: what OpenVINO computed in: "f32", "bf16" or "f16". Paddle computes in float32.
        runs: every set of inputs.
        operators: every operator that the results need, in program order; empty where nothing was looked for.
        culprit: the operator at fault, where one was found.
        note: what else is to be said about the difference.
    """

    model: Path
    format: str
    paddle: str
    openvino: str
    tolerance: float
    precision: str = "f32"
    runs: list[Run] = field(default_factory=list)
    operators: list[ComparedOperator] = field(default_factory=list)
    culprit: Culprit | None = None
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether the model computes the same in both, on all inputs that Paddle takes."""
        return all(run.ok for run in self.runs)

    @property
    def verdict(self) -> Literal["agree", "ties", "differ"]:
        """What was found: "ties" where only the choice between entries with equal scores differs, see `ties.py`."""
        if self.ok:
            return "agree"
        return "ties" if all(run.ok or run.explained for run in self.runs) else "differ"

    def add_note(self, text: str) -> None:
        """Says one thing more about the difference."""
        self.note = f"{self.note}. {text}" if self.note else text

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON; infinite differences are null."""
        found: dict[str, Any] = jsonable(dataclasses.asdict(self))
        return {"ok": self.ok, "verdict": self.verdict, **found}


__all__ = ["ComparedOperator", "Culprit", "Run", "Tie", "Verification"]
