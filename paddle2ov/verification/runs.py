"""Runs all sets of inputs on both sides; random ones that Paddle refuses are replaced."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from openvino import PartialShape

from paddle2ov.comparison.differences import compare_tensor
from paddle2ov.errors import PaddleRunError
from paddle2ov.graph.node_names import LENGTHS_SUFFIX
from paddle2ov.inputs.given_arrays import Inputs
from paddle2ov.inputs.random_inputs import RandomInputs
from paddle2ov.progress import StageProgress
from paddle2ov.verification.both_sides import Sides, Subject, run_both
from paddle2ov.verification.paddle_values import PADDLE_FAULT
from paddle2ov.verification.results import Verification

WIDE = (
    "The program takes integers of any size, such as to hash them. For those beyond 32 bits the results differ: "
    "OpenVINO's CPU plugin computes int64 as int32 (docs/limits.md)"
)

SCALARS = (
    "Of {}, Paddle gives a scalar and OpenVINO the same number in a tensor of one element, as one side of a branch, or "
    "a loop without iterations, gives a scalar (docs/limits.md)"
)


def run_all(
    found: Verification,
    subject: Subject,
    sets: Sequence[Inputs],
    drawn: RandomInputs | None,
    say: StageProgress,
    on_run: Callable[[Verification], None],
) -> list[Sides]:
    """Runs all sets of inputs on both sides; notes how the results compare.

    In place of random inputs that Paddle refuses, others are tried, until it has refused all that may replace a set.
    """
    sides: list[Sides] = []
    advice = _advice(subject, drawn) if drawn is not None else ""

    def run(arrays: Inputs) -> Sides:
        try:
            return run_both(subject, arrays)
        except PaddleRunError as error:
            raise PaddleRunError(f"{error}{advice}") from None

    for i, arrays in enumerate(sets):
        say("running", i, len(sets))
        sides.append(run(arrays))
        if drawn is not None and sides[-1].run.refused:
            say("looking for inputs that Paddle takes", i, len(sets))
            others = (run(alternative) for alternative in drawn.alternatives(i))
            sides[-1] = next((item for item in others if not item.run.refused), sides[-1])
            drawn = drawn if not sides[-1].run.refused else None
        found.runs.append(sides[-1].run)
        on_run(found)
    found.is_all_run = True
    if all(side.run.refused for side in sides):
        refused = sides[0].run.refused
        advice = _without_kernels(subject, refused) or advice
        raise PaddleRunError(f"Paddle takes none of the inputs; for the first it says: {refused}{advice}")
    if names := dict.fromkeys(name for side in sides for name in side.drawn):
        found.add_note(f"Random numbers are Paddle's: {', '.join(names)}")
    if any(side.has_faulty for side in sides):
        found.add_note(PADDLE_FAULT)
    wide = drawn.beyond_32_bits() if drawn is not None else None
    if wide is not None and sides[0].run.ok and run(wide).run.verdict == "differ":
        found.add_note(WIDE)
    sequences = [input_.name for input_ in subject.program.inputs if input_.lod_level]
    if sequences and not any(name.endswith(LENGTHS_SUFFIX) for name in sets[0]):
        found.add_note(f"'{sequences[0]}' holds sequences (LoD), compared with one: --sequence-lengths gives several")
    return sides


def unexplained(found: Verification, subject: Subject, sides: Sequence[Sides]) -> list[Sides]:
    """The sets that differ by more than results that control flow makes scalars in Paddle alone, which are noted."""
    branches = any(operator.type in ("if", "while") for operator in subject.program.block.operators)
    differing, scalars = [], dict[str, None]()
    for side in sides:
        known = [
            want.name
            for ours, want in zip(side.results, side.expected, strict=False)
            if branches and want.array.ndim == 0 < ours.array.ndim and ours.array.size == 1
            if compare_tensor(replace(ours, array=ours.array.reshape(())), want, subject.tolerance).ok
        ]
        scalars |= dict.fromkeys(known)
        if any(not result.ok and result.name not in known for result in side.run.outputs):
            differing.append(side)
    if scalars:
        found.add_note(SCALARS.format(", ".join(f"'{name}'" for name in scalars)))
    return differing


def own_shapes(shapes: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """The shapes of the inputs of a program; lengths of sequences are none of it."""
    return {name: list(shape) for name, shape in shapes.items() if not name.endswith(LENGTHS_SUFFIX)}


def shapes_option(shapes: Mapping[str, Sequence[int]]) -> str:
    """The option that gives the inputs of a program these shapes."""
    text = ",".join(f"{name}{shape}".replace(" ", "") for name, shape in own_shapes(shapes).items())
    return f"--input {shlex.quote(text)}"


def _without_kernels(subject: Subject, refused: str) -> str:
    """What to do about a program in a type that Paddle has no kernels of on a CPU; "" if that is not the reason."""
    types = {variable.dtype or "" for variable in subject.program.variables.values()}
    narrow = " and ".join(sorted(types & {"float16", "bfloat16"}))
    if not narrow or not any(text in refused for text in ("std::exception", "is not registered")):
        return ""
    return (
        f"\nThe program computes in {narrow}, of which Paddle has few kernels on a CPU. Export it in float32 to "
        "compare it, or use paddle2ov check, which needs no Paddle."
    )


def _advice(subject: Subject, drawn: RandomInputs) -> str:
    """What to give in place of random inputs that Paddle refuses."""
    arrays = drawn.sets[0]
    names = ", ".join(f"{name}=..." for name in arrays)
    if drawn.has_chosen_shapes:
        declared = ", ".join(
            f"{input_.name}{'[...]' if input_.shape is None else PartialShape(list(input_.shape))}"
            for input_ in subject.program.inputs
        )
        what = f"The program declares {declared}. Leave out --input for sizes that fit it."
    else:
        shapes = shapes_option({name: array.shape for name, array in arrays.items()})
        what = f"Give shapes that fit each other in place of these:\n  {shapes}"
    return (
        f"\n{what}\nOr give arrays with --inputs inputs.npz, made by\n"
        f"  python -c 'import numpy as np; np.savez(\"inputs.npz\", {names})'"
    )
