"""What else is known of operators: the traits at the end of their signature rows, in brackets."""

from __future__ import annotations

from functools import cache

from paddle2ov.program.signatures import ROWS

TRAITS = {
    "structure": "part of a program's structure: readers and translator handle it, without a converter",
    "random": "draws random numbers: its results differ from run to run",
    "counts boxes": "reads how many of its boxes, the second operand, are on each image",
    # Which sequences (LoD) a program does not declare (translation/undeclared_lod.py).
    "makes sequences": "gives a sequence of boxes for each image, which the program does not declare (LoD)",
    "keeps sequences": "a detector gives it such boxes, and it passes their LoD on",
    # Sorts and selections, whose ties `verify` tells from errors (verification/orders.py).
    "sorts": "sorts all",
    "selects the top": "selects the largest or smallest",
    "selects the largest": "selects one",
    "selects the smallest": "selects one",
    "suppresses": "suppresses boxes",
    "proposes": "proposes regions",
    "selects": "selects; Paddle itself is asked whether rounding of what it read explains its choice",
    # Simulated quantization, which may round numbers half-way between two steps to either (verification/steps.py).
    "rounds to steps": "rounds to the steps of one scale",
    "rounds channels to steps": "rounds to the steps of a scale for each element along `quant_axis`, or of one",
    # What is made of probabilities too small for float32 (program/small_probabilities.py).
    "tells from 0": "distinguishes a small number from 0",
    "passes on": "moves small numbers, or makes other small numbers of them",
    # What it computed before a version of Paddle (program/op_versions.py).
    "truncated before 2.0": (
        "rounded the quotient towards zero, so that the remainder of integers had the sign of the dividend"
    ),
    "truncated before 2.4": "rounded the quotient towards zero",
    "full window before 2.0": (
        "divided an average that counts the padding by the window even where that exceeds the padding"
    ),
    "joins parts before 2.0": "took both of its parts where the attribute made them overlap",
    "joins parts before 2.3": "took both of its parts where the attribute made them overlap",
    "square grid before 2.0": "divided both axes by the number of rows",
    "attributes before 2.6": "read thresholds and factors; its kernel has ignored them since",
    "ties away before 3.1": "rounded ties away from zero",
    "counts in 32 bits before 3.1": "counted in int32",
    "ties away before 3.2": "rounded ties away from zero; in volumes, only what was inside before",
    "weighted rest before 3.0": "scaled the terms of negative examples below max(x, 0) by pos_weight as well",
    "coarse before 3.1": "considered floats equal that differ by less than 1e-8",
    "single scales before 3.3": "multiplied scales in single precision; what became 1 was the first element",
    # Why it has no cases but tests by hand (tests/ops/test_op_table.py).
    "by hand: no kernel": "no Paddle has a kernel for it that runs on a CPU (but for oneDNN's memory layouts)",
    "by hand: not written": "of Paddle 1; no later one has it",
    "by hand: refused": "its kernel for CPUs raises an error",
    "by hand: AVX-512": "its kernel for CPUs ends the process where there is no AVX-512",
    "by hand: unfused": "its kernel for CPUs, but for oneDNN's, leaves out what is fused",
    "by hand: executor": "made by Paddle's executor alone, as it runs a program",
    "by hand: eager": "Paddle computes it right in dynamic graphs only",
    "by hand: recorded": "of Paddle 1, in programs that it exported; its results are recorded",
    # Why it has no converter, as errors, `inspect` and `paddle2ov ops` say.
    "no converter: training": (
        "made for training: a loss or a measure that is computed from labels; export the network without it"
    ),
    "no converter: ends sequences": (
        "sorts sequences by their lengths, and drops those that have ended as a loop goes on (LoD), which no "
        "tensor of OpenVINO carries"
    ),
    "no converter: pairs of sequences": (
        "gives each pair of sequences, or each image, a size of its own (LoD), which no tensor of OpenVINO carries"
    ),
    "no converter: two levels": (
        "keeps two levels of LoD (sentences, and the prefixes of each) from one iteration of a loop to the next, "
        "and drops the sentences that have ended; no tensor of OpenVINO carries them (`dynamic_decode` is "
        "supported)"
    ),
    "no converter: accelerators": (
        "runs on one vendor's GPU or accelerator only; Paddle has no CPU kernel to compare with"
    ),
    "no converter: eigenvalues": (
        "gives the eigenvalues of any matrix, complex numbers in the order in which LAPACK's algorithm happens to "
        "find them"
    ),
    "no converter: vendor layout": (
        "quantizes weights into a layout that only the kernels of one vendor's GPUs read; export the weights as "
        "they are"
    ),
    "no converter: strides": "reads, writes or shares memory by strides; Paddle makes it in dynamic graphs only",
    "no converter: bits": (
        "reads the bits of numbers as numbers of another type, which no operator of OpenVINO does; Paddle runs it "
        "in dynamic graphs only"
    ),
    "no converter: not run": "Paddle has no CPU kernel for it, or cannot run it in a saved program",
    "no converter: samples": (
        "draws a random sample of a graph, or a random order of a batch; do so before the network runs"
    ),
    "no converter: hashes": (
        "hashes in unsigned numbers of 64 bits, which OpenVINO does not compute; hash before the network runs"
    ),
    "no converter: Paddle 1": "of Paddle 1 only: it walks trees, or picks instances by their tags",
    "no converter: perspective": (
        "of Paddle 1 only: which points of a region count is decided within a ten-thousandth of a pixel, on whose "
        "edges rounding decides"
    ),
    "no converter: decodes": "decodes a file, which Paddle does on a GPU only; feed the decoded image",
    "no converter: made inside": "made by Paddle itself as it differentiates, compiles or runs a program",
    "refuses to run": "has a kernel for CPUs that refuses to run",
}
"""Trait -> what it says of the operator."""


def traits_of(key: str) -> list[str]:
    """The traits of an operator; none of one that has no row."""
    traits = ROWS.get(key, "").partition(" [")[2].removesuffix("]")
    return traits.split(", ") if traits else []


def with_trait(trait: str) -> frozenset[str]:
    """The operators that have a trait."""
    return _with_traits()[trait]


@cache
def _with_traits() -> dict[str, frozenset[str]]:
    keys: dict[str, list[str]] = {trait: [] for trait in TRAITS}
    for key, row in ROWS.items():
        if row.endswith("]"):
            for trait in traits_of(key):
                keys[trait].append(key)
    return {trait: frozenset(names) for trait, names in keys.items()}
