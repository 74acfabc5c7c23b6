"""Random programs in a format: written by Paddle, compared in several ways, and what differs made small.

Each is compared with what Paddle computes from the saved program: converted with rewrites and without, in float32, and
with rewrites in the precision that OpenVINO takes by default. One request runs all sets of inputs, one after the other:
a large one, a small one, one between, and the large one again.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openvino

from gen_models.harness.generate import GenerationError
from gen_models.harness.legacy import LegacyWorker
from gen_models.harness.spec import Array, bfloat16_bits
from gen_models.harness.store import worker
from gen_models.programs import random_program
from gen_models.programs.program import SETS, Call, Program, is_fixed, resolve
from gen_models.programs.source import script
from paddle2ov.compilation.compile import export_model, import_model
from paddle2ov.conversion import convert
from paddle2ov.graph.core import shared_core
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.workarounds.avoid_transpose_fusion import avoid_transpose_fusion
from paddle2ov.testing import (
    Expected,
    MismatchError,
    Result,
    compare,
    compare_rounded,
    compile_on_cpu,
    config_for_cpu,
    infer,
    load,
)

ORDER = (*range(SETS), 0)
"""The sets of inputs in the order in which one request runs them."""
ROUNDED = 0.1
"""The tolerance for what is computed in bfloat16: of the mean square of the errors, relative to that of the values."""
MAX_TRIALS = 150
"""The most programs that shrinking tries."""


WORKED_AROUND = "OpenVINO computes wrongly, without rewrites, what a rewrite goes around"
"""The message for a program that differs only without rewrites."""


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


def is_worked_around(found: Sequence[Mismatch]) -> bool:
    """Whether a program differs without rewrites alone, and not in what is refused."""
    return bool(found) and all(one.variant == WITHOUT_REWRITES and one.step != "convert" for one in found)


def _is_sensitive(folder: Path) -> bool:
    """Whether results differ, in float32 too, if nothing but the inputs is rounded to bfloat16.

    Where a program takes differences of nearly equal numbers, or norms of a few, rounding says nothing of OpenVINO.
    """
    compiled = compile_on_cpu(convert(folder), "f32")
    try:
        for which in range(SETS):
            given = load(folder / f"inputs_{which}.npz")
            rounded = {name: _rounded(one) if one.dtype == np.float32 else one for name, one in given.items()}
            exact = [Expected("", "float32", one.array) for one in infer(compiled, given)]
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
        avoid_transpose_fusion(Graph(model))  # of as many tokens as heads: docs/limits.md
    if variant.route == "saved":
        openvino.save_model(model, folder / "saved.xml", compress_to_fp16=False)
        return compile_on_cpu(shared_core().read_model(folder / "saved.xml"), variant.precision)
    compiled = compile_on_cpu(model, variant.precision)
    if variant.route == "imported":
        names = [port.get_names() for port in compiled.outputs]
        return import_model(export_model(compiled), names, "CPU", config_for_cpu(variant.precision))
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


# --- smaller programs ---


def shrink(found: Mismatch, format: str, folder: Path) -> Mismatch:
    """A smaller program that differs in the same way."""
    trials = 0

    def still(candidate: Program) -> Mismatch | None:
        nonlocal trials
        trials += 1
        try:
            write_program(candidate, format, folder / "trial")
            made = list(differences(candidate, folder / "trial", [found.variant]))
        except GenerationError:
            return None
        return made[0] if made and made[0].kind == found.kind else None

    is_smaller = True
    while is_smaller and trials < MAX_TRIALS:
        is_smaller = False
        for candidate in _smaller(found.program):
            if trials >= MAX_TRIALS:
                break
            better = still(candidate)
            if better is not None:
                found, is_smaller = better, True
                break
    shutil.rmtree(folder / "trial", ignore_errors=True)
    return found


def _smaller(program: Program) -> Iterator[Program]:
    """Programs with fewer results, calls, inputs or arguments, the smallest first; no result becomes an input."""
    handed_on = len(set(program.results) & set(program.inputs))
    seen = {program.digest()}
    for changed in (*_fewer_results(program), *_cut(program), *_without_calls(program), *_simplified(program)):
        one = changed.kept()
        is_new = one.digest() not in seen
        if one.inputs and one.results and is_new and len(set(one.results) & set(one.inputs)) <= handed_on:
            seen.add(one.digest())
            yield one


def _fewer_results(program: Program) -> Iterator[Program]:
    if len(program.results) > 1:
        for result in program.results:
            yield dataclasses.replace(program, results=(result,))
        for result in program.results:
            yield dataclasses.replace(program, results=tuple(one for one in program.results if one != result))


def _cut(program: Program) -> Iterator[Program]:
    """Makes the results of a call of the main block inputs, so that what computes them may go; late calls first."""
    for index in reversed(range(len(program.calls))):
        call = program.calls[index]
        values = [program.values[number] for number in call.gives]
        if not call.gives or any(one.dtype != "float32" or not one.dims for one in values):
            continue
        if re.fullmatch(r"self\.m\d+", call.code):
            continue
        declared = {one.number: tuple(dim[0] if is_fixed(dim) else -1 for dim in one.dims) for one in values}
        rest = (*program.calls[:index], *program.calls[index + 1 :])
        if set(call.gives) & set(program.results):
            continue
        yield dataclasses.replace(program, calls=rest, inputs={**program.inputs, **declared})


def _without_calls(program: Program) -> Iterator[Program]:
    """Leaves out a call: an earlier value of the same dimensions stands for its result."""
    for calls, renamed in _without_one_call(program.calls, program, list(program.inputs)):
        yield _renamed(dataclasses.replace(program, calls=calls), renamed)


def _without_one_call(
    calls: tuple[Call, ...], program: Program, before: list[int]
) -> Iterator[tuple[tuple[Call, ...], dict[int, int]]]:
    """The calls without one of them, and the names that are replaced by others."""
    there = list(before)
    for index, call in enumerate(calls):
        rest = (*calls[:index], *calls[index + 1 :])
        if not call.gives:
            yield rest, {}
        elif len(call.gives) == 1:
            value = program.values[call.gives[0]]
            for other in reversed(there):
                same = program.values[other]
                if same.dims == value.dims and same.dtype == value.dtype:
                    yield rest, {value.number: other}
                    if other not in call.reads():
                        break
        if call.bodies:
            if len(call.bodies) == 2:
                for body, numbers in zip(call.bodies, call.yields, strict=True):
                    yield (*calls[:index], *body, *calls[index + 1 :]), dict(zip(call.gives, numbers, strict=True))
            else:
                yield _unroll_once(calls, index)
            inside = [*there, *(call.gives if len(call.bodies) == 1 else ())]
            for which, body in enumerate(call.bodies):
                for smaller, renamed in _without_one_call(body, program, inside):
                    bodies = tuple(smaller if i == which else one for i, one in enumerate(call.bodies))
                    changed = dataclasses.replace(call, bodies=bodies)
                    yield (*calls[:index], changed, *calls[index + 1 :]), renamed
        there += call.gives


def _unroll_once(calls: tuple[Call, ...], index: int) -> tuple[tuple[Call, ...], dict[int, int]]:
    """One iteration in place of a loop."""
    loop = calls[index]
    names = dict(zip(loop.gives, loop.starts, strict=True))
    body = tuple(call.renamed(names) for call in loop.bodies[0])
    after = {name: names.get(number, number) for name, number in zip(loop.gives, loop.yields[0], strict=True)}
    counter = re.search(r"v(\d+)", loop.code)
    assert counter is not None
    zero = Call("paddle.full([], 0, 'int64')", (int(counter[1]),))
    return (*calls[:index], zero, *body, *calls[index + 1 :]), after


def _renamed(program: Program, names: dict[int, int]) -> Program:
    calls = tuple(call.renamed(names) for call in program.calls)
    results = tuple(dict.fromkeys(resolve(names, number) for number in program.results))
    return dataclasses.replace(program, calls=calls, results=results)


_KEYWORD = re.compile(r", \w+=(?:'[^']*'|\[[^\]]*\]|[^,()\[\]]+)")
_SIMPLER = (
    (re.compile(r"\bpaddle\.shape\((v\d+)\)\[(\d)\]"), r"\1.shape[\2]"),
    (re.compile(r" [*+] 0\.\d+$"), ""),
    (_KEYWORD, ""),
)


def _simplified(program: Program) -> Iterator[Program]:
    """With an argument left out, and with inputs of known dimensions."""
    for index, call in enumerate(program.calls):
        for pattern, plain in _SIMPLER:
            for match in pattern.finditer(call.code):
                code = call.code[: match.start()] + match.expand(plain) + call.code[match.end() :]
                changed = dataclasses.replace(call, code=code)
                yield dataclasses.replace(program, calls=(*program.calls[:index], changed, *program.calls[index + 1 :]))
    for number, declared in program.inputs.items():
        dims = tuple(dim[0] if is_fixed(dim) else -1 for dim in program.values[number].dims)
        if dims != declared:
            yield dataclasses.replace(program, inputs={**program.inputs, number: dims})


# --- campaigns ---


@dataclass(frozen=True)
class Chunk:
    """The program of one seed in one format. `kept` is the folder for what differs."""

    format: str
    seed: int
    kept: str

    @property
    def name(self) -> str:
        """As the tests are called."""
        return f"testProgram/{self.format}/{self.seed}"

    @property
    def key(self) -> str:
        """In the state."""
        return f"programs/{self.format}/{self.seed}"

    @property
    def examples(self) -> int:
        """Always one: of a process that dies it is known at which."""
        return 1


@dataclass
class Exploration:
    """What came of the programs of a chunk."""

    compared: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    explained: dict[str, str] = field(default_factory=dict)
    failures: list[dict[str, str]] = field(default_factory=list)


def run_chunk(chunk: Chunk) -> dict[str, Any]:
    """Runs one chunk; its record. Called in a process of the executor."""
    from gen_models.harness.spec import import_paddle

    import_paddle().disable_signal_handler()
    found = explore([chunk.seed], chunk.format, Path(chunk.kept))
    record: dict[str, Any] = {
        "asked": chunk.examples,
        "compared": found.compared,
        "refused": found.refused,
        "explained": found.explained,
        "kept": chunk.kept,
    }
    if found.failures:
        record["failures"] = found.failures
        record["failure"] = "; ".join(f"{one['program']}: {one['text'][:200]}" for one in found.failures)
        record["case"] = ", ".join(one["script"] for one in found.failures)
    return record


def explore(seeds: Iterable[int], format: str, folder: Path, is_shrunk: bool = True) -> Exploration:
    """Compares the programs of the seeds; those that differ are made small, and kept with their scripts.

    The folder is left behind only when something differs, or when the process dies: then its `drawn.txt` is the
    program that was tried last.
    """
    found = Exploration()
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        program, name = random_program(seed), f"{format}/{seed}"
        (folder / "drawn.txt").write_text(json.dumps(program.to_json()))
        try:
            write_program(program, format, folder / "model")
        except GenerationError as error:
            found.refused[name] = f"{error.__cause__ or error}"[-300:]
            continue
        found.compared.append(name)
        all_found = list(differences(program, folder / "model"))
        if is_worked_around(all_found):
            found.explained[name] = WORKED_AROUND
            continue
        for one in _of_each_kind(all_found):
            small = shrink(one, format, folder) if is_shrunk else one
            found.failures.append(keep(small, name, format, folder))
    (folder / "drawn.txt").unlink(missing_ok=True)
    shutil.rmtree(folder / "model", ignore_errors=True)
    if not found.failures:
        shutil.rmtree(folder)
    return found


def _of_each_kind(found: Iterable[Mismatch]) -> Iterator[Mismatch]:
    """One difference of each kind: a fault that shows with rewrites and without them is one."""
    said = set()
    for one in found:
        kind = (one.step, one.kind[2])
        if kind not in said:
            said.add(kind)
            yield one


def keep(found: Mismatch, name: str, format: str, folder: Path) -> dict[str, str]:
    """Writes a difference down: the program as data, and a script that shows it."""
    stem = f"{name.replace('/', '-')}-{found.variant.name.replace(' ', '-')}-{found.step}"
    (folder / f"{stem}.json").write_text(json.dumps(found.program.to_json()))
    path = folder / f"{stem}.py"
    path.write_text(
        script(
            found.program,
            format,
            f"{name}, {found.variant.name}: {found.text}",
            found.variant.precision,
            found.variant.rewrite,
            found.variant.route,
        )
    )
    return {
        "program": name,
        "variant": found.variant.name,
        "step": found.step,
        "text": found.text[:1000],
        "script": str(path),
    }
