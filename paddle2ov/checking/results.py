"""What `check` found, as typed results."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from paddle2ov.checking.choices import NodeTie
from paddle2ov.comparison.rounding import Difference
from paddle2ov.report import jsonable


@dataclass(frozen=True, slots=True)
class CheckedResult(Difference):
    """One result of one run, with what its differences come to.

    Attributes:
        name: the result's name.
        dtype: its element type.
        drawn: whether it depends on random numbers, and was not compared.
    """

    name: str = ""
    dtype: str = ""
    drawn: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """One of the runs that a request did one after the other.

    Attributes:
        request: which request; each is of a model that is compiled anew.
        inputs: the shapes by the inputs' names.
        outputs: the results, compared.
        refused: why the model cannot be computed for these inputs; "" if it can.
        error: the device's message, where the device cannot compute what the graph says.
        ties: the nodes that chose otherwise between nearly equal numbers, if that is all that differs.
    """

    request: int
    inputs: dict[str, tuple[int, ...]]
    outputs: tuple[CheckedResult, ...] = ()
    refused: str = ""
    error: str = ""
    ties: tuple[NodeTie, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.reason

    @property
    def wrong(self) -> tuple[int, ...]:
        """The results that are wrong, by their position."""
        return tuple(i for i, output in enumerate(self.outputs) if not output.ok)

    @property
    def reason(self) -> str:
        """What is wrong first, in words; "" if nothing."""
        return next(filter(None, (self.error, *(output.reason for output in self.outputs))), "")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong.

    Attributes:
        kind: "device" where the device does not compute the graph, "rewrite" where a rewrite of the conversion has
            changed what the graph computes.
        name: the first node of the smallest part that is wrong, as "Type 'name'"; or the rewrite.
        nodes: the nodes of that part, in order.
        primitives: what the device made of it: "type kernel: nodes".
        shapes: the shapes of the part's inputs, run by run.
        reason: what is wrong with the part's result, or the device's message.
        references: how its nodes were computed for comparison, as "Type: way".
        case: the folder with the part as IR, its inputs, what it should compute and a script, see `check(case=...)`.
    """

    kind: Literal["device", "rewrite"]
    name: str
    reason: str
    nodes: tuple[str, ...] = ()
    primitives: tuple[str, ...] = ()
    shapes: tuple[tuple[tuple[int, ...], ...], ...] = ()
    references: tuple[str, ...] = ()
    case: Path | None = None

    def describe(self) -> str:
        """In words."""
        if self.kind == "rewrite":
            return f"the rewrite {self.name} changes what the graph computes: {self.reason}"
        return f"the device computes {', '.join(self.nodes) or self.name} wrongly: {self.reason}"


@dataclass(slots=True)
class Check:
    """What `check` found.

    Attributes:
        model: the model's file, or its name.
        device: the device.
        precision: what it computes in.
        default_precision: what it computes in unless told otherwise.
        openvino: OpenVINO's version.
        runs: the runs of each request, in order.
        faults: what is wrong.
        references: how nodes were computed for comparison ("float64", "evaluate", "alone") -> type -> how many. These
            are those before the rewrites; constants are not computed.
        note: what else is to be said.
        is_converted: whether it is a Paddle model; else there are no rewrites.
    """

    model: str
    device: str
    precision: str
    default_precision: str
    openvino: str
    runs: list[CheckedRun] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    references: dict[str, dict[str, int]] = field(default_factory=dict)
    note: str = ""
    is_converted: bool = False

    @property
    def ok(self) -> bool:
        """Whether the device computes what the graph says, in all runs."""
        return not self.faults and all(run.ok for run in self.runs)

    @property
    def verdict(self) -> Literal["agree", "ties", "differ"]:
        """What was found: "ties" where nothing differs but choices between nearly equal numbers."""
        if not self.ok:
            return "differ"
        return "ties" if any(run.ties for run in self.runs) else "agree"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON; infinite differences are null."""
        data: dict[str, Any] = jsonable(dataclasses.asdict(self))
        return {"ok": self.ok, "verdict": self.verdict, **data}
