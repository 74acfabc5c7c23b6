"""What a token costs: a decoder as a Loop, the same split by hand into encoder and stateful step, and in Paddle.

    python -m benchmarks.generation                        # 2 layers of width 128, 8 of 1024; one thread and two
    python -m benchmarks.generation 8x1024 --steps 512 --threads 1 --rounds 1

The decoders are those of gen_models/networks/decoders.py. Split, the body of the Loop is a model of its own, whose
caches are state (`ReadValue` and `Assign`) and whose other carried tensors are inputs and results. With attention over
state, the attention to the caches is one node as well (`ScaledDotProductAttention`, a `Gather` of `beam_idx`
behind the state), which the CPU plugin joins with the state: the profile names `ScaledDotProductAttentionWithKVCache`.

Every route runs in a process of its own, which waits for its turn; a turn decodes one token and then `--steps`, and the
difference is what the further ones took. Times are medians over the rounds of CPU time, which other work disturbs
least, and of wall time. All routes must write the same tokens. The last lines say how much of the step's time each kind
of node takes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import openvino
from numpy.typing import NDArray
from openvino import Model, Node, Type
from openvino.op import Parameter, loop
from openvino.op.util import InvariantInputDescription, MergedInputDescription, Variable, VariableInfo

import paddle2ov
from paddle2ov.graph.opset import ops

ROUTES = ("Paddle", "Loop", "split", "attention over state")
FEATURES = 144
ENDS = np.array([[1 << 20]], np.int64)
"""Rows do not end before the limit."""

Decode: TypeAlias = Callable[[int], NDArray[Any]]
"""Decodes so many tokens, and returns them."""


def main() -> None:
    """Exports the decoders, runs the rounds and prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("decoders", nargs="*", default=["2x128", "8x1024"], help="LAYERSxWIDTH")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", type=Path, help="a folder to keep the exported decoders in, for the next time")
    args = parser.parse_args()
    print(f"{'layers x width':16}{'threads':>8}{'route':>24}{'CPU ms a token':>16}{'ms a token':>12}{'to Loop':>9}")
    with tempfile.TemporaryDirectory() as temporary:
        for decoder in args.decoders:
            folder = exported(decoder, args.models or Path(temporary))
            for threads in args.threads:
                print_decoder(decoder, folder, threads, args.steps, args.rounds)


def exported(decoder: str, folder: Path) -> Path:
    """The folder of a decoder, exported if it is not there."""
    target = folder / decoder
    if not (target / "inference.json").exists():
        command = ["benchmarks.decoders", *decoder.split("x"), str(target / "inference")]
        subprocess.run([sys.executable, "-W", "ignore", "-m", *command], check=True, capture_output=True)
    return target


def print_decoder(decoder: str, folder: Path, threads: int, steps: int, rounds: int) -> None:
    """Runs the rounds of one decoder and prints its rows."""
    workers = {route: _Worker(route, folder, threads) for route in ROUTES}
    tokens: dict[str, Any] = {}
    cpu: dict[str, list[float]] = {route: [] for route in ROUTES}
    wall: dict[str, list[float]] = {route: [] for route in ROUTES}
    for number in range(rounds + 1):
        for route, worker in workers.items():
            found = worker.turn(steps)
            tokens[route] = found["tokens"]
            if number:  # the first one is to warm up
                cpu[route].append(found["cpu"])
                wall[route].append(found["wall"])
    assert all(one == tokens["Loop"] for one in tokens.values()), "the routes write different tokens"
    for route, worker in workers.items():
        times = [statistics.median(one[route]) for one in (cpu, wall)]
        ratio = statistics.median(one / base for one, base in zip(cpu[route], cpu["Loop"], strict=True))
        print(
            f"{decoder:16}{threads:>8}{worker.name:>24}{times[0]:>16.2f}{times[1]:>12.2f}{ratio:>9.2f}",
            flush=True,
        )
    for route, worker in workers.items():
        if profile := worker.stop():
            print(f"  {route}, the step's CPU time by kind of node: {profile}", flush=True)


