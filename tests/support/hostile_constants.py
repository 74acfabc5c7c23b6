"""Converts models whose inputs are constants of extreme values and shapes, in processes that may die of it.

    python -m tests.support.hostile_constants STEP FOLDER...

converts every STEP-th of the variants of the models in the folders, and writes what is wrong with which. The models are
networks, or several cases of an operator, of which it takes the first.
"""

import json
import sys
from itertools import islice
from pathlib import Path

import numpy as np
from msgspec.structs import replace

import paddle2ov
from paddle2ov.program.model import Parameter, Variable
from paddle2ov.program.reading import read_program
from tools.mutation import server
from tools.mutation.mutant import Mutant
from tools.mutation.trial import FINDINGS, READERS

LIMITS = server.Limits(bytes=6 << 30)


def main():
    """Converts the variants."""
    step, *folders = sys.argv[1:]
    READERS["constants"] = lambda _, options: paddle2ov.convert(with_constants(*options["program"]))
    server.load()
    chosen = list(islice(hostile(folders), int(step) - 1, None, int(step)))
    for mutant, result in zip(chosen, server.read_all(chosen, LIMITS), strict=True):
        if result.outcome in FINDINGS:
            sys.stdout.write(f"{mutant.source}: {result.outcome}: {result.bucket}\n")


def hostile(folders):
    """The variants of models, each to be read in a process of its own."""
    for folder in map(Path, folders):
        program, feeds = first_case(folder)
        for label, values in variants(program, feeds):
            options = {"program": (program, values)}
            yield Mutant("constants", "pir", {}, options=options, source=f"{folder.name}: {label}")


def first_case(folder):
    """The program of the first case, whose inputs are called `0_x`, ..., or of a network, and their values."""
    program = read_program(folder)
    if (folder / "inputs_0.npz").exists():
        return program, dict(np.load(folder / "inputs_0.npz"))
    arrays, count = np.load(folder / "inputs.npz"), json.loads((folder / "case.json").read_text())["results"][0]
    inputs = [input_ for input_ in program.inputs if input_.name.startswith("0_")]
    block = replace(program.block, inputs=[input_.name for input_ in inputs], outputs=program.block.outputs[:count])
    program = replace(program, block=block, inputs=inputs, outputs=program.outputs[:count])
    return program, {name: arrays[name] for name in arrays.files if name.startswith("0_")}


def variants(program, feeds):
    """(Name, inputs that become constants) for each input, alone and with all others at their own values."""
    tensors = [input_ for input_ in program.inputs if input_.dtype and not input_.is_array and input_.name in feeds]
    own = {tensor.name: feeds[tensor.name] for tensor in tensors}
    for tensor in tensors:
        for label, array in extremes(own[tensor.name]):
            yield f"{tensor.name} {label}", {tensor.name: array}
            if len(tensors) > 1:
                yield f"{tensor.name} {label}, all constant", {**own, tensor.name: array}


def extremes(array):
    """Arrays of the same type: extreme values, no elements, other shapes."""
    kind, shape = array.dtype, array.shape
    yield "as it is", array
    numbers = [0, 1, -1, 7, 10**6, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63)]
    if kind.kind in "fc":
        numbers = [0, 1, -1, 1e6, 1e30, np.nan, np.inf, -np.inf]
    for number in numbers if kind.kind != "b" else (0, 1):
        if kind.kind not in "iu" or np.iinfo(kind).min <= number <= np.iinfo(kind).max:
            with np.errstate(all="ignore"):
                yield f"= {number}", np.full(shape, number, kind)
    for axis in range(len(shape)):
        yield f"without elements along {axis}", np.zeros((*shape[:axis], 0, *shape[axis + 1 :]), kind)
    yield "of no dimensions", np.ones((), kind)
    yield "of one dimension more", np.ones((*shape, 1), kind)
    if len(shape) == 1:
        yield "of 100 elements", np.ones(100, kind)


def with_constants(program, values):
    """The program with inputs replaced by parameters."""
    parameters, variables, inputs = dict(program.parameters), dict(program.variables), []
    for input_ in program.inputs:
        if input_.name in values:
            array = values[input_.name]
            parameters[input_.name] = Parameter(input_.name, input_.dtype, array)
            variables[input_.name] = Variable(input_.name, input_.dtype, array.shape, lod_level=input_.lod_level)
        else:
            inputs.append(input_)
    block = replace(program.block, inputs=[input_.name for input_ in inputs])
    return replace(program, block=block, inputs=inputs, variables=variables, parameters=parameters)


if __name__ == "__main__":
    main()
