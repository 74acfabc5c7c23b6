"""Attention as OpenVINO's `ScaledDotProductAttention`, beside MatMul, Softmax and MatMul: CPU time.

    python -m benchmarks.attention
    python -m benchmarks.attention "words of BERT" --runs 40 --threads 2

Six layers, whose queries, keys and values are projected from the same tokens and transposed or, for the steps of a
decoder, given beside one query. Each with known sizes and unknown ones. Both forms run in turn and must agree. Times
are medians of CPU time, the ratio is the median of the runs' ratios, with the quartiles in brackets.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
import openvino
from openvino import Model, Node, Output, PartialShape, Type

from paddle2ov.graph.opset import ops

LAYERS = 6


class Attention(NamedTuple):
    """Sizes; where there are as many queries as keys, they are projected from the same tokens."""

    heads: int
    queries: int
    keys: int
    size: int = 64


CASES = {
    "words of BERT": Attention(12, 128, 128),
    "patches of ViT": Attention(12, 197, 197),
    "a page": Attention(8, 1024, 1024),
    "patches of 4 pages": Attention(8, 4096, 4096),
    "a step, 64 tokens": Attention(16, 1, 64),
    "a step, 512 tokens": Attention(16, 1, 512),
}


def main() -> None:
    """Runs the cases and prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32")
    args = parser.parse_args()
    print(f"{'':20}{'sizes':>9}{'three nodes':>14}{'one node':>12}   ratio")
    for name in args.cases:
        for dynamic in (False, True):
            three, one, ratio = measured(CASES[name], dynamic, args.runs, args.threads, args.precision)
            kind = "unknown" if dynamic else "known"
            print(f"{name:20}{kind:>9}{three:>11.2f} ms{one:>9.2f} ms   {ratio}", flush=True)


def measured(case: Attention, dynamic: bool, runs: int, threads: int, precision: str) -> tuple[float, float, str]:
    """The CPU time of both forms in ms, and their ratio."""
    options = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": precision}
    models = [network(case, dynamic, fused) for fused in (False, True)]
    requests = [openvino.Core().compile_model(model, "CPU", options).create_infer_request() for model in models]
    rng = np.random.default_rng(0)
    feeds = [rng.standard_normal(shape).astype(np.float32) for shape in shapes(case)]
    times: list[list[float]] = []
    for _ in range(runs + 2):
        times.append([])
        for request in requests:
            started = time.process_time()
            request.infer(feeds)
            times[-1].append(1e3 * (time.process_time() - started))
    results = [request.get_output_tensor(0).data for request in requests]
    tolerance = 1e-4 if precision == "f32" else 0.1
    np.testing.assert_allclose(results[0], results[1], rtol=tolerance, atol=tolerance)
    taken = np.array(times[2:])  # the first ones are to warm up
    low, ratio, high = np.percentile(taken[:, 1] / taken[:, 0], [25, 50, 75])
    three, one = np.median(taken, 0)
    return float(three), float(one), f"{ratio:.2f} ({low:.2f}-{high:.2f})"


def shapes(case: Attention) -> list[list[int]]:
    """The shapes of the inputs: tokens, or queries, keys and values."""
    if case.queries == case.keys:
        return [[1, case.queries, case.heads * case.size]]
    return [[1, case.heads, length, case.size] for length in (case.queries, case.keys, case.keys)]


def network(case: Attention, dynamic: bool, fused: bool) -> Model:
    """The layers, in one of the forms; what `dynamic` leaves unknown are the batch and the number of tokens."""
    tokens = 1 if case.queries == case.keys else 2
    inputs = [
        ops.parameter(
            PartialShape([-1 if dynamic and axis in (0, tokens) else size for axis, size in enumerate(shape)]), Type.f32
        )
        for shape in shapes(case)
    ]
    x, *cache = [one.output(0) for one in inputs]
    rng = np.random.default_rng(1)
    for _ in range(LAYERS):
        if cache:
            x = attended(x, cache[0], cache[1], fused)
            continue
        query, key, value = (heads(linear(x, rng), case) for _ in range(3))
        merged = ops.transpose(attended(query, key, value, fused), ops.constant([0, 2, 1, 3], Type.i64))
        shape = ops.constant([0, 0, case.heads * case.size], Type.i64)
        x = ops.add(x, linear(ops.reshape(merged, shape, True).output(0), rng)).output(0)
    return Model([ops.result(x)], inputs)


def linear(x: Output, rng: np.random.Generator) -> Output:
    """A linear layer that leaves the width as it is."""
    width = x.get_partial_shape()[2].get_length()
    weight = rng.standard_normal([width, width], np.float32) / np.float32(width**0.5)
    return ops.matmul(x, ops.constant(weight), False, False).output(0)


def heads(x: Output, case: Attention) -> Output:
    """[batch, tokens, heads * size] as [batch, heads, tokens, size]."""
    parts = ops.reshape(x, ops.constant([0, 0, case.heads, case.size], Type.i64), True)
    return ops.transpose(parts, ops.constant([0, 2, 1, 3], Type.i64)).output(0)


def attended(query: Output, key: Output, value: Output, fused: bool) -> Output:
    """Attention, with a number added to the scores, as the workaround `attention.single_key` adds it."""
    nothing = ops.constant(np.float32(1e-30))
    node: Node
    if fused:
        node = ops.scaled_dot_product_attention(query, key, value, nothing)
    else:
        size = query.get_partial_shape()[3].get_length()
        scores = ops.multiply(ops.matmul(query, key, False, True), ops.constant(np.float32(size**-0.5)))
        node = ops.matmul(ops.softmax(ops.add(scores, nothing), -1), value, False, False)
    return node.output(0)


if __name__ == "__main__":
    main()
