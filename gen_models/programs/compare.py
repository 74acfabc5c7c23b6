"""A random program compared in several ways with what Paddle computes from it.

It is converted with optimisations and without, in float32, and with rewrites in the precision that OpenVINO takes by
default. One request runs all sets of inputs, one after the other: a large one, a small one, one between, and the large
one again.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import openvino

from gen_models.harness.generate import GenerationError
from gen_models.harness.legacy import LegacyWorker
from gen_models.harness.spec import Array, bfloat16_bits
from gen_models.harness.store import worker
from gen_models.programs.program import SETS, Program
from paddle2ov import workarounds
from paddle2ov.comparison.differences import Expected
from paddle2ov.compilation.compile import export_model, import_model
from paddle2ov.compilation.running import Result, compile_on_cpu, config_for, infer
from paddle2ov.conversion import convert
from paddle2ov.graph.core import shared_core
from paddle2ov.testing import MismatchError, compare, compare_rounded, load

ORDER = (*range(SETS), 0)
"""The sets of inputs in the order in which one request runs them."""
ROUNDED = 0.1
"""The tolerance for what is computed in bfloat16: of the mean square of the errors, relative to that of the values."""


@dataclass(frozen=True)
class Variant:
    """A way to convert and to run a program.

    `route` is what happens to the model before it runs: "converted" nothing, "reshaped" `Model.reshape` to the sizes of
    each set of inputs, "saved" that it is written as IR and read, "imported" that what was compiled is exported and
    imported.
    """

    name: str
    rewrite: bool
    precision: str
    route: str = "converted"


WITH_REWRITES = Variant("with rewrites", True, "f32")
WITHOUT_REWRITES = Variant("without rewrites", False, "f32")
IN_DEFAULT_PRECISION = Variant("default precision", True, "default")
ROUTES = (
    Variant("reshaped", True, "f32", "reshaped"),
    Variant("saved and read", True, "f32", "saved"),
    Variant("exported and imported", True, "f32", "imported"),
)
"""Of these a program goes one: which, its digest says."""


@dataclass(frozen=True)
class Mismatch:
    """A program that does not come out as in Paddle: in which variant, at which step, and what was said of it."""

    program: Program
    variant: Variant
    step: str
    text: str

    @property
    def kind(self) -> tuple[str, str, str]:
        """What a shrunk program must have in common with this one."""
        said = re.sub(r"[\d.,]+(e[+-]?\d+)?|'[^']*'|\"[^\"]*\"", "", self.text)
        return self.variant.name, self.step, said[:60] if self.step == "convert" else ""


def write_program(program: Program, format: str, folder: Path) -> Path:
    """Writes the model of a program, its inputs, and what Paddle computes from them, by a process of its own.

    Some programs end the process, and of some Paddle saves another: in Paddle 2 what a loop of zero iterations would
    write comes out empty.

    Raises:
        GenerationError: Paddle refuses it.
    """
    _writer(format).generate_program(program, folder)
    for which in range(SETS):
        shapes = [array.shape for array in load(folder / f"outputs_{which}.npz").values()]
        known = [program.values[number].shape(which) for number in program.results]
        if shapes != known:
            raise GenerationError(f"Paddle gives shapes {shapes} where the program has {known}")
    return folder


@cache
def _writer(format: str) -> LegacyWorker:
    return worker() if format == "legacy" else LegacyWorker(sys.executable)


def variants(program: Program) -> tuple[Variant, ...]:
    """The variants to compare: in bfloat16 only programs whose results are continuous in small errors (`is_steady`)."""
    rounds = program.is_steady and "BF16" in shared_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    route = ROUTES[int(program.digest(), 16) % len(ROUTES)]
    return (WITH_REWRITES, WITHOUT_REWRITES, *([IN_DEFAULT_PRECISION] if rounds else []), route)


@dataclass
class Progress:
    """What is being done with a program: "convert", "compile", "run", or "values", which compares them."""

    step: str = "convert"


def differences(program: Program, folder: Path, wanted: Iterable[Variant] | None = None) -> Iterator[Mismatch]:
    """What differs, variant by variant, in the folder of a program."""
    for variant in variants(program) if wanted is None else wanted:
        progress = Progress()
        try:
            for turn, computed in enumerate(_infer_in_turn(variant, folder, progress)):
                progress.step = "values"
                _compare(computed, folder, turn, variant)
                progress.step = "run"
        except Exception as error:
            if progress.step == "values" and variant.precision != "f32" and _is_sensitive(folder):
                continue
            yield Mismatch(program, variant, progress.step, f"{type(error).__name__}: {error}")


def _is_sensitive(folder: Path) -> bool:
    """Whether results differ, in float32 too, if nothing but the inputs is rounded to bfloat16.

    Where a program takes differences of nearly equal numbers, or norms of a few, rounding says nothing of OpenVINO.
    """
    compiled = compile_on_cpu(convert(folder), "f32")
    try:
        for which in range(SETS):
            inputs = load(folder / f"inputs_{which}.npz")
            rounded = {name: _rounded(value) if value.dtype == np.float32 else value for name, value in inputs.items()}
            exact = [Expected("", "float32", item.array) for item in infer(compiled, inputs)]
            compare_rounded(infer(compiled, rounded), exact, ROUNDED / 3, "")
    except MismatchError:
        return True
    return False


def _rounded(array: Array) -> Array:
    return (bfloat16_bits(array).astype(np.uint32) << 16).view(np.float32)


def _infer_in_turn(variant: Variant, folder: Path, progress: Progress) -> Iterator[list[Result]]:
    """The results of all sets of inputs, of one request; of a model that is reshaped, of a request for each set."""
    model, request = convert(folder, rewrite=variant.rewrite), None
    for which in ORDER:
        inputs = load(folder / f"inputs_{which}.npz")
        if request is None or variant.route == "reshaped":
            progress.step = "compile"
            compiled = _compiled(model, variant, inputs, folder)
            request = compiled.create_infer_request()
        progress.step = "run"
        yield infer(compiled, inputs, request)


def _compiled(
    model: openvino.Model, variant: Variant, inputs: Mapping[str, Array], folder: Path
) -> openvino.CompiledModel:
    if variant.route == "reshaped":
        model.reshape({name: openvino.PartialShape(list(array.shape)) for name, array in inputs.items()})
        workarounds.apply(model)
    if variant.route == "saved":
        openvino.save_model(model, folder / "saved.xml", compress_to_fp16=False)
        return compile_on_cpu(shared_core().read_model(folder / "saved.xml"), variant.precision)
    compiled = compile_on_cpu(model, variant.precision)
    if variant.route == "imported":
        names = [port.get_names() for port in compiled.outputs]
        return import_model(export_model(compiled), names, "CPU", config_for("CPU", variant.precision))
    return compiled


def _compare(computed: Sequence[Result], folder: Path, turn: int, variant: Variant) -> None:
    record = json.loads((folder / "case.json").read_text())
    arrays = load(folder / f"outputs_{ORDER[turn]}.npz")
    # IR gives a result that is an input another name.
    unnamed = load(folder / "inputs_0.npz") if variant.route == "saved" else ()
    expected = [
        Expected("" if item["name"] in unnamed else item["name"], item["dtype"], arrays[str(k)])
        for k, item in enumerate(record["outputs"])
    ]
    where = f"{variant.name}, run {turn}, inputs {ORDER[turn]}"
    if variant.precision == "f32":
        compare(computed, expected, record["tolerance"], record["tolerance"], where, to_largest=True, least=0.1)
    else:
        compare_rounded(computed, expected, ROUNDED, where)
