"""Runs Paddle on request, in a process of its own: one JSON request per line in, one reply per line out.

This file is started by its path, also by interpreters that have Paddle but not paddle2ov: it imports only Paddle and
NumPy. Requests:

- `{"load": prefix, "model": number}`: reads `prefix.json` or `prefix.pdmodel` with `prefix.pdiparams` (or, for a legacy
  model with `"separate"`, the folder that holds one file per parameter) under a number;
- `{"run": inputs.npz, "to": outputs.npz, "model": number, "values": [...]}`: computes the program's results, or values
  inside it. A value is `{"op": position in the file, "type": operator, "result": i, "element": k}` in a PIR program and
  `{"op": position, "name": variable}` in a legacy one. What cannot be fetched has no array in the answer. The lengths
  of the sequences in an input (LoD) are an array `NAME.lengths`; those in a result are in the reply;
- `{"unload": number}`: forgets a model.

A reply is an object of what was asked for, or `{"error": text}`. bfloat16 arrays are their bits, as unsigned integers.
"""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from pathlib import Path
from typing import Any

_DTYPES = {
    "fp16": "float16",
    "fp32": "float32",
    "fp64": "float64",
    "bf16": "bfloat16",
    "float": "float32",
    "double": "float64",
}


class LoadedProgram:
    """A loaded model. `fetch` makes a value inside it one that a run can return."""

    def __init__(self, paddle: Any, prefix: str, separate: str | None = None) -> None:
        self._paddle = paddle
        self._executor = paddle.static.Executor(paddle.CPUPlace())
        self._scope = paddle.static.Scope()
        with paddle.static.scope_guard(self._scope):
            if separate is not None:
                self._program, self.feeds, self._results = self._load_separate(prefix, separate)
            else:
                loaded = paddle.static.load_inference_model(prefix, self._executor)
                self._program, self.feeds, self._results = loaded
        self.is_pir = not hasattr(self._results[0], "desc") if self._results else False
        # Before anything is inserted: positions are those of the file.
        self._ops = list(self._program.global_block().ops)
        self._found: dict[str, Any] = {}
        self._inserted: list[int] = []
        self.names = [str(result.name) for result in self._results] if not self.is_pir else self._take_fetches()
        if self.is_pir:
            self._copy_what_loops_overwrite()
        elif self._program.global_block().has_var("fetch"):  # a temporary one is gone before the executor reads it
            self._program.global_block().var("fetch").persistable = True
        self._has_arrays = not self.is_pir and any(
            "ARRAY" in str(variable.type) for variable in self._program.list_vars()
        )

    def _take_fetches(self) -> list[str]:
        """Removes the program's own fetches; returns the names of its results.

        The executor adds fetches of its own and numbers them from 0 again: two of one number write to one place.
        """
        fetches = [op for op in self._ops if op.name() == "pd_op.fetch"]
        fetches.sort(key=lambda op: op.attrs()["col"])
        self._results = [op.operand_source(0) for op in fetches]
        names = [str(op.attrs()["name"]) for op in fetches]
        for op in fetches:
            self._ops[self._ops.index(op)] = None
            self._program.global_block().remove_op(op)
        return names

    def _copy_what_loops_overwrite(self) -> None:
        """Gives each `while` of the main block copies of what it reads.

        It writes its next condition to the variable of the first one, and carries on in the memory of what enters it;
        the executor does not know that, and may fetch such a value before the loop or after it.
        """
        for op in filter(None, self._ops):
            if op.name() == "pd_op.while":
                for operand in op.operands():
                    if operand.source().is_dense_tensor_type():
                        operand.set_source(self._copied(operand.source(), before=op))

    def _fed(self, name: str, array: Any, lengths: Any) -> Any:
        """The array; where the program wants sequences (LoD), as those of the lengths, or as one."""
        block = self._program.global_block()
        if not hasattr(block, "has_var") or not block.has_var(name) or not block.var(name).lod_level:
            return array
        rows = [len(array)] if lengths is None else lengths.tolist()
        return self._paddle.base.create_lod_tensor(array, [rows], self._paddle.CPUPlace())

    def run(self, feeds: dict[str, Any], values: list[dict[str, Any]] | None = None) -> list[Any]:
        """The results, or the given values (None for those that cannot be fetched)."""
        targets = self._results if values is None else [self._fetchable(value) for value in values]
        wanted = [target for target in targets if target is not None]
        if self._has_arrays:  # an executor that runs again finds what it left in them, without its data
            self._executor = self._paddle.static.Executor(self._paddle.CPUPlace())
        with self._paddle.static.scope_guard(self._scope):
            feed = {name: self._fed(name, feeds[name], feeds.get(f"{name}.lengths")) for name in self.feeds}
            arrays = iter(self._executor.run(self._program, feed, wanted, return_numpy=False) if wanted else ())
        return [None if target is None else next(arrays) for target in targets]

    def _fetchable(self, value: dict[str, Any]) -> Any:
        key = json.dumps(value, sort_keys=True)
        if key not in self._found:
            self._found[key] = self._pir_value(value) if self.is_pir else self._legacy_value(value)
        return self._found[key]

    def _pir_value(self, value: dict[str, Any]) -> Any:
        if value["op"] >= len(self._ops):
            return None
        op = self._ops[value["op"]]
        if (
            op is None
            or op.name().rpartition(".")[2] != value["type"].rpartition(".")[2]
            or value["result"] >= op.num_results()
        ):
            return None
        result = op.result(value["result"])
        if not result.is_dense_tensor_type():  # a list: its elements come out of the operators that take it apart
            result = self._element(result, value["element"])
        elif value["element"]:
            return None
        if result is None:
            return None
        users = [user.name() for user in result.all_used_ops()]
        if any(name.endswith("_") for name in (op.name(), *users)):
            return self._copied(result)
        return result

    def _element(self, found: Any, element: int) -> Any:
        for user in found.all_used_ops():
            if user.name() == "builtin.split":
                return user.result(element)
            if user.name() == "builtin.slice" and user.attrs().get("index") == element:
                return user.result(0)
        return None

    def _copied(self, found: Any, before: Any = None) -> Any:
        """A copy made before an operator, or where the value is defined: a later one may write into its memory."""
        with self._paddle.static.program_guard(self._program):
            if before is not None:
                self._paddle.pir.set_insertion_point(before)
            else:  # of an element of a list that is not the operator of the list, but the one that takes it apart
                self._paddle.pir.set_insertion_point_after(found.get_defining_op())
            try:
                return self._paddle._C_ops.assign(found)
            finally:
                self._paddle.pir.reset_insertion_point_to_end()

    def _legacy_value(self, value: dict[str, Any]) -> Any:
        block, name = self._program.global_block(), value["name"]
        writers = [i for i, op in enumerate(self._ops) if name in op.output_arg_names and op.type != "feed"]
        after = [i for i in writers if i >= value["op"]]
        if not after:
            return None
        variable = block.vars.get(name)
        if variable is None or "TENSOR" not in str(variable.type) or "ARRAY" in str(variable.type):
            return None
        if len(writers) == 1 and not any(op.has_attr("sub_block") for op in self._ops):
            return variable
        position = after[0] + sum(item < after[0] for item in self._inserted)
        self._inserted.append(after[0])
        copy = block.create_var(
            name=f"{name}@paddle2ov@{after[0]}", dtype=variable.dtype, shape=variable.shape, persistable=False
        )
        block._insert_op(position + 1, type="assign", inputs={"X": [name]}, outputs={"Out": [copy.name]})
        return copy

    def _load_separate(self, prefix: str, folder: str) -> tuple[Any, list[str], list[Any]]:
        paddle = self._paddle
        program = paddle.static.deserialize_program(Path(prefix + ".pdmodel").read_bytes())
        persistable = [
            variable
            for variable in program.list_vars()
            if variable.persistable and variable.name not in ("feed", "fetch")
        ]
        paddle.static.load_vars(self._executor, folder, main_program=program, vars=persistable)
        block = program.global_block()
        feeds = sorted((op for op in block.ops if op.type == "feed"), key=lambda op: op.attr("col"))
        fetches = sorted((op for op in block.ops if op.type == "fetch"), key=lambda op: op.attr("col"))
        return program, [op.output("Out")[0] for op in feeds], [block.var(op.input("X")[0]) for op in fetches]


