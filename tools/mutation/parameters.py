"""Mutations of parameter files: cut off, swapped, of wrong sizes, with holes, other headers, extreme values."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

import numpy as np

from paddle2ov.program.framework_proto import TensorDesc
from tools.mutation import extremes
from tools.mutation.damage import damaged

Mutation = Callable[[Random, bytes, bytes], bytes]

_HEADER = 12  # version and number of LoD levels
_SIZES = {0: 1, 1: 2, 2: 4, 3: 8, 4: 2, 5: 4, 6: 8, 20: 1, 21: 1, 22: 2, 23: 8, 24: 16}


def tensors(content: bytes) -> list[tuple[int, int, int]]:
    """Of each tensor: where it begins, where its data begins, where it ends."""
    spans = []
    start = 0
    try:
        while start < len(content):
            size = struct.unpack_from("<i", content, start + _HEADER + 4)[0]
            desc = TensorDesc.FromString(content[start + _HEADER + 8 : start + _HEADER + 8 + size])
            data = start + _HEADER + 8 + size
            end = data + _SIZES[desc.data_type] * int(np.prod(desc.dims, dtype=np.int64))
            spans.append((start, data, end))
            start = end
    except (struct.error, KeyError, ValueError):
        pass
    return spans


def cut_off(rng: Random, content: bytes, other: bytes) -> bytes:
    ends = [place for tensor in tensors(content) for place in tensor]
    return content[: rng.choice([*ends, rng.randint(0, len(content))])]


def lengthen(rng: Random, content: bytes, other: bytes) -> bytes:
    return content + rng.choice((b"\0", b"\0" * 1000, other, content))


def reorder(rng: Random, content: bytes, other: bytes) -> bytes:
    parts = [content[start:end] for start, _, end in tensors(content)]
    rng.shuffle(parts)
    return b"".join(parts[: rng.choice((len(parts), max(len(parts) - 1, 0)))])


def replace(rng: Random, content: bytes, other: bytes) -> bytes:
    return other


def change_header(rng: Random, content: bytes, other: bytes) -> bytes:
    spans = tensors(content)
    if not spans:
        return damaged(rng, content, other)
    start, data, _ = rng.choice(spans)
    if rng.random() < 0.4:
        return content[:start] + damaged(rng, content[start:data], other[:100]) + content[data:]
    desc = TensorDesc.FromString(content[start + _HEADER + 8 : data])
    if rng.random() < 0.7:
        desc.dims[:] = extremes.shape(rng, list(desc.dims))
    else:
        desc.data_type = rng.choice((*_SIZES, 7, 100, -1))
    text: bytes = desc.SerializePartialToString()
    return content[: start + _HEADER + 4] + struct.pack("<i", len(text)) + text + content[data:]


def change_data(rng: Random, content: bytes, other: bytes) -> bytes:
    """Weights become extreme: not a number, infinite, negative zero, the largest and smallest integers."""
    spans = [tensor for tensor in tensors(content) if tensor[2] > tensor[1]]
    if not spans:
        return damaged(rng, content, other)
    _, data, end = rng.choice(spans)
    pattern = rng.choice((
        b"\0", b"\xff", b"\x7f", b"\x80", b"\0\0\xc0\x7f", b"\0\0\x80\x7f", b"\0\0\x80\xff", b"\0\0\0\x80",
        b"\0\0\0\0\0\0\0\x80", b"\xff\xff\xff\xff\xff\xff\xff\x7f", b"\xff\xff\xff\x7f", rng.randbytes(16),
    ))  # fmt: skip
    count = end - data
    if rng.random() < 0.3:  # one element, where the pattern is that long
        count = min(count, 8)
    return content[:data] + (pattern * (count // len(pattern) + 1))[:count] + content[data + count :]


def damage(rng: Random, content: bytes, other: bytes) -> bytes:
    return damaged(rng, content, other)


FAMILIES: dict[str, tuple[Mutation, ...]] = {
    "parameters: sizes": (cut_off, lengthen, reorder, replace),
    "parameters: headers": (change_header, damage),
    "parameters: values": (change_data,),
}
HOLES = (1, 4096, 10**6, 2**31, 2**33, 2**40)
"""By how much files are lengthened with holes."""
