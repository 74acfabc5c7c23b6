"""`python -m gen_models 'top_k_v2*' --out DIR`: writes models of operator cases, with inputs and Paddle's outputs."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from gen_models import all_ops
from gen_models.harness.generate import GenerationError
from gen_models.harness.naming import matches
from gen_models.harness.spec import FORMATS, Case
from gen_models.harness.store import worker, write

_MAX_DATA = 40
"""How many characters of data a listed case shows of each argument."""


def main() -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m gen_models", description=__doc__)
    parser.add_argument("filter", nargs="?", default="*", help="cases, as globs: 'top_k_v2*:-*_test_3'")
    parser.add_argument("--out", type=Path, help="the folder to write to: DIR/<format>/<case>/")
    parser.add_argument("--format", choices=(*FORMATS, "both"), default="both")
    parser.add_argument("--list", action="store_true", help="only list the cases")
    parser.add_argument(
        "--rerun", type=Path, metavar="FOLDER", help="convert and compare a case folder that exists, or all in a folder"
    )
    arguments = parser.parse_args()
    if arguments.rerun is not None:
        return _rerun(arguments.rerun)
    formats = FORMATS if arguments.format == "both" else (arguments.format,)
    chosen = [(op, case) for op in all_ops().values() for case in op.cases if matches(case.name, arguments.filter)]
    if not chosen:
        print(f"error: no case matches {arguments.filter!r}, by names such as top_k_v2_test_1", file=sys.stderr)
        return 2
    if arguments.list or arguments.out is None:
        for _, case in chosen:
            print(f"{case.name}: {_on_a_line(case)}")
        return 0 if arguments.list else parser.error("--out is missing")
    failed = 0
    for op, case in chosen:
        for format in formats:
            if format not in case.formats:
                continue
            try:
                print(write(op, case, format, arguments.out / format / case.name))
            except GenerationError as error:
                failed += 1
                print(f"{case.name} ({format}): {error}", file=sys.stderr)
    worker().close()
    return 1 if failed else 0


def _on_a_line(case: Case) -> str:
    """A case as it is written, without data that are many."""
    text = repr(case)
    tensors = [("values", tensor.values) for tensor in case.tensors().values()]
    for name, value in (*tensors, *case.arguments.items()):
        data = repr(value)
        if isinstance(value, list | tuple | np.ndarray) and len(data) > _MAX_DATA and "tensor(" not in data:
            text = text.replace(f"{name}={data}", f"{name}=...")
    return text


def _rerun(folder: Path) -> int:
    from paddle2ov.errors import Paddle2OVError
    from paddle2ov.testing import MismatchError, check_case, check_cases

    several = sorted(path.parent for path in folder.glob("*/case.json"))
    if not several and not (folder / "case.json").is_file():
        print(f"{folder}: not a case folder", file=sys.stderr)
        return 2
    try:
        if several:
            check_cases(several)
        else:
            check_case(folder)
    except (MismatchError, Paddle2OVError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{folder}: OpenVINO computes what Paddle recorded")
    return 0


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered goes nowhere
        status = 141  # as a shell says of what SIGPIPE ends
    sys.exit(status)