def serve() -> None:
    """Answers requests until standard input ends."""
    # Paddle prints: replies go to a copy of standard output, everything else to standard error.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    try:
        import numpy as np
        import paddle
    except ImportError as error:
        replies.write(json.dumps({"missing": str(error)}) + "\n")
        return
    _limit_memory()
    paddle.enable_static()
    programs: dict[int, LoadedProgram] = {}
    for line in sys.stdin:
        request = json.loads(line)
        reply: dict[str, Any]
        try:
            if "load" in request:
                program = LoadedProgram(paddle, request["load"], request.get("separate"))
                programs[request["model"]] = program
                reply = {"version": paddle.__version__, "names": program.names}
            elif "unload" in request:
                programs.pop(request["unload"], None)
                reply = {}
            else:
                reply = _run(np, paddle, programs[request["model"]], request)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {_short(str(error))}"}
        replies.write(json.dumps(reply) + "\n")


def _limit_memory() -> None:
    """Has Paddle fail where it would take more than half of the free memory, rather than Linux end any process.

    The other half is for the side of OpenVINO, and for other programs.
    """
    if sys.platform != "linux":
        return
    import resource

    try:
        facts = Path("/proc/meminfo").read_text() + Path("/proc/self/status").read_text()
        sizes = {name: int(size) << 10 for name, size in re.findall(r"^(\w+):\s+(\d+) kB$", facts, re.MULTILINE)}
        limit = sizes["VmData"] + sizes["MemAvailable"] // 2
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    except (OSError, KeyError, ValueError):
        return  # nothing is told, or less is allowed


