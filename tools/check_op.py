"""Everything that one operator has to pass, in a few minutes: `python -m tools.check_op my_op`, `make check-op OP=...`.

CHECKS is also what `tools.new_op` prints, and CONTRIBUTING.md names each of its files.
"""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gen_models.harness.legacy import legacy_python
from paddle2ov.commands.families import families_of
from paddle2ov.program.signatures import key_of_pir

ROOT = Path(__file__).resolve().parents[1]
NO_TESTS = 5  # pytest's exit status where nothing is selected


@dataclass(frozen=True)
class OperatorCheck:
    """What is checked where.

    Attributes:
        subject: what an operator needs to pass.
        file: the file of the tests, or of the command.
        tests: for tests with parameters, patterns of those of one operator, with `{op}` and `{module}`; none for all.
        lists: what there is to edit, beside the four files that `new_op` writes.
    """

    subject: str
    file: str
    tests: str = ""
    lists: str = ""


CHECKS = (
    OperatorCheck("the declared cases, in both formats", "tests/ops/test_op_fuzzy.py", "testOpFuzzy/{op}_test_*"),
    OperatorCheck("two random cases in each format", "tests/ops/test_op_random.py", "testOpRandom/{op}"),
    OperatorCheck(
        "every attribute and input is read",
        "tests/ops/test_attributes.py",
        "test_what_a_program_carries_is_read?{op}?",
        "INERT_OF there: what has no meaning for the result, and why",
    ),
    OperatorCheck(
        "the docstring of the module names its operators",
        "tests/ops/test_docstrings.py",
        "test_the_docstring_names*?{module}?",
    ),
    OperatorCheck(
        "the row is Paddle's: its headers and its legacy protos",
        "tests/program/test_signatures.py",
        lists="WITHOUT_ACCESSOR, PIR_ONLY_ATTRIBUTES, ... there: what Paddle's headers and protos do not tell; "
        "LEFT_OUT in paddle2ov/translation/unsupported.py: what has no row on purpose",
    ),
    OperatorCheck(
        "the table is sorted, and each operator has cases, or `@by_hand` and a reason",
        "tests/ops/test_op_table.py",
        lists="a trait `by hand: ...` of the row, where there are no cases; a trait `no converter: ...` goes",
    ),
    OperatorCheck(
        "rules for complex numbers are those of operators that exist",
        "tests/ops/test_complex.py",
        lists="converters/complex/rules.py, where the operator takes complex numbers",
    ),
    OperatorCheck(
        "what draws random numbers is suspected last by `verify`",
        "tests/verification/test_verification.py::test_all_operators_that_draw_are_suspected_last",
        lists="the trait `random` of the row, for a module of converters/random",
    ),
    OperatorCheck(
        "the table takes the converter from the module that it names",
        "tests/tools/test_coverage.py::test_every_operator_stands_in_the_module_that_is_named",
    ),
    OperatorCheck("the cases can be stored", "tests/tools/test_gen_models.py::test_every_case_has_a_json_form"),
    OperatorCheck("docs/coverage.md is up to date", "tools/coverage.py"),
)

FURTHER_LISTS = (
    ("sorts or selects", "a trait of its row (paddle2ov/program/traits.py)"),
    ("meant something else to an older Paddle", "a trait of its row, and paddle2ov/program/op_versions.py"),
)
"""Where to enter what no test demands of an operator that ..."""


def commands(op: str, module: str) -> Iterator[list[str]]:
    """What is run for an operator whose converter is in a module."""
    pytest = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    tests = [check for check in CHECKS if check.file.startswith("tests/")]
    patterns = ":".join(test.tests.format(op=op, module=module) for test in tests if test.tests)
    yield [*pytest, *(test.file for test in tests if test.tests), "--every-form", f"--filter={patterns}"]
    yield [*pytest, *(test.file for test in tests if not test.tests)]
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
