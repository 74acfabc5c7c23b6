"""What a model is made of, and what of it can be converted: `inspect(model)`."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from dataclasses import dataclass
from typing import Any

from paddle2ov.conversion import convert_program
from paddle2ov.errors import OpConversionError, UnsupportedOpsError
from paddle2ov.extension import Extension
from paddle2ov.program import read_program
from paddle2ov.program.liveness import prune
from paddle2ov.program.model import Block, Program
from paddle2ov.program.vocabulary import Vocabulary
from paddle2ov.registry import STRUCTURE, Registry


@dataclass(frozen=True, slots=True)
class Port:
    """An input or result of the model: its name, Paddle's type name, its shape (-1: dynamic; None: unknown rank)."""

    name: str
    dtype: str | None
    shape: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class OpCount:
    """An operator type: how often the results need it, and whether it has a converter."""

    name: str
    count: int
    supported: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    """An operator that stops the conversion, why, and where it stands (with the model's source where it is known)."""

    operator: str
    reason: str
    place: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """What `inspect` found.

    Attributes:
        format: "pir" or "legacy".
        version: the file's version.
        inputs: the model's inputs in order.
        outputs: the model's results in order.
        operators: every operator type that the results need, the most used first.
        dead_operators: how many operators no result needs.
        parameters: the number of weights.
        parameter_bytes: their size.
        nesting: how deep branches and loops stand in each other (0: there are none).
        refusals: what stops the conversion; empty if the model converts.
    """

    format: str
    version: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    operators: tuple[OpCount, ...]
    dead_operators: int
    parameters: int
    parameter_bytes: int
    nesting: int
    refusals: tuple[Refusal, ...]

    @property
    def convertible(self) -> bool:
        """Whether the model converts as it is."""
        return not self.refusals

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        return {**dataclasses.asdict(self), "convertible": self.convertible}


def inspect(
    model: str | os.PathLike[str], params: str | os.PathLike[str] | None = None, *, extension: Extension = None
) -> Inspection:
    """Reads a model and tells what it is made of and whether it converts.

    Args:
        model: a model folder, a program file or a path prefix, as for `convert`.
        params: the parameter file, where it does not lie beside the program under the usual name.
        extension: converters of your own, as for `convert`.

    Raises:
        ModelReadError: the model cannot be found or read.
    """
    registry = Registry(extension)
    signatures = [found for item in registry.extensions() if (found := item.parsed_signature()) is not None]
    program = read_program(model, params, signatures)
    block, _ = prune(program.block, (item.variable for item in program.outputs))
    used = Counter(operator.type for operator in block.walk())
    variables = program.variables
    return Inspection(
        program.format,
        program.version,
        tuple(Port(one.name, one.dtype, one.shape) for one in program.inputs),
        tuple(Port(one.name, variables[one.variable].dtype, variables[one.variable].shape) for one in program.outputs),
        tuple(
            OpCount(name, count, name in STRUCTURE or registry.get(name) is not None)
            for name, count in sorted(used.items(), key=lambda item: (-item[1], item[0]))
        ),
        len(program.block.operators) - len(block.operators),
        len(program.parameters),
        sum(weight.data.nbytes for weight in program.parameters.values()),
        _nesting(block),
        _refusals(program, registry, Vocabulary(signatures)),
    )


def _nesting(block: Block) -> int:
    inner = [_nesting(one) for operator in block.operators for one in operator.blocks]
    return 1 + max(inner) if inner else 0


def _refusals(program: Program, registry: Registry, vocabulary: Vocabulary) -> tuple[Refusal, ...]:
    try:
        convert_program(program, [], [], registry, vocabulary)
    except UnsupportedOpsError as error:
        return tuple(
            Refusal(name, f"there is no converter for it (used {count}x)", str(error.places[name]))
            for name, count in error.operators.most_common()
        )
    except OpConversionError as error:
        return (Refusal(error.place.op_type, error.reason, str(error.place)),)
    return ()
