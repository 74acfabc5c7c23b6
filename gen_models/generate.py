"""Writes a case as a model: the program that Paddle saves, the inputs, and the outputs that Paddle computes.

The reference is what Paddle computes from the *saved* program, loaded back: that is what is converted. (Paddle 3.3.1 for
one drops a final `x + const` when it saves, so that the saved program and the one in memory differ.) Where Paddle cannot
load what it wrote, as with an attribute that is NaN, the program in memory is run instead, and case.json says so.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gen_models.spec import Array, Case, Op, import_paddle

SEED = 102


class GenerationError(Exception):
    """Paddle could not build, save or run a case."""


def generate(op: Op, case: Case, format: str, folder: Path) -> Path:
    """Writes `folder` with the model of one case; returns it.

    The folder holds `inference.json` or `inference.pdmodel`, `inference.pdiparams` if there are parameters, `inputs.npz`,
    `outputs.npz` (arrays `0`, `1`, ... in the order of the program's results) and `case.json`.

    Raises:
        GenerationError: Paddle refuses the case.
    """
    paddle = import_paddle()
    feeds = case.data(op.name)

    def build() -> tuple[list[Any], list[Any]]:
        variables = {
            name: paddle.static.data(name, list(spec.declared), spec.dtype) for name, spec in case.tensors().items()
        }
        return list(variables.values()), _fetched(op.build(**case.bind(variables)))

    record = {"op": op.name, "module": op.module, "case": case.to_json()}
    return write_model(build, feeds, format, folder, record)


def write_model(build: Any, feeds: dict[str, Array], format: str, folder: Path, record: dict[str, Any]) -> Path:
    """Builds a static program, saves it, and records what Paddle computes from it."""
    paddle = import_paddle()
    check_format(format)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".writing-", dir=folder.parent))
    try:
        prefix = str(temporary / "inference")
        with _static_mode(), _quiet():
            main, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
            paddle.seed(SEED)
            with paddle.static.scope_guard(scope), paddle.utils.unique_name.guard():
                with paddle.static.program_guard(main, startup):
                    try:
                        variables, fetches = build()
                    except GenerationError:
                        raise
                    except Exception as error:
                        raise GenerationError(
                            f"cannot build {record['case'].get('name') or record['op']}: {error}"
                        ) from error
                executor = paddle.static.Executor(paddle.CPUPlace())
                executor.run(startup)
                paddle.static.save_inference_model(prefix, variables, fetches, executor, program=main)
                try:
                    outputs, names = run_saved(executor, prefix, feeds)
                    record["reference"] = "saved program"
                except Exception as error:
                    outputs = executor.run(main, feed=feeds, fetch_list=fetches, return_numpy=False)
                    names = []
                    record["reference"] = f"program in memory: {type(error).__name__}: {str(error)[:300]}"
        arrays = [np.asarray(output) for output in outputs]
        record |= {
            "format": format,
            "paddle": paddle.__version__,
            "inputs": list(feeds),
            "outputs": [
                {"name": name, "dtype": dtype_name(output)}
                for name, output in zip(names or [""] * len(arrays), outputs)
            ],
        }
        np.savez(temporary / "inputs.npz", **feeds)
        np.savez(temporary / "outputs.npz", **{str(i): array for i, array in enumerate(arrays)})
        (temporary / "case.json").write_text(json.dumps(record, indent=1))
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder)
        os.replace(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


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
    """Loads a saved model and runs it; returns its results and their names (empty where the format has none)."""
    paddle = import_paddle()
    program, names, fetches = paddle.static.load_inference_model(prefix, executor)
    given = {name: feeds[name] for name in names}
    outputs = executor.run(program, feed=given, fetch_list=fetches, return_numpy=False)
    named = writes() == "legacy"
    return outputs, [str(fetch.name) if named else f"fetch_name_{i}" for i, fetch in enumerate(fetches)]


def _fetched(result: Any) -> list[Any]:
    if isinstance(result, list | tuple):
        return [one for item in result for one in _fetched(item)]
    if result is None or isinstance(result, bool | int | float | str):
        raise GenerationError(f"the builder returned {result!r}, not a tensor")
    return [result]


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
