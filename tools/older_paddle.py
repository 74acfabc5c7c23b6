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
from gen_models.harness.spec import Case
from paddle2ov.errors import Paddle2OVError
from paddle2ov.testing import MismatchError, check_case

LIMITS = {
    "digamma": "x=tensor([1], 'float32', values=[-0.0])",
    "elementwise_heaviside": "x=tensor([3, 1], 'float32'), y=tensor([2, 1, 5], 'float32')",
    "elementwise_max_grad": "x=tensor([3], 'float32', values=[1.0, 2.0, 3.0])",
    "elementwise_min_grad": "x=tensor([3], 'float32', values=[1.0, 2.0, 3.0])",
    "elementwise_pow_grad": "x=tensor([3], 'float32', values=[0.0, 0.0, 2.0])",
    "equal": "x=tensor([4], 'complex64', values=[0j, 1e-16j,",
    "gather_grad": "axis=1",
    "logsigmoid": "x=tensor([2, 9], 'complex64'",
    "lstsq": "x=tensor([5, 4], 'float32', values=[[-0.038",
    "matmul_v2": "x=tensor([4, 0], 'float32')",
    "not_equal": "x=tensor([4], 'complex64', values=[0j, 1e-16j,",
    "put_along_axis": "values=tensor([3, 4], 'int64'), axis=1, reduce='mean', include_self=True",
    "reciprocal": "x=tensor([8], 'complex64'",
    "reduce_max_grad": "x=tensor([2, 3], 'float32', values=[[1.0, 3.0, 3.0]",
    "reduce_min_grad": "x=tensor([2, 3], 'float32', values=[[1.0, 3.0, 3.0]",
    "reduce_sum": "x=tensor([0, 3], 'int32'",
}
"""Operator -> what stands in the one case of it that differs, as docs/limits.md says of gradients and of old programs.

Paddle 3.0 also sums int32 without elements in int32, multiplies by nothing without a result, and considers complex
numbers equal that differ by less than 1e-8.
"""


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
                    known = is_limit(op.name, case)
                    print(f"{case.name}{' (a known limit)' if known else ''}: {error}", flush=True)
                    found += [] if known else [case.name]
                    limits += known
                else:
                    agreed += 1
    if not (agreed or found or limits):
        sys.exit(f"nothing was compared: {refusals[0] if refusals else f'no case of PIR is named {pattern}'}")
    print(f"{agreed} cases agree, {len(found)} differ beyond the known limits; that Paddle refuses {len(refusals)}")
    return found


def is_limit(op: str, case: Case) -> bool:
    """Whether `LIMITS` has the case."""
    return op in LIMITS and LIMITS[op] in repr(case)


def _keep(case: Path, folder: Path) -> None:
    """Keeps the program of a case, and in `arrays.npz` its inputs (`input:NAME`) and results (`output:K`)."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(case / "inference.json", folder)
    with np.load(case / "inputs.npz") as inputs, np.load(case / "outputs.npz") as outputs:
        arrays = {f"input:{name}": inputs[name] for name in inputs} | {f"output:{k}": outputs[k] for k in outputs}
    np.savez(folder / "arrays.npz", **arrays)


if __name__ == "__main__":
    main()
