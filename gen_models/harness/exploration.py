"""Random cases of one operator in one format: drawn, written by Paddle, compared; a failure is shrunk."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from gen_models.harness.generate import GenerationError
from gen_models.harness.spec import FORMATS, Case, Op
from gen_models.harness.store import write
from gen_models.harness.variation import varied
from paddle2ov.testing import check_case, check_cases

# Hypothesis also draws numbers that stand in the sources of imported modules. To read all of these takes ten seconds,
# and the cases would depend on what was imported before.
if hasattr(providers, "_get_local_constants"):
    vars(providers)["_get_local_constants"] = lambda: providers._local_constants


class BatchError(Exception):
    """Cases that agree one by one do not agree, or cannot be computed, as parts of one model."""


@dataclass
class Exploration:
    """The outcome of `explore`.

    Attributes:
        compared: digests of the cases that Paddle computed and OpenVINO was compared with.
        error: the error of the smallest failing case, or a `BatchError`; None if all agree.
        case: that case; None if none could be drawn, or if cases fail only together.
    """

    compared: set[str] = field(default_factory=set)
    error: Exception | None = None
    case: Case | None = None


def formats(op: Op) -> tuple[str, ...]:
    """The formats that the operator has random cases in."""
    if not op.is_varied:
        return ()
    return tuple(format_ for format_ in FORMATS if any(format_ in case.formats for case in op.cases))


def explore(op: Op, format: str, examples: int, folder: Path, seed: int | None = None) -> Exploration:
    """Draws up to `examples` cases that Paddle accepts, and compares what OpenVINO computes from each.

    They are compared as parts of one model first and, only if that fails, one by one, which takes ten times as long. A
    failure that no single case reproduces is a `BatchError`. Without a seed the cases are always the same. The folder
    is left behind only when something fails, or when the process dies: its `case` is the smallest failing one, its
    `together` all that were tried together, its `drawn.txt` the last that was tried, or all of those; then the next
    call tries them one by one first.
    """
    died_here = (folder / "drawn.txt").is_file()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    exploration = Exploration() if died_here else _explore_together(op, format, examples, folder, seed)
    if died_here or exploration.error is not None:
        singly = _explore_singly(op, format, examples, folder, seed)
        if singly.error is not None:
            exploration = singly
        elif died_here:  # and nothing dies of a case alone
            exploration = _explore_together(op, format, examples, folder, seed)
    if exploration.error is None:
        shutil.rmtree(folder)
    return exploration


def _explore_together(op: Op, format: str, examples: int, folder: Path, seed: int | None) -> Exploration:
    """All cases as parts of one model. If they fail, which of them does, and its smallest form, is found one by one."""
    cases: dict[str, Case] = {}
    together = folder / "together"

    def write_down(case: Case) -> None:
        _write(op, case, format, together / case.digest())
        cases[case.digest()] = case

    try:
        _draw(op, format, examples, folder, seed, write_down)
        (folder / "drawn.txt").write_text("\n".join(map(repr, cases.values())))
        check_cases(together / digest for digest in cases)
    except Exception as error:
        failure = BatchError(f"{len(cases)} cases agree one by one, but not as parts of one model: {error}")
        failure.__cause__ = error
        return Exploration(set(cases), failure)
    return Exploration(set(cases))


def _explore_singly(op: Op, format: str, examples: int, folder: Path, seed: int | None) -> Exploration:
    exploration = Exploration()

    def check(case: Case) -> None:
        exploration.case = None
        trial = folder / "trial"
        _write(op, case, format, trial)
        exploration.compared.add(case.digest())
        try:
            check_case(trial)
        except Exception:
            shutil.rmtree(folder / "case", ignore_errors=True)
            trial.rename(folder / "case")
            exploration.case = case
            raise

    try:
        _draw(op, format, examples, folder, seed, check)
    except Exception as error:
        exploration.error = error
    return exploration


def _draw(op: Op, format: str, examples: int, folder: Path, seed: int | None, use: Callable[[Case], None]) -> None:
    """Draws cases of the format and uses them; a case whose use raises is drawn again, smaller and smaller."""
    draw_case = varied([case for case in op.cases if format in case.formats])

    @hypothesis.settings(
        max_examples=examples,
        derandomize=seed is None,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
        suppress_health_check=list(hypothesis.HealthCheck),
        print_blob=False,
    )
    @hypothesis.given(st.composite(draw_case)())
    def each(case: Case) -> None:
        (folder / "drawn.txt").write_text(repr(case))
        use(case)

    (hypothesis.seed(seed)(each) if seed is not None else each)()


def _write(op: Op, case: Case, format: str, folder: Path) -> None:
    """Writes the model of a case, or rejects the case if Paddle does: an operator of no other cases fails."""
    try:
        write(op, case, format, folder)
    except GenerationError as error:
        if isinstance(error.__cause__, NameError | AttributeError | KeyError):
            raise  # the builder's own mistake
        hypothesis.reject()
