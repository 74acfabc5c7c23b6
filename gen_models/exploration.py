"""Random cases of one operator in one format: drawn, written by Paddle, compared; a failure is shrunk."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
from hypothesis import strategies as st

from gen_models.generate import GenerationError
from gen_models.spec import FORMATS, Case, Op
from gen_models.store import write
from paddle2ov.testing import check_case


@dataclass
class Exploration:
    """What came of it.

    Attributes:
        compared: digests of the cases that Paddle computed and OpenVINO was compared with.
        error: the error of the smallest failing case; None if all agree.
        case: that case; None if the strategy itself failed.
    """

    compared: set[str] = field(default_factory=set)
    error: Exception | None = None
    case: Case | None = None


def formats(op: Op) -> tuple[str, ...]:
    """The formats that the operator has random cases in."""
    if op.random is None:
        return ()
    return tuple(one for one in FORMATS if not op.cases or any(one in case.formats for case in op.cases))


def explore(op: Op, format: str, examples: int, folder: Path, seed: int | None = None) -> Exploration:
    """Draws up to `examples` cases that Paddle accepts, and compares what OpenVINO computes from each.

    Without a seed the cases are always the same. The folder is left behind only when something fails, or when the
    process dies: its `case` is the smallest failing one, its `drawn.txt` the last that was tried.
    """
    found = Exploration()
    assert op.random is not None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

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
    @hypothesis.given(st.composite(op.random)())
    def check(case: Case) -> None:
        if format not in case.formats:
            hypothesis.reject()
        found.case = None
        (folder / "drawn.txt").write_text(repr(case))
        trial = folder / "trial"
        try:
            write(op, case, format, trial)
        except GenerationError as error:
            if isinstance(error.__cause__, NameError | AttributeError | LookupError):
                raise  # the builder's own mistake
            hypothesis.reject()  # Paddle itself refuses it; a strategy that draws nothing else fails
        found.compared.add(case.digest())
        try:
            check_case(trial)
        except Exception:
            shutil.rmtree(folder / "case", ignore_errors=True)
            trial.rename(folder / "case")
            found.case = case
            raise

    try:
        (hypothesis.seed(seed)(check) if seed is not None else check)()
    except Exception as error:
        found.error = error
    else:
        shutil.rmtree(folder)
    return found
