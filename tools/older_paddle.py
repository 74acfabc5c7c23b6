"""Compare what OpenVINO computes of the PIR programs of an older Paddle 3 with what that Paddle computes.

    make older-paddle VERSION=3.0.0
    python -m tools.older_paddle PYTHON                          # the interpreter that has it
    python -m tools.older_paddle PYTHON --filter 'round_test_*'  # some cases only
    python -m tools.older_paddle PYTHON --filter round_test_1 --record tests/data/paddle_3_0

An operator means what it meant to the Paddle that wrote the program (`paddle2ov/program/op_versions.py`). The cases of
`gen_models` are written and run by that Paddle; those that it refuses are counted. Exits with 1 if some differ, but for
what docs/limits.md lists, or if none could be compared.
"""

from __future__ import annotations

import argparse
import fnmatch
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

from gen_models import all_ops
from gen_models.harness.generate import GenerationError
from gen_models.harness.legacy import LegacyWorker
from paddle2ov.errors import Paddle2OVError
from paddle2ov.testing import MismatchError, check_case

LIMITS = frozenset(
    (
        *("digamma_test_9", "elementwise_heaviside_test_6", "elementwise_pow_grad_test_3", "gather_grad_test_2"),
        *("elementwise_max_grad_test_3", "elementwise_min_grad_test_3", "equal_test_21", "not_equal_test_22"),
        *("logsigmoid_test_9", "lstsq_test_3", "matmul_v2_test_27", "put_along_axis_test_25", "reciprocal_test_10"),
        *("reduce_max_grad_test_4", "reduce_min_grad_test_4", "reduce_sum_test_18"),
    )
)
"""Cases of what docs/limits.md says of gradients and of old programs; and Paddle 3.0 sums int32 without elements in
int32, multiplies by nothing without a result, and considers complex numbers equal that differ by less than 1e-8."""


def main() -> None:
    """Runs the cases and prints what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="the interpreter of an environment with another Paddle 3")
    parser.add_argument("--filter", default="*", help="pattern of the cases' names")
    parser.add_argument("--record", type=Path, help="where to keep the programs, with what was given and computed")
    arguments = parser.parse_args()
    sys.exit(1 if differing(arguments.python, arguments.filter, arguments.record) else 0)


def differing(python: str, pattern: str, record: Path | None) -> list[str]:
    """The cases that differ, but for known ones; prints each, and how many there are."""
    found, limits, refusals, agreed = [], 0, [], 0
    worker = LegacyWorker(python)
    for op in all_ops().values():
        for case in op.cases:
            if "pir" not in case.formats or case.xfail or not fnmatch.fnmatch(case.name, pattern):
                continue
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary) / case.name
                try:
                    worker.generate(op.name, op.module, case, folder)
                except GenerationError as error:
                    refusals.append(str(error))
                    continue
                if record is not None:
                    _keep(folder, record / case.name)
                try:
                    check_case(folder, dynamic=False)
                except (MismatchError, Paddle2OVError, RuntimeError) as error:
                    known = case.name in LIMITS
                    print(f"{case.name}{' (a known limit)' if known else ''}: {error}", flush=True)
                    found += [] if known else [case.name]
                    limits += known
                else:
                    agreed += 1
    if not (agreed or found or limits):
        sys.exit(f"nothing was compared: {refusals[0] if refusals else f'no case of PIR is named {pattern}'}")
    print(f"{agreed} cases agree, {len(found)} differ beyond the known limits; that Paddle refuses {len(refusals)}")
    return found


def _keep(case: Path, folder: Path) -> None:
    """Keeps the program of a case, and in `arrays.npz` its inputs (`input:NAME`) and results (`output:K`)."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(case / "inference.json", folder)
    with np.load(case / "inputs.npz") as inputs, np.load(case / "outputs.npz") as outputs:
        arrays = {f"input:{name}": inputs[name] for name in inputs} | {f"output:{k}": outputs[k] for k in outputs}
    np.savez(folder / "arrays.npz", **arrays)


if __name__ == "__main__":
    main()
