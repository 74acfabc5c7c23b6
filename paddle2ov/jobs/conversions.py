"""One model of a batch: converted, written, compared if asked; what came of it as plain data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from paddle2ov.jobs.executor import Executor
from paddle2ov.jobs.state import State

if TYPE_CHECKING:
    from openvino import Model

Record = dict[str, Any]

GOOD = ("converted", "agrees", "agrees up to ties")
"""States of a model that is done; the others are "differs", "not compared", "refused" and "failed"."""


class _Done(msgspec.Struct):
    """What the record of a model that is done holds; a state file may be of another version."""

    state: str
    message: str
    fingerprint: str
    format: str
    target: str = ""
    seconds: float = 0.0
    nodes: int = 0
    paddle: str = ""
    largest: float | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """What a process needs to know of one model; paths are absolute."""

    name: str
    program: str
    params: str | None
    format: str
    target: str
    fingerprint: str
    fp16: bool = False
    bounded: bool = False
    compare: bool = False
    paddle_python: str | None = None
    extensions: tuple[str, ...] = ()


def convert_one(job: Job) -> Record:
    """Converts a model and writes it. Called in a process of the executor, which may terminate it."""
    from paddle2ov.jobs.termination import terminable

    with terminable():
        return _convert(job)


def _convert(job: Job) -> Record:
    from pathlib import Path

    from paddle2ov.conversion import convert
    from paddle2ov.deployment.saving import save_model
    from paddle2ov.errors import Paddle2OVError

    started = time.perf_counter()
    record: Record = {}
    try:
        _run_once(job.extensions)
        model = convert(job.program, job.params, bounded=job.bounded, share_weights=False)
        save_model(model, Path(job.target), job.fp16)
        record["nodes"] = len(model.get_ops())
    except (Paddle2OVError, OSError) as error:
        return _timed({"state": "refused", "message": str(error)}, started)
    record |= {"state": "converted", "message": "", "target": job.target}
    if job.compare:
        record |= _compared(job, model)
    return _timed(record, started)


@cache
def _run_once(extensions: tuple[str, ...]) -> None:
    from pathlib import Path

    from paddle2ov.translation.extension import run_extensions

    run_extensions(map(Path, extensions))


def _compared(job: Job, model: Model) -> Record:
    from paddle2ov.errors import Paddle2OVError
    from paddle2ov.program.sources import check_unchanged
    from paddle2ov.verification.verify import verify

    try:
        check_unchanged(model)
        found = verify(job.program, job.params, paddle_python=job.paddle_python)
        check_unchanged(model)
    except (Paddle2OVError, OSError) as error:
        return {"state": "not compared", "message": str(error)}
    largest = max((one.relative for run in found.runs for one in run.outputs), default=0.0)
    about = {"paddle": found.paddle, "largest": largest if largest < float("inf") else None}
    if found.ok:
        return {"state": "agrees", **about}
    if found.verdict == "ties":
        message = "; ".join(dict.fromkeys(tie.describe() for run in found.runs for tie in run.ties))
        return {"state": "agrees up to ties", "message": message, **about}
    place = f"; first at {found.culprit.place}" if found.culprit is not None else ""
    return {"state": "differs", "message": f"results differ from Paddle's{place}", **about}


def _timed(record: Record, started: float) -> Record:
    return {**record, "seconds": round(time.perf_counter() - started, 3)}


def run(executor: Executor, jobs: Iterable[Job], state: State, report: Callable[[Job, Record], None]) -> None:
    """Runs the jobs that the state does not hold as done for the model as it is; `report` is told of each that ends."""

    def waiting() -> Iterator[Job]:
        for job in jobs:
            if not is_done(job, state.get(job.name)):
                yield job

    for outcome in executor.run(convert_one, waiting()):
        record = outcome.returned if outcome.returned is not None else {"state": "failed", "message": outcome.failure}
        record = {**record, "fingerprint": outcome.job.fingerprint, "format": outcome.job.format}
        state.put(outcome.job.name, record)
        report(outcome.job, record)


def is_done(job: Job, record: Record | None) -> bool:
    """Whether a record is that of the model as it is now, and its result is still there."""
    from pathlib import Path

    try:
        found = msgspec.convert(record, _Done)
    except msgspec.ValidationError:
        return False
    return found.fingerprint == job.fingerprint and found.state in GOOD and Path(job.target).is_file()
