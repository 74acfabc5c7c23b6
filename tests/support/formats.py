"""The formats that tests run in, and what runs with `--every-form` only (`make test-all`).

Legacy models are written by Paddle 2, which `make test LEGACY=0` goes without.
"""

from typing import NamedTuple

import pytest

from gen_models import all_networks
from gen_models.harness.legacy import legacy_python
from gen_models.harness.spec import TensorSpec

NEEDS_PADDLE_2 = pytest.mark.skipif(legacy_python() is None, reason="no Paddle 2 here; `make venv-legacy` sets it up")
LEGACY = pytest.param("legacy", marks=NEEDS_PADDLE_2)
FORMATS = ["pir", LEGACY]


def marks_of(format):
    """What a test in a format is marked with."""
    return [NEEDS_PADDLE_2] if format == "legacy" else []


LIKE_OTHERS = {
    *("alexnet", "googlenet", "inception_v3", "mobilenet_v2", "resnet50", "densenet121", "mobilenet_v3_large"),
    *("shufflenet_v2_x0_25", "vgg16", "csp_channels_last", "dense_segmenter", "speech_speaker"),
    *("gfl", "permutes_mask_rcnn", "ppyoloe", "series_decomposed", "beam_decoder_batches"),
    *("assigned_in_loop_of_branch_of_known_size", "assigned_in_branch_of_loop"),
}
"""Networks that go the ways of others, which take less time: the same layers, control flow and rewrites."""


def networks():
    """Each network in one of its formats, which alternate; `--every-form`: in each, and those that are like others."""
    for number, network in enumerate(all_networks().values()):
        for i, format in enumerate(network.formats):
            is_more = (number + i) % len(network.formats) or network.name in LIKE_OTHERS
            more = [pytest.mark.every_form] if is_more else []
            yield pytest.param(network, format, marks=[*marks_of(format), *more], id=f"{network.name}/{format}")


class Form(NamedTuple):
    """How a case is checked: in a format, with the shapes that it declares, with dynamic dimensions, or both."""

    format: str
    declared: bool = True
    dynamic: bool = True


def forms(op, every_form):
    """Each case of an operator that shows something new, with a form that it is checked in.

    Both formats go through the same converters, and every legacy operator carries all of its attributes. A case that
    gives a tensor which none before it gave is checked in both, as declared in one and with dynamic dimensions in the
    other. One that gives another argument, another kind of value, fewer tensors or other words and flags together takes
    one of these four forms, in turn. The rest, other sizes and numbers, is for `--every-form`.

    Args:
        op: the operator.
        every_form: whether each case takes each form in each format.
    """
    shown: dict[tuple, set] = {}
    for number, case in enumerate(op.cases):
        before = shown.setdefault(case.formats, set())
        tensors = {name.rstrip("_0123456789") for name in case.tensors()}
        words = frozenset((name, value) for name, value in case.arguments.items() if isinstance(value, bool | str))
        kinds = {words, frozenset(tensors), *_kinds("", case.arguments)}
        is_declared = number % 4 < 2
        if every_form or legacy_python() is None:
            yield from ((case, Form(format)) for format in case.formats)
        elif not before or not tensors <= before:
            formats = case.formats if number % 2 else case.formats[::-1]
            yield case, Form(formats[0], dynamic=len(formats) == 1)
            yield from ((case, Form(format, declared=False)) for format in formats[1:])
        elif not kinds <= before or case.xfail:
            yield case, Form(case.formats[number % len(case.formats)], is_declared, not is_declared)
        before |= tensors | kinds


def _kinds(name, value):
    """What kinds of values an argument gives: types, flags and words, signs of numbers, 0-D and empty tensors."""
    if isinstance(value, TensorSpec):
        yield name, value.dtype, len(value.shape) == 0, 0 in value.shape
    elif isinstance(value, bool | str | None):
        yield name, value
    elif isinstance(value, int | float):
        yield name, type(value), (value > 0) - (value < 0)
    elif isinstance(value, list | tuple):
        yield name, type(value), len(value) > 0
        for item in value:
            yield from _kinds(f"{name}[]", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _kinds(f"{name}.{key}", item)
    else:
        yield name, type(value)
