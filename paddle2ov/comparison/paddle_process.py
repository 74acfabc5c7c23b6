"""Paddle in a process of its own: it may crash there, and it may be a Paddle of another interpreter."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from paddle2ov.comparison.deadline import Deadline, TimeUpError
from paddle2ov.comparison.differences import Expected
from paddle2ov.errors import PaddleRunError, system_reason
from paddle2ov.program.files import ModelFiles
from paddle2ov.typing import AnyArray

PADDLE = "paddlepaddle==3.3.1"
"""What to install to verify: the Paddle that the tests compare with."""
PYTHON_VARIABLE = "PADDLE2OV_PADDLE_PYTHON"
"""The environment variable that names the interpreter with Paddle, where it is not the running one."""


class PaddleModel:
    """A model that a Paddle process has loaded. Use it in a `with` statement, or as long as the process lives.

    Attributes:
        process: the process.
        files: the model's.
    """

    def __init__(self, process: PaddleProcess, files: ModelFiles, number: int, names: list[str]) -> None:
        self.process = process
        self.files = files
        self._number = number
        self._names = names

    def __enter__(self) -> PaddleModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.unload(self._number)

    def run(self, inputs: Mapping[str, AnyArray]) -> list[Expected]:
        """The results of the model.

        Raises:
            PaddleRunError: Paddle refuses the inputs, or dies.
        """
        values = self.process.compute(self._number, inputs, None, len(self._names))
        results = [item for item in values if item is not None]
        if len(results) != len(self._names):
            raise PaddleRunError("Paddle gave no value for some of the model's results")
        return [replace(item, name=name) for name, item in zip(self._names, results, strict=True)]

    def values(self, inputs: Mapping[str, AnyArray], values: Sequence[Mapping[str, Any]]) -> list[Expected | None]:
        """Values inside the program, see `paddle_worker.py`; None for those that Paddle cannot hand out.

        Raises:
            PaddleRunError: Paddle refuses the inputs, or dies.
        """
        return self.process.compute(self._number, inputs, values, len(values))


class PaddleProcess:
    """A Paddle process, started when it is to load a model, and again where it died. Use it in a `with` statement.

    Operators run one after the other in the order of the program: what loops and operators in place overwrite is
    fetched before they do, whatever else the machine is busy with.

    Args:
        format: of the models, "pir" or "legacy".
        python: the interpreter that has Paddle; by default what `PADDLE2OV_PADDLE_PYTHON` names, else this one.
        deadline: when Paddle is not to be asked any more.

    Attributes:
        deadline: the same.
        version: Paddle's, once a model is loaded.
    """

    def __init__(
        self, format: str, python: str | os.PathLike[str] | None = None, deadline: Deadline | None = None
    ) -> None:
        self._python = _interpreter(python)
        self.deadline = deadline or Deadline()
        self.version = ""
        # Paddle 3 loads a legacy program only with its new representation switched off, before it is imported.
        flags = {"FLAGS_enable_pir_api": str(int(format == "pir")), "GLOG_minloglevel": "3"}
        flags |= dict.fromkeys(("FLAGS_new_executor_sequential_run", "FLAGS_new_executor_serial_run"), "1")
        self._environment = {**os.environ, **flags}
        self._loaded = 0
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> PaddleProcess:
        self._folder = Path(tempfile.mkdtemp(prefix="paddle2ov-"))
        self._log = (self._folder / "log").open("wb")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is not None and kind is not None and not issubclass(kind, Exception):
            self._process.kill()  # interrupted: what it computes is not awaited
        try:
            self._end()
        finally:  # Ctrl-C may come meanwhile
            self._log.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def new_folder(self) -> Path:
        """A folder that is there until the end of the `with` statement."""
        return Path(tempfile.mkdtemp(dir=self._folder))

    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def load(self, files: ModelFiles) -> PaddleModel:
        """Loads a model.

        Raises:
            PaddleRunError: there is no Paddle, it cannot load the model, or dies.
        """
        if not self.is_alive():
            self._end()
            self._start()
        number = self._loaded
        self._loaded += 1
        loaded = self._ask(self._load_request(files, number))
        self.version = loaded["version"]
        return PaddleModel(self, files, number, loaded["names"])

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(
                [self._python, str(Path(__file__).with_name("paddle_worker.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=self._environment,
                text=True,
            )
        except OSError as error:
            reason = system_reason(error)
            if isinstance(error, FileNotFoundError) and Path(self._python).name == self._python:
                reason = f"there is no such command in PATH (a file of this folder is ./{self._python})"
            raise PaddleRunError(f"the interpreter {self._python} cannot be started: {reason}") from error

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with suppress(BrokenPipeError):  # of what is still to be written to a process that died
                process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    def unload(self, number: int) -> None:
        """Forgets a model."""
        if self.is_alive():
            with suppress(PaddleRunError, TimeUpError):
                self._ask({"unload": number})
        shutil.rmtree(self._folder / str(number), ignore_errors=True)

    def compute(
        self, number: int, inputs: Mapping[str, AnyArray], values: Sequence[Mapping[str, Any]] | None, count: int
    ) -> list[Expected | None]:
        """The results of a model, or values inside it; `count` of them."""
        inputs_path, outputs_path = self._folder / "inputs.npz", self._folder / "outputs.npz"
        save_arrays(inputs_path, inputs)
        request = {"run": str(inputs_path), "to": str(outputs_path), "model": number, "values": values}
        reply = self._ask(request)
        kinds, lengths = reply["dtypes"], {key: np.array(rows) for key, rows in reply["lengths"].items()}
        with np.load(outputs_path) as file:
            arrays = {name: file[name] for name in file.files}
        outputs_path.unlink()
        keys = [str(i) for i in range(count)]
        return [Expected("", kinds[key], arrays[key], lengths.get(key)) if key in arrays else None for key in keys]

    def _load_request(self, files: ModelFiles, number: int) -> dict[str, Any]:
        # Paddle wants the names of its own; the model's files may have others.
        folder = self._folder / str(number)
        folder.mkdir()
        suffix = ".json" if files.format == "pir" else ".pdmodel"
        _link(files.program, folder / f"model{suffix}")
        request: dict[str, Any] = {"load": str(folder / "model"), "model": number}
        if files.params is not None:
            _link(files.params, folder / "model.pdiparams")
        elif files.format == "legacy" and len(list(files.program.parent.iterdir())) > 1:
            request["separate"] = str(files.program.parent.resolve())
        return request

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        self.deadline.check()
        with self.deadline.calling(process.kill):
            with suppress(BrokenPipeError):  # the reason is in its last reply, or in how it ended
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
            line = process.stdout.readline()
        if not line:
            self.deadline.check()
            raise PaddleRunError(self._how_it_ended(process.wait()))
        try:
            reply: dict[str, Any] = json.loads(line)
        except ValueError:
            raise PaddleRunError(f"{self._python} is not a Python interpreter: it says {line[:80]!r}") from None
        if "missing" in reply:
            raise _no_paddle(self._python, reply["missing"])
        if "error" in reply:
            raise PaddleRunError(f"Paddle: {reply['error']}")
        return reply

    def _how_it_ended(self, code: int) -> str:
        how = f"with status {code}"
        if code < 0:
            known = {int(item): item.name for item in signal.Signals}
            how = f"by {known.get(-code, f'signal {-code}')}"
        self._log.flush()
        lines = (self._folder / "log").read_text("utf-8", "replace").splitlines()
        last = "\n  ".join(line for line in lines[-8:] if line.strip())
        return f"Paddle's process ended {how}" + (f"; it said last:\n  {last}" if last else "")


def check_paddle(python: str | os.PathLike[str] | None) -> None:
    """Refuses to verify in this interpreter, where it has no Paddle, before any work is done.

    Another one, which `python` or the environment variable names, tells when it is asked first.

    Raises:
        PaddleRunError: it has none.
    """
    if _interpreter(python) == sys.executable and find_spec("paddle") is None:
        raise _no_paddle(sys.executable, "No module named 'paddle'")


def _interpreter(python: str | os.PathLike[str] | None) -> str:
    return str(python or os.environ.get(PYTHON_VARIABLE) or sys.executable)


def _no_paddle(python: str, reason: str) -> PaddleRunError:
    return PaddleRunError(
        f"verifying needs Paddle, and {python} has none ({reason}). Install it there (pip install {PADDLE}), or name "
        f"an interpreter that has it: --paddle-python PATH, in Python paddle_python=, or the environment variable "
        f"{PYTHON_VARIABLE}"
    )


def save_arrays(path: Path, arrays: Mapping[str, AnyArray]) -> None:
    """Writes an .npz file, under any names (`numpy.savez` takes them as its own arguments)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.save(file, array, allow_pickle=False)


def _link(source: Path, target: Path) -> None:
    try:
        target.symlink_to(source.resolve())
    except OSError:  # Windows without the right to make links
        shutil.copy2(source, target)
