"""Defaults of attributes in converters are Paddle's own: a program that lacks an attribute means that one.

Where no Paddle has a default, a program without the attribute is refused, as Paddle refuses it.
"""

import re
import sys
from fnmatch import fnmatchcase
from functools import cache

import numpy as np
import pytest

from gen_models.harness.legacy import ROOT, legacy_python
from paddle2ov.converters.graph.spatial import CHANNELS_FIRST
from paddle2ov.graph.types import element_type
from paddle2ov.op_table import OP_TABLE
from paddle2ov.program.signatures import signature
from paddle2ov.translation.attribute_types import from_text, is_undefined_dtype
from paddle2ov.translation.node_context import REQUIRED
from tests.support.attribute_reads import UNKNOWN, Repeated, reads_of, reads_with_defaults
from tests.support.paddle_defaults import NONE, legacy_defaults, pir_defaults

PYTHONS = (sys.executable, legacy_python())

ON_GPU = "of builds for GPUs, whose protos have these defaults"
PADDLE_1 = "of Paddle 1, whose protos no Paddle that can be installed has"
UNSET = "a data type that a program need not have: that of an input, or of the declared result"
EXCEPTIONS = {
    "*.fuse_brelu*": "set by older passes for oneDNN",
    "bernoulli.seed": "not in its proto: 0 draws other numbers at each run",
    "cast.dtype": UNSET,
    "cross.axis": "the operands' axis, which counts where their ranks differ: Paddle refuses these",
    "assign_value.dtype": UNSET,
    "full_int_array.dtype": "of PIR, where a program without it is refused; it holds shapes",
    "fused_attention.*": ON_GPU,
    "fused_dropout_add.*": "shared with the layers above; Paddle refuses a program without them",
    "fused_feedforward.*": ON_GPU,
    "fused_gemm_epilogue.*": ON_GPU,
    "inplace_abn.*": PADDLE_1,
    "linspace.dtype": UNSET,
    "logspace.dtype": UNSET,
    "logsumexp*.axis": "[0] up to Paddle 2; the proto of Paddle 3 reduces all axes, which its programs say",
    "mv_grad.transpose_*": "shared with other products of matrices",
    "lstm_unit.*": ON_GPU,
    "*lstm*.*_clip": PADDLE_1,
    "*lstm*.proj_activation": PADDLE_1,
    "memory_efficient_attention.*": "shared with the layers above; Paddle refuses a program without them",
    "ones_like.value": "shared with full_like, which has it",
    "pad_constant_like.*": PADDLE_1,
    "prroi_pool.*": PADDLE_1,
    "range*.dtype": "legacy programs have none: the type of the bounds",
    "sequence_mask.out_dtype": "has no default in Paddle, which refuses a program without it",
    "unique_consecutive.dtype": "float32, which Paddle's own kernel refuses",
    "unique_with_counts.dtype": "has no default in Paddle, which refuses a program without it",
}
"""Patterns of operator.attribute -> why the default of the converter need not be Paddle's."""


GRADIENTS = {key: re.sub(r"(_grad|_double|_triple)+$", "", key) for key in OP_TABLE if key.endswith("_grad")}
"""Gradients, which have no protos -> the operators whose attributes they have."""


@cache
def defaults_of(key, name):
    """The defaults that Paddle has for an attribute, by its canonical name, and whether it knows the attribute.

    Those of legacy protos count: a program of PIR that lacks an attribute is refused.
    """
    row = signature(key)
    protos = [legacy_defaults(python).get(key) for python in PYTHONS]
    legacy = [values for proto in protos for key, values in (proto or {}).items() if row.canonical(key) == name]
    builders = pir_defaults().get((row.pir_name or "").removesuffix("_"), {})
    pir = [values for builder, values in builders.items() if row.canonical(builder) == name]
    defaults = [[value for values in source for value in values if value != NONE] for source in (legacy, pir)]
    return defaults[0] or defaults[1], bool(legacy) if any(protos) else None


def is_same(ours, theirs, getter):
    """Whether a default means what Paddle's means."""
    if getter == "get_dtype":
        if is_undefined_dtype(theirs) or theirs == "UNDEFINED":
            return ours in (None, UNKNOWN)
        return ours == element_type(theirs.lower() if isinstance(theirs, str) else theirs)
    if isinstance(ours, Repeated):
        return isinstance(theirs, list) and {ours.item} == {*theirs}
    if isinstance(ours, list | tuple):
        return isinstance(theirs, list) and list(ours) == theirs
    if ours in CHANNELS_FIRST and theirs in CHANNELS_FIRST:
        return True
    theirs = from_text(theirs) if isinstance(ours, float) else theirs
    return ours == theirs or (isinstance(theirs, float) and np.float32(ours) == np.float32(theirs))


@cache
def compared():
    """How many reads have Paddle's default, and operator.attribute -> what is wrong with its others."""
    same, wrong, apart = [], {}, []
    for key, converter in OP_TABLE.items():
        for read in reads_of(converter):
            if read.default is REQUIRED:
                continue
            if not isinstance(read.attribute, str) and key in GRADIENTS:
                continue  # of a formula: programs carry all attributes of the operator that they differentiate
            assert isinstance(read.attribute, str), f"the name of an attribute of {key} is not known: {read.place}"
            name = signature(key).canonical(read.attribute)
            defaults, is_known = defaults_of(GRADIENTS.get(key, key), name)
            if not defaults and not is_known:
                apart.append((key, name, read))
            elif not defaults:
                wrong[f"{key}.{name}"] = (
                    f"{read.default!r}, Paddle has none and refuses a program without it: {read.place}"
                )
            elif all(is_same(read.default, default, read.getter) for default in defaults):
                same.append(read)
            else:
                wrong[f"{key}.{name}"] = f"{read.default!r}, Paddle's is {defaults}: {read.place}"
    # What an operator does not have, and a helper reads, is as with the operators that have it.
    shared = {repr(read) for read in same}
    for key, name, read in apart:
        if repr(read) not in shared:
            wrong[f"{key}.{name}"] = f"{read.default!r}, Paddle has no such attribute: {read.place}"
    return len(same), wrong


def is_excepted(name):
    return any(fnmatchcase(name, pattern) for pattern in EXCEPTIONS)


@pytest.mark.skipif(legacy_python() is None, reason="without Paddle 2")
def test_defaults_are_paddles():
    count, wrong = compared()
    others = {name: why for name, why in wrong.items() if not is_excepted(name)}
    assert others == {}, "read these with Paddle's default, or with none; where it need not be: EXCEPTIONS, with why"
    assert count > 900
    stale = {pattern for pattern in EXCEPTIONS if not any(fnmatchcase(name, pattern) for name in wrong)}
    assert stale == set(), "these entries of EXCEPTIONS except nothing: take them out"


def test_every_read_with_a_default_is_compared():
    places = set()
    for path in (ROOT / "converters").rglob("*.py"):
        places |= reads_with_defaults(path, ".".join(("paddle2ov", *path.relative_to(ROOT).with_suffix("").parts)))
    assert places - {read.place for converter in OP_TABLE.values() for read in reads_of(converter)} == set()