def _run(np: Any, paddle: Any, program: LoadedProgram, request: dict[str, Any]) -> dict[str, Any]:
    with np.load(request["run"]) as file:
        feeds = {name: file[name] for name in file.files}
    paddle.seed(0)  # the same random numbers in every run
    tensors = program.run(feeds, request.get("values"))
    arrays, kinds, lengths = {}, {}, {}
    for i, tensor in enumerate(tensors):
        if tensor is None or not hasattr(tensor, "_dtype") or not tensor._is_initialized():
            continue
        arrays[str(i)] = np.asarray(tensor)
        kinds[str(i)] = _dtype(tensor)
        levels = tensor.recursive_sequence_lengths() if hasattr(tensor, "recursive_sequence_lengths") else []
        if len(levels) == 1:
            lengths[str(i)] = levels[0]
    np.savez(request["to"], **arrays)
    return {"dtypes": kinds, "lengths": lengths}


def _dtype(tensor: Any) -> str:
    name = str(tensor._dtype()).rpartition(".")[2].lower()
    return _DTYPES.get(name, name)


def _short(text: str) -> str:
    """Paddle's own reason, without the C++ stack before it and the advice after it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marked = [i for i, line in enumerate(lines) if "Error Message Summary" in line]
    if marked:
        lines = [line for line in lines[marked[-1] + 1 :] if not line.startswith("---")] or lines
    reasons = [i for i, line in enumerate(lines) if re.match(r"\w+Error: |\(\w+\) ", line)]
    if reasons:  # what stands before are the frames of the model's source
        lines = lines[reasons[0] :]
    return " ".join(lines[:4])[:1000]


if __name__ == "__main__":
    serve()
