"""Reader of PIR programs (`inference.json`), Paddle 3's default format.

Operands and results are positional in the file (`pir_file.py`); the signature table gives them their names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from paddle2ov.errors import ModelReadError
from paddle2ov.program import pir_file
from paddle2ov.program.budget import MAX_NESTED_BLOCKS, Budget
from paddle2ov.program.model import Block, Operator, Output, Program, Variable
from paddle2ov.program.pir_file import JsonCache, results_of, written_operand, yielded
from paddle2ov.program.pir_memory import Memories, kept_in_place
from paddle2ov.program.versions import Versions
from paddle2ov.program.vocabulary import Vocabulary

NEWEST_VERSION = 4
"""The newest `base_code.version` that is understood: the one Paddle 3.3 writes."""

_DIALECTS = {"0": "builtin", "1": "pd_op", "2": "cf", "3": "custom_op", "4": "dist"}
_FETCH_BYTES = 100  # what an operator that fetches takes at least
_MALFORMED = (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, msgspec.MsgspecError)


def read_pir(path: Path, content: bytes, vocabulary: Vocabulary) -> tuple[Program, list[Variable]]:
    """Reads a PIR program, the content of `path`; returns it without its parameters, and those that it declares.

    Raises:
        ModelReadError: the file is not a PIR program, is damaged, or is newer than `NEWEST_VERSION`.
    """
    try:
        file = pir_file.decode_file(content)
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
        return _Reader(vocabulary, Budget(len(content))).read(file)
    except ModelReadError as error:
        raise ModelReadError(f"{path}: {error}") from None
    except RecursionError:
        raise ModelReadError(f"{path}: nested too deeply") from None


class _Reader:
    def __init__(self, vocabulary: Vocabulary, budget: Budget) -> None:
        self._vocabulary = vocabulary
        self._budget = budget
        self._cache = JsonCache()
        self._names: dict[int, list[str]] = {}  # value id -> variable names; a vector value has several
        self._versions = Versions()
        self._writes: dict[int, dict[int, None]] = {}  # regions (by id) -> the values that are written inside
        self._program: list[pir_file.Region] = []
        self._variables: dict[str, Variable] = {}
        self._inputs: list[Variable] = []
        self._outputs: list[tuple[int, Output]] = []
        self._parameters: dict[str, Variable] = {}
        self._reserved: set[str] = set()
        self._blocks = 0
        self._depth = 0

    def read(self, file: pir_file.File) -> tuple[Program, list[Variable]]:
        main = file.program.regions[0].blocks[0]
        for index, op in enumerate(main.ops):  # names that the file gives win over the ones made up for other values
            if op.id in ("p", "1.data", "1.feed", "pd_op.data", "pd_op.feed", "0.parameter", "builtin.parameter"):
                try:
                    self._reserved.add(self._given_name(op))
                except (*_MALFORMED, ModelReadError) as error:
                    raise _placed(error, 0, index, op) from None
        self._program = file.program.regions
        block = self._read_block(main)
        self._outputs.sort(key=lambda item: item[0])
        outputs = [output for _, output in self._outputs]
        block.inputs = [variable.name for variable in self._inputs]
        block.outputs = [output.variable for output in outputs]
        program = Program("pir", file.base_code.version, block, self._inputs, outputs, self._variables, {})
        return program, list(self._parameters.values())

    def _read_block(
        self,
        source: pir_file.Block,
        carried: Mapping[int, list[str]] = MappingProxyType({}),
        shared: Sequence[Sequence[int]] = (),
    ) -> Block:
        """Reads a block.

        Args:
            source: the block.
            carried: `id` of an argument -> names of the outer value whose memory it is in.
            shared: values, arguments among them, that may be in the same memory when an iteration begins.
        """
        if self._depth >= MAX_NESTED_BLOCKS:
            raise ModelReadError(f"blocks are nested more than {MAX_NESTED_BLOCKS} deep")
        self._depth += 1
        block = Block(self._blocks)
        self._blocks += 1
        for argument in source.args:
            names = self._define(argument, f"arg_{-argument.id}")
            block.inputs += names
            outside = carried.get(argument.id)
            if outside is not None and len(outside) == len(names):
                self._versions.write(outside, names)
                self._names[argument.id] = outside
        for values in shared:
            self._versions.share(*(self._names.get(one, ()) for one in values))
        for index, op in enumerate(source.ops):
            try:
                self._read_op(block, op, index)
            except (*_MALFORMED, ModelReadError) as error:
                raise _placed(error, block.index, index, op) from error
        self._depth -= 1
        return block

    def _read_op(self, block: Block, op: pir_file.Op, index: int) -> None:
        if op.id == "p":
            self._read_parameter(op)
            return
        dialect, _, name = op.id.partition(".")
        dialect = _DIALECTS.get(dialect, dialect)
        if dialect == "pd_op" and name not in ("data", "feed", "fetch"):  # nearly all of them
            block.operators.append(self._operator(block, op, dialect, name, index))
            return
        match dialect, name:
            case "builtin", "parameter":
                self._read_parameter(op)
            case "builtin", "combine":
                (result,) = results_of(op)
                self._alias(result.id, [one for operand in op.operands for one in self._use(operand.id)])
            case "builtin", "split":
                names = self._use(op.operands[0].id)
                for result, one in zip(results_of(op), names, strict=True):
                    self._alias(result.id, [one])
            case "builtin", "slice":
                position = self._cache.attributes(op)["index"]
                names = self._named(op.operands[0].id)
                if not 0 <= position < len(names):
                    raise ModelReadError(f"index {position} is out of range")
                self._alias(results_of(op)[0].id, self._versions.last([names[position]]))
            case "builtin", "shadow_output":
                self._read_fetch(op, str(self._cache.attributes(op)["output_name"]), len(self._outputs))
            case "pd_op", "data" | "feed":
                self._read_feed(op)
            case "pd_op", "fetch":
                attributes = self._cache.attributes(op)
                self._read_fetch(op, str(attributes["name"]), int(attributes["col"]))
            case "cf", "yield":
                block.outputs = [one for operand in op.operands for one in self._use(operand.id)]
            case "cf", _:
                pass  # stacks of values for the backward pass
            case _:
                block.operators.append(self._operator(block, op, dialect, name, index))

    def _operator(self, block: Block, op: pir_file.Op, dialect: str, name: str, index: int) -> Operator:
        if dialect == "pd_op" and name in ("if", "while"):
            return self._control_flow(block, op, name, index)
        if name == "rms_norm" and len(op.operands) > 2:  # what this name meant before Paddle 3.3
            name = "fused_rms_norm_quant"
        signature = self._vocabulary.of_pir(name)
        ports: Sequence[str] = signature.operands if signature else ()
        if len(op.operands) > len(ports):
            ports = _ports(ports, len(op.operands), "input")
        inputs = {}
        for port, operand in zip(ports, op.operands, strict=False):
            if (value := operand.id) != 0:
                inputs[port] = self._use(value)
        inner = [one for region in op.regions for one in region.blocks]
        blocks = tuple([self._read_block(one) for one in inner])
        results = results_of(op)
        ports = signature.results if signature else ()
        if len(results) > len(ports):
            ports = _ports(ports, len(results), "output")
        stem = name.rstrip("_")
        outputs = {port: self._define(result, stem) for port, result in zip(ports, results, strict=False)}
        written = written_operand(op, name)
        if written is not None and results:
            self._overwrite(written, results[0])
        key = signature.key if signature else name
        attributes = self._cache.attributes(op)
        return Operator(key, inputs, outputs, attributes, f"{dialect}.{name}", block.index, index, blocks)

    def _control_flow(self, block: Block, op: pir_file.Op, name: str, index: int) -> Operator:
        inputs = {
            "cond": self._use(op.operands[0].id),
            "x": [one for item in op.operands[1:] for one in self._use(item.id)],
        }
        # What a region writes in place becomes a value that it yields, and for a loop one that it carries.
        written = self._written_in(op.regions)
        before = self._versions.last(written)
        carried = self._carried_in_place(op) if name == "while" else {}
        shared = self._shared_arguments(op) if name == "while" else []
        blocks = []
        for region in op.regions:
            mark = self._versions.mark()
            arguments = []
            if name == "while":
                arguments = [self._new_version(one) for one in written]
                self._versions.write(written, arguments)
            if len(region.blocks) != 1:
                raise ModelReadError("a region of an operator has one block")
            inner = self._read_block(region.blocks[0], carried, shared)
            inner.inputs += arguments
            inner.outputs += self._versions.last(written)
            blocks.append(inner)
            self._versions.roll_back(mark)
        if name == "while":
            inputs["x"] += before
        results = [one for result in results_of(op) for one in self._define(result, name)]
        after = [self._new_version(one) for one in written]
        self._versions.write(written, after)
        self._share_results(op, name, carried)
        outputs = {"out": results + after}
        attributes = self._cache.attributes(op)
        return Operator(name, inputs, outputs, attributes, f"pd_op.{name}", block.index, index, tuple(blocks))

    def _carried_in_place(self, op: pir_file.Op) -> dict[int, list[str]]:
        """The arguments of a loop that its body writes in place and yields: `id` -> names of the initial value outside.

        They are in the memory of their first value. An argument that is written, and replaced by something else
        afterwards, is there in the first iteration only: what its first value then holds is unknown.
        """
        (body,) = op.regions[0].blocks if len(op.regions) == 1 and len(op.regions[0].blocks) == 1 else (None,)
        if body is None:
            return {}
        kept, found = kept_in_place(body, self._values_written(op.regions)), {}
        for argument, first in zip(body.args, op.operands[1:], strict=False):
            names = self._names.get(first.id, [])
            if argument.id not in kept or not names:
                continue
            if kept[argument.id] == argument.id:
                found[argument.id] = names
            else:
                self._versions.lose(names)
                self._versions.lose(self._names.get(kept[argument.id], ()))
        return found

    def _shared_arguments(self, op: pir_file.Op) -> list[list[int]]:
        """Arguments of a loop, and values outside, that may be in the same memory when an iteration begins.

        In the first iteration those of one first value; later those that the iteration before gave one value.
        """
        if not op.regions or not op.regions[0].blocks or not self._values_written(self._program):
            return []
        body = op.regions[0].blocks[0]
        memories = Memories(body)
        groups: dict[tuple[str, object], list[int]] = {}
        for argument, first, given in zip(body.args, op.operands[1:], yielded(body)[1:], strict=False):
            groups.setdefault(("first", tuple(self._names.get(first.id, ()))), [first.id]).append(argument.id)
            groups.setdefault(("given", memories.of(given.id)), []).append(argument.id)
        for value in memories.values():
            if value in self._names:
                groups.setdefault(("given", memories.of(value)), []).append(value)
        return [values for values in groups.values() if len(values) > 1]

    def _share_results(self, op: pir_file.Op, name: str, carried: Mapping[int, list[str]]) -> None:
        """Notes in whose memory the results of a branch or a loop may be."""
        results = results_of(op)
        blocks = [one for region in op.regions for one in region.blocks]
        for result, argument in zip(results, blocks[0].args if name == "while" and blocks else (), strict=False):
            if argument.id in carried:
                base = carried[argument.id]
                self._versions.write(base, self._names[result.id])
                self._names[result.id] = base
        sources = [yielded(block)[1:] if name == "while" else yielded(block) for block in blocks]
        if name == "while":
            sources.append(op.operands[1:])
        elif len(blocks) > 1:
            self._join_results(results, sources)
        for given in sources:
            same: dict[tuple[str, ...], list[int]] = {}
            for result, one in zip(results, given, strict=False):
                names = tuple(self._names.get(one.id, ()))
                same.setdefault(names, [one.id]).append(result.id)
            for values in same.values():
                self._versions.share(*(self._names.get(one, ()) for one in values))

    def _join_results(self, results: list[pir_file.Value], sources: list[list[pir_file.Value]]) -> None:
        """Results that every branch gives the same value are one variable, and those of one outer value are that."""
        joined: dict[tuple[tuple[str, ...], ...], list[str]] = {}
        for result, *given in zip(results, *sources, strict=False):
            names = [self._names.get(one.id, []) for one in given]
            if all(names):
                known = names[0] if all(one == names[0] for one in names) else self._names[result.id]
                self._names[result.id] = joined.setdefault(tuple(map(tuple, names)), known)

    def _overwrite(self, operand: pir_file.Value, result: pir_file.Value) -> None:
        """Notes that an operator wrote its result into the memory of an operand: later uses see the result."""
        sources = self._names.get(operand.id, [])
        results = self._names[result.id]
        if len(sources) == len(results):
            self._versions.write(sources, results)
            self._names[result.id] = sources

    def _written_in(self, regions: list[pir_file.Region]) -> list[str]:
        written = dict.fromkeys(name for value in self._values_written(regions) for name in self._names.get(value, ()))
        return [name for name in written if name]

    def _values_written(self, regions: list[pir_file.Region]) -> dict[int, None]:
        found = self._writes.get(id(regions))
        if found is None:
            found = self._writes[id(regions)] = {}
            for op in (op for region in regions for inner in region.blocks for op in inner.ops):
                operand = written_operand(op, op.id.rpartition(".")[2])
                if operand is not None:
                    found[operand.id] = None
                if op.regions:
                    inner = self._values_written(op.regions)
                    found.update(inner)
                    if op.id.endswith(".while"):
                        found.update(dict.fromkeys(_first_values_written(op, inner)))
        return found

    def _new_version(self, name: str) -> str:
        known = self._variables[name]
        version = f"{name}@{len(self._variables)}"
        self._variables[version] = Variable(version, known.dtype, known.shape, known.is_array)
        return version

    def _read_parameter(self, op: pir_file.Op) -> None:
        (result,) = results_of(op)
        name = self._given_name(op)
        if name in self._parameters:
            raise ModelReadError(f"parameter '{name}' is declared twice")
        # OA is [persistable, stop_gradient, trainable], and not there in files that are not trainable. What is not
        # persistable is not saved: the dropout state of `rnn`, which no inference reads.
        flags = self._cache.flags(op)
        kept = flags[0] if isinstance(flags, list) and flags else "__non_persistable" not in name
        if op.id == "p" and not kept:
            self._alias(result.id, [""])
            return
        # Paddle declares what a loop may replace with the dimensions that it then may have; the file holds its own.
        self._parameters[name] = self._variables[name] = self._variable(name, result)
        self._alias(result.id, [name])

    def _read_feed(self, op: pir_file.Op) -> None:
        (result,) = results_of(op)
        name = self._given_name(op)
        if name in self._variables:
            raise ModelReadError(f"input '{name}' is declared twice")
        variable = self._variable(name, result)
        self._inputs.append(variable)
        self._variables[name] = variable
        self._alias(result.id, [name])

    def _read_fetch(self, op: pir_file.Op, name: str, column: int) -> None:
        for variable in self._use(op.operands[0].id):
            self._budget.charge("bytes for results", _FETCH_BYTES)  # a list of values is one operand
            self._outputs.append((column, Output(name, variable)))

    def _given_name(self, op: pir_file.Op) -> str:
        if op.id == "p":
            if len(op.attributes) < 4 or not isinstance(op.attributes[3], str) or not op.attributes[3]:
                raise ModelReadError("a parameter without a name")
            return op.attributes[3]
        attributes = self._cache.attributes(op)
        name = attributes.get("name", attributes.get("parameter_name"))
        if not isinstance(name, str) or not name:
            raise ModelReadError(f"{op.id} without a name")
        return name

    def _define(self, value: pir_file.Value, stem: str) -> list[str]:
        declared, number = self._cache.type(value.type), value.id
        if declared is None:
            names = [""]
        elif isinstance(declared, Variable):
            names = [self._fresh(f"{stem}_{number if number >= 0 else -number}", declared)]
        else:
            names = [self._fresh(f"{stem}_{number}.{i}", element) for i, element in enumerate(declared)]
        self._alias(number, names)
        return names

    def _fresh(self, name: str, declared: Variable) -> str:
        while name in self._variables or name in self._reserved:
            name += "_"
        self._variables[name] = declared.named(name)
        return name

    def _variable(self, name: str, value: pir_file.Value) -> Variable:
        declared = self._cache.type(value.type)
        return declared.named(name) if isinstance(declared, Variable) else Variable(name)

    def _alias(self, value: int, names: list[str]) -> None:
        if value in self._names:
            raise ModelReadError(f"value {value} is defined twice")
        if value != 0:
            self._names[value] = names

    def _use(self, value: int) -> list[str]:
        if value == 0:
            return []
        names = self._named(value)
        if len(names) > 1:
            self._budget.charge("names in lists of values", len(names))
        return self._versions.last(names)

    def _named(self, value: int) -> list[str]:
        """The variables of a value as it was defined."""
        try:
            return self._names[value]
        except KeyError:
            raise ModelReadError(f"value {value} is used before it is defined") from None


def _first_values_written(loop: pir_file.Op, written: Collection[int]) -> Iterator[int]:
    """The first values of a loop in whose memory its body writes."""
    for body in (one for region in loop.regions for one in region.blocks):
        kept = kept_in_place(body, written)
        for argument, first in zip(body.args, loop.operands[1:], strict=False):
            if kept.get(argument.id) == argument.id:
                yield first.id


def _placed(error: Exception, block: int, index: int, op: pir_file.Op) -> ModelReadError:
    """An error with the place of the operator that was read; the innermost place wins."""
    if isinstance(error, ModelReadError):
        is_placed = str(error).startswith("block ")
        return error if is_placed else ModelReadError(f"block {block}, operator {index} ({op.id}): {error}")
    return ModelReadError(f"block {block}, operator {index} ({op.id}): malformed: {error!r}")


def _ports(named: Sequence[str], count: int, prefix: str) -> list[str]:
    return [*named, *(f"{prefix}_{i}" for i in range(len(named), count))]


__all__ = ["NEWEST_VERSION", "read_pir"]
