"""Everything that one operator has to pass, in a few minutes: `python -m tools.check_op my_op`, `make check-op OP=...`.

CONTRIBUTING.md says of each test what it checks, and which lists it reads.
"""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gen_models.harness.legacy import legacy_python
from paddle2ov.commands.families import families_of
from paddle2ov.program.signatures import key_of_pir

ROOT = Path(__file__).resolve().parents[1]
NO_TESTS = 5  # pytest's exit status where nothing is selected


OF_ONE_OPERATOR = {
    "tests/ops/test_op_fuzzy.py": "testOpFuzzy/{op}_test_*",
    "tests/ops/test_op_random.py": "testOpRandom/{op}",
    "tests/ops/test_attributes.py": "test_what_a_program_carries_is_read?{op}?",
    "tests/ops/test_docstrings.py": "test_the_docstring_names*?{module}?",
}
"""File of tests -> pattern of those of one operator."""

OF_ALL_OPERATORS = (
    "tests/program/test_signatures.py",
    "tests/ops/test_op_table.py",
    "tests/ops/test_complex.py",
    "tests/translation/test_attribute_defaults.py",
    "tests/verification/test_verification.py::test_all_operators_that_draw_are_suspected_last",
    "tests/tools/test_coverage.py::test_every_operator_stands_in_the_module_that_is_named",
    "tests/tools/test_gen_models.py::test_every_case_has_a_json_form",
)


def commands(op: str, module: str) -> Iterator[list[str]]:
    """What is run for an operator whose converter is in a module."""
    pytest = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    patterns = ":".join(OF_ONE_OPERATOR.values()).format(op=op, module=module)
    yield [*pytest, *OF_ONE_OPERATOR, "--every-form", f"--filter={patterns}"]
    yield [*pytest, *OF_ALL_OPERATORS]
    yield [sys.executable, "-m", "tools.coverage", "--check"]
    ruff = str(Path(sys.executable).with_name("ruff"))
    yield [ruff, "format", "--check", "."]
    yield [ruff, "check", "."]
    yield [sys.executable, "-m", "tools.typecheck"]


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def main(arguments: list[str] | None = None) -> int:
    """Runs all of them, several at a time; 1 if any fails."""
    parser = argparse.ArgumentParser(description="Run what one operator has to pass.")
    parser.add_argument("op", help="the operator's name in op_table.py")
    op = parser.parse_args(arguments).op
    table = families_of((ROOT / "op_table.py").read_text(encoding="utf-8"))
    module = table.get(op)
    if module is None:
        key = key_of_pir(op)
        close = [key] if key in table else difflib.get_close_matches(op, table)
        hint = f": did you mean {', '.join(close)}?" if close else ""
        print(f"check_op: op_table.py has no {op}{hint}", file=sys.stderr)
        return 1
    failed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(_run, commands(op, module)):
            shown = " ".join([Path(done.args[0]).name, *done.args[1:]])
            print(f"\n$ {shown}\n{done.stdout}", end="", flush=True)
            if done.returncode not in (0, NO_TESTS):
                failed.append(shown)
    print("\n" + ("\n".join(["Failed:", *failed]) if failed else f"{op} passes."))
    if legacy_python() is None:
        print(
            "NOT RUN: everything in the legacy format, as there is no Python with Paddle 2 (`make venv-legacy` makes "
            "one; PADDLE2OV_LEGACY_PYTHON names another)."
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