class _Worker:
    """A process that decodes by one route when it is told to."""

    def __init__(self, route: str, folder: Path, threads: int) -> None:
        command = [sys.executable, "-W", "ignore", "-c", "from benchmarks.generation import work; work()"]
        self._process = subprocess.Popen(
            [*command, route, str(folder), str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.name = self._answer()

    def turn(self, steps: int) -> Any:
        """The tokens, and the times of each after the first, in ms."""
        self._say(str(steps))
        return self._answer()

    def stop(self) -> Any:
        """Ends the process, which says where the time went."""
        self._say("0")
        answer = self._answer()
        self._process.wait()
        return answer

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("ANSWER"):
                return json.loads(line.removeprefix("ANSWER"))
        raise RuntimeError(f"a worker ended with status {self._process.wait()}")


def work() -> None:
    """What a worker does: a turn for each line that it reads, until that is 0."""
    route, folder, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    width = int(folder.name.partition("x")[2])
    features = np.random.default_rng(0).standard_normal([1, FEATURES, width]).astype(np.float32)
    name, decode, profile = dict(zip(ROUTES, (_paddle, _loop, _split, _over_state), strict=True))[route](
        folder, features, threads
    )
    _answer_with(name)
    for line in sys.stdin:
        steps = int(line)
        if not steps:
            _answer_with(profile())
            return
        _, *first = _timed(decode, 1)
        tokens, *all_of_them = _timed(decode, steps)
        cpu, wall = ((b - a) / (steps - 1) for a, b in zip(first, all_of_them, strict=True))
        _answer_with({"tokens": tokens.tolist(), "cpu": cpu, "wall": wall})


def _answer_with(value: Any) -> None:
    print("\nANSWER" + json.dumps(value), flush=True)


def _timed(decode: Decode, steps: int) -> tuple[NDArray[Any], float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    tokens = decode(steps)
    return tokens, 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)


_Route: TypeAlias = tuple[str, Decode, Callable[[], str]]


def _paddle(folder: Path, features: NDArray[Any], threads: int) -> _Route:
    """Paddle's predictor with its optimisations, with oneDNN if the program runs with it."""
    from paddle.inference import Config, create_predictor

    def decode_by(onednn: bool) -> Decode:
        config = Config(str(folder / "inference.json"), str(folder / "inference.pdiparams"))
        config.disable_gpu()
        config.switch_ir_optim(True)
        config.set_cpu_math_library_num_threads(threads)
        (config.enable_mkldnn if onednn else config.disable_mkldnn)()
        predictor = create_predictor(config)

        def decode(steps: int) -> NDArray[Any]:
            predictor.get_input_handle("features").copy_from_cpu(features)
            predictor.get_input_handle("limit").copy_from_cpu(np.array([steps], np.int64))
            predictor.get_input_handle("ends").copy_from_cpu(ENDS)
            predictor.run()
            tokens: NDArray[Any] = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
            return tokens

        return decode

    decode = decode_by(onednn=True)
    try:
        decode(2)
    except RuntimeError:
        return "Paddle (no oneDNN)", decode_by(onednn=False), str
    return "Paddle", decode, str


def _compiled(model: Model, threads: int, **options: Any) -> openvino.InferRequest:
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "KV_CACHE_PRECISION": "f32",
        **options,
    }
    return openvino.Core().compile_model(model, "CPU", settings).create_infer_request()


def _loop(folder: Path, features: NDArray[Any], threads: int) -> _Route:
    """The program as it is converted."""
    request = _compiled(paddle2ov.convert(folder), threads)

    def decode(steps: int) -> NDArray[Any]:
        request.infer({"features": features, "limit": np.array([steps], np.int64), "ends": ENDS})
        return request.get_output_tensor(0).data.copy()

    return "Loop", decode, str


def _over_state(folder: Path, features: NDArray[Any], threads: int) -> _Route:
    """The split form with the attention to each cache as one node over its state."""
    return _split(folder, features, threads, over_state=True)


def _split(folder: Path, features: NDArray[Any], threads: int, over_state: bool = False) -> _Route:
    """What comes before the Loop, and its body as a step with state; what comes after it is nothing here."""
    model = paddle2ov.convert(folder)
    (node,) = (one for one in model.get_ops() if isinstance(one, loop))
    inputs = node.get_input_descriptions()
    merged = [one for one in inputs if isinstance(one, MergedInputDescription)]
    invariant = [one for one in inputs if isinstance(one, InvariantInputDescription)]
    entering = [one.input_index for one in merged] + [one.input_index for one in invariant]
    before = Model([ops.result(node.input_value(one)) for one in entering], model.get_parameters())
    is_carried = [not _is_cache(node, one) for one in merged]
    step_model = _step(node, merged, invariant)
    if over_state:
        _attend_over_state(step_model)
    request, step = _compiled(before, threads), _compiled(step_model, threads)
    count = sum(is_carried)
    tokens = sum(is_carried[: model.get_results()[0].input_value(0).get_index()])  # results are in the order of inputs

    def decode(steps: int, step: openvino.InferRequest = step) -> NDArray[Any]:
        request.infer([features, np.array([steps], np.int64), ENDS])
        values = list(request.output_tensors)
        started = values[: len(merged)]
        carried = [one for one, plain in zip(started, is_carried, strict=True) if plain]
        step.reset_state()
        for i, tensor in enumerate([*carried, *values[len(merged) :]]):
            step.set_input_tensor(i, openvino.Tensor(tensor.data.copy()) if i < count else tensor)
        if over_state:
            step.set_tensor("beam_idx", openvino.Tensor(np.zeros([1], np.int32)))
        while True:
            step.infer()
            *results, condition = step.output_tensors
            if not condition.data.reshape(-1)[0]:
                return np.array(results[tokens].data)
            for i, tensor in enumerate(results):
                step.set_input_tensor(i, openvino.Tensor(tensor.data.copy()))

    def profile() -> str:
        counted = _compiled(step_model, threads, PERF_COUNT=True)
        decode(64, counted)
        kinds: Counter[str] = Counter()
        for one in counted.profiling_info:
            kinds[one.node_type] += one.cpu_time // timedelta(microseconds=1)
        return ", ".join(f"{kind} {spent / kinds.total():.0%}" for kind, spent in kinds.most_common(6))

    return "attention over state" if over_state else "split", decode, profile


def _is_cache(node: loop, one: MergedInputDescription) -> bool:
    """Whether a carried tensor holds keys or values: rank 4."""
    rank = node.get_function().get_parameters()[one.body_parameter_index].get_output_partial_shape(0).rank
    return bool(rank == 4)


def _step(node: loop, merged: list[MergedInputDescription], invariant: list[InvariantInputDescription]) -> Model:
    """The body of a Loop as a model with caches as state, empty at first: carried, invariants -> carried, condition."""
    body = node.get_function()
    parameters, results = body.get_parameters(), body.get_results()
    carried, after, sinks = [], [], []
    for one in merged:
        parameter, value = parameters[one.body_parameter_index], results[one.body_value_index].input_value(0)
        if _is_cache(node, one):
            cache = _variable(parameter)
            parameter.output(0).replace(ops.read_value(_empty(parameter), cache).output(0))
            sinks.append(ops.assign(value.get_node(), cache))
        else:
            carried.append(parameter)
            after.append(ops.result(value))
    current, condition = node.get_special_body_ports()
    parameters[current].output(0).replace(ops.constant(np.int64(0)).output(0))
    after.append(ops.result(results[condition].input_value(0)))
    return Model(after, sinks, [*carried, *(parameters[one.body_parameter_index] for one in invariant)], "step")


def _attend_over_state(step: Model) -> None:
    """Makes MatMul, Softmax and MatMul over caches the form that the CPU plugin joins with `ReadValue` and `Assign`."""
    beams = ops.parameter([-1], Type.i32, name="beam_idx")
    beams.output(0).set_names({"beam_idx"})
    step.add_parameters([beams])
    for read in [each for each in step.get_ops() if each.get_type_name() == "ReadValue"]:
        users = read.output(0).get_target_inputs()
        chosen = ops.gather(read, beams, ops.constant(np.int64(0)))
        for user in users:
            user.replace_source_output(chosen.output(0))
    for weights in [each for each in step.get_ops() if each.get_type_name() == "Softmax"]:
        scores = weights.input_value(0).get_node().input_value(0).get_node()
        if scores.get_type_name() == "MatMul" and scores.input_value(1).get_node().get_type_name() == "Concat":
            query, key = scores.input_values()
            (user,) = weights.output(0).get_target_inputs()
            merged = user.get_node()
            # the node divides by this again; with a scalar mask and a scale in place of it the step's results are empty
            size = query.get_partial_shape()[3].get_length()
            query = ops.multiply(query, ops.constant(np.float32(size**0.5))).output(0)
            attended = ops.scaled_dot_product_attention(query, key, merged.input_value(1))
            merged.output(0).replace(attended.output(0))
    step.validate_nodes_and_infer_types()


def _variable(parameter: Parameter) -> Variable:
    info = VariableInfo()
    info.data_shape = parameter.get_output_partial_shape(0)
    info.data_type = parameter.get_element_type()
    info.variable_id = parameter.get_friendly_name()
    return Variable(info)


def _empty(parameter: Parameter) -> Node:
    """A cache of one row without tokens."""
    _, heads, _, size = parameter.get_output_partial_shape(0)
    return ops.constant(np.zeros([1, heads.get_length(), 0, size.get_length()], np.float32))


if __name__ == "__main__":
    main()
