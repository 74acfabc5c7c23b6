"""How the time and memory of a conversion grow with the program and with its weights.

    python -m benchmarks.growth                                  # programs of 100 to 100,000 operators, weights to 8 GB
    python -m benchmarks.growth --most 10000 --json growth.json

Programs are written here, in either format: a chain (every operator reads the one before), a wide graph (all read the
input), transposes that the rewrites move, a chain of branches, and blocks inside of blocks. Weights lie in a sparse
file, so that 8 GB of them need no disk. Every conversion runs in a process of its own, after one of a small program;
its CPU time is given with the memory by which it raises the peak. The last column is the power of the size with which
the time grows: 1 is linear. OpenVINO's C++ frontend reads the same file where that is a legacy one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.record import ROOT, Record, table
from paddle2ov.program.framework_proto import Attr, ProgramDesc, TensorDesc, VarType

RUN = """
import pathlib, re, sys, time
import openvino
frontend, small, program = sys.argv[1:]
if frontend == "paddle2ov":
    import paddle2ov
    read = paddle2ov.convert
else:
    read = openvino.Core().read_model
def memory(name):  # of this process, in MB; Linux only
    return int(re.search(name + r":\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())[1]) / 1024
read(small)
pathlib.Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before, started = memory("VmRSS"), time.process_time()
model = read(program)
print(time.process_time() - started, memory("VmHWM") - before, len(model.get_ops()), flush=True)
import os
os._exit(0)
"""
ACTIVATIONS = ("relu", "sigmoid", "tanh", "hardswish")


# --- programs in PIR's JSON ---------------------------------------------------------------------------------------


def tensor(*shape: int, kind: str = "f32") -> dict[str, Any]:
    return {"#": "0.t_dtensor", "D": [{"#": f"0.t_{kind}"}, list(shape), "NCHW", [], 0]}


def op(
    kind: str, reads: list[int], writes: int, shape: dict[str, Any] | None = None, **attributes: Any
) -> dict[str, Any]:
    listed = [{"N": key, "AT": value} for key, value in attributes.items()]
    results = [{"%": writes, "TT": shape or tensor(-1, 8)}] if writes else []
    return {"#": f"1.{kind}", "I": [{"%": read} for read in reads], "O": results, "A": listed}


def feed(name: str, value: int, shape: dict[str, Any] | None = None) -> dict[str, Any]:
    return op("data", [], value, shape, name={"#": "0.a_str", "D": name})


def fetch(value: int) -> dict[str, Any]:
    return op("fetch", [value], 0, name={"#": "0.a_str", "D": "out"}, col={"#": "0.a_i32", "D": 0})


def pir(ops: list[dict[str, Any]]) -> str:
    block = {"#": "block_0", "args": [], "ops": ops}
    program = {"regions": [{"#": "region_0", "blocks": [block]}]}
    return json.dumps({"base_code": {"magic": "pir", "version": 1, "trainable": False}, "program": program})


def chain(size: int) -> str:
    ops = [feed("x", 1)]
    ops += [op(ACTIVATIONS[i % 4], [i + 1], i + 2) for i in range(size)]
    return pir([*ops, fetch(size + 1)])


def wide(size: int) -> str:
    ops = [feed("x", 1)]
    ops += [op(ACTIVATIONS[i % 4], [1], i + 2) for i in range(size)]
    ops.append({"#": "0.combine", "I": [{"%": i + 2} for i in range(size)], "O": [{"%": size + 2}], "A": []})
    ops.append(op("add_n", [size + 2], size + 3))
    return pir([*ops, fetch(size + 3)])


def transposes(size: int) -> str:
    """Pairs of a transpose and an activation, which move_transposes undoes."""
    ops = [feed("x", 1, tensor(-1, 8, 4))]
    perm = {"#": "0.a_array", "D": [{"#": "0.a_i32", "D": axis} for axis in (0, 2, 1)]}
    for i in range(size):
        shape = tensor(-1, 4, 8) if i // 2 % 2 == 0 else tensor(-1, 8, 4)
        more = {"perm": perm} if i % 2 == 0 else {}
        ops.append(op("relu" if i % 2 else "transpose", [i + 1], i + 2, shape, **more))
    return pir([*ops, fetch(size + 1)])


def condition(read: int, write: int, blocks: list[list[dict[str, Any]]]) -> dict[str, Any]:
    regions = [{"blocks": [{"args": [], "ops": inner}]} for inner in blocks]
    return {**op("if", [read], write), "regions": regions}


def leave(value: int) -> dict[str, Any]:
    return {"#": "2.yield", "I": [{"%": value}], "O": [], "A": []}


def branches(size: int) -> str:
    """One `if` after the other, of six operators each."""
    ops = [feed("x", 1), feed("c", 2, tensor(kind="bool"))]
    last, free = 1, 3
    for _ in range(size // 7):
        blocks = []
        for _ in range(2):
            inner = [op(ACTIVATIONS[i], [last if i == 0 else free + i - 1], free + i) for i in range(3)]
            blocks.append([*inner, leave(free + 2)])
            free += 3
        ops.append(condition(2, free, blocks))
        last, free = free, free + 1
    return pir([*ops, fetch(last)])


def nested(size: int) -> str:
    """An `if` inside of an `if` inside of an `if`, with operators on every level."""
    depth = min(size // 10, 50)
    per_level = size // depth
    free = 3

    def level(left: int, last: int) -> tuple[list[dict[str, Any]], int]:
        nonlocal free
        ops = []
        for i in range(per_level - 1):
            ops.append(op(ACTIVATIONS[i % 4], [last], free))
            last, free = free, free + 1
        if left:
            inner, value = level(left - 1, last)
            other = [op("relu", [last], free), leave(free)]
            result, free = free + 1, free + 2
            ops.append(condition(2, result, [[*inner, leave(value)], other]))
            last = result
        return ops, last

    ops, last = level(depth - 1, 1)
    return pir([feed("x", 1), feed("c", 2, tensor(kind="bool")), *ops, fetch(last)])


def loop(size: int) -> str:
    """A `while` around half of the operators, every twentieth of which reads what another one computed before it."""
    inner, outer = size - size // 2, size // 2
    before = [op(ACTIVATIONS[i % 4], [1], i + 3) for i in range(outer)]
    free = outer + 3
    last, body = -1, []
    for i in range(inner):
        reads = [last, 3 + i % outer] if i % 20 == 0 else [last]
        body.append(op("add" if i % 20 == 0 else ACTIVATIONS[i % 4], reads, free))
        last, free = free, free + 1
    body.append({"#": "2.yield", "I": [{"%": 2}, {"%": last}], "O": [], "A": []})
    block = {"args": [{"#": -1, "TT": tensor(-1, 8)}], "ops": body}
    whole = {**op("while", [2, 1], free), "regions": [{"blocks": [block]}]}
    return pir([feed("x", 1), feed("c", 2, tensor(kind="bool")), *before, whole, fetch(free)])


# --- programs in legacy protobuf --------------------------------------------------------------------------------------


def legacy(size: int) -> bytes:
    """The chain."""
    program = ProgramDesc()
    program.version.version = 2006002
    block = program.blocks.add(idx=0, parent_idx=-1)
    kind = VarType(type=7)
    kind.dense_tensor.tensor.data_type = 5
    kind.dense_tensor.tensor.dims.extend([-1, 8])
    for name in ("feed", "fetch"):
        block.vars.add(name=name, type=VarType(type=9 if name == "feed" else 10).SerializeToString(), persistable=True)
    for i in range(size + 1):
        block.vars.add(name=f"v{i}", type=kind.SerializeToString())
    column = Attr(name="col", type=0, i=0).SerializeToString()
    for i in range(-1, size + 1):
        operator = block.ops.add(
            type="feed" if i < 0 else "fetch" if i == size else ("relu", "sigmoid", "tanh", "exp")[i % 4]
        )
        operator.inputs.add(parameter="X", arguments=["feed" if i < 0 else f"v{i}"])
        operator.outputs.add(parameter="Out", arguments=["fetch" if i == size else f"v{i + 1}"])
        if i in (-1, size):
            operator.attrs.append(column)
    return bytes(program.SerializeToString())


# --- weights ----------------------------------------------------------------------------------------------------------


def weights(megabytes: int, file: Path) -> str:
    """A program of ten matrix products; its weights, zeros that take no room on the disk, are written to `file`."""
    width = 1024
    rows = megabytes * 2**20 // 4 // width // 10
    ops: list[dict[str, Any]] = []
    with file.open("wb") as out:
        desc = TensorDesc(data_type=5, dims=[rows, width]).SerializeToString()
        for i in range(10):
            out.write(struct.pack("<IQIi", 0, 0, 0, len(desc)) + desc)
            out.seek(rows * width * 4, 1)
            out.truncate()
            ops.append(
                {
                    "#": "p",
                    "A": [0, 1, 1, f"w{i}"],
                    "O": {"%": i + 1, "TT": tensor(rows, width)},
                    "OA": [1, 0, 1],
                    "I": [],
                }
            )
    ops.append(feed("x", 11, tensor(-1, width)))
    flags = {"transpose_x": {"#": "0.a_bool", "D": False}, "transpose_y": {"#": "0.a_bool", "D": True}}
    ops += [op("matmul", [11, i + 1], 12 + i, tensor(-1, rows), **flags) for i in range(10)]
    ops += [op("add", [12 if i == 0 else 21 + i, 13 + i], 22 + i, tensor(-1, rows)) for i in range(9)]
    return pir([*ops, fetch(30)])


# --- the rounds -------------------------------------------------------------------------------------------------------

PROGRAMS: dict[str, Callable[[int], str | bytes]] = {
    "chain": chain,
    "wide": wide,
    "transposes": transposes,
    "branches": branches,
    "nested": nested,
    "loop": loop,
    "chain, legacy": legacy,
}


def main() -> None:
    """Writes the programs, converts them and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=100_000, help="operators of the largest program")
    parser.add_argument("--megabytes", type=int, default=8192, help="weights of the largest model")
    parser.add_argument("--runs", type=int, default=3, help="processes per figure; the fastest counts")
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    record = Record("growth", "Growth with the model", __doc__)
    sizes = [size for size in (100, 1000, 10_000, 100_000) if size <= arguments.most]
    figures: dict[str, dict[str, list[dict[str, float]]]] = {"programs": {}, "weights": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small.json"
        small.write_text(chain(10))
        (folder / "small.pdmodel").write_bytes(legacy(10))
        for kind in arguments.programs:
            suffix = "pdmodel" if kind.endswith("legacy") else "json"
            for frontend in ("paddle2ov", "C++ frontend")[: 2 if suffix == "pdmodel" else 1]:
                rows = []
                for size in sizes:
                    program = folder / f"program.{suffix}"
                    content = PROGRAMS[kind](size)
                    program.write_bytes(content if isinstance(content, bytes) else content.encode())
                    rows.append(measure(frontend, folder / f"small.{suffix}", program, size, arguments.runs))
                label = kind if frontend == "paddle2ov" else f"{kind}, {frontend}"
                figures["programs"][label] = rows
        rows = []
        for megabytes in (10, 100, 1024, 8192):
            if megabytes <= arguments.megabytes:
                program = folder / "weights.json"
                program.write_text(weights(megabytes, folder / "weights.pdiparams"))
                rows.append(measure("paddle2ov", small, program, megabytes, arguments.runs))
        figures["weights"]["ten matrices"] = rows
    result = summary(figures)
    print(result)
    record.write(arguments.json, figures, result)


def measure(frontend: str, small: Path, program: Path, size: int = 0, runs: int = 1) -> dict[str, float]:
    """CPU seconds, MB by which the peak grows, and nodes; of the fastest of some processes."""
    command = [sys.executable, "-c", RUN, frontend, str(small), str(program)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    samples = []
    for _ in range(runs):
        run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if run.returncode:
            return {"size": size, "seconds": math.nan, "megabytes": math.nan, "nodes": 0}
        samples.append([float(part) for part in run.stdout.split()])
    seconds, megabytes, nodes = min(samples)
    return {"size": size, "seconds": seconds, "megabytes": megabytes, "nodes": nodes}


def powers(rows: list[dict[str, float]]) -> list[str]:
    """The power of the size with which the time has grown since the row before."""
    steps = ((math.log(b["seconds"] / a["seconds"]), math.log(b["size"] / a["size"])) for a, b in pairwise(rows))
    return ["", *(f"{time / size:.2f}" for time, size in steps)][: len(rows)]


def summary(figures: dict[str, dict[str, list[dict[str, float]]]]) -> str:
    """All tables in one, in Markdown."""
    rows = []
    for kind, unit in (("programs", "operators"), ("weights", "MB of weights")):
        for label, points in figures[kind].items():
            for row, power in zip(points, powers(points), strict=True):
                seconds, megabytes = f"{1e3 * row['seconds']:.1f} ms", f"{row['megabytes']:.1f} MB"
                rows.append([label, f"{row['size']:,} {unit}", seconds, megabytes, f"{row['nodes']:.0f}", power])
    return table(["", "size", "CPU time", "memory", "nodes", "grows with size to the"], rows)


if __name__ == "__main__":
    main()
