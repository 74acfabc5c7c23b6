"""Scaffold a new operator: `python -m tools.new_op my_op --family activation` (or `make new-op OP=... FAMILY=...`).

Writes four things, each at its place, and says what to fill in:
    converters/<family>.py           a converter that refuses the operator until it is written
    op_table.py                      the line that registers it
    paddle2ov/program/signatures.py  its row: PIR name, operands, results (an existing row is left as it is)
    gen_models/<family>.py           a builder and a first case
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

TABLE = Path("op_table.py")
SIGNATURES = Path("paddle2ov/program/signatures.py")

CONVERTER_HEADER = '''"""Paddle's {family} operators: {op}.

Semantics: paddle/phi/kernels/cpu/{op}_kernel.cc. Not supported: {op}, until it is written.
"""

from __future__ import annotations

from paddle2ov.translation.node_context import NamedOutputs, NodeContext
'''

CONVERTER = '''

def {function}(node: NodeContext) -> NamedOutputs:
    """out = ... (what the operator computes, in one line)."""
    node.refuse("the converter of {op} is not written yet")
'''

GENERATOR_HEADER = '''"""Cases of Paddle's {family} operators; converters/{family}.py is tested with them."""

from gen_models.harness.spec import Op, case, paddle, tensor

OPS = [
]
'''

BUILDER = """def {builder}(x):
    return paddle.{function}(x)


"""

CASE = '    Op("{op}", {builder}, cases=[case(x=tensor([2, 3])), case(x=tensor([2, 3], dims=[-1, 3]))]),\n'

LINE_LENGTH = 120
ROW = re.compile(r'^ {4}"(?P<key>\w+)": ')


class ScaffoldError(Exception):
    """What stands in the way, in words for the person at the keyboard."""


@dataclass
class Scaffold:
    """One new operator in one tree: all changes are worked out first, and written only if all of them are possible."""

    root: Path
    op: str
    family: str
    changes: dict[Path, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def function(self) -> str:
        """The converter's name: the operator's, unless Python has another use for it."""
        return f"{self.op}_" if keyword.iskeyword(self.op) else self.op

    @property
    def converter_file(self) -> Path:
        """Where the converter goes."""
        return Path("converters", f"{self.family}.py")

    @property
    def generator_file(self) -> Path:
        """Where the cases go."""
        return Path("gen_models", f"{self.family}.py")

    def read(self, path: Path) -> str:
        """The text of a file of the tree, as far as it has been changed here."""
        return self.changes.get(path) or (self.root / path).read_text(encoding="utf-8")

    def plan(self) -> None:
        """Work out all four changes, or raise ScaffoldError."""
        for what, name in (("operator", self.op), ("family", self.family)):
            if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                raise ScaffoldError(f"{what} {name!r}: use Paddle's snake_case name, without a trailing in-place '_'")
        if self.op.endswith("_"):
            raise ScaffoldError(f"operator {self.op!r}: in-place variants resolve by themselves, name {self.op[:-1]!r}")
        if any(row == self.op for row in keys(self.read(TABLE))):
            raise ScaffoldError(f"{self.op} already stands in {TABLE}")
        self.plan_converter()
        self.plan_table()
        self.plan_signature()
        self.plan_generator()

    def plan_converter(self) -> None:
        """A function at the end of the family's module, which is created if need be."""
        names = {"op": self.op, "family": self.family, "function": self.function}
        exists = (self.root / self.converter_file).exists()
        text = self.read(self.converter_file) if exists else CONVERTER_HEADER.format(**names)
        if re.search(rf"^(def {self.function}\(|{self.function}\b.*=)", text, re.MULTILINE):
            raise ScaffoldError(f"{self.converter_file} already has a {self.function}")
        text = extend_import(
            text, "paddle2ov.translation.node_context", ["NamedOutputs", "NodeContext"], self.converter_file
        )
        self.changes[self.converter_file] = text.rstrip("\n") + "\n" + CONVERTER.format(**names)
        self.notes.append(f"{self.converter_file}: write {self.function}()")

    def plan_table(self) -> None:
        """The family's import and the operator's line, both in their sorted places."""
        text = extend_import(self.read(TABLE), "paddle2ov.converters", [self.family], TABLE)
        self.changes[TABLE] = insert_row(text, self.op, f'    "{self.op}": {self.family}.{self.function},\n', TABLE)
        self.notes.append(f"{TABLE}: registered")

    def plan_signature(self) -> None:
        """A row that is to be corrected by hand, unless there is one."""
        text = self.read(SIGNATURES)
        if self.op in keys(text):
            self.notes.append(f"{SIGNATURES}: has a row for {self.op}, left as it is")
            return
        row = f'    "{self.op}": "{self.op}(x) -> (out)",\n'
        self.changes[SIGNATURES] = insert_row(text, self.op, row, SIGNATURES)
        self.notes.append(f"{SIGNATURES}: correct the row (operands in PIR order, legacy names where they differ)")

    def plan_generator(self) -> None:
        """A builder before OPS, an entry at the end of it."""
        exists = (self.root / self.generator_file).exists()
        text = self.read(self.generator_file) if exists else GENERATOR_HEADER.format(family=self.family)
        text = extend_import(text, "gen_models.harness.spec", ["Op", "case", "paddle", "tensor"], self.generator_file)
        start = re.search(r"^OPS\b.*= \[\n?", text, re.MULTILINE)
        end = re.search(r"^\]", text[start.end() :], re.MULTILINE) if start else None
        if not start or not end:
            raise ScaffoldError(f"{self.generator_file} has no list `OPS = [` ... `]` to extend")
        names = {"op": self.op, "function": self.function, "builder": f"_{self.op}"}
        if re.search(rf"^def {names['builder']}\(", text, re.MULTILINE):
            raise ScaffoldError(f"{self.generator_file} already has a builder {names['builder']}")
        close = start.end() + end.start()
        text = text[:close] + CASE.format(**names) + text[close:]
        before = text[: start.start()].rstrip("\n") + "\n\n\n"
        self.changes[self.generator_file] = before + BUILDER.format(**names) + text[start.start() :]
        self.notes.append(f"{self.generator_file}: write {names['builder']}() and its cases")

    def write(self) -> None:
        """Make the planned changes."""
        for path, text in self.changes.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8")


def keys(text: str) -> list[str]:
    """The keys of a table with one `    "key": ...` line per entry."""
    return [found["key"] for line in text.splitlines() if (found := ROW.match(line))]


def extend_import(text: str, module: str, names: list[str], path: Path) -> str:
    """Add names to the line, or the bracketed list, that imports from a module, in ruff's order."""
    found = re.search(rf"^from {re.escape(module)} import (\((?P<many>[^)]*)\)|(?P<few>[^\n(]*))\n", text, re.MULTILINE)
    if not found:
        raise ScaffoldError(f"{path} has no `from {module} import ...` to extend")
    present = {name.strip() for name in (found["many"] or found["few"]).split(",") if name.strip()}
    if present.issuperset(names):
        return text
    merged = sorted(present.union(names), key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    statement = f"from {module} import {', '.join(merged)}\n"
    if found["many"] is not None or len(statement) > LINE_LENGTH + 1:
        statement = f"from {module} import (\n" + "".join(f"    {name},\n" for name in merged) + ")\n"
    return text[: found.start()] + statement + text[found.end() :]


def insert_row(text: str, key: str, row: str, path: Path) -> str:
    """Put a row at its sorted place among the table's rows."""
    lines = text.splitlines(keepends=True)
    rows = [(index, found["key"]) for index, line in enumerate(lines) if (found := ROW.match(line))]
    if not rows:
        raise ScaffoldError(f'{path} has no line like `    "abs": ...` to put {key} beside')
    at = next((index for index, other in rows if other > key), rows[-1][0] + 1)
    return "".join([*lines[:at], row, *lines[at:]])


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, plan, write, and say what is left to do."""
    parser = argparse.ArgumentParser(description="Scaffold a new operator.")
    parser.add_argument("op", help="Paddle's operator name as in its program descriptions: top_k_v2, p_norm, ...")
    parser.add_argument(
        "--family", required=True, help="the module in converters/ and gen_models/: reduction, conv, ..."
    )
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="the repository")
    options = parser.parse_args(arguments)
    scaffold = Scaffold(options.root, options.op, options.family)
    try:
        scaffold.plan()
    except ScaffoldError as error:
        print(f"new_op: {error}", file=sys.stderr)
        return 1
    scaffold.write()
    for note in scaffold.notes:
        print(note)
    print(f"then: make fuzz FILTER='testOp*/{scaffold.op}*', make docs, and a line in CHANGELOG.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
