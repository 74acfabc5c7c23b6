"""Write docs/coverage.md: which operators are converted, and in which formats and data types they are tested.

    python -m tools.coverage           # write it
    python -m tools.coverage --check   # exit with 1 if it is stale

Everything in the table comes from the operator table, the signatures and the generator cases.
"""

from __future__ import annotations

import sys

from gen_models import all_ops
from gen_models.harness.spec import FORMATS, Op
from paddle2ov.commands.families import families
from paddle2ov.program.signatures import signature
from paddle2ov.translation.registry import STRUCTURE
from tools.written import ROOT, write_or_check

TARGET = ROOT / "docs" / "coverage.md"

SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}

HEAD = """# Operator coverage

Written by `python -m tools.coverage` from the operator table and the generator cases; CI fails when it is stale.

{count} operators have a converter; {structure} more are part of a program's structure ({names}).
Names are those of legacy programs; PIR's own name stands beside it. *Cases* are run in each of the formats as declared
and in one of them with every dimension dynamic; random cases vary those of *random* operators. *Notes* are
the reasons that cases give for a format, a tolerance or a dynamic shape that is left out.

| operator | PIR | module | formats | types tested | cases | random | notes |
|---|---|---|---|---|---:|---|---|
"""


def main(arguments: list[str]) -> int:
    """Write or check the table."""
    return write_or_check("coverage", {TARGET: table()}, arguments)


def table() -> str:
    """The page."""
    tested = all_ops()
    names = ", ".join(f"`{name}`" for name in STRUCTURE)
    rows = [row(name, module, tested.get(name)) for name, module in sorted(families().items())]
    return HEAD.format(count=len(rows), structure=len(STRUCTURE), names=names) + "\n".join(rows) + "\n"


def row(name: str, module: str, op: Op | None) -> str:
    """The line of one operator."""
    paddle_signature = signature(name)
    pir = paddle_signature.pir_name if paddle_signature is not None and paddle_signature.pir_name else ""
    if op is None:
        return f"| `{name}` | {pir} | {module} | | | 0 | | |"
    formats = ", ".join(format for format in FORMATS if any(format in case.formats for case in op.cases))
    dtypes = sorted({_short(spec.dtype) for case in op.cases for spec in case.tensors().values()})
    reasons = {reason for case in op.cases for reason in (*case.why.split("; "), case.xfail) if reason}
    notes = "; ".join(sorted(reasons))
    random = "yes" if op.is_varied else ""
    notes = notes.replace("|", "\\|").replace("\n", " ")
    return f"| `{name}` | {pir} | {module} | {formats} | {' '.join(dtypes)} | {len(op.cases)} | {random} | {notes} |"


def _short(dtype: str) -> str:
    for word, letter in sorted(SHORT.items(), key=lambda item: -len(item[0])):
        if dtype.startswith(word):
            return letter + dtype.removeprefix(word)
    return dtype


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
