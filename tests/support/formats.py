"""The formats that tests run in, and what runs with `--every-form` only (`make test-all`).

Legacy models are written by Paddle 2, which `make test LEGACY=0` goes without.
"""

from collections import Counter
from typing import NamedTuple

import pytest

from gen_models import all_networks
from gen_models.harness.legacy import legacy_python

NEEDS_PADDLE_2 = pytest.mark.skipif(legacy_python() is None, reason="no Paddle 2 here; `make venv-legacy` sets it up")
LEGACY = pytest.param("legacy", marks=NEEDS_PADDLE_2)
FORMATS = ["pir", LEGACY]


def marks_of(format):
    """What a test in a format is marked with."""
    return [NEEDS_PADDLE_2] if format == "legacy" else []


def networks():
    """Each network in one of its formats, which alternate; `--every-form`: in each."""
    for number, network in enumerate(all_networks().values()):
        for i, format in enumerate(network.formats):
            more = [pytest.mark.every_form] if (number + i) % len(network.formats) else []
            yield pytest.param(network, format, marks=[*marks_of(format), *more], id=f"{network.name}/{format}")


class Form(NamedTuple):
    """How a case is checked: in a format, with the shapes that it declares, with dynamic dimensions, or both."""

    format: str
    declared: bool = True
    dynamic: bool = True


def forms(op, every_form):
    """Each case of an operator, with a form that it is checked in.

    Both formats go through the same converters. The first case that gives a set of arguments is checked in both, as
    declared in one and with dynamic dimensions in the other. Cases that give the same arguments other values or sizes
    take one of these four forms each, in turn; of those beyond the second, one in three is checked.

    Args:
        op: the operator.
        every_form: whether each case takes each form in each format.
    """
    turns: Counter[tuple] = Counter()
    for number, case in enumerate(op.cases):
        turn = turns[case.formats, frozenset(case.arguments)]
        turns[case.formats, frozenset(case.arguments)] += 1
        is_declared = (number + turn // 2) % 2 == 0
        if every_form or legacy_python() is None:
            yield from ((case, Form(format)) for format in case.formats)
        elif turn == 0 and len(case.formats) == 2:
            formats = case.formats if number % 2 else case.formats[::-1]
            yield case, Form(formats[0], dynamic=False)
            yield case, Form(formats[1], declared=False)
        elif turn == 0:
            yield case, Form(case.formats[0])
        elif turn < 2 or turn % 3 == 0 or case.xfail:
            yield case, Form(case.formats[turn % len(case.formats)], is_declared, not is_declared)
