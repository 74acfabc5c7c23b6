"""Scaffold a new operator: `python -m tools.new_op my_op --family activation` (or `make new-op OP=... FAMILY=...`).

The family is a module of converters/: `activation`, or in one of its folders `resize/interpolation`, for which
`interpolation` will do where no other module is called so; `--new-family` makes one. Writes four things, each at its
place, and says what to fill in:
    converters/<family>.py           a converter that refuses the operator until it is written
    op_table.py                      the line that registers it
    paddle2ov/program/signatures.py  its row: PIR name, operands, results (an existing one is kept)
    gen_models/<module>.py           a first case, where the cases of the family's other operators are

Operands and results are those of the signature row. Most of Paddle's operators have one; `--row` (`ROW=...`) gives that
of another: `--row 'my_op(x, y) -> (out)'`. An operator that means the same as one that converts is another spelling of
it: `--spelling-of OP`, instead of the family, registers OP's converter, and takes the operands of OP's row.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import keyword
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from paddle2ov.commands.families import PACKAGE, families_of, imported_modules
from paddle2ov.program.signatures import ROWS, Signature, key_of_pir, parse_signature
from paddle2ov.translation.extension import SIGNATURE
from paddle2ov.translation.registry import STRUCTURE
from paddle2ov.translation.unsupported import NOT_YET, UNKNOWN, reason

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path("op_table.py")
SIGNATURES = Path("paddle2ov/program/signatures.py")
UNSUPPORTED = Path("paddle2ov/translation/unsupported.py")
CONTROL_FLOW = Path("paddle2ov/translation/control_flow")

CONVERTER_HEADER = '''"""Paddle's {family} operators.

Paddle: `{op}`.
Semantics: `paddle/phi/kernels/cpu/{op}_kernel.cc`.
Not supported: anything, until it is written.
"""

'''

CONVERTER = '''

def {function}(node: NodeContext) -> NamedOutputs:
    """{meaning}."""
    node.refuse("the converter of {op} is not written yet")
'''

GENERATOR_HEADER = '''"""Cases of Paddle's {family} operators; converters/{family}.py is tested with them."""

