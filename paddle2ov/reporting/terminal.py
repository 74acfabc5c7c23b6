"""A report as tables for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from paddle2ov.report import ConversionReport
from paddle2ov.reporting.model import FATES, CompiledReport, Report

_MOST_ROWS = 25
_OWN = "(OpenVINO's own)"


def print_report(report: Report, console: Console | None = None) -> None:
    """Prints what the conversion did, what each operator became, and what is fused and slow."""
    console = console or Console()
    conversion, compiled = report.conversion, report.compiled
    for refusal in report.refusals:
        console.print(f"[red]Refused:[/red] {escape(refusal.operator)}: {escape(refusal.reason)}")
    if conversion is not None:
        console.print(_summary(conversion))
        console.print(_transposes(conversion))
        console.print(_rewrites(conversion))
    if compiled is not None:
        console.print(_fates(report))
        console.print(_primitives(report, compiled))
        if compiled.milliseconds is not None:
            console.print(
                f"{compiled.milliseconds:.2f} ms per run on {escape(compiled.device)}, {compiled.threads} thread(s), "
                f"{compiled.precision}, inputs {escape(shapes(compiled))}, with OpenVINO's counters on"
            )
    for note in report.notes:
        console.print(f"[yellow]{escape(note)}[/yellow]")


def shapes(compiled: CompiledReport) -> str:
    """The shapes of the inputs that were measured with, as text."""
    return ", ".join(f"{name} {list(shape)}" for name, shape in compiled.inputs.items()) or "none"


def _summary(conversion: ConversionReport) -> str:
    times = ", ".join(f"{stage} {1e3 * seconds:.1f} ms" for stage, seconds in conversion.seconds.items())
    return (
        f"{conversion.operators} operators, {conversion.parameters} parameters "
        f"({conversion.parameter_bytes / 1e6:.1f} MB) -> {conversion.nodes} nodes -> {conversion.nodes_after} after "
        f"the passes ({times})"
    )


def _table(title: str, columns: Iterable[tuple[str, str]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, justify in columns:
        table.add_column(name, justify="right" if justify == "right" else "left", overflow="fold")
    return table


def _transposes(conversion: ConversionReport) -> Table:
    kinds = {"total": "total", "reshape": "reduced to reshape", "2-D": "reduced to 2-D", "removed": "removed"}
    counts = conversion.transposes
    table = _table("Transposes", [(title, "right") for title in kinds.values()])
    table.add_row(*(str(counts[kind]) for kind in kinds))
    return table


def _rewrites(conversion: ConversionReport) -> Table:
    table = _table("What the passes did", [("pass", "left"), ("changes", "left")])
    for name, counts in conversion.rewrites.items():
        done = ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)
        table.add_row(name, done or "[dim]nothing[/dim]")
    return table


def _fates(report: Report) -> Table:
    counts = Counter(one.fate for one in report.operators)
    table = _table("What became of the operators", [("operators", "right"), ("", "left")])
    for fate, words in FATES.items():
        if counts[fate]:
            table.add_row(str(counts[fate]), words)
    return table


def _primitives(report: Report, compiled: CompiledReport) -> Table:
    """Which operators became which primitive, the slowest first."""
    counts: Counter[tuple[str, str, str]] = Counter()
    times: dict[tuple[str, str, str], float] = {}
    for one in compiled.primitives:
        if one.layer in ("Input", "Output"):
            continue
        names = dict.fromkeys(report.operators[operator].type for operator in one.operators)
        if one.operator is not None:  # the main one first
            names = {report.operators[one.operator].type: None, **names}
        key = " + ".join(names) or _OWN, one.layer, one.kernel
        counts[key] += 1
        times[key] = times.get(key, 0.0) + (one.microseconds or 0.0)
    total = sum(times.values())
    columns = [("operators", "left"), ("primitive", "left"), ("kernel", "left"), ("count", "right")]
    columns += [("µs", "right"), ("share", "right")]
    table = _table("Operators and primitives", columns)
    rows = sorted(counts, key=lambda key: (-times[key], key))
    for key in rows[:_MOST_ROWS]:
        share = f"{100 * times[key] / total:.1f} %" if total else "-"
        table.add_row(*(escape(part) for part in key), str(counts[key]), f"{times[key]:.1f}" if total else "-", share)
    if len(rows) > _MOST_ROWS:
        rest = rows[_MOST_ROWS:]
        time = sum(times[key] for key in rest)
        share = f"{100 * time / total:.1f} %" if total else "-"
        table.add_row(
            f"[dim]{len(rest)} more[/dim]", "", "", str(sum(counts[key] for key in rest)), f"{time:.1f}", share
        )
    return table


__all__ = ["print_report", "shapes"]
