"""What a conversion did: `convert(..., report=ConversionReport())`, `paddle2ov MODEL --report FILE.json`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle2ov.program.model import Program
    from paddle2ov.program.settings import Settings


@dataclass(slots=True)
class ConversionReport:
    """Filled by `convert`; give it a new one.

        report = ConversionReport()
        model = convert("model", report=report)
        print(report.table())

    Attributes:
        format: "pir" or "legacy".
        operators: the operators of the program, those of branches and loops included.
        nodes: the model's nodes after translation, before the rewrites.
        nodes_after: the model's nodes after the rewrites; with `preprocess`, those of the preprocessing are among them.
        parameters: the program's weights.
        parameter_bytes: their size.
        rewrites: rewrite -> kind -> how often; every rewrite is listed in the order in which they ran.
        match_failures: rewrite -> why it did not apply where its pattern matched -> how often.
        origins: name of a node after the rewrites -> the operators that it comes from, the one that matters most first,
            by their position among all operators of the program, those of a branch or loop after the one that owns
            them; nodes of branches and loops included.
        seconds: stage ("read", "translate", "rewrite", with `preprocess` also "preprocess") -> time, without loading
            the converters, once per process.
        program: what was converted, without its weights, for `paddle2ov.reporting`.
        settings: what the file beside the model says of its inputs, for the same.
    """

    format: str = ""
    operators: int = 0
    nodes: int = 0
    nodes_after: int = 0
    parameters: int = 0
    parameter_bytes: int = 0
    rewrites: dict[str, dict[str, int]] = field(default_factory=dict)
    match_failures: dict[str, dict[str, int]] = field(default_factory=dict)
    origins: dict[str, tuple[int, ...]] = field(default_factory=dict, repr=False)
    seconds: dict[str, float] = field(default_factory=dict)
    program: Program | None = field(default=None, repr=False, compare=False)
    settings: Settings | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON; without the program and its settings."""
        return plain_data(self, "transposes", without=("program", "settings"))

    @property
    def transposes(self) -> dict[str, int]:
        """The program's transposes by category, as OpenCV sorts permutes, and how many were removed.

        The total is that of "identity" (the axes stay in order), "reshape" (no data moves), "2-D" (matrices) and
        "higher" (of a higher rank, or not known). "removed" counts what the conversion got rid of, whatever they were.
        """
        counts = self.rewrites.get("transposes_to_reshapes", {})
        moved, fused = (self.rewrites.get(name, {}) for name in ("move_transposes", "fuse_transposes"))
        gone = [counts.get("removed", 0), self.rewrites.get("absorb_transposes", {}).get("absorbed", 0)]
        gone += [moved.get("transposes before", 0) - moved.get("transposes after", 0)]
        gone += [fused.get("fused", 0), fused.get("cancelled", 0)]
        total = counts.get("total", 0)
        identity, reshape, matrices = (counts.get(kind, 0) for kind in ("removed", "reshape", "2-D"))
        return {
            "total": total,
            "identity": identity,
            "reshape": reshape,
            "2-D": matrices,
            "higher": total - identity - reshape - matrices,
            "removed": sum(gone),
        }

    def transposes_text(self) -> str:
        """The transposes in a line; "" if there are none."""
        counts = self.transposes
        if not counts["total"]:
            return ""
        kinds = "{total} ({identity} identity, {reshape} reduced to reshape, {2-D} to 2-D, {higher} of a higher rank)"
        removed = counts["removed"]
        return f"{kinds.format(**counts)}; {abs(removed)} {'removed' if removed >= 0 else 'added'}"

    def table(self) -> str:
        """A few lines for the terminal: the transposes, what each rewrite did, and why it did not apply elsewhere."""
        lines = [f"{self.operators} operators -> {self.nodes} nodes -> {self.nodes_after} after the rewrites"]
        if text := self.transposes_text():
            lines.append(f"transposes: {text}")
        for name, counts in self.rewrites.items():
            if done := done_text(counts):
                lines.append(f"  {name:28}{done}")
        for name, reasons in self.match_failures.items():
            lines += [f"  {name} left alone {count}: {reason}" for reason, count in reasons.items()]
        lines.append("  ".join(f"{stage} {1e3 * time:.1f} ms" for stage, time in self.seconds.items()))
        return "\n".join(lines)


def done_text(counts: Mapping[str, int]) -> str:
    """What a rewrite did, by kind; "" if that is nothing."""
    return ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)


def jsonable(value: Any) -> Any:
    """Dataclasses (by their own `to_dict`, where they have one), mappings, sequences and paths as JSON has them.

    Infinite numbers and NaN, which JSON has not, are None.
    """
    if hasattr(value, "to_dict"):
        return jsonable(value.to_dict())
    if dataclasses.is_dataclass(value):
        return plain_data(value)
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def plain_data(item: Any, *properties: str, without: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a dataclass but some, and some properties, as JSON has them."""
    names = [own.name for own in dataclasses.fields(item) if own.name not in without]
    return {name: jsonable(getattr(item, name)) for name in (*names, *properties)}


def shapes_text(shapes: Mapping[str, Sequence[int]]) -> str:
    """The shapes of arrays by their names, in a line; "" if there are none."""
    return ", ".join(f"{name} {list(shape)}" for name, shape in shapes.items())


def size_text(count: int) -> str:
    """A number of bytes in words."""
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} KB" if count >= 1000 else f"{count} bytes"
