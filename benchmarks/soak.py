"""Many runs of many models in one process: whether memory, handles, threads or temporary files grow.

    python -m benchmarks.soak                            # 200,000 runs, half an hour to an hour
    python -m benchmarks.soak --runs 2000                # a trial

Ten small networks of gen_models/networks/ run in turn in new threads, every run with a shape of its own. A network's
predictor is replaced by a new one after some of its runs: made from files of either format, from memory, with a cache
directory that is there or that is new and then deleted, or by `paddle2ov.convert`. Each thread has a clone, and clones
are replaced more often. After each replacement the results for one fixed input must be those of the first predictor.
Linux with glibc only, as it reads /proc and asks the allocator what is in use, which is less than what is resident: an
allocator keeps what was freed between things that are in use.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks.generated import model_folder
from benchmarks.memory import resident
from benchmarks.record import Record, options, table
from gen_models.harness.legacy import formats_here

Arrays = list[Any]
Run = Callable[[Arrays], Arrays]
Figures = dict[str, list[float]]

ONE_THREAD = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 0}
THREADS = 3
RUNS_PER_CLONE = 60
"""Runs of a network before its clones are replaced, twenty for each thread."""
CLONES_PER_PREDICTOR = 4
MEASURED = {
    "memory": "resident memory (MB)",
    "allocated": "allocated memory (MB)",
    "handles": "open files",
    "threads": "threads",
    "maps": "mapped regions",
    "files": "temporary files",
}


def _floats(rng: np.random.Generator, *shape: int) -> Any:
    return rng.random(shape, np.float32)


def _ints(rng: np.random.Generator, high: int, *shape: int) -> Any:
    return rng.integers(1, high, shape)


def _picture(rng: np.random.Generator, step: int, least: int, most: int) -> Any:
    height, width = (step * int(rng.integers(least, most)) for _ in range(2))
    return _floats(rng, int(rng.integers(1, 3)), 3, height, width)


def _batch_and_length(rng: np.random.Generator, most: int) -> tuple[int, int]:
    return int(rng.integers(1, 5)), int(rng.integers(1, most))


def _bert(rng: np.random.Generator) -> Arrays:
    shape = _batch_and_length(rng, 40)
    return [_ints(rng, 30, *shape), np.zeros(shape, np.int64)]


def _tagger(rng: np.random.Generator) -> Arrays:
    batch, length = _batch_and_length(rng, 30)
    lengths = _ints(rng, length + 1, batch)
    lengths[0] = length
    return [_ints(rng, 10, batch, length), lengths]


def _encoder(rng: np.random.Generator) -> Arrays:
    batch, length = _batch_and_length(rng, 60)
    return [_floats(rng, batch, length, 32), _ints(rng, length + 1, batch)]


def _detector(rng: np.random.Generator) -> Arrays:
    image = _picture(rng, 32, 1, 4)
    return [image, np.ones((len(image), 2), np.float32)]


NETWORKS: dict[str, Callable[[np.random.Generator], Arrays]] = {
    "array": lambda rng: [_floats(rng, int(rng.integers(1, 50)), 4)],
    "bert": _bert,
    "branch_shapes": lambda rng: [_floats(rng, int(rng.integers(1, 50)), 4) - 0.5],
    "crnn": lambda rng: [_floats(rng, int(rng.integers(1, 3)), 3, 32, int(rng.integers(16, 200)))],
    "dense_segmenter": lambda rng: [_picture(rng, 8, 2, 9)],
    "encoder_by_hand": _encoder,
    "greedy_decoder": lambda rng: [_floats(rng, int(rng.integers(1, 9)), 8)],
    "log_mel_spectrogram": lambda rng: [_floats(rng, int(rng.integers(1, 4)), int(rng.integers(100, 900)))],
    "picodet": _detector,
    "tagger": _tagger,
}
"""Network of gen_models/networks/ -> inputs of random shapes for it."""


class Server:
    """One network that is served: clones for the threads, replaced from time to time."""

    def __init__(self, name: str, scratch: Path) -> None:
        self.name = name
        self._rng = np.random.default_rng(0)
        folders = [model_folder(name, format) for format in formats_here()]
        self._ways = itertools.cycle(_ways(folders, scratch / name))
        self._fixed = NETWORKS[name](np.random.default_rng(1))
        self._expected: Arrays | None = None
        self._clones = self._replacements()

    def batch(self, pool: ThreadPoolExecutor, count: int) -> None:
        """Runs `count` inputs of random shapes in the threads of a pool, on new clones."""
        runs = next(self._clones)
        inputs = [NETWORKS[self.name](self._rng) for _ in range(count)]
        share = -(-count // THREADS)
        parts = [inputs[share * i : share * (i + 1)] for i in range(THREADS)]
        list(pool.map(_run_all, runs, parts))

    def _replacements(self) -> Iterator[Sequence[Run]]:
        for way in self._ways:
            with way() as clone:
                self._check(clone()(self._fixed))
                for _ in range(CLONES_PER_PREDICTOR):
                    yield [clone() for _ in range(THREADS)]

    def _check(self, results: Arrays) -> None:
        if self._expected is None:
            self._expected = results
        for expected, result in zip(self._expected, results, strict=True):
            np.testing.assert_allclose(result, expected, 1e-3, 1e-3, err_msg=self.name)


def _run_all(run: Run, inputs: Sequence[Arrays]) -> None:
    for input_ in inputs:
        run(input_)


@contextmanager
def _predictor(config: Any) -> Iterator[Callable[[], Run]]:
    """Makes clones of a predictor of `paddle2ov.inference`, which goes at the end."""
    from paddle2ov.inference import create_predictor

    config.set_cpu_math_library_num_threads(1)
    predictor: Any = create_predictor(config)
    yield lambda: predictor.clone().run
    predictor = None


def _ways(folders: Sequence[Path], scratch: Path) -> list[Callable[[], AbstractContextManager[Callable[[], Run]]]]:
    """The ways in which the models are loaded."""
    import openvino

    from paddle2ov import convert
    from paddle2ov.inference import Config

    def cached(folder: Path, cache: Path = scratch) -> AbstractContextManager[Callable[[], Run]]:
        config = Config(folder)
        config.set_optim_cache_dir(cache)
        return _predictor(config)

    @contextmanager
    def newly_cached(folder: Path) -> Iterator[Callable[[], Run]]:
        own = tempfile.TemporaryDirectory(dir=scratch.parent, ignore_cleanup_errors=True)  # at the end all are gone
        with own, cached(folder, Path(own.name)) as clone:
            yield clone

    def from_memory(folder: Path) -> AbstractContextManager[Callable[[], Run]]:
        program = next(path for path in folder.iterdir() if path.name in ("inference.json", "inference.pdmodel"))
        params = program.with_suffix(".pdiparams")
        contents = program.read_bytes(), params.read_bytes() if params.exists() else b""
        config = Config()
        config.set_model_buffer(contents[0], len(contents[0]), contents[1], len(contents[1]))
        return _predictor(config)

    def from_files(folder: Path) -> AbstractContextManager[Callable[[], Run]]:
        return _predictor(Config(folder))

    @contextmanager
    def converted(folder: Path) -> Iterator[Callable[[], Run]]:
        """By `paddle2ov.convert`, whose weights are mapped, and OpenVINO."""
        settings = {**ONE_THREAD, "CPU_RUNTIME_CACHE_CAPACITY": 0, "INFERENCE_PRECISION_HINT": "f32"}
        compiled: Any = openvino.Core().compile_model(convert(folder), "CPU", settings)

        def clone() -> Run:
            request = compiled.create_infer_request()
            return lambda inputs: [np.array(value) for value in request.infer(inputs).values()]

        yield clone
        compiled = None

    # One format after the other in each way; what fails is seen in the first rounds.
    return [
        partial(way, folder) for way in (from_files, cached, newly_cached, from_memory, converted) for folder in folders
    ]


class _AllocatorState(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_: ClassVar = [("fields", ctypes.c_size_t * 10)]


def _allocated() -> float:
    """MB that are allocated and not freed, in mappings of their own and in the heap's arenas."""
    state = ctypes.CDLL(None).mallinfo2
    state.restype = _AllocatorState
    fields = state().fields
    return float(fields[4] + fields[7]) / 2**20  # hblkhd, uordblks


