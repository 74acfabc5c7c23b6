"""One model of a batch: converted, written, compared if asked; the outcome is plain data (a record)."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from paddle2ov.errors import ConversionWarning, ModelReadError, Paddle2OVError, is_refusal, system_message
from paddle2ov.jobs.conversion_request import ConversionRequest
from paddle2ov.jobs.executor import Executor
from paddle2ov.jobs.names import valid
from paddle2ov.jobs.state import State
from paddle2ov.jobs.termination import terminable
from paddle2ov.program.archives import is_archive, unpacked
from paddle2ov.report import ConversionReport

if TYPE_CHECKING:
    from openvino import Model

    from paddle2ov.compilation.precision_names import Precision
    from paddle2ov.verification.results import Verification

log = logging.getLogger("paddle2ov")
Record = dict[str, Any]
GOOD = (
    "converted",
    "agrees",
    "agrees up to ties",
    "agrees up to Paddle's rounding",
    "computed right",
    "computed right up to ties",
)
"""States of a model that is done.

The others are "differs" and "not compared" (with Paddle), "computed wrong" and "not checked" (by this machine's
device), "refused" (OpenVINO cannot express it) and "failed" (it could not be read, written, or done in time).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionJob(ConversionRequest):
    """What a process needs to know of one model; paths are absolute. The program may be an archive."""

    format: str
    target: Path
    fingerprint: str
    compare: bool = False
    paddle_python: str | None = None
    extensions: tuple[Path, ...] = ()
    check: bool = False
    precision: str = "f32"
    tolerance: float | None = None
    report: bool = False

    @property
    def report_path(self) -> Path:
        """Where its report stands: beside the result."""
        return self.target.with_suffix(".html")


def convert_one(job: ConversionJob) -> Record:
    """Converts a model and writes it. Called in a process of the executor, which may terminate it."""
    started = time.perf_counter()
    logged = BufferingHandler(sys.maxsize)  # on the standard error it would be without the model's name
    logged.setLevel(logging.WARNING)
    log.addHandler(logged)
    try:
        with terminable(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConversionWarning)  # also where another model in this process has given it
            record = _convert_packed(job)
    finally:
        log.removeHandler(logged)
    record["seconds"] = round(time.perf_counter() - started, 3)
    given = [str(warning.message) for warning in caught] + [item.getMessage() for item in logged.buffer]
    texts = list(dict.fromkeys(map(valid, given)))
    return {**record, "warnings": texts} if texts else record


def _convert_packed(job: ConversionJob) -> Record:
    """The same for a job whose program may be an archive; messages then name the archive, not where it is unpacked."""
    if not is_archive(job.program):
        return _convert(job)
    try:
        with unpacked(job.program) as folder:
            record = _convert(replace(job, program=folder))
    except (ModelReadError, OSError) as error:
        return _not_done(error)
    return {**record, "message": record["message"].replace(str(folder), str(job.program))}


def _convert(job: ConversionJob) -> Record:
    from paddle2ov.deployment.saving import save_model

    record: Record = {}
    conversion = ConversionReport() if job.report else None
    try:
        _run_once(job.extensions)
        model = job.convert(report=conversion)
        save_model(model, job.target, job.fp16)
        record |= {"nodes": len(model.get_ops()), "bytes": _sizes(job.target)}
    except (Paddle2OVError, OSError) as error:
        record = _not_done(error)
        if job.report and isinstance(error, Paddle2OVError):
            record |= _write_refusal(job, error)
        return record
    record |= {"state": "converted", "message": "", "target": valid(str(job.target))}
    if taken := job.taken_from_settings(model):
        record["settings"] = valid("; ".join(taken))
    verification = None
    if job.compare:
        about, verification = _compare(job, model)
        record |= about
    if job.check and record["state"] in GOOD:
        record |= _check(job, record)
    if conversion is not None:
        record |= _write_report(job, model, conversion, verification)
    return record


def _not_done(error: Exception) -> Record:
    """The record of a model that is not converted: refused, or what could not be read or written."""
    return {"state": "refused" if is_refusal(error) else "failed", "message": system_message(error)}


@cache
def _run_once(extensions: tuple[Path, ...]) -> None:
    from paddle2ov.translation.extension import run_extensions

    run_extensions(extensions)


def _compare(job: ConversionJob, model: Model) -> tuple[Record, Verification | None]:
    from paddle2ov.program.sources import check_unchanged

    try:
        verification = job.verify(
            model,
            precision=job.precision,
            tolerance=job.tolerance,
            operators=job.report,
            paddle_python=job.paddle_python,
        )
        check_unchanged(model)
    except (Paddle2OVError, OSError) as error:
        return {"state": "not compared", "message": system_message(error)}, None
    return _verdict(verification), verification


