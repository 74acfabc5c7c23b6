"""A report as tables for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from paddle2ov.report import ConversionReport, done_text, shapes_text, size_text
from paddle2ov.reporting.contents import FATES, CompiledReport, Report
from paddle2ov.reporting.meanings import meanings
from paddle2ov.verification.results import PrecisionTable
from paddle2ov.workarounds.table import WORKAROUNDS

_MAX_ROWS = 15
_GAP = 2
_SHORTEST = 8
"""Characters that are at least shown of a kernel's name."""
_OWN = "(OpenVINO's own)"
_REWRITTEN = "Rewritten by"
_WORKED_AROUND = "Faults of OpenVINO that were worked around (--without NAME leaves one out)"


class _Terminal(Console):
    """A console whose reader may go (`| head`): rich exits with 1 then, which is a verdict on the model here."""

    def on_broken_pipe(self) -> None:
        """Leaves the exit status to the command."""
        raise BrokenPipeError


def print_report(report: Report, console: Console | None = None) -> None:
    """Prints what the conversion did, what became of the operators, and which primitives are fused and slow."""
    console = console or _Terminal()
    # Names may be of any length and hold anything; rich's highlighter takes time quadratic in that of a word.
    show = partial(console.print, highlight=False, emoji=False)
    conversion, compiled = report.conversion, report.compiled
    for refusal in report.refusals:
        show(f"[red]Refused:[/red] {escape(str(refusal))}")
    if conversion is not None:
        show(_summary(conversion))
        if text := conversion.transposes_text():
            show(f"[bold]Transposes[/bold]: {text}")
        for line in _rewrites(conversion):
            show(line)
    if compiled is not None:
        counts = Counter(operator.fate for operator in report.operators)
        show("[bold]What became of the operators[/bold]")
        for fate in filter(counts.__getitem__, FATES):
            show(f"    {FATES[fate]}: {counts[fate]}")
        show(_primitives(report, compiled, console.width))
        for line in _layers(compiled):
            show(line)
        if compiled.milliseconds is not None:
            inputs = escape(shapes_text(compiled.inputs) or "none")
            show(
                f"{compiled.milliseconds:.2f} ms per run on {escape(compiled.device)}, {compiled.threads} thread(s), "
                f"{compiled.precision}, inputs {inputs}, with OpenVINO's counters on"
            )
    if report.verification is not None:
        verification = report.verification
        precision, tolerance = verification.precision, verification.tolerance
        show(f"Compared with Paddle {escape(verification.paddle)} in {precision}, tolerance {tolerance:g}")
        if verification.precisions is not None:
            show(_precisions(verification.precisions))
            show(f"{escape(verification.precisions.advice)}.")
    for note in report.notes:
        show(f"[yellow]{escape(note)}[/yellow]")


def _layers(compiled: CompiledReport) -> Iterator[str]:
    """What the layers of a quantized model run in."""
    if compiled.layers:
        floats = [layer for layer in compiled.layers if layer.why_float]
        yield f"{len(compiled.layers) - len(floats)} of {len(compiled.layers)} layers run in integers"
        for layer in floats:
            yield f"  {escape(layer.name)} ({layer.kind}) in {layer.precision}: {layer.why_float}"


def _precisions(precisions: PrecisionTable) -> Table:
    """Accuracy and speed of each precision."""
    table = Table("precision", box=None)
    for heading in ("times as fast", "ms", "agreement", "largest difference"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for row in precisions.rows:
        table.add_row(*map(escape, row.cells))
    return table


def _summary(conversion: ConversionReport) -> str:
    times = ", ".join(f"{stage} {1e3 * time:.1f} ms" for stage, time in conversion.seconds.items())
    return (
        f"{conversion.operators} operators, {conversion.parameters} parameters "
        f"({size_text(conversion.parameter_bytes)}) -> {conversion.nodes} nodes -> {conversion.nodes_after} after "
        f"the rewrites ({times})"
    )


def _rewrites(conversion: ConversionReport) -> Iterator[str | Padding]:
    """What the rewrites did; the transposes come before, and what was left alone is on the page."""
    texts, workarounds = meanings(conversion), {row.name for row in WORKAROUNDS}
    done = {name: done_text(counts) for name, counts in conversion.rewrites.items() if name != "transposes_to_reshapes"}
    done = {name: text for name, text in done.items() if text}
    for heading, of_workarounds in ((_REWRITTEN, False), (_WORKED_AROUND, True)):
        names = [name for name in done if (name in workarounds) == of_workarounds]
        if names:
            yield f"[bold]{heading}[/bold]"
        for name in names:
            yield f"  {name}: {done[name]}"
            yield Padding.indent(escape(texts[name]), 4)


def _primitives(report: Report, compiled: CompiledReport, width: int) -> Table:
    """Which operators became which primitive, the slowest first."""
    counts: Counter[tuple[str, str, str]] = Counter()
    times: dict[tuple[str, str, str], float] = {}
    for primitive in compiled.primitives:
        if primitive.layer in ("Input", "Output"):
            continue
        names = dict.fromkeys(report.operators[operator].type for operator in primitive.operators)
        if primitive.operator is not None:  # the main one first
            names = {report.operators[primitive.operator].type: None, **names}
        key = " + ".join(names) or _OWN, primitive.layer, primitive.kernel
        counts[key] += 1
        times[key] = times.get(key, 0.0) + (primitive.microseconds or 0.0)
    total = sum(times.values())
    rows = sorted(counts, key=lambda key: (-times[key], key))
    cells = [(*key, *_numbers(counts[key], times[key], total)) for key in rows[:_MAX_ROWS]]
    if rest := rows[_MAX_ROWS:]:
        numbers = _numbers(sum(counts[key] for key in rest), sum(times[key] for key in rest), total)
        cells.append((f"{len(rest)} more", "", "", *numbers))
    # Names are not broken: where there is no room, chains of them take several lines, and kernels are cut off.
    longest = max((len(word) for row in cells for word in row[0].split()), default=0)
    heads = ("operators", "primitive", "kernel", "count", "µs", "share")
    widths = [max((len(head), *(len(row[i]) for row in cells))) for i, head in enumerate(heads)]
    room = max(_SHORTEST, width - longest - sum(widths[i] + _GAP for i in (1, 3, 4, 5)) - _GAP)
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    for i, head in enumerate(heads):
        justify: Literal["left", "right"] = "right" if i > 2 else "left"
        table.add_column(head, justify=justify, no_wrap=i > 0, min_width=longest if i == 0 else None)
    for name, layer, kernel, *rest_of_row in cells:
        cut = kernel if len(kernel) <= room else f"{kernel[: room - 1]}…"
        table.add_row(*(escape(part) for part in (name, layer, cut, *rest_of_row)))
    return table


def _numbers(count: int, time: float, total: float) -> tuple[str, str, str]:
    return (str(count), f"{time:.1f}", f"{100 * time / total:.1f} %") if total else (str(count), "-", "-")
