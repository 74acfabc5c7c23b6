"""Progress bars on the standard error, by rich, which takes a while to import."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from paddle2ov.progress import rough_time

_MIN_SECONDS, _MIN_SHARE = 5.0, 0.05
"""What has to be done before a bar tells how long the rest takes."""


class _TimeLeft(ProgressColumn):
    """The time that the rest takes at the mean speed so far, roughly.

    rich's own column takes the speed of the last steps, and jumps where steps differ or the machine is busy.
    """

    def render(self, task: Task) -> Text:
        """The time; nothing as long as too little is done."""
        elapsed, rest = task.elapsed or 0.0, task.remaining or 0.0
        if not (task.total and rest) or elapsed < _MIN_SECONDS or task.completed < _MIN_SHARE * task.total:
            return Text("")
        return Text(f"about {rough_time(elapsed / task.completed * rest)} left", "progress.remaining")


def bar_on(console: Console, counts: bool = False, **options: Any) -> Progress:
    """A bar that disappears at its end; `counts` shows how many of how many are done."""
    counted = (MofNCompleteColumn(),) if counts else ()
    columns = (TextColumn("{task.description}"), BarColumn(), *counted, TimeElapsedColumn(), _TimeLeft())
    return Progress(*columns, console=console, transient=True, **options)


class Stages:
    """Shows stages one after the other on a bar; each has a clock of its own. Called as `StageProgress` says."""

    def __init__(self, bar: Progress, start: str) -> None:
        self._bar, self._stage, self._task = bar, start, bar.add_task(start, total=None)

    def __call__(self, what: str, done: int, total: int) -> None:
        """Shows how much of a stage is done; 0 in all is not known."""
        if what != self._stage:
            self._bar.remove_task(self._task)
            self._stage, self._task = what, self._bar.add_task(what, total=total or None)
        self._bar.update(self._task, completed=done, total=total or None)
