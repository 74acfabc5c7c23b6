"""What `verify` found, as typed results."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from paddle2ov.comparison.differences import TensorComparison
from paddle2ov.report import jsonable
from paddle2ov.verification.judgement import Float64Comparison
from paddle2ov.verification.ties import Tie

Verdict = Literal["agree", "ties", "rounding", "differ", "unknown"]
_WORDS = {
    "agree": "agrees",
    "differ": "differs",
    "unknown": "not known",
    "ties": "agrees up to ties",
    "rounding": "agrees up to Paddle's rounding",
}


@dataclass(frozen=True, slots=True)
class Run:
    """One set of inputs.

    Attributes:
        inputs: the shapes by the inputs' names.
        outputs: the results, compared.
        refused: why Paddle did not take these inputs; "" if it did.
        error: why OpenVINO did not run them, in its own words; "" if it did. The results then differ.
        ties: the sorts and selections that decided otherwise between equal scores, where the results differ.
        explained: whether these ties are all that differs.
        float64: where the results differ, how far both are from what Paddle computes in float64; text: why that is not
            known.
        rounding: whether all that differs is Paddle's rounding.
    """

    inputs: dict[str, tuple[int, ...]]
    outputs: tuple[TensorComparison, ...] = ()
    refused: str = ""
    ties: tuple[Tie, ...] = ()
    explained: bool = False
    float64: tuple[Float64Comparison, ...] | str = ""
    rounding: bool = False
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether no result differs."""
        return not self.error and all(output.ok for output in self.outputs)

    @property
    def verdict(self) -> Literal["agree", "ties", "rounding", "differ"]:
        """What was found of these inputs, see `Verification.verdict`."""
        if self.error:
            return "differ"
        if self.ok:
            return "agree"
        return "ties" if self.explained else "rounding" if self.rounding else "differ"


@dataclass(frozen=True, slots=True)
class ComparedOperator:
    """An operator of the main block: its type, its place, its results compared, and whether its inputs agree.

    With `verify(operators=True)` the results are those in the whole model, else those of the operator alone, on what it
    read in Paddle.
    """

    type: str
    index: int
    place: str
    outputs: tuple[TensorComparison, ...]
    inputs_agree: bool

    @property
    def error(self) -> float:
        """The largest relative difference of its results."""
        return max((output.relative for output in self.outputs), default=0.0)


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
        within: the `if` and `while` that it is in, outermost first, with the first iteration of a loop that differs.
        case: the folder with its inputs and results, see `verify(case=...)`.
        float64: how far its results alone are from what Paddle computes in float64 from the same inputs; text: why that
            is not known.
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
    float64: tuple[Float64Comparison, ...] | str = ""


@dataclass(frozen=True, slots=True)
class Rounded:
    """An operator that differs from Paddle by Paddle's rounding, alone and on Paddle's own inputs.

    Attributes:
        type: the operator's type.
        index: its position in its block.
        block: its block.
        place: the same in words.
        float64: how far both are from what Paddle computes in float64.
    """

    type: str
    index: int
    block: int
    place: str
    float64: tuple[Float64Comparison, ...]


@dataclass(frozen=True, slots=True)
class ComparedPrecision:
    """A precision beside Paddle.

    Attributes:
        name: "f32", "bf16", "f16", or "int8" for a quantized model.
        verdict: what was found of all sets of inputs, see `Verification.verdict`.
        agreement: with Paddle's results, in the table's measure; 1 where they mean the same.
        largest: the largest difference, relative to the largest value of a result; infinite where there is a `reason`.
        reason: why a result has no distances from Paddle's, such as another shape; "" where all have.
        milliseconds: processor time of one run on the first set of inputs, on one thread.
        times: how many times as fast as float32.
    """

    name: str
    verdict: Verdict
    agreement: float
    largest: float
    milliseconds: float = 0.0
    times: float = 1.0
    reason: str = ""

    @property
    def cells(self) -> tuple[str, str, str, str, str, str]:
        """The row of a table: name, times as fast, ms, agreement, largest difference, and what was found."""
        figures = f"{self.times:.2f}", f"{self.milliseconds:.3f}", f"{self.agreement:.2%}"
        largest = "-" if self.reason else f"{self.largest:.2g}"
        return self.name, *figures, largest, ": ".join(filter(None, (_WORDS[self.verdict], self.reason)))


@dataclass(frozen=True, slots=True)
class PrecisionTable:
    """Accuracy and speed of the precisions of this processor, side by side.

    Attributes:
        measure: what agreement is measured in: "labels", "text", "regions", "boxes" or "results".
        meaning: the same in words.
        rows: the precisions, float32 first.
        missing: others, and why they are not there.
        advice: what to choose, and why.
    """

    measure: str
    meaning: str
    rows: tuple[ComparedPrecision, ...]
    missing: dict[str, str]
    advice: str


@dataclass(slots=True)
class Verification:
    """What `verify` found.

    Attributes:
        model: the program's file, or the archive that it is in.
        format: "pir" or "legacy".
        paddle: Paddle's version.
        openvino: OpenVINO's version.
        tolerance: of floats, relative to the largest value of each result.
        precision: what OpenVINO computed in: "f32", "bf16" or "f16". Paddle computes in float32.
        runs: every set of inputs.
        operators: the operators that were compared, in program order; empty where nothing was looked for.
        culprit: the operator at fault, where one was found.
        rounded: the operators that differ by Paddle's rounding, as far as they were looked for.
        precisions: each precision of this processor beside Paddle, where they were asked for.
        note: what else is to be said about the difference.
        unfinished: what was being done when the time was up, or at Ctrl-C; "" where it was finished.
        is_all_run: whether all sets of inputs were run.
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
    rounded: list[Rounded] = field(default_factory=list)
    precisions: PrecisionTable | None = None
    note: str = ""
    unfinished: str = ""
    is_all_run: bool = False

    @property
    def ok(self) -> bool:
        """Whether the model computes the same in both, on all inputs that Paddle takes."""
        return self.verdict == "agree"

    @property
    def verdict(self) -> Verdict:
        """What was found.

        - "agree": the results do;
        - "ties": only the choice between entries with equal scores differs, see `ties.py`;
        - "rounding": what differs besides is Paddle's rounding, see `judgement.py`;
        - "differ": the results do, or OpenVINO does not run what Paddle runs, see `error`;
        - "unknown": they agree as far as they were compared, if at all, and the time was up.
        """
        verdicts = {run.verdict for run in self.runs}
        if "differ" in verdicts:
            return "differ"
        if self.unfinished and (not verdicts or not self.is_all_run):
            return "unknown"
        return next((name for name in ("rounding", "ties") if name in verdicts), "agree")

    @property
    def is_compared(self) -> bool:
        """Whether any results were compared: Paddle took a set of inputs before the time was up."""
        return any(not run.refused for run in self.runs)

    @property
    def error(self) -> str:
        """Why OpenVINO does not run inputs that Paddle runs, of the first such; "" where it runs all."""
        return next((run.error for run in self.runs if run.error), "")

    def add_note(self, text: str) -> None:
        """Adds a remark on the difference."""
        self.note = f"{self.note}. {text}" if self.note else text

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON; infinite differences are null."""
        data: dict[str, Any] = jsonable(dataclasses.asdict(self))
        return {"ok": self.ok, "verdict": self.verdict, "error": self.error, **data}
