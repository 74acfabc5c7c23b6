"""Bytes: flipped, inserted, deleted, cut off, and spliced with those of another file; of parameters also by tensor."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

import numpy as np

from paddle2ov.program.framework_proto import TensorDesc
from tools.mutation import values

Damage = Callable[[Random, bytes, bytes], bytes]
"""Makes other content of a file, with pieces of another one."""

_SIZES = (1, 1, 2, 4, 8, 16, 64, 100, 256, 1000)


def flip_bit(rng: Random, content: bytes, other: bytes) -> bytes:
    place = rng.randrange(max(len(content), 1))
    return (
        content[:place]
        + bytes(byte ^ 1 << rng.randrange(8) for byte in content[place : place + 1])
        + content[place + 1 :]
    )


def overwrite(rng: Random, content: bytes, other: bytes) -> bytes:
    """Bytes of a file's syntax, the length or size of a binary header, or a piece of another file."""
    size, place = rng.choice((4, 8)), rng.randint(0, len(content))
    begin = rng.randint(0, len(other))
    piece = rng.choice((
        bytes([rng.choice((0, 0x7F, 0x80, 0xFF, *b'"{}[],:09-', rng.randrange(256)))]),
        (rng.choice(values.INTS) % 2 ** (8 * size)).to_bytes(size, "little"),
        other[begin : begin + rng.choice(_SIZES)],
    ))  # fmt: skip
    return content[:place] + piece + content[place + len(piece) :]


def insert(rng: Random, content: bytes, other: bytes) -> bytes:
    """Random bytes, or some of the file again."""
    place, size = rng.randint(0, len(content)), rng.choice(_SIZES)
    piece = rng.randbytes(size) if rng.random() < 0.5 else content[place : place + size] * rng.choice((1, 2, 10, 100))
    return content[:place] + piece + content[place:]


def delete(rng: Random, content: bytes, other: bytes) -> bytes:
    place = rng.randint(0, len(content))
    return content[:place] + content[place + rng.choice(_SIZES) :]


def splice(rng: Random, content: bytes, other: bytes) -> bytes:
    """The beginning of one file, and nothing or the end of another."""
    end = other[rng.randint(0, len(other)) :] if rng.random() < 0.5 else b""
    return content[: rng.randint(0, len(content))] + end


def damaged(rng: Random, content: bytes, other: bytes) -> bytes:
    """The content with one to a few places damaged."""
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        content = rng.choice((flip_bit, flip_bit, overwrite, overwrite, insert, delete, splice))(rng, content, other)
    return content


# Parameters

_HEADER = 12  # version and number of LoD levels
_ITEM_SIZES = {0: 1, 1: 2, 2: 4, 3: 8, 4: 2, 5: 4, 6: 8, 20: 1, 21: 1, 22: 2, 23: 8, 24: 16}


def tensors(content: bytes) -> list[tuple[int, int, int]]:
    """Of each tensor: where it begins, where its data begins, where it ends."""
    spans = []
    start = 0
    try:
        while start < len(content):
            size = struct.unpack_from("<i", content, start + _HEADER + 4)[0]
            data = start + _HEADER + 8 + size
            desc = TensorDesc.FromString(content[start + _HEADER + 8 : data])
            end = data + _ITEM_SIZES[desc.data_type] * int(np.prod(desc.dims, dtype=np.int64))
            spans.append((start, data, end))
            start = end
    except (struct.error, KeyError, ValueError):
        pass
    return spans


def resize(rng: Random, content: bytes, other: bytes) -> bytes:
    """Cut off, lengthened, with its tensors in another order, or another file."""
    parts = [content[start:end] for start, _, end in tensors(content)]
    rng.shuffle(parts)
    ends = [place for tensor in tensors(content) for place in tensor]
    return rng.choice((
        content[: rng.choice([*ends, rng.randint(0, len(content))])],
        content + rng.choice((b"\0", b"\0" * 1000, other, content)),
        b"".join(parts[: rng.choice((len(parts), max(len(parts) - 1, 0)))]),
        other,
    ))  # fmt: skip


def change_header(rng: Random, content: bytes, other: bytes) -> bytes:
    start, data, _ = rng.choice(tensors(content))
    if rng.random() < 0.4:
        return content[:start] + damaged(rng, content[start:data], other[:100]) + content[data:]
    desc = TensorDesc.FromString(content[start + _HEADER + 8 : data])
    if rng.random() < 0.7:
        desc.dims[:] = values.shape(rng, list(desc.dims))
    else:
        desc.data_type = rng.choice((*_ITEM_SIZES, 7, 100, -1))
    text: bytes = desc.SerializePartialToString()
    return content[: start + _HEADER + 4] + struct.pack("<i", len(text)) + text + content[data:]


def change_data(rng: Random, content: bytes, other: bytes) -> bytes:
    """Weights become extreme, all of a tensor or some: not a number, infinite, the ends of integers, noise."""
    _, data, end = rng.choice([tensor for tensor in tensors(content) if tensor[2] > tensor[1]])
    number, integer = rng.choice(values.FLOATS), rng.choice(values.INTS) % 2**64
    with np.errstate(over="ignore"):
        pattern = rng.choice((np.float32(number).tobytes(), integer.to_bytes(8, "little"), rng.randbytes(16)))
    count = end - data if rng.random() < 0.7 else min(end - data, 8)
    return content[:data] + (pattern * (count // len(pattern) + 1))[:count] + content[data + count :]


PARAMETERS: dict[str, tuple[Damage, ...]] = {
    "parameters: sizes": (resize,),
    "parameters: headers": (change_header, damaged),
    "parameters: values": (change_data,),
}
HOLES = (1, 4096, 10**6, 2**31, 2**33, 2**40)
"""By how much files are lengthened with holes."""