def _verdict(verification: Verification) -> Record:
    largest = max((output.relative for run in verification.runs for output in run.outputs), default=0.0)
    about = {"paddle": verification.paddle, "largest": largest if largest < float("inf") else None}
    if verification.ok:
        return {"state": "agrees", **about}
    if verification.verdict == "ties":
        message = "; ".join(dict.fromkeys(tie.describe() for run in verification.runs for tie in run.ties))
        return {"state": "agrees up to ties", "message": message, **about}
    if verification.verdict == "rounding":
        message = "; ".join(dict.fromkeys(rounding.place for rounding in verification.rounded))
        return {"state": "agrees up to Paddle's rounding", "message": message, **about}
    if verification.error:
        return {"state": "differs", "message": f"OpenVINO does not run what Paddle runs: {verification.error}", **about}
    place = f"; first at {verification.culprit.place}" if verification.culprit is not None else ""
    return {"state": "differs", "message": f"results differ from Paddle's{place}", **about}


def _write_report(
    job: ConversionJob, model: Model, conversion: ConversionReport, verification: Verification | None
) -> Record:
    """Writes the model's report beside it. A model that cannot be measured is converted all the same."""
    from paddle2ov.reporting import build_report, write_report

    try:
        write_report(build_report(model, conversion, name=job.name, verification=verification), job.report_path)
    except (Paddle2OVError, OSError) as error:
        return {"message": f"no report: {system_message(error)}"}
    return {"report": valid(str(job.report_path))}


def _write_refusal(job: ConversionJob, error: Paddle2OVError) -> Record:
    """Writes what is known of a model that is refused, where it can be read."""
    try:
        job.report_path.unlink(missing_ok=True)
        job.write_refusal([job.report_path], error)
    except OSError as failure:
        return {"message": f"{error}; no report: {system_message(failure)}"}
    return {"report": valid(str(job.report_path))} if job.report_path.is_file() else {}


def _check(job: ConversionJob, record: Record) -> Record:
    """What the device of this machine makes of the model; a comparison with Paddle keeps its state where it can."""
    from paddle2ov.checking.check import check

    try:
        result = check(job.program, job.params, shapes=job.input, precision=cast("Precision", job.precision))
    except (Paddle2OVError, OSError) as error:
        return {"state": "not checked", "message": system_message(error)}
    about = {"device": result.device, "precision": result.precision}
    if result.verdict == "differ":
        return {"state": "computed wrong", "message": "; ".join(fault.describe() for fault in result.faults), **about}
    if record["state"] != "converted":
        return about
    if result.ok and result.verdict == "ties":
        ties = dict.fromkeys(tie.describe() for run in result.runs for tie in run.ties)
        return {"state": "computed right up to ties", "message": "; ".join(ties), **about}
    return {"state": "computed right", **about}


def waiting(jobs: Iterable[ConversionJob], state: State) -> list[ConversionJob]:
    """The jobs that the state does not hold as done for the model as it is."""
    return [job for job in jobs if not is_done(job, state.get(job.name))]


def run(
    executor: Executor, jobs: Iterable[ConversionJob], state: State, report: Callable[[ConversionJob, Record], None]
) -> None:
    """Runs jobs; `report` is told of each that ends."""
    for outcome in executor.run(convert_one, jobs):
        record = dict(outcome.returned or {"state": "failed", "message": outcome.failure})
        record["message"] = valid(record.get("message", ""))  # names of files and variables may hold anything
        record = {**record, "fingerprint": outcome.job.fingerprint, "format": outcome.job.format}
        state.put(outcome.job.name, record)
        report(outcome.job, record)


def is_done(job: ConversionJob, record: object) -> bool:
    """Whether a record is that of the model as it is now, and its files are still there, as large as they were."""
    if not isinstance(record, dict) or record.get("fingerprint") != job.fingerprint or record.get("state") not in GOOD:
        return False
    if job.report and not job.report_path.is_file():
        return False
    try:
        return bool(record.get("bytes") == _sizes(job.target))
    except OSError:
        return False


def _sizes(xml: Path) -> dict[str, int]:
    """The sizes of the files of an IR.

    Raises:
        OSError: one of them is not there.
    """
    return {path.suffix: path.stat().st_size for path in (xml, xml.with_suffix(".bin"))}
