"""What an executor is: `run(function, jobs)` yields an `Outcome` for each job, in the order in which they finish.

A job that raises, runs out of time or takes its process down with it fails alone; the others go on. Jobs are taken
from the iterable only as workers become free, so that a caller may decide late what is still worth running. Closing the
iterator (or Ctrl-C) ends the workers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Job = TypeVar("Job")
Returned = TypeVar("Returned")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Job, Returned]):
    """How one job ended: with what its function returned or, if `failure` is not empty, with an error, a crash, ..."""

    job: Job
    returned: Returned | None = None
    failure: str = ""


class Executor(Protocol):
    """Processes that jobs run in. The function must be importable there, jobs and what it returns picklable."""

    def run(self, function: Callable[[Job], Returned], jobs: Iterable[Job]) -> Iterator[Outcome[Job, Returned]]:
        """Runs the function over the jobs."""
