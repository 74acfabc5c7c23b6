"""Writes a case as a model: the program that Paddle saves, the inputs, and the outputs that Paddle computes.

The reference is what Paddle computes from the *saved* program, loaded back: that is what is converted, and it can
differ from the one in memory (Paddle 3.3.1, for example, drops a final `x + const` when it saves; such a case is
refused).
Where Paddle cannot load what it wrote, as with an attribute that is NaN, the program in memory is run instead, and
case.json says so.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import shutil
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from gen_models.harness.spec import Array, Case, Op, import_paddle

SEED = 102


class GenerationError(Exception):
    """Paddle could not build, save or run a case."""


def generate(op: Op, case: Case, format: str, folder: Path) -> Path:
    """Writes `folder` with the model of one case; returns it.

    The folder holds `inference.json` or `inference.pdmodel`, `inference.pdiparams` if there are parameters,
    `inputs.npz`, `outputs.npz` (arrays `0`, `1`, ... in the order of the program's results) and `case.json`. An input
    that no result depends on is left out.

    Raises:
        GenerationError: Paddle refuses the case.
    """
    record = {"op": op.name, "module": op.module, "case": case.to_json()}
    return write_model(lambda: _built(op, case), case.data(op.name), format, folder, record)


def generate_together(op: Op, cases: Sequence[Case], format: str, folder: Path) -> Path:
    """Writes `folder` with one model of several cases, in half the time; returns it.

    The inputs of the first are called `0_x`, ...; `results` in `case.json` says how many results each case has.

    Raises:
        GenerationError: Paddle refuses one of the cases, or merges results.
    """
    record: dict[str, Any] = {"op": op.name, "module": op.module, "case": {"name": f"{len(cases)} cases of {op.name}"}}

    def build() -> tuple[list[Any], list[Any]]:
        built = [_built(op, case, f"{number}_") for number, case in enumerate(cases)]
        record["results"] = [len(results) for _, results in built]
        return [name for names, _ in built for name in names], [result for _, results in built for result in results]

    feeds = {
        f"{number}_{name}": array for number, case in enumerate(cases) for name, array in case.data(op.name).items()
    }
    return write_model(build, feeds, format, folder, record)


def _built(op: Op, case: Case, prefix: str = "") -> tuple[list[Any], list[Any]]:
    """The inputs and the results of a case, in the program that is being built."""
    variables = {
        name: import_paddle().static.data(prefix + name, list(spec.declared), spec.dtype)
        for name, spec in case.tensors().items()
    }
    return list(variables.values()), _fetched(op.build(**case.bind(variables)))


def write_model(build: Any, feeds: dict[str, Array], format: str, folder: Path, record: dict[str, Any]) -> Path:
    """Builds a static program, saves it, and records what Paddle computes from it."""
    check_format(format)
    with writing(folder) as temporary:
        try:
            feeds, arrays = _save_and_run(build, feeds, temporary, record)
        except Exception as error:
            name = record["case"].get("name") or f"{record['op']} {Case.from_json(record['case'])}"
            kind = "" if isinstance(error, GenerationError) else f"{type(error).__name__}: "
            raise GenerationError(f"cannot generate {name}: {kind}{error}") from error
        record |= {"format": format, "paddle": import_paddle().__version__, "inputs": list(feeds)}
        np.savez(temporary / "inputs.npz", **feeds)
        np.savez(temporary / "outputs.npz", **{str(i): array for i, array in enumerate(arrays)})
        (temporary / "case.json").write_text(json.dumps(record, indent=1))
    return folder


def _save_and_run(
    build: Any, feeds: dict[str, Array], temporary: Path, record: dict[str, Any]
) -> tuple[dict[str, Array], list[Array]]:
    """Saves the program; returns the inputs that it uses and its outputs, and describes those in the record."""
    paddle = import_paddle()
    prefix = str(temporary / "inference")
    with _static_mode(), _quiet():
        main, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
        paddle.seed(SEED)
        with paddle.static.scope_guard(scope), paddle.utils.unique_name.guard():
            with paddle.static.program_guard(main, startup):
                variables, fetches = build()
            used = _used(variables, fetches, main)
            feeds = {variable.name: feeds[variable.name] for variable in used}
            executor = paddle.static.Executor(paddle.CPUPlace())
            if startup.global_block().ops:  # parameters; a run takes as long as saving does
                executor.run(startup)
            paddle.static.save_inference_model(prefix, used, fetches, executor, program=main, **_options(main))
            try:
                program, _, results = paddle.static.load_inference_model(prefix, executor)
            except Exception as error:
                record["reference"] = f"program in memory: {type(error).__name__}: {str(error)[:300]}"
                outputs, names = _run(executor, main, feeds, fetches), [""] * len(fetches)
            else:
                record["reference"] = "saved program"
                _check_saved(fetches, results)
                outputs, names = _run(executor, program, feeds, results), result_names(program, results)
    if sum(record.get("results", [len(outputs)])) != len(outputs):
        raise GenerationError("Paddle merges results that are the same")
    record["outputs"] = [
        {"name": name, "dtype": dtype_name(output)} for name, output in zip(names, outputs, strict=True)
    ]
    return feeds, [np.asarray(output) for output in outputs]


def _options(program: Any) -> dict[str, Any]:
    # Paddle 2.6 cannot run a `gru` that it saved without the attribute `is_test`, which it leaves out, nor a gradient
    # that reads the result XShape, which it leaves out as well.
    clipped = re.compile("gru|(squeeze2|unsqueeze2|flatten2|flatten_contiguous_range)_grad")
    kept = writes() == "legacy" and any(clipped.fullmatch(op.type) for op in program.global_block().ops)
    return {"clip_extra": False} if kept else {}


def _used(variables: list[Any], fetches: list[Any], main: Any) -> list[Any]:
    """The inputs that the results need: Paddle refuses to save a program with others."""
    if writes() == "pir":
        fetched = [fetch for fetch in fetches if fetch.get_defining_op().name() == "pd_op.data"]
        return [
            variable
            for variable in variables
            if not variable.use_empty() or any(variable.is_same(fetch) for fetch in fetched)
        ]
    needed = {fetch.name for fetch in fetches}
    for op in reversed(main.global_block().ops):
        if needed & set(op.output_arg_names):
            needed |= set(op.input_arg_names)
    return [variable for variable in variables if variable.name in needed]


def _check_saved(fetches: list[Any], results: list[Any]) -> None:
    """Refuses a program that lost its last operator on saving: its test would test nothing."""
    if writes() != "pir":
        return
    for fetch, result in zip(fetches, results, strict=False):  # results that are the same may have been merged
        built, saved = fetch.get_defining_op().name(), result.get_defining_op().name()
        if built != saved:
            raise GenerationError(
                f"Paddle drops {built} when it saves the program: it takes a last `x + constant` right after an input "
                "for its own; add another operator behind it"
            )


def _run(executor: Any, program: Any, feeds: dict[str, Array], fetches: list[Any]) -> list[Any]:
    feeds = {name: _with_lod(program, name, array) for name, array in feeds.items()}
    return list(executor.run(program, feed=feeds, fetch_list=fetches, return_numpy=False))


def _with_lod(program: Any, name: str, array: Array) -> Any:
    """The array as one sequence where the program wants sequences (LoD)."""
    if writes() == "pir" or not program.global_block().var(name).lod_level:
        return array
    return import_paddle().base.create_lod_tensor(array, [[len(array)]], import_paddle().CPUPlace())


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[Path]:
    """A temporary folder, which takes the place of what stands at `folder` once all is written to it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".writing-", dir=folder.parent))
    try:
        yield temporary
        shutil.rmtree(folder, ignore_errors=True)
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def dtype_name(tensor: Any) -> str:
    """Paddle's name of a tensor's data type."""
    if hasattr(tensor, "_dtype"):
        name = str(tensor._dtype()).rpartition(".")[2].lower()
        return {"fp32": "float32", "fp64": "float64", "fp16": "float16", "bf16": "bfloat16"}.get(name, name)
    return str(np.asarray(tensor).dtype)


