"""Reader of legacy programs (`.pdmodel`, `__model__`), which Paddle 1.x and 2.x write.

A legacy program writes variables by name, any number of times, also from inside its sub-blocks. The reader gives every
write a name of its own and turns sub-blocks into blocks with explicit inputs and outputs:

- `while` carries every outer variable that its body writes;
- `recurrent` carries its states and every outer variable that its body writes;
- `conditional_block` becomes an `if` whose else-branch keeps what the variables held before;
- `select_input` merges two conditional blocks into one `if`; the two that it selects from are then dead.

Source: `paddle/phi/core/framework/framework.proto`, `paddle/fluid/operators/controlflow/`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from paddle2ov.errors import ModelReadError
from paddle2ov.program.budget import MAX_NESTED_BLOCKS, Budget
from paddle2ov.program.framework_proto import ProgramDesc, VarType, decode
from paddle2ov.program.legacy_file import (
    BLOCK,
    DescCache,
    Op,
    argument_of,
    arguments_of,
    attributes_of,
    by_preference,
    canonical_name,
    column_of,
    sub_block_of,
)
from paddle2ov.program.liveness import count_walked
from paddle2ov.program.model import Block, Operator, Output, Program, Variable
from paddle2ov.program.op_versions import current_name, semantics_of
from paddle2ov.program.places import MALFORMED, PlacedReadError, placed
from paddle2ov.program.vocabulary import Vocabulary

_NEWEST_VERSION = 3_999_999  # 2.6.2 writes 2006002, 3.x writes 300xxxx or 0


_KINDS = {8: "SELECTED_ROWS", 15: "READER", 26: "STRINGS", 27: "VOCAB"}
"""Types of variables that are no tensors, by their numbers in Paddle's VarType."""
_OF_TOKENIZERS = (26, 27)

_CLIPPED = ("Mask", "XShape")
"""Ports of gradients whose variables are results that `save_inference_model` drops; not all gradients need them."""


def read_legacy(path: Path, content: bytes, vocabulary: Vocabulary) -> tuple[Program, list[Variable]]:
    """Reads a legacy program, the content of `path`; returns it without its parameters, and those that it declares.

    Raises:
        ModelReadError: the file is not a legacy program, is damaged, or is of an unknown version.
    """
    try:
        desc = decode(ProgramDesc, content)
    except DecodeError:
        raise ModelReadError(f"{path}: not a Paddle program, or a damaged one") from None
    try:
        if not 0 <= desc.version.version <= _NEWEST_VERSION:
            raise ModelReadError(f"program version {desc.version.version} is not known")
        if not desc.blocks:
            raise ModelReadError("not a Paddle program: it has no blocks")
        return _Reader(desc, vocabulary, Budget(len(content))).read()
    except ModelReadError as error:
        raise ModelReadError(f"{path}: {error}") from None
    except UnicodeDecodeError as error:
        raise ModelReadError(f"{path}: a name is not valid UTF-8: {error}") from None
    except DecodeError:
        raise ModelReadError(f"{path}: an attribute or a type cannot be decoded") from None
    except RecursionError:
        raise ModelReadError(f"{path}: nested too deeply") from None


class _Scope:
    """The variables that a block sees: name in the file -> name of its latest write."""

    def __init__(self, declared: set[str], parent: _Scope | None = None) -> None:
        self.latest: dict[str, str] = {}
        self._declared = declared
        self._parent = parent

    def find(self, name: str) -> str | None:
        if name in self.latest:
            return self.latest[name]
        return None if self._parent is None else self._parent.find(name)

    def declares(self, name: str) -> bool:
        return name in self._declared or (self._parent is not None and self._parent.declares(name))


