"""Reader of PIR programs (`inference.json`), Paddle 3's default format.

Operands and results are positional in the file (`pir_file.py`); the signature table gives them their names.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from paddle2ov.errors import ModelReadError
from paddle2ov.program import pir_file
from paddle2ov.program.budget import MAX_NESTED_BLOCKS, Budget
from paddle2ov.program.model import Block, Operator, Output, Program, Semantics, Variable
from paddle2ov.program.op_versions import PIR_VERSIONS, current_name, operands_of, semantics_of
from paddle2ov.program.pir_file import decode_any, results_of
from paddle2ov.program.pir_memory import LoopArguments, ProgramMemory, written_operand
from paddle2ov.program.places import MALFORMED, PlacedReadError, placed
from paddle2ov.program.vocabulary import Vocabulary

NEWEST_VERSION = len(PIR_VERSIONS) - 1
"""The newest `base_code.version` that is understood: the one Paddle 3.3 writes."""

_DIALECTS = {"0": "builtin", "1": "pd_op", "2": "cf", "3": "custom_op", "4": "dist"}
_NAMED = frozenset(("p", "1.data", "1.feed", "pd_op.data", "pd_op.feed", "0.parameter", "builtin.parameter"))
_FETCH_BYTES = 100  # what an operator that fetches takes at least
_UNREADABLE = (*MALFORMED, msgspec.MsgspecError, ModelReadError)


def read_pir(path: Path, content: bytes, vocabulary: Vocabulary) -> tuple[Program, list[Variable]]:
    """Reads a PIR program, the content of `path`; returns it without its parameters, and those that it declares.

    Raises:
        ModelReadError: the file is not a PIR program, is damaged, or is newer than `NEWEST_VERSION`.
    """
    try:
        file = pir_file.decode_file(content.removeprefix(BOM_UTF8))
    except RecursionError:
        raise ModelReadError(f"{path}: nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ModelReadError(f"{path}: not a PIR program: {error}") from None
    if file.base_code.magic != "pir":
        raise ModelReadError(f"{path}: not a PIR program: its magic is {file.base_code.magic!r}")
    if not 0 <= file.base_code.version <= NEWEST_VERSION:
        raise ModelReadError(
            f"{path}: PIR version {file.base_code.version} is not known; "
            f"this release reads versions 0 to {NEWEST_VERSION}"
        )
    if len(file.program.regions) != 1 or len(file.program.regions[0].blocks) != 1:
        raise ModelReadError(f"{path}: a program has one region with one block")
    try:
        return _Reader(vocabulary, Budget(len(content)), file).read()
    except ModelReadError as error:
        raise ModelReadError(f"{path}: {error}") from None
    except RecursionError:
        raise ModelReadError(f"{path}: nested too deeply") from None


class _OperatorKind(msgspec.Struct):
    """What operators of one name and one number of operands have in common."""

    name: str  # PIR's, without the dialect
    source_type: str  # PIR's
    key: str  # the registry's
    operands: Sequence[str]  # their names
    results: Sequence[str]  # the names that the signature has
    written: int | None  # the position of the operand whose memory the first result is written to
    semantics: Semantics


class _Reader:
    def __init__(self, vocabulary: Vocabulary, budget: Budget, file: pir_file.File) -> None:
        self._file = file
        self._vocabulary = vocabulary
        self._budget = budget
        self._types = pir_file.DecodedTypes()
        self._attribute_values = pir_file.DecodedAttributes()
        self._kinds: dict[tuple[str, int], _OperatorKind] = {}  # (name in the file, number of operands) -> kind
        self._names: dict[int, list[str]] = {}  # value id -> variable names; a vector value has several
        self._memory = ProgramMemory(self._names, file.program.regions)
        self._variables: dict[str, Variable] = {}
        self._inputs: list[Variable] = []
        self._outputs: list[tuple[int, Output]] = []
        self._parameters: dict[str, Variable] = {}
        self._blocks = 0
        self._depth = 0

    def read(self) -> tuple[Program, list[Variable]]:
        block = self._read_block(self._file.program.regions[0].blocks[0])
        outputs = [output for _, output in sorted(self._outputs, key=itemgetter(0))]
        block.inputs = [variable.name for variable in self._inputs]
        block.outputs = [output.variable for output in outputs]
        program = Program("pir", self._file.base_code.version, block, self._inputs, outputs, self._variables, {})
        return program, list(self._parameters.values())

    def _read_block(self, source: pir_file.Block, loop: LoopArguments | None = None) -> Block:
        """Reads a block; `loop`: what is known of the arguments of the body of a loop."""
        if self._depth >= MAX_NESTED_BLOCKS:
            raise ModelReadError(f"blocks are nested more than {MAX_NESTED_BLOCKS} deep")
        self._depth += 1
        block = Block(self._blocks)
        self._blocks += 1
        for argument in source.args:
            block.inputs += self._define(argument, "arg")
        if loop is not None:
            self._memory.begin_iteration(loop)
        # Those with names of their own come first: such a name wins over the ones made up for other values.
        named = [(i, op) for i, op in enumerate(source.ops) if op.id in _NAMED]
        others = [(i, op) for i, op in enumerate(source.ops) if op.id not in _NAMED]
        for index, op in named + others:
            try:
                if op.id == "p":
                    self._read_parameter(op)
                else:
                    self._read_op(block, op, index)
            except PlacedReadError:
                raise
            except _UNREADABLE as error:
                raise placed(error, block.index, index, op.id) from error
        self._depth -= 1
        return block

    def _read_op(self, block: Block, op: pir_file.Op, index: int) -> None:
        kind = self._kinds.get((op.id, len(op.operands)))
        if kind is None:
            dialect, _, name = op.id.partition(".")
            dialect = _DIALECTS.get(dialect, dialect)
            if self._read_structure(block, op, dialect, name, index):
                return
            kind = self._kinds[op.id, len(op.operands)] = self._kind(dialect, name, len(op.operands))
        inputs = {}
        for port, operand in zip(kind.operands, op.operands, strict=True):
            if (value := operand.id) != 0:
                inputs[port] = self._use(value)
        blocks: tuple[Block, ...] = ()
        if op.regions:
            blocks = tuple([self._read_block(block) for region in op.regions for block in region.blocks])
        results = results_of(op)
        ports = kind.results
        if len(results) > len(ports):
            ports = _ports(ports, len(results), "output")
        outputs, stem = {}, kind.name
        for port, result in zip(ports, results, strict=False):
            outputs[port] = self._define(result, stem)
        if kind.written is not None and results:
            self._memory.overwrite(op.operands[kind.written], results[0])
        attributes, source = self._attributes(op), kind.source_type
        block.operators.append(
            Operator(kind.key, inputs, outputs, attributes, source, block.index, index, blocks, (), kind.semantics)
        )

    def _kind(self, dialect: str, name: str, operands: int) -> _OperatorKind:
        name = current_name(name, operand_count=operands)
        signature = self._vocabulary.of_pir(name)
        named = operands_of(name, signature.operands, operands) if signature else ()
        key = signature.key if signature else name
        return _OperatorKind(
            name=name.rstrip("_"),
            source_type=f"{dialect}.{name}",
            key=key,
            operands=named[:operands] if operands <= len(named) else _ports(named, operands, "input"),
            results=signature.results if signature else (),
            written=written_operand(name, operands),
            semantics=semantics_of(key, PIR_VERSIONS[self._file.base_code.version]),
        )

    def _read_structure(self, block: Block, op: pir_file.Op, dialect: str, name: str, index: int) -> bool:
        """Reads what is part of the program's structure, and no operator with a signature; False for any other."""
        match dialect, name:
            case "builtin", "parameter":
                self._read_parameter(op)
            case "builtin", "combine":
                (result,) = results_of(op)
                self._bind(result.id, [item for operand in op.operands for item in self._use(operand.id)])
            case "builtin", "split":
                names = self._use(op.operands[0].id)
                for result, item in zip(results_of(op), names, strict=True):
                    self._bind(result.id, [item])
            case "builtin", "slice":
                position = self._attributes(op)["index"]
                names = self._named(op.operands[0].id)
                if not 0 <= position < len(names):
                    raise ModelReadError(f"index {position} is out of range")
                self._bind(results_of(op)[0].id, self._memory.writes.current([names[position]]))
            case "builtin", "shadow_output":
                self._read_fetch(op, str(self._attributes(op)["output_name"]), len(self._outputs))
            case "pd_op", "data" | "feed":
                self._read_feed(op)
            case "pd_op", "fetch":
                attributes = self._attributes(op)
                column = attributes["col"]
                if type(column) is not int:
                    raise ModelReadError(f"attribute 'col' is {column!r:.80}; a number is expected")
                self._read_fetch(op, str(attributes["name"]), column)
            case "pd_op", "if" | "while":
                block.operators.append(self._control_flow(block, op, name, index))
            case "cf", "yield":
                block.outputs = [item for operand in op.operands for item in self._use(operand.id)]
            case "cf", _:
                pass  # stacks of values for the backward pass
            case _:
                return False
        return True

    def _attributes(self, op: pir_file.Op) -> dict[str, Any]:
        """The attributes of an operator; lists are copied, as operators may share the JSON of a value."""
        attributes = {}
        for item in op.attributes:
            if type(item) is pir_file.Attribute:
                value = self._attribute_values[bytes(item.value)]
                attributes[item.name] = value.copy() if type(value) is list else value
        return attributes

    def _control_flow(self, block: Block, op: pir_file.Op, name: str, index: int) -> Operator:
        inputs = {
            "cond": self._use(op.operands[0].id),
            "x": [value for item in op.operands[1:] for value in self._use(item.id)],
        }
        # What a region writes in place becomes a value that it yields, and for a loop one that it carries.
        writes = self._memory.writes
        written = self._memory.written_in(op.regions)
        before = writes.current(written)
        loop = self._memory.enter_loop(op) if name == "while" else None
        blocks = []
        for region in op.regions:
            mark = writes.mark()
            arguments = []
            if name == "while":
                arguments = [self._new_version(item) for item in written]
                writes.write(written, arguments)
            if len(region.blocks) != 1:
                raise ModelReadError("a region of an operator has one block")
            inner = self._read_block(region.blocks[0], loop)
            inner.inputs += arguments
            inner.outputs += writes.current(written)
            blocks.append(inner)
            writes.roll_back(mark)
        if name == "while":
            inputs["x"] += before
        results = [item for result in results_of(op) for item in self._define(result, name)]
        for inner in blocks:
            yielded = len(inner.outputs) - len(written) - (name == "while")
            if yielded != len(results):
                raise ModelReadError(f"{len(results)} results, for which block {inner.index} yields {yielded} values")
        after = [self._new_version(item) for item in written]
        writes.write(written, after)
        self._memory.share_results(op, loop)
        outputs = {"out": results + after}
        attributes = self._attributes(op)
        return Operator(name, inputs, outputs, attributes, f"pd_op.{name}", block.index, index, tuple(blocks))

    def _new_version(self, name: str) -> str:
        version = f"{name}@{len(self._variables)}"
        self._variables[version] = self._variables[name].named(version)
        return version

    def _read_parameter(self, op: pir_file.Op) -> None:
        (result,) = results_of(op)
        name = self._given_name(op)
        variable = self._variable(name, result)
        if self._parameters.get(name, variable) != variable:  # Paddle saves the state of two layers `rnn` once
            raise ModelReadError(f"parameter '{name}' is declared twice, with different types")
        # OA is [persistable, stop_gradient, trainable], and not there in files that are not trainable. What is not
        # persistable is not saved: the dropout state of `rnn`, which no inference reads.
        flags = decode_any(op.flags)
        kept = flags[0] if isinstance(flags, list) and flags else "__non_persistable" not in name
        if op.id == "p" and not kept:
            self._bind(result.id, [""])
            return
        # Paddle declares what a loop may replace with the dimensions that it then may have; the file holds its own.
        self._parameters[name] = self._variables[name] = variable
        self._bind(result.id, [name])

    def _read_feed(self, op: pir_file.Op) -> None:
        (result,) = results_of(op)
        name = self._given_name(op)
        if name in self._variables:
            raise ModelReadError(f"input '{name}' is declared twice")
        variable = self._variable(name, result)
        self._inputs.append(variable)
        self._variables[name] = variable
        self._bind(result.id, [name])

    def _read_fetch(self, op: pir_file.Op, name: str, column: int) -> None:
        for variable in self._use(op.operands[0].id):
            self._budget.charge("bytes for results", _FETCH_BYTES)  # a list of values is one operand
            self._outputs.append((column, Output(name, variable)))

    def _given_name(self, op: pir_file.Op) -> str:
        if op.id == "p":
            if len(op.attributes) < 4 or not isinstance(op.attributes[3], str) or not op.attributes[3]:
                raise ModelReadError("a parameter without a name")
            return op.attributes[3]
        attributes = self._attributes(op)
        name = attributes.get("name", attributes.get("parameter_name"))
        if not isinstance(name, str) or not name:
            raise ModelReadError(f"{op.id} without a name")
        return name

    def _define(self, value: pir_file.Value | pir_file.Argument, stem: str) -> list[str]:
        """The variables of a new value, whose names begin with `stem`."""
        number, declared = value.id, self._types[bytes(value.type)]
        if declared is None or number == 0:  # nothing can read it
            names = [""]
        elif isinstance(declared, list):
            names = [self._fresh(f"{stem}_{number}.{i}", element) for i, element in enumerate(declared)]
        else:
            names = [self._fresh(f"{stem}_{abs(number)}", declared)]
        self._bind(number, names)
        return names

    def _fresh(self, name: str, declared: Variable) -> str:
        while name in self._variables:
            name += "_"
        self._variables[name] = Variable(name, declared.dtype, declared.shape, declared.is_array)
        return name

    def _variable(self, name: str, value: pir_file.Value) -> Variable:
        kind = bytes(value.type)
        declared = self._types[kind]
        if kind in self._types.impossible:
            raise ModelReadError(f"'{name}' has an impossible shape {self._types.impossible[kind][:16]}")
        if not isinstance(declared, Variable):
            return Variable(name)
        return Variable(name, declared.dtype, declared.shape, declared.is_array)

    def _bind(self, value: int, names: list[str]) -> None:
        if value in self._names:
            raise ModelReadError(f"value {value} is defined twice")
        if value != 0:
            self._names[value] = names

    def _use(self, value: int) -> list[str]:
        """The variables that hold what a value holds now; none for 0."""
        if value == 0:
            return []
        names = self._names.get(value) or self._named(value)
        if len(names) > 1:
            self._budget.charge("names in lists of values", len(names))
        return self._memory.writes.current(names) if self._memory.writes.any else names

    def _named(self, value: int) -> list[str]:
        """The variables of a value as it was defined."""
        try:
            return self._names[value]
        except KeyError:
            raise ModelReadError(f"value {value} is used before it is defined") from None


def _ports(named: Sequence[str], count: int, prefix: str) -> list[str]:
    return [*named, *(f"{prefix}_{i}" for i in range(len(named), count))]