def writes() -> str:
    """The format that the Paddle of this process writes."""
    return "pir" if int(import_paddle().__version__.split(".")[0]) >= 3 else "legacy"


def check_format(format: str) -> None:
    """Raises GenerationError unless the Paddle of this process writes the format."""
    if writes() != format:
        raise GenerationError(f"Paddle {import_paddle().__version__} writes {writes()} programs, not {format}")


def run_saved(executor: Any, prefix: str, feeds: dict[str, Array]) -> tuple[list[Any], list[str]]:
    """Loads a saved model and runs it; returns its results and their names."""
    program, names, fetches = import_paddle().static.load_inference_model(prefix, executor)
    outputs = _run(executor, program, {name: feeds[name] for name in names}, fetches)
    return outputs, result_names(program, fetches)


def result_names(program: Any, fetches: list[Any]) -> list[str]:
    """The names of a loaded program's results, in their order."""
    if writes() == "legacy":
        return [str(fetch.name) for fetch in fetches]
    fetched = [op.attrs() for op in program.global_block().ops if op.name() == "pd_op.fetch"]
    return [str(attributes["name"]) for attributes in sorted(fetched, key=lambda attributes: attributes["col"])]


def _fetched(result: Any) -> list[Any]:
    if isinstance(result, list | tuple):
        return [value for item in result for value in _fetched(item)]
    if result is None or isinstance(result, bool | int | float | str):
        raise GenerationError(f"the builder returned {result!r}, not a tensor")
    return [result]


def short_stacks() -> Any:
    """Paddle keeps some frames of the stack with each operator: under pytest all take half the time of an export."""
    return mock.patch("traceback.extract_stack", functools.partial(traceback.extract_stack, limit=8))


@contextlib.contextmanager
def _static_mode() -> Iterator[None]:
    paddle = import_paddle()
    dynamic = paddle.in_dynamic_mode()
    if dynamic:
        paddle.enable_static()
    try:
        yield
    finally:
        if dynamic:
            paddle.disable_static()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