OPS = [
]
'''

FIRST_TENSORS = ("tensor([2, 3])", "tensor([2, 3], dims=[-1, 3])")
"""Each operand in the first cases: as declared, and with a dynamic dimension."""

PUBLIC = ("", "nn.functional", "linalg", "fft", "signal", "geometric", "vision.ops", "incubate.nn.functional")
"""The modules of Paddle whose functions append operators to a program."""

NAME = r"[a-z][a-z0-9_]*"
ROW = re.compile(r'^ {4}"(?P<key>\w+)": ')


class ScaffoldError(Exception):
    """Why an operator cannot be scaffolded; the message is shown to the user."""


@dataclass
class Scaffold:
    """One new operator in one tree: all changes are worked out first, and written only if all of them are possible."""

    root: Path
    op: str
    family: str
    new_family: bool = False
    row: str = ""
    spelling_of: str = ""
    changes: dict[Path, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def function(self) -> str:
        """The converter's name: the operator's, unless Python has another use for it."""
        return f"{self.op}_" if keyword.iskeyword(self.op) else self.op

    @property
    def module(self) -> str:
        """The module's own name."""
        return self.family.rpartition("/")[2]

    @property
    def converter_file(self) -> Path:
        """Where the converter goes."""
        return Path("converters", f"{self.family}.py")

    @property
    def generator_file(self) -> Path:
        """Where the cases go: to most of those of the family's operators, else to a module of the family's name."""
        members = [
            op for op, family in families_of((self.root / TABLE).read_text("utf-8")).items() if family == self.family
        ]
        counts = {
            path: _held(path.read_text("utf-8"), members) for path in sorted((self.root / "gen_models").glob("*.py"))
        }
        if any(counts.values()):
            return max(counts, key=lambda path: counts[path]).relative_to(self.root)
        is_alone = self.module == self.family or not (self.root / "converters" / f"{self.module}.py").exists()
        return Path("gen_models", f"{self.module if is_alone else self.family.replace('/', '_')}.py")

    def check_name(self) -> None:
        """Refuses an operator that is there under this name or another; notes what is known of one that is not."""
        table = self.read(TABLE)
        if self.op in keys(table):
            raise ScaffoldError(f"{self.op} already stands in {TABLE}")
        if self.op in STRUCTURE:
            raise ScaffoldError(
                f"{self.op} is part of a program's structure, which the readers and {CONTROL_FLOW} handle; "
                "it has no converter"
            )
        key = key_of_pir(self.op)
        if key is not None and key != self.op:
            if self.op not in ROWS:
                there = (
                    f", which {TABLE} has ({families_of(table)[key]})"
                    if key in keys(table)
                    else f": make new-op OP={key}"
                )
                raise ScaffoldError(f"{self.op} is PIR's name of {key}{there}")
            self.notes.append(f"{self.op} is the legacy operator; what PIR calls {self.op} is {key} here")
        why = reason(self.op)
        if why == UNKNOWN and not self.row:
            close = difflib.get_close_matches(self.op, ROWS)
            hint = f" (did you mean {', '.join(close)}?)" if close else ""
            self.notes.append(f"{SIGNATURES}: knows no {self.op}{hint}; where PIR has none, its row begins with `-`")
        elif why not in (NOT_YET, UNKNOWN):
            if self.op in ROWS:
                self.notes.append(f"{SIGNATURES}: its row loses the trait that says why it had no converter: {why}")
            else:
                self.notes.append(f"{UNSUPPORTED}: take it out of LEFT_OUT, which says why it has no converter: {why}")

    def find_family(self) -> None:
        """Completes a family that is a module in a folder, takes another spelling's; refuses one that there is not."""
        table = self.read(TABLE)
        if self.spelling_of:
            families = families_of(table)
            if self.spelling_of not in families:
                raise ScaffoldError(f"{TABLE} has no {self.spelling_of}, which {self.op} is to be another spelling of")
            self.family = families[self.spelling_of]
        known = self.modules()
        folders = sorted({folder for family in known if (folder := family.rpartition("/")[0])})
        matches = [family for family in known if f"/{family}".endswith(f"/{self.family}")]
        if self.family in folders:
            inside = ", ".join(family for family in known if family.startswith(f"{self.family}/"))
            raise ScaffoldError(f"family {self.family!r} is a folder: name a module in it, as {inside}")
        if "/" in self.family and self.family.rpartition("/")[0] not in folders:
            there = ", ".join(folders) or "none"
            raise ScaffoldError(f"family {self.family!r}: the folders of converters/ with operators are {there}")
        if self.family not in known and len(matches) > 1:
            raise ScaffoldError(f"family {self.family!r} is several modules: name one of {', '.join(matches)}")
        if not matches:
            self.refuse_unknown_family(known)
        elif self.family not in known:
            (self.family,) = matches

    def modules(self) -> list[str]:
        """The modules that the table takes converters from, and those beside them."""
        known = set(imported_modules(self.read(TABLE)).values())
        if not known:
            raise ScaffoldError(f"{TABLE} has no `from {PACKAGE} import ...` to extend")
        for folder in {family.rpartition("/")[0] for family in known}:
            known |= {
                f"{folder}/{path.stem}".strip("/") for path in (self.root / "converters" / folder).glob("[a-z]*.py")
            }
        return sorted(known)

    def refuse_unknown_family(self, known: list[str]) -> None:
        """Refuses a family that there is not, unless a new one is asked for."""
        if self.new_family:
            self.notes.append(f"{self.converter_file}: a new family")
            return
        names = {name: family for family in known for name in (family, family.rpartition("/")[2])}
        close = sorted({names[match] for match in difflib.get_close_matches(self.family, names, cutoff=0.8)})
        hint = f"did you mean {', '.join(close)}?" if close else f"there are {', '.join(sorted(known))}."
        raise ScaffoldError(f"no family {self.family!r}: {hint} For a new one: NEW_FAMILY=1 (--new-family)")

    def read(self, path: Path) -> str:
        """The text of a file of the tree, as far as it has been changed here."""
        return self.changes.get(path) or (self.root / path).read_text(encoding="utf-8")

    def plan(self) -> None:
        """Work out all four changes, or raise ScaffoldError."""
        for what, name, pattern in (("operator", self.op, NAME), ("family", self.family, f"({NAME}/)?{NAME}")):
            if what == "family" and self.spelling_of:
                continue
            if not re.fullmatch(pattern, name):
                raise ScaffoldError(f"{what} {name!r}: use Paddle's snake_case name, without a trailing in-place '_'")
        if self.op.endswith("_"):
            raise ScaffoldError(f"operator {self.op!r}: in-place variants resolve by themselves, name {self.op[:-1]!r}")
        self.check_name()
        self.find_family()
        signature = self.plan_signature()
        self.plan_converter(signature)
        self.plan_table()
        self.plan_generator(signature)

    def plan_converter(self, signature: Signature) -> None:
        """A function at the end of the family's module, which is created if need be."""
        names = {
            "op": self.op,
            "family": self.family,
            "function": self.function,
            "meaning": f"{next(iter(signature.results), 'out')} = ... (what the operator computes, in one line)",
        }
        exists = (self.root / self.converter_file).exists()
        text = self.read(self.converter_file) if exists else CONVERTER_HEADER.format(**names)
        if self.spelling_of:
            self.changes[self.converter_file] = name_in_docstring(text, self.op)
            return
        if re.search(rf"^(def {self.function}\(|{self.function}\b.*=)", text, re.MULTILINE):
            raise ScaffoldError(f"{self.converter_file} already has a {self.function}")
        text = add_import(text, "from paddle2ov.translation.node_context import NamedOutputs, NodeContext")
        named = name_in_docstring(text, self.op) if exists else text
        self.changes[self.converter_file] = named.rstrip("\n") + "\n" + CONVERTER.format(**names)
        also = "" if f"`{self.op}`" in named else ", and name it in the docstring of the module (`Paddle: ...`)"
        self.notes.append(f"{self.converter_file}: write {self.function}(){also}")

    def plan_table(self) -> None:
        """The family's import and the operator's line, both in their sorted places."""
        text, module = import_module(self.read(TABLE), self.family)
        converter = f"{module}.{self.function}"
        if self.spelling_of:
            converter = row_of(text, self.spelling_of).rstrip(",")
        self.changes[TABLE] = insert_row(text, self.op, f'    "{self.op}": {converter},\n', TABLE)
        self.notes.append(f"{TABLE}: registered: {converter}")

    def plan_signature(self) -> Signature:
        """The operator's row: the one that there is, the one that is given, or one to be corrected by hand."""
        text = self.read(SIGNATURES)
        if self.op in keys(text):
            there = row_of(text, self.op).rstrip(",")
            if self.row:
                raise ScaffoldError(f'{SIGNATURES} has a row for {self.op}; correct it there: "{self.op}": {there}')
            row = re.sub(r" \[no converter: [^],]*\]|no converter: [^],]*, ", "", there.strip('"'))
            if row != there.strip('"'):
                self.changes[SIGNATURES] = text.replace(f'    "{self.op}": {there},\n', f'    "{self.op}": "{row}",\n')
            self.notes.append(f'{SIGNATURES}: has its row: "{self.op}": "{row}"')
            return parse_signature(self.op, row)
        if self.row and not re.fullmatch(SIGNATURE, self.row):
            raise ScaffoldError(f"row {self.row!r}: write it as '{self.op}(x, y) -> (out)'")
        operands = "(x) -> (out)"
        if self.spelling_of in keys(text):
            operands = "(" + row_of(text, self.spelling_of).rstrip(",").strip('"').partition("(")[2]
        row = self.row or f"{self.op}{operands}"
        self.changes[SIGNATURES] = insert_row(text, self.op, f'    "{self.op}": "{row}",\n', SIGNATURES)
        if not self.row:
            self.notes.append(
                f"{SIGNATURES}: correct the row (operands in PIR order, legacy names where they differ); for cases "
                f"with its operands, undo these changes, and give the row: ROW='{self.op}(x, y) -> (out)' (--row)"
            )
        return parse_signature(self.op, row)

    def plan_generator(self, signature: Signature) -> None:
        """An entry at the end of OPS, whose builder calls Paddle's function or appends the operator itself."""
        exists = (self.root / self.generator_file).exists()
        text = self.read(self.generator_file) if exists else GENERATOR_HEADER.format(family=self.family)
        operands = [_argument(name) for name in signature.operands]
        called = None if signature.pir_name is None else self.paddle_function(signature)
        builder = self.appended(signature) if called is None else f'function("{called}")'
        marks = ["**OLD"] if signature.pir_name is None else []
        used = {
            "gen_models.harness.building": re.findall(r"(any_op|function|operator)\(", builder),
            "gen_models.harness.marks": ["OLD"] if marks else [],
            "gen_models.harness.spec": ["Op", "case", *(["tensor"] if operands else [])],
        }
        for module, names in used.items():
            text = add_import(text, f"from {module} import {', '.join(names)}") if names else text
        start = re.search(r"^OPS\b.*= \[\n?", text, re.MULTILINE)
        end = re.search(r"^\]", text[start.end() :], re.MULTILINE) if start else None
        if not start or not end:
            raise ScaffoldError(f"{self.generator_file} has no list `OPS = [` ... `]` to extend")
        close = start.end() + end.start()
        arguments = [[*(f"{name}={tensor}" for name in operands), *marks] for tensor in FIRST_TENSORS]
        cases = ", ".join(f"case({', '.join(item)})" for item in arguments[: len(operands) + 1])
        entry = f'    Op("{self.op}", {builder}, {cases}),\n'
        self.changes[self.generator_file] = text[:close] + entry + text[close:]
        self.notes.append(
            f"{self.generator_file}: write the cases of {self.op}, of which each operand is float32 [2, 3] as yet, and "
            "a builder of its own where they need one"
        )

    def paddle_function(self, signature: Signature) -> str | None:
        """Paddle's public function of the operator's name, as it is called."""
        names = list(dict.fromkeys([signature.pir_name or self.op, self.op, re.sub(r"_?v?\d$", "", self.op)]))
        function = next(filter(None, map(public_function, names)), None)
        if function is None:
            self.notes.append(
                f"{self.generator_file}: Paddle has no public function {' or '.join(names)}: call the one that appends "
                "the operator, or add its attributes to what appends it itself"
            )
        return function

    def appended(self, signature: Signature) -> str:
        """What appends the operator itself; its results are of the type of the first operand, which is a guess."""
        ports = ", ".join(f'"{_argument(name)}": "{port_of(signature, name)}"' for name in signature.operands)
        kind = "" if ports else "float32"
        results = ", ".join(f'"{port_of(signature, name)}": "{kind}"' for name in signature.results)
        pir_name = f', pir_name="{signature.pir_name}"' if signature.pir_name not in (None, self.op) else ""
        if not ports:
            return f'lambda: any_op("{self.op}", {{}}, {{{results}}}, {{}}{pir_name})'
        outputs = "" if results == '"Out": ""' else f", {{{results}}}"
        return f'operator("{self.op}", {{{ports}}}{outputs}{pir_name})'

    def write(self) -> None:
        """Makes the planned changes; ruff puts imports and lines in order."""
        for path, text in self.changes.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8")
        ruff, config = str(Path(sys.executable).with_name("ruff")), str(ROOT / "pyproject.toml")
        for command in (["check", "--select", "I", "--fix"], ["format"]):
            subprocess.run([ruff, *command, "--quiet", "--config", config, *self.changes], cwd=self.root, check=False)


def keys(text: str) -> list[str]:
    """The keys of a table with one `    "key": ...` line per entry."""
    return [match["key"] for line in text.splitlines() if (match := ROW.match(line))]


def row_of(text: str, key: str) -> str:
    """What stands behind a key of a table, with the comma."""
    return next(line.partition(": ")[2] for line in text.splitlines() if line.startswith(f'    "{key}": '))


def public_function(name: str) -> str | None:
    """Where in the installed Paddle, which is not imported, a public function is: `nn.functional.relu`."""
    spec = importlib.util.find_spec("paddle")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    for module in PUBLIC:
        path = folder.joinpath(*module.split("."))
        file = path.with_suffix(".py") if module and not path.is_dir() else path / "__init__.py"
        if not file.is_file():
            continue
        names = re.search(r"^__all__ = \[(.*?)\]", file.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        if names and re.search(rf"[\"']{name}[\"']", names[1]):
            return ".".join(filter(None, [module, name]))
    return None


def port_of(signature: Signature, name: str) -> str:
    """The legacy port of an operand or a result: the first that the row lists, else in CamelCase."""
    return next(iter(signature.spellings(name)), "".join(part.capitalize() for part in name.split("_")))


def _argument(operand: str) -> str:
    """An operand as the argument of a builder."""
    return f"{operand}_" if keyword.iskeyword(operand) else operand


def add_import(text: str, statement: str) -> str:
    """The source of a module with one more import, before its others or behind its docstring."""
    first = re.search(r"^(from (?!__future__)|import )", text, re.MULTILINE)
    if first is not None:
        return f"{text[: first.start()]}{statement}\n{text[first.start() :]}"
    end = text.index('"""\n', 3) + 4
    future = "\nfrom __future__ import annotations\n"
    end += len(future) * text.startswith(future, end)
    return f"{text[:end]}\n{statement}\n\n{text[end:]}"


def import_module(table: str, family: str) -> tuple[str, str]:
    """The source of a table that imports a family, and what the table calls it.

    A name that another module has already stands with the folder's, `lod_rnn`; so does any where all of a folder do.
    """
    modules = imported_modules(table)
    known = next((name for name, module in modules.items() if module == family), None)
    if known is not None:
        return table, known
    folder, _, module = family.rpartition("/")
    beside = [name for name, module in modules.items() if module.rpartition("/")[0] == folder]
    prefixed = f"{folder}_{module}"
    use_folder = bool(folder) and (module in modules or all(name.startswith(f"{folder}_") for name in beside))
    name = prefixed if use_folder else module
    if name in modules:
        raise ScaffoldError(f"{TABLE} calls {modules[name]} {name}: choose another name")
    package = ".".join([PACKAGE, *filter(None, [folder])])
    statement = f"from {package} import {module}" + (f" as {name}" if use_folder else "")
    return re.sub(
        rf"^( *)(?=from {re.escape(PACKAGE)}\b)", rf"\g<1>{statement}\n\g<1>", table, count=1, flags=re.M
    ), name


def name_in_docstring(text: str, op: str) -> str:
    """Adds an operator to those behind `Paddle:` in the docstring of a module, if it has such a list."""
    match = re.match(r'""".*?^Paddle: .*?(?=\n[A-Z][\w ]*: |\n\s*\n|\n""")', text, re.MULTILINE | re.DOTALL)
    if not match or not match[0].endswith("."):
        return text
    head, _, last = match[0][:-1].rpartition("\n")
    space = "\n" if len(last) + len(op) > 115 else " "
    return f"{head}\n{last},{space}`{op}`." + text[match.end() :]


def _held(text: str, members: list[str]) -> int:
    """How many of these operators have cases in a module."""
    return sum(re.search(rf'\bOp\(\s*"{member}"', text) is not None for member in members)


def insert_row(text: str, key: str, row: str, path: Path) -> str:
    """Put a row at its sorted place among the table's rows."""
    lines = text.splitlines(keepends=True)
    rows = [(index, match["key"]) for index, line in enumerate(lines) if (match := ROW.match(line))]
    if not rows:
        raise ScaffoldError(f'{path} has no line like `    "abs": ...` to put {key} beside')
    at = next((index for index, other in rows if other > key), rows[-1][0] + 1)
    return "".join([*lines[:at], row, *lines[at:]])


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, plan, write, and say what is left to do."""
    parser = argparse.ArgumentParser(description="Scaffold a new operator.")
    parser.add_argument("op", help="Paddle's operator name as in its program descriptions: top_k_v2, p_norm, ...")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--family", default="", help="the module in converters/: reduction, resize/interpolation, ...")
    kind.add_argument("--spelling-of", default="", metavar="OP", help="an operator that converts and means the same")
    parser.add_argument("--new-family", action="store_true", help="make a module that there is not")
    parser.add_argument(
        "--row", default="", help="the signature row of an operator that has none yet: 'my_op(x, y) -> (out)'"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    options = parser.parse_args(arguments)
    scaffold = Scaffold(options.root, options.op, options.family, options.new_family, options.row, options.spelling_of)
    try:
        scaffold.plan()
    except ScaffoldError as error:
        print(f"new_op: {error}", file=sys.stderr)
        return 1
    scaffold.write()
    for note in scaffold.notes:
        print(note)
    print(f"then: python -m tools.coverage, a line in CHANGELOG.md, and make check-op OP={scaffold.op}")
    print("(CONTRIBUTING.md says what that runs, and which lists it reads)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
