"""Reader of PIR programs (`inference.json`), Paddle 3's default format.

The format is that of `paddle/fluid/pir/serialize_deserialize/` (schema.h, ir_serialize.cc, ir_deserialize.cc).
Operands and results are positional there; the signature table gives them their names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from paddle2ov.errors import ModelReadError
from paddle2ov.program import dtypes
from paddle2ov.program.budget import MAX_DIM, MAX_NESTED_BLOCKS, Budget, check_rank
from paddle2ov.program.model import Block, Operator, Output, Program, Variable
from paddle2ov.program.versions import Versions
from paddle2ov.program.vocabulary import Vocabulary

NEWEST_VERSION = 4
"""The newest `base_code.version` that is understood: the one Paddle 3.3 writes."""

_DIALECTS = {"0": "builtin", "1": "pd_op", "2": "cf", "3": "custom_op", "4": "dist"}
_FLOATS = {"NaN": math.nan, "INF": math.inf, "-INF": -math.inf}
_FETCH_BYTES = 100  # what an operator that fetches takes at least
_MALFORMED = (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, msgspec.MsgspecError)
# Their result is a new one, or the operand itself unchanged.
_NOT_WRITTEN = frozenset(("batch_norm_", "sync_batch_norm_", "share_data_"))
# They write in place although their name does not say so.
_WRITTEN = frozenset(("array_pop",))


# Types and attributes are most of a file, and few of them differ: they stay as they are written until `_Texts` reads
# each one once.
_NOTHING = msgspec.Raw(b"null")


class _Type(msgspec.Struct):
    id: str = msgspec.field(name="#")
    data: Any = msgspec.field(name="D", default=None)


class _Value(msgspec.Struct, gc=False):
    percent_id: int | None = msgspec.field(name="%", default=None)
    hash_id: int | None = msgspec.field(name="#", default=None)  # older writers, and block arguments
    type: msgspec.Raw = msgspec.field(name="TT", default=_NOTHING)

    @property
    def id(self) -> int:
        if self.percent_id is not None:
            return self.percent_id
        if self.hash_id is None:
            raise ModelReadError("a value without an id")
        return self.hash_id


class _AttributeData(msgspec.Struct):
    id: str = msgspec.field(name="#")
    data: Any = msgspec.field(name="D", default=None)
    void: str | None = msgspec.field(name="VD", default=None)


class _Attribute(msgspec.Struct, gc=False):
    name: str = msgspec.field(name="N")
    value: msgspec.Raw = msgspec.field(name="AT")


class _Op(msgspec.Struct):
    id: str = msgspec.field(name="#")
    operands: list[_Value] = msgspec.field(name="I", default_factory=list)
    results: list[_Value] | _Value = msgspec.field(name="O", default_factory=list)
    attributes: list[_Attribute | str | int | bool | float] = msgspec.field(name="A", default_factory=list)
    regions: list[_Region] = msgspec.field(default_factory=list)
    training: msgspec.Raw = msgspec.field(name="OA", default=_NOTHING)


class _Block(msgspec.Struct):
    ops: list[_Op]
    args: list[_Value] = msgspec.field(default_factory=list)


class _Region(msgspec.Struct):
    blocks: list[_Block]


class _BaseCode(msgspec.Struct):
    magic: str
    version: int


class _Module(msgspec.Struct):
    regions: list[_Region]


class _File(msgspec.Struct):
    base_code: _BaseCode
    program: _Module


_decoder = msgspec.json.Decoder(_File)
_read_type = msgspec.json.Decoder(_Type | None).decode
_read_attribute = msgspec.json.Decoder(_AttributeData).decode
_read_any = msgspec.json.Decoder().decode


class _JsonCache:
    """Decodes types, attributes and flags of parameters; equal JSON is decoded once."""

    def __init__(self) -> None:
        self._types: dict[bytes, list[Variable] | Variable | None] = {}
        self._attributes: dict[bytes, Any] = {}
        self._flags: dict[bytes, Any] = {}

    def type(self, text: msgspec.Raw) -> list[Variable] | Variable | None:
        """A variable of that type, without a name; a list for a vector, None for no value."""
        key = bytes(text)
        try:
            return self._types[key]
        except KeyError:
            found = self._types[key] = _declared(_read_type(key))
            return found

    def attributes(self, op: _Op) -> dict[str, Any]:
        """The attributes of an operator, decoded; lists are copied, as operators may share the JSON of a value."""
        found = {}
        known = self._attributes
        for item in op.attributes:
            if type(item) is _Attribute:
                key = bytes(item.value)
                if key in known:
                    value = known[key]
                else:
                    value = known[key] = _attribute(_read_attribute(key))
                found[item.name] = value.copy() if type(value) is list else value
        return found

    def flags(self, op: _Op) -> Any:
        """The flags of a parameter (OA)."""
        key = bytes(op.training)
        if key not in self._flags:
            self._flags[key] = _read_any(key)
        return self._flags[key]


def read_pir(path: Path, content: bytes, vocabulary: Vocabulary) -> tuple[Program, list[Variable]]:
    """Reads a PIR program, the content of `path`; returns it without its parameters, and those that it declares.

    Raises:
        ModelReadError: the file is not a PIR program, is damaged, or is newer than `NEWEST_VERSION`.
    """
    try:
        file = _decoder.decode(content)
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
        self._cache = _JsonCache()
        self._names: dict[int, list[str]] = {}  # value id -> variable names; a vector value has several
        self._versions = Versions()
        self._writes: dict[int, dict[int, None]] = {}  # regions (by id) -> the values that are written inside
        self._variables: dict[str, Variable] = {}
        self._inputs: list[Variable] = []
        self._outputs: list[tuple[int, Output]] = []
        self._parameters: dict[str, Variable] = {}
        self._reserved: set[str] = set()
        self._blocks = 0
        self._depth = 0

    def read(self, file: _File) -> tuple[Program, list[Variable]]:
        main = file.program.regions[0].blocks[0]
        for index, op in enumerate(main.ops):  # names that the file gives win over the ones made up for other values
            if op.id in ("p", "1.data", "1.feed", "pd_op.data", "pd_op.feed", "0.parameter", "builtin.parameter"):
                try:
                    self._reserved.add(self._given_name(op))
                except (*_MALFORMED, ModelReadError) as error:
                    raise _placed(error, 0, index, op) from None
        block = self._read_block(main)
        self._outputs.sort(key=lambda item: item[0])
        outputs = [output for _, output in self._outputs]
        block.inputs = [variable.name for variable in self._inputs]
        block.outputs = [output.variable for output in outputs]
        program = Program("pir", file.base_code.version, block, self._inputs, outputs, self._variables, {})
        return program, list(self._parameters.values())

    def _read_block(self, source: _Block, carried: Mapping[int, list[str]] = MappingProxyType({})) -> Block:
        """Reads a block; `carried`: `id` of an argument -> names of the outer value whose memory it shares."""
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
        for index, op in enumerate(source.ops):
            try:
                self._read_op(block, op, index)
            except (*_MALFORMED, ModelReadError) as error:
                raise _placed(error, block.index, index, op) from error
        self._depth -= 1
        return block

    def _read_op(self, block: Block, op: _Op, index: int) -> None:
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
                (result,) = _results(op)
                self._alias(result.id, [one for operand in op.operands for one in self._use(operand.id)])
            case "builtin", "split":
                names = self._use(op.operands[0].id)
                for result, one in zip(_results(op), names, strict=True):
                    self._alias(result.id, [one])
            case "builtin", "slice":
                position = self._cache.attributes(op)["index"]
                names = self._named(op.operands[0].id)
                if not 0 <= position < len(names):
                    raise ModelReadError(f"index {position} is out of range")
                self._alias(_results(op)[0].id, self._versions.last([names[position]]))
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

    def _operator(self, block: Block, op: _Op, dialect: str, name: str, index: int) -> Operator:
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
        results = _results(op)
        ports = signature.results if signature else ()
        if len(results) > len(ports):
            ports = _ports(ports, len(results), "output")
        stem = name.rstrip("_")
        outputs = {port: self._define(result, stem) for port, result in zip(ports, results, strict=False)}
        written = _written_operand(op, name)
        if written is not None and results:
            self._overwrite(written, results[0])
        key = signature.key if signature else name
        attributes = self._cache.attributes(op)
        return Operator(key, inputs, outputs, attributes, f"{dialect}.{name}", block.index, index, blocks)

    def _control_flow(self, block: Block, op: _Op, name: str, index: int) -> Operator:
        inputs = {
            "cond": self._use(op.operands[0].id),
            "x": [one for item in op.operands[1:] for one in self._use(item.id)],
        }
        # What a region writes in place becomes a value that it yields, and for a loop one that it carries.
        written = self._written_in(op.regions)
        before = self._versions.last(written)
        carried = self._carried_in_place(op) if name == "while" else {}
        blocks = []
        for region in op.regions:
            mark = self._versions.mark()
            arguments = []
            if name == "while":
                arguments = [self._new_version(one) for one in written]
                self._versions.write(written, arguments)
            if len(region.blocks) != 1:
                raise ModelReadError("a region of an operator has one block")
            inner = self._read_block(region.blocks[0], carried)
            inner.inputs += arguments
            inner.outputs += self._versions.last(written)
            blocks.append(inner)
            self._versions.roll_back(mark)
        if name == "while":
            inputs["x"] += before
        results = [one for result in _results(op) for one in self._define(result, name)]
        after = [self._new_version(one) for one in written]
        self._versions.write(written, after)
        self._share_results(op, name, carried)
        outputs = {"out": results + after}
        attributes = self._cache.attributes(op)
        return Operator(name, inputs, outputs, attributes, f"pd_op.{name}", block.index, index, tuple(blocks))

    def _carried_in_place(self, op: _Op) -> dict[int, list[str]]:
        """The arguments of a loop that its body writes in place and yields: `id` -> names of the initial value outside.

        They are in the memory of their first value. An argument that is written, and replaced by something else
        afterwards, is there in the first iteration only: what its first value then holds is unknown.
        """
        (body,) = op.regions[0].blocks if len(op.regions) == 1 and len(op.regions[0].blocks) == 1 else (None,)
        if body is None:
            return {}
        written, found = self._values_written(op.regions), {}
        roots: dict[int, int] = {}  # result of an operator that writes in place -> what it was written to
        for inner in body.ops:
            operand = _written_operand(inner, inner.id.rpartition(".")[2])
            if operand is not None:
                roots.update({result.id: roots.get(operand.id, operand.id) for result in _results(inner)[:1]})
        for argument, first, given in zip(body.args, op.operands[1:], _yielded(body)[1:], strict=False):
            names = self._names.get(first.id, [])
            if argument.id not in written or not names:
                continue
            root = roots.get(given.id, given.id)
            if root == argument.id:
                found[argument.id] = names
            else:
                self._versions.lose(names)
                self._versions.lose(self._names.get(root, ()))
        return found

    def _share_results(self, op: _Op, name: str, carried: Mapping[int, list[str]]) -> None:
        """Notes in whose memory the results of a branch or a loop may be."""
        blocks = [one for region in op.regions for one in region.blocks]
        for result, argument in zip(_results(op), blocks[0].args if name == "while" and blocks else (), strict=False):
            if argument.id in carried:
                base = carried[argument.id]
                self._versions.write(base, self._names[result.id])
                self._names[result.id] = base
        if name == "while":
            for result, first in zip(_results(op), op.operands[1:], strict=False):
                self._versions.share(self._names[result.id], self._names.get(first.id, ()))
        for block in blocks:
            yielded = _yielded(block)[1:] if name == "while" else _yielded(block)
            for result, given in zip(_results(op), yielded, strict=False):
                self._versions.share(self._names[result.id], self._names.get(given.id, ()))

    def _overwrite(self, operand: _Value, result: _Value) -> None:
        """Notes that an operator wrote its result into the memory of an operand: later uses see the result."""
        sources = self._names.get(operand.id, [])
        results = self._names[result.id]
        if len(sources) == len(results):
            self._versions.write(sources, results)
            self._names[result.id] = sources

    def _written_in(self, regions: list[_Region]) -> list[str]:
        written = dict.fromkeys(name for value in self._values_written(regions) for name in self._names.get(value, ()))
        return [name for name in written if name]

    def _values_written(self, regions: list[_Region]) -> dict[int, None]:
        found = self._writes.get(id(regions))
        if found is None:
            found = self._writes[id(regions)] = {}
            for op in (op for region in regions for inner in region.blocks for op in inner.ops):
                operand = _written_operand(op, op.id.rpartition(".")[2])
                if operand is not None:
                    found[operand.id] = None
                if op.regions:
                    found.update(self._values_written(op.regions))
        return found

    def _new_version(self, name: str) -> str:
        known = self._variables[name]
        version = f"{name}@{len(self._variables)}"
        self._variables[version] = Variable(version, known.dtype, known.shape, known.is_array)
        return version

    def _read_parameter(self, op: _Op) -> None:
        (result,) = _results(op)
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

    def _read_feed(self, op: _Op) -> None:
        (result,) = _results(op)
        name = self._given_name(op)
        if name in self._variables:
            raise ModelReadError(f"input '{name}' is declared twice")
        variable = self._variable(name, result)
        self._inputs.append(variable)
        self._variables[name] = variable
        self._alias(result.id, [name])

    def _read_fetch(self, op: _Op, name: str, column: int) -> None:
        for variable in self._use(op.operands[0].id):
            self._budget.charge("bytes for results", _FETCH_BYTES)  # a list of values is one operand
            self._outputs.append((column, Output(name, variable)))

    def _given_name(self, op: _Op) -> str:
        if op.id == "p":
            if len(op.attributes) < 4 or not isinstance(op.attributes[3], str) or not op.attributes[3]:
                raise ModelReadError("a parameter without a name")
            return op.attributes[3]
        attributes = self._cache.attributes(op)
        name = attributes.get("name", attributes.get("parameter_name"))
        if not isinstance(name, str) or not name:
            raise ModelReadError(f"{op.id} without a name")
        return name

    def _define(self, value: _Value, stem: str) -> list[str]:
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

    def _variable(self, name: str, value: _Value) -> Variable:
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


def _placed(error: Exception, block: int, index: int, op: _Op) -> ModelReadError:
    """An error with the place of the operator that was read; the innermost place wins."""
    if isinstance(error, ModelReadError):
        is_placed = str(error).startswith("block ")
        return error if is_placed else ModelReadError(f"block {block}, operator {index} ({op.id}): {error}")
    return ModelReadError(f"block {block}, operator {index} ({op.id}): malformed: {error!r}")


def _written_operand(op: _Op, name: str) -> _Value | None:
    """The operand whose memory an in-place operator writes its first result to, or None."""
    if not (name.endswith("_") or name in _WRITTEN) or name in _NOT_WRITTEN or not op.operands:
        return None
    return op.operands[1] if name == "assign_out_" and len(op.operands) > 1 else op.operands[0]


def _yielded(block: _Block) -> list[_Value]:
    """What a block yields; for a loop the condition comes first."""
    return block.ops[-1].operands if block.ops and block.ops[-1].id.endswith("yield") else []


def _results(op: _Op) -> list[_Value]:
    return op.results if isinstance(op.results, list) else [op.results]


def _ports(named: Sequence[str], count: int, prefix: str) -> list[str]:
    return [*named, *(f"{prefix}_{i}" for i in range(len(named), count))]


def _attribute(value: _AttributeData) -> Any:
    if value.void is not None:
        return _FLOATS[value.void]
    kind = value.id.rpartition(".")[2]
    data = value.data
    if kind == "a_array":
        return [_nested(item) for item in data]
    if kind == "a_scalar":
        return _scalar(data)
    if kind in ("a_c64", "a_c128"):
        return complex(*data)
    if kind == "a_place":
        return None
    if kind == "a_type":
        return dtypes.PIR_TYPES.get(str(data["#"]).rpartition(".")[2])
    return data


def _nested(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return _attribute(_AttributeData(str(item["#"]), item.get("D"), item.get("VD")))


def _scalar(data: Any) -> Any:
    _, value = data
    if isinstance(value, str):
        return _FLOATS.get(value, value)
    return complex(*value) if isinstance(value, list) else value


def _declared(kind: _Type | None) -> list[Variable] | Variable | None:
    """A variable of that type without a name; one for each element of a vector; None where there is no value."""
    if kind is None or kind.id == "NULL":
        return None
    name = kind.id.rpartition(".")[2]
    if name.endswith("t_vec"):
        elements = (_declared(msgspec.convert(element, _Type)) for element in kind.data)
        return [one if isinstance(one, Variable) else Variable("") for one in elements]
    if name not in ("t_dtensor", "t_dense_tensor_array", "t_selected_rows"):
        return Variable("")
    element, dims, *_ = kind.data
    # Shape inference multiplies unknown dimensions too: `instance_norm` declares [-3] for 3 channels.
    shape = tuple([max(dim, -1) if isinstance(dim, int) else dim for dim in dims])
    check_rank(len(shape))
    if not all(isinstance(dim, int) and dim <= MAX_DIM for dim in shape):
        raise ModelReadError(f"a value has an impossible shape {list(shape)[:16]}")
    dtype = dtypes.PIR_TYPES.get(str(element["#"]).rpartition(".")[2])
    return Variable("", dtype, shape, is_array=name == "t_dense_tensor_array")
