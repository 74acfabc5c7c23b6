"""Values inside a program, weights among them, as Paddle and as OpenVINO compute them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from openvino import Model

from paddle2ov.comparison.differences import Expected, as_openvino_array
from paddle2ov.comparison.paddle_process import PaddleModel
from paddle2ov.compilation.running import Result, infer
from paddle2ov.conversion import convert
from paddle2ov.graph.node_names import LENGTHS_SUFFIX
from paddle2ov.inputs.given_arrays import Inputs
from paddle2ov.program.liveness import liveness
from paddle2ov.program.model import Block, Operator, Program
from paddle2ov.translation.extension import Extension
from paddle2ov.typing import AnyArray
from paddle2ov.verification.where import ON_CPU, Where


@dataclass(slots=True)
class Isolated:
    """An operator alone: Paddle's inputs, both sides' results, and the OpenVINO model that computes it."""

    inputs: dict[str, Expected]
    expected: dict[str, Expected]
    results: dict[str, Result]
    model: Model


class Values:
    """Both sides' values on one set of inputs.

    Attributes:
        files: the program's, as Paddle has loaded them.
        block: the main block, without what its results do not need.
        used: the variables that anything reads.
        dynamic: the variables that depend on the program's inputs; the others are constants.
        fixed: values of Paddle's that OpenVINO takes in place of its own; what follows from them is compared alone.
    """

    def __init__(
        self, program: Program, paddle: PaddleModel, inputs: Inputs, extension: Extension = None, where: Where = ON_CPU
    ) -> None:
        self.program = program
        self.files = paddle.files
        self.inputs = inputs
        self.fixed: dict[str, Expected] = {}
        self._paddle = paddle
        self._where = where
        self._extension = extension
        self._with_lengths = any(name.endswith(LENGTHS_SUFFIX) for name in inputs)
        live = liveness(program.block, (item.variable for item in program.outputs))
        self.used = live.names
        self.block = replace(
            program.block, operators=[operator for operator in program.block.operators if live.needs(operator)]
        )
        self._requests = {
            name: place for operator in self.block.operators for name, place in _fetch_requests(program, operator)
        }
        self._makers = {name: operator for operator in self.block.operators for name in operator.output_names()}
        self.dynamic = _dynamic_variables(self.block, [variable.name for variable in program.inputs])

    def fix(self, values: Mapping[str, Expected]) -> None:
        """Makes OpenVINO take values of Paddle's; what depends on them is not constant."""
        self.fixed |= values
        self.dynamic = _dynamic_variables(self.block, [*self.dynamic, *values])

    def is_known(self, name: str) -> bool:
        """Whether Paddle may be able to hand out a variable: an operator of the main block writes it."""
        return name in self._requests and not self.is_array(name)

    def of_paddle(self, names: Iterable[str]) -> dict[str, Expected]:
        """Paddle's values, of the variables that it can hand out."""
        known = [name for name in dict.fromkeys(names) if self.is_known(name)]
        fetched = self._paddle.values(self.inputs, [self._requests[name] for name in known]) if known else []
        named = zip(known, fetched, strict=True)
        return {name: dataclasses.replace(item, name=name) for name, item in named if item is not None}

    def of_openvino(self, names: Iterable[str]) -> dict[str, Result]:
        """OpenVINO's values of the variables that can be model outputs, without the fixed ones."""
        wanted = [name for name in dict.fromkeys(names) if name not in self.fixed]
        computed = self.compute(self.fixed, wanted) if wanted else None
        if computed is not None:
            return dict(zip(wanted, computed[0], strict=True))
        middle = len(wanted) // 2  # of several, one may be no result: the others still can
        return self.of_openvino(wanted[:middle]) | self.of_openvino(wanted[middle:]) if middle else {}

    def around(
        self, operators: Iterable[Operator], wanted: Sequence[str]
    ) -> tuple[dict[str, Expected], dict[str, Expected]]:
        """Paddle's values of what operators read and what depends on the program's inputs, and those of variables."""
        names = [
            name
            for name in dict.fromkeys(name for operator in operators for name in variables_read(operator))
            if name in self.dynamic and not self.is_array(name)
        ]
        fetched = self.of_paddle([*names, *wanted])
        read = {name: fetched[name] for name in names if name in fetched}
        for name in names:
            if name in self.inputs:
                read[name] = Expected(name, self.program.variables[name].dtype or "float32", self.inputs[name])
        return read, {name: fetched[name] for name in wanted if name in fetched}

    def filled_by(self, operator: Operator) -> list[Operator]:
        """The operators that made and filled the tensor arrays that an operator reads, in program order."""
        by_index: dict[int, Operator] = {}
        waiting = [operator]
        while waiting:
            arrays = [name for name in variables_read(waiting.pop()) if self.is_array(name)]
            makers = [self._makers[name] for name in arrays if name in self._makers]
            waiting += [maker for maker in makers if maker.index not in by_index]
            by_index |= {maker.index: maker for maker in makers}
        return [by_index[index] for index in sorted(by_index) if index < operator.index]

    def compute(self, cuts: Mapping[str, Expected], names: Sequence[str]) -> tuple[list[Result], Model] | None:
        """OpenVINO's values of variables from given values of others, and the model that computes them.

        None where that cannot be converted, or does not run.
        """
        self._paddle.process.deadline.check()
        variables = self.program.variables
        shapes = {name: [*cut.array.shape, *([2] if variables[name].is_complex else [])] for name, cut in cuts.items()}
        arrays = {name: cut.array for name, cut in cuts.items()}
        arrays |= {name + LENGTHS_SUFFIX: cut.lengths for name, cut in cuts.items() if cut.lengths is not None}
        try:
            model = convert(
                self.program,
                input=shapes or None,
                output=list(names),
                extension=self._extension,
                device=self._where.target,
                sequence_lengths=self._with_lengths,
            )
            results = infer(self._where.compile(model), {**self.inputs, **arrays})
        except Exception:  # whatever a conversion of a cut program raises: the whole one has passed
            return None
        return results[: len(names)], model

    def parameters_of(self, operator: Operator) -> dict[str, AnyArray]:
        """The parameters that an operator reads, which are the same on both sides."""
        read = (self.program.parameters.get(name) for name in operator.input_names())
        return {item.name: as_openvino_array(Expected(item.name, item.dtype, item.data)) for item in read if item}

    def is_array(self, name: str) -> bool:
        """Whether a variable is a tensor array."""
        variable = self.program.variables.get(name)
        return variable is not None and variable.is_array