def measured(scratch: Path) -> dict[str, float]:
    """What this process holds now."""
    status = Path("/proc/self/status").read_text()
    threads = re.search(r"Threads:\s+(\d+)", status)
    assert threads is not None
    return {
        "memory": resident(),
        "allocated": _allocated(),
        "handles": len(list(Path("/proc/self/fd").iterdir())),
        "threads": int(threads[1]),
        "maps": Path("/proc/self/maps").read_text().count("\n"),
        "files": sum(len(files) for _, _, files in os.walk(scratch)),
    }


def soak(runs: int, every: int) -> Figures:
    """Runs the networks; what the process held after every n runs."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        tempfile.tempdir = folder  # what anything leaves in the folder for temporary files counts
        try:
            servers = [Server(name, scratch) for name in NETWORKS]
            figures: Figures = {"runs": [], **{name: [] for name in MEASURED}}
            done, shown, started = 0, 0, time.monotonic()
            for server in itertools.cycle(servers):
                with ThreadPoolExecutor(THREADS) as pool:
                    server.batch(pool, RUNS_PER_CLONE)
                done += RUNS_PER_CLONE
                if done - shown >= every or done >= runs:
                    shown = done
                    figures["runs"].append(done)
                    for name, value in measured(scratch).items():
                        figures[name].append(value)
                    about = ", ".join(f"{figures[name][-1]:.0f} {what}" for name, what in MEASURED.items())
                    print(f"{done} runs in {time.monotonic() - started:.0f} s: {about}", flush=True)
                if done >= runs:
                    return figures
        finally:
            tempfile.tempdir = None
    raise AssertionError  # the cycle has no end


def slope(figures: Figures, name: str) -> float:
    """By how much a figure grows in 10,000 runs, by least squares over the second half."""
    half = len(figures["runs"]) // 2
    runs, values = figures["runs"][half:], figures[name][half:]
    return 1e4 * float(np.polyfit(runs, values, 1)[0]) if len(runs) > 1 else 0.0


def summary(figures: Figures) -> str:
    """A table in Markdown: means over fifths of the runs, and what the second half did."""
    count = len(figures["runs"])
    parts = min(5, count)
    fifths = [slice(i * count // parts, (i + 1) * count // parts) for i in range(parts)]
    rows = []
    for name, what in MEASURED.items():
        half = figures[name][count // 2 :]
        means = [f"{np.mean(figures[name][part]):,.0f}" for part in fifths]
        rows.append([what, *means, f"{min(half):,.0f} to {max(half):,.0f}", f"{slope(figures, name):+.2f}"])
    heads = [f"to {figures['runs'][part.stop - 1]:,.0f}" for part in fifths]
    return table(["runs", *heads, "second half", "in 10,000 runs"], rows)


def main() -> None:
    """Runs the networks and prints what grew."""
    parser = options(__doc__)
    parser.add_argument("--runs", type=int, default=200_000, help="how many")
    parser.add_argument("--every", type=int, default=1000, help="after how many to measure")
    arguments = parser.parse_args()
    record = Record("soak", "Many runs", __doc__)
    figures = soak(arguments.runs, arguments.every)
    record.write(arguments.json, summary(figures))


if __name__ == "__main__":
    main()