class _Reader:
    def __init__(self, desc: Any, vocabulary: Vocabulary, budget: Budget) -> None:
        self._blocks = list(desc.blocks)
        self._budget = budget
        self._cache = DescCache()
        self._ops: dict[int, list[Op]] = {}
        self._writes: dict[int, list[str]] = {}
        self._program_version = desc.version.version
        self._vocabulary = vocabulary
        self._variables: dict[str, Variable] = {}
        self._parameters: dict[str, Variable] = {}
        self._impossible: dict[str, list[int]] = {}  # variables with sizes that no memory holds
        self._inputs: list[tuple[int, Variable]] = []
        self._outputs: list[tuple[int, Output]] = []
        # Output of a conditional block -> its block, and the name that this yields.
        self._branch_results: dict[str, tuple[Block, str]] = {}
        self._extra_writes: dict[str, int] = {}  # name in the file -> number of writes beyond the first
        self._charged_blocks: set[int] = set()
        self._opened_blocks: list[int] = []  # blocks being read, outermost first

    def read(self) -> tuple[Program, list[Variable]]:
        scope = self._declare(0, None)
        block = self._read_block(0, scope)
        inputs = [variable for _, variable in sorted(self._inputs, key=itemgetter(0))]
        outputs = [output for _, output in sorted(self._outputs, key=itemgetter(0))]
        block.inputs = [variable.name for variable in inputs]
        block.outputs = [output.variable for output in outputs]
        self._budget.charge("operators in blocks", count_walked(block))
        program = Program("legacy", self._program_version, block, inputs, outputs, self._variables, {})
        return program, list(self._parameters.values())

    def _declare(self, index: int, parent: _Scope | None) -> _Scope:
        if not 0 <= index < len(self._blocks):
            raise ModelReadError(f"block {index} does not exist; the program has {len(self._blocks)}")
        scope = _Scope(set(), parent)
        for desc in self._blocks[index].vars:
            if not isinstance(desc.name, str):
                raise ModelReadError(f"block {index}: the variable name {desc.name!r} is not valid UTF-8")
            declared = self._cache.type(desc.type)
            if declared is None:
                continue
            variable = declared.named(desc.name)
            scope._declared.add(variable.name)
            self._variables.setdefault(variable.name, variable)
            if desc.type in self._cache.impossible:
                self._impossible[variable.name] = self._cache.impossible[desc.type]
            if desc.persistable:
                self._check_shape(variable.name)
                self._parameters[variable.name] = variable
                scope.latest[variable.name] = variable.name
        return scope

    def _declared_in(self, index: int) -> dict[str, Variable]:
        """The variables of a block, as it declares them: one of an outer block may have the same name."""
        types = {desc.name: self._cache.type(desc.type) for desc in self._blocks[index].vars}
        return {name: kind for name, kind in types.items() if kind is not None}

    def _operators(self, index: int) -> list[Op]:
        if index not in self._ops:
            operators = self._ops[index] = []
            for position, desc in enumerate(self._blocks[index].ops):
                try:
                    operators.append(self._cache.operator(desc))
                except ModelReadError as error:
                    raise placed(error, index, position, desc.type) from None
        return self._ops[index]

    def _read_block(self, index: int, scope: _Scope) -> Block:
        if index in self._opened_blocks:
            raise ModelReadError(f"block {index} contains itself")
        if len(self._opened_blocks) >= MAX_NESTED_BLOCKS:
            raise ModelReadError(f"blocks are nested more than {MAX_NESTED_BLOCKS} deep")
        self._opened_blocks.append(index)
        self._budget.charge("operators in blocks", len(self._blocks[index].ops) + len(self._blocks[index].vars))
        if index in self._charged_blocks:  # it is read again for each operator that owns it
            self._budget.charge("bytes of blocks that are read again", self._blocks[index].ByteSize())
        self._charged_blocks.add(index)
        block = Block(index)
        for position, desc in enumerate(self._operators(index)):
            try:
                operator = _LOWERINGS.get(desc.type, _Reader._read_op)(self, block, scope, desc, position)
            except PlacedReadError:
                raise
            except (*MALFORMED, ModelReadError) as error:
                raise placed(error, index, position, desc.type) from error
            if operator is not None:
                block.operators.append(operator)
        self._opened_blocks.pop()
        return block

    def _read_op(self, block: Block, scope: _Scope, desc: Op, index: int) -> Operator:
        signature = self._vocabulary.of_legacy(current_name(desc.type, [port for port, _ in desc.inputs]))
        key = signature.key if signature else desc.type
        inputs: dict[str, list[str]] = {}
        for port, i in by_preference(desc.inputs, signature):
            arguments = [name for name in desc.inputs[i][1] if name != "@EMPTY@"]
            if desc.inputs[i][0] in _CLIPPED and desc.type.endswith("_grad"):
                arguments = [name for name in arguments if scope.find(name) is not None]
            for name in arguments:
                self._begin_array(block, scope, name, index)
            names = [self._use(scope, name) for name in arguments]
            if names:  # of several ports for one operand (`ShapeTensor`, `Shape`) the preferred one counts
                inputs.setdefault(port, names)
        if desc.type == "write_to_array":  # updates an array in place, without naming it as an input
            before = scope.find(desc.outputs[0][1][0]) if desc.outputs and desc.outputs[0][1] else None
            if before is not None:
                inputs["array"] = [before]
        attributes, call_stack = attributes_of(desc, signature)
        semantics = semantics_of(desc.type, self._program_version, attributes)
        for attribute in desc.attributes:  # one may name variables instead of holding a value: it is an operand then
            if attribute.names:
                name = canonical_name(attribute.name, signature)
                attributes.pop(name, None)
                inputs.setdefault(name, [self._use(scope, item) for item in attribute.names])
        outputs: dict[str, list[str]] = {}
        for port, arguments in desc.outputs:
            if arguments:
                names = ["" if name == "@EMPTY@" else self._define(scope, name) for name in arguments]
                outputs.setdefault(canonical_name(port, signature), []).extend(names)
        return Operator(key, inputs, outputs, attributes, desc.type, block.index, index, (), call_stack, semantics)

    def _read_feed(self, block: Block, scope: _Scope, desc: Op, index: int) -> None:
        name = argument_of(desc.outputs, "Out")
        variable = self._variables.get(name)
        if variable is None:
            raise ModelReadError(f"input '{name}' is not declared")
        self._check_shape(name)
        scope.latest[name] = name
        self._parameters.pop(name, None)
        self._inputs.append((column_of(desc, index), variable))

    def _check_shape(self, name: str) -> None:
        """Refuses an input or a parameter with a size that no memory holds; that of a result is unknown."""
        if name in self._impossible:
            raise ModelReadError(f"'{name}' has an impossible shape {self._impossible[name][:16]}")

    def _read_fetch(self, block: Block, scope: _Scope, desc: Op, index: int) -> None:
        name = argument_of(desc.inputs, "X")
        self._outputs.append((column_of(desc, index), Output(name, self._use(scope, name))))

    def _read_while(self, block: Block, scope: _Scope, desc: Op, index: int) -> Operator:
        condition = argument_of(desc.inputs, "Condition")
        inner = self._declare(sub_block_of(desc), scope)
        carried = self._written_outside(desc, scope)
        before = [scope.find(name) or "" for name in carried]
        arguments = [self._argument_name(name, inner) for name in carried]
        first = self._use(scope, condition)
        body = self._read_block(sub_block_of(desc), inner)
        body.inputs = arguments
        body.outputs = [self._use(inner, condition), *(self._use(inner, name) for name in carried)]
        attributes, call_stack = attributes_of(desc)
        after = [self._define(scope, name) for name in carried]
        inputs, outputs = {"cond": [first], "x": before}, {"out": after}
        return Operator("while", inputs, outputs, attributes, desc.type, block.index, index, (body,), call_stack)

    def _read_recurrent(self, block: Block, scope: _Scope, desc: Op, index: int) -> Operator:
        attributes, call_stack = attributes_of(desc)
        number = sub_block_of(desc)
        sequences, results = arguments_of(desc.inputs, "inputs"), arguments_of(desc.outputs, "outputs")
        if not sequences:
            raise ModelReadError("port inputs is missing")
        entering, leaving = attributes.pop("ex_states", []), attributes.pop("states", [])
        initial = arguments_of(desc.inputs, "initial_states")
        if not attributes.pop("has_states", True):
            entering, leaving, initial = [], [], []
        if not len(entering) == len(leaving) == len(initial):
            counts = f"{len(initial)}, {len(entering)} and {len(leaving)}"
            raise ModelReadError(f"initial_states, ex_states and states are {counts} names; as many are expected")
        inner = self._declare(number, scope)
        # What the block declares is local to each iteration.
        written = [name for name in self._written_outside(desc, scope) if name not in inner._declared]
        first = [self._use(scope, name) for name in initial] + [scope.find(name) or "" for name in written]
        sequence_names = [self._use(scope, name) for name in sequences]
        declared = self._declared_in(number)
        arguments = [self._argument_name(name, inner) for name in (*sequences, *entering, *written)]
        for name, argument in zip(sequences, arguments, strict=False):  # inside, this is the name of one element
            self._variables[argument] = _element(declared.get(name), self._variables[argument])
        body = self._read_block(number, inner)
        body.inputs = arguments
        body.outputs = [self._use(inner, name) for name in (*leaving, *written, *results)]
        for name, element in zip(results, body.outputs[len(first) :], strict=True):
            self._variables[element] = _element(declared.get(name), self._variables[element])
        after = [""] * len(leaving) + [self._define(scope, name) for name in (*written, *results)]
        inputs, outputs = {"x": sequence_names, "states": first}, {"out": after}
        return Operator("recurrent", inputs, outputs, attributes, desc.type, block.index, index, (body,), call_stack)

    def _read_conditional_block(self, block: Block, scope: _Scope, desc: Op, index: int) -> Operator:
        condition = self._use(scope, argument_of(desc.inputs, "Cond"))
        attributes, call_stack = attributes_of(desc)
        if not attributes.get("is_scalar_condition", False):
            raise ModelReadError("is_scalar_condition=False (run when the inputs are not empty) is not supported")
        inner = self._declare(sub_block_of(desc), scope)
        written = self._written_outside(desc, scope)
        then = self._read_block(sub_block_of(desc), inner)
        then.outputs = [self._use(inner, name) for name in written]
        otherwise = Block(then.index, outputs=[scope.find(name) or "" for name in written])
        after = [self._define(scope, name) for name in written]
        for name, yielded, before in zip(after, then.outputs, otherwise.outputs, strict=True):
            if not before:  # such a value is selected only if the block has run
                self._branch_results[name] = (then, yielded)
        inputs, outputs = {"cond": [condition]}, {"out": after}
        return Operator("if", inputs, outputs, attributes, desc.type, block.index, index, (then, otherwise), call_stack)

    def _read_select_input(self, block: Block, scope: _Scope, desc: Op, index: int) -> Operator | None:
        mask = self._use(scope, argument_of(desc.inputs, "Mask"))
        names = arguments_of(desc.inputs, "X")
        if len(names) != 2:
            raise ModelReadError(f"selects between {len(names)} values; only two are supported")
        branches = []
        for name in reversed(names):  # the mask is 0 for the first value and 1 for the second
            value = self._use(scope, name)
            source, yielded = self._branch_results.get(value, (Block(block.index), value))
            branches.append(Block(source.index, source.operators, [], [yielded]))
        result = self._define(scope, argument_of(desc.outputs, "Out"))
        last = block.operators[-1] if block.operators else None
        # One select_input follows another for every result of the same pair of branches: they share one `if`.
        if (
            last is not None
            and last.source_type == "select_input"
            and last.inputs["cond"] == [mask]
            and all(new.operators is old.operators for new, old in zip(branches, last.blocks, strict=True))
        ):
            for new, old in zip(branches, last.blocks, strict=True):
                old.outputs += new.outputs
            last.outputs["out"].append(result)
            return None
        _, call_stack = attributes_of(desc)
        inputs, outputs = {"cond": [mask]}, {"out": [result]}
        return Operator("if", inputs, outputs, {}, desc.type, block.index, index, tuple(branches), call_stack)

    def _written_outside(self, desc: Op, scope: _Scope) -> list[str]:
        """What the block of an operator writes of the variables around it."""
        return [name for name in self._written_in(sub_block_of(desc)) if scope.declares(name)]

    def _written_in(self, index: int, open_blocks: tuple[int, ...] = ()) -> list[str]:
        """What the operators of a block, and of the blocks inside, write, each variable once."""
        if index in open_blocks or not 0 <= index < len(self._blocks):
            raise ModelReadError(f"block {index} contains itself or does not exist")
        if len(open_blocks) >= MAX_NESTED_BLOCKS:
            raise ModelReadError(f"blocks are nested more than {MAX_NESTED_BLOCKS} deep")
        if index not in self._writes:
            written: dict[str, None] = {}
            for desc in self._operators(index):
                for _, names in desc.outputs:
                    written.update(dict.fromkeys(name for name in names if name != "@EMPTY@"))
                for attribute in desc.attributes:
                    if attribute.kind == BLOCK and isinstance(attribute.value, int):
                        written.update(dict.fromkeys(self._written_in(attribute.value, (*open_blocks, index))))
            self._writes[index] = list(written)
        return self._writes[index]

    def _use(self, scope: _Scope, name: str) -> str:
        variable = scope.find(name)
        if variable is None:
            self._check_is_tensor(name)
            if not any(desc.type == "fetch" for desc in self._operators(0)):
                raise ModelReadError(
                    f"variable '{name}' is not fed, and nothing is fetched: the program was saved for training, as "
                    "`paddle.static.save` does. Save it by `paddle.static.save_inference_model`"
                )
            raise ModelReadError(
                f"variable '{name}' is used before it is written. Paddle saves no results that only training needs, "
                "such as the mask of a dropout, unless it is told so (`clip_extra=False`): do not return one"
            )
        return variable

    def _check_is_tensor(self, name: str) -> None:
        for desc in (desc for block in self._blocks for desc in block.vars if desc.name == name):
            if self._cache.type(desc.type) is None:
                kind = decode(VarType, desc.type).type
                advice = (
                    "only tokenizers have. Export the network without its own"
                    if kind in _OF_TOKENIZERS
                    else "only training and parameter servers have. Export the network for inference"
                )
                raise ModelReadError(
                    f"variable '{name}' is no tensor: it is of Paddle's type {_KINDS.get(kind, kind)}, which {advice}"
                )

    def _begin_array(self, block: Block, scope: _Scope, name: str, index: int) -> None:
        """Legacy programs only declare an array: where one is read before anything is written to it, it is empty."""
        declared = self._variables.get(name)
        if declared is not None and declared.is_array and scope.find(name) is None:
            outputs = {"out": [self._define(scope, name)]}
            block.operators.append(Operator("create_array", {}, outputs, {}, "create_array", block.index, index))

    def _define(self, scope: _Scope, name: str) -> str:
        if name in self._extra_writes or name in scope.latest:
            version = self._version(name)
        else:
            self._extra_writes[name] = 0
            version = name
        scope.latest[name] = version
        return version

    def _argument_name(self, name: str, scope: _Scope) -> str:
        scope.latest[name] = version = self._version(name)
        return version

    def _version(self, name: str) -> str:
        count = self._extra_writes.get(name, 0) + 1
        while f"{name}@{count}" in self._variables:
            count += 1
        self._extra_writes[name] = count
        version = f"{name}@{count}"
        known = self._variables.get(name)
        self._variables[version] = known.named(version) if known else Variable(version)
        return version


_LOWERINGS: dict[str, Callable[[_Reader, Block, _Scope, Op, int], Operator | None]] = {
    "feed": _Reader._read_feed,
    "fetch": _Reader._read_fetch,
    "while": _Reader._read_while,
    "conditional_block": _Reader._read_conditional_block,
    "conditional_block_infer": _Reader._read_conditional_block,
    "recurrent": _Reader._read_recurrent,
    "select_input": _Reader._read_select_input,
}
"""What reads the operators that are no plain ones."""


def _element(declared: Variable | None, whole: Variable) -> Variable:
    """One element of a sequence, as its block declares it, or else by the sequence's own type."""
    if declared is not None:
        return declared.named(whole.name)
    return Variable(whole.name, whole.dtype, None if whole.shape is None else whole.shape[1:])