def variables_read(operator: Operator) -> Iterator[str]:
    """The variables that an operator reads, those that its blocks read from outside included."""
    yield from (name for name in operator.input_names() if name)
    for block in operator.blocks:
        yield from captured_by(block)


def captured_by(block: Block) -> Iterator[str]:
    """The variables that a block reads from outside of it."""
    inside = {name for inner in block.walk() for name in inner.output_names()} | set(block.inputs)
    yielded = (name for inner in block.walk() for deeper in inner.blocks for name in deeper.outputs)
    names = (name for inner in block.walk() for name in inner.input_names())
    yield from (name for name in (*names, *yielded, *block.outputs) if name and name not in inside)


def name_in_file(name: str) -> str:
    """The name in a legacy file: the reader numbers the writes of a variable beyond the first (`x@1`)."""
    return re.sub(r"@\d+$", "", name)


def _fetch_requests(program: Program, operator: Operator) -> Iterator[tuple[str, dict[str, Any]]]:
    """The requests by which `paddle_worker.py` fetches the results of an operator."""
    if program.format == "legacy":
        for name in operator.output_names():
            written = name_in_file(name)
            yield name, {"op": operator.index, "name": written if written in program.variables else name}
        return
    for i, names in enumerate(operator.outputs.values()):
        for k, name in enumerate(names):
            place = (i, k) if not operator.blocks else (k, 0)
            yield name, {"op": operator.index, "type": operator.source_type, "result": place[0], "element": place[1]}


def _dynamic_variables(block: Block, inputs: Iterable[str]) -> set[str]:
    dynamic = set(inputs)
    for operator in block.operators:
        if any(name in dynamic for name in variables_read(operator)):
            dynamic.update(name for name in operator.output_names() if name)
    return dynamic
