"""Bytes: flipped, inserted, deleted, cut off, and spliced with those of another file."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Damage = Callable[[Random, bytearray, bytes], None]


def flip_bit(rng: Random, content: bytearray, other: bytes) -> None:
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def set_byte(rng: Random, content: bytearray, other: bytes) -> None:
    if content:
        content[rng.randrange(len(content))] = rng.choice((0, 0x7F, 0x80, 0xFF, *b'"{}[],:09-', rng.randrange(256)))


def insert(rng: Random, content: bytearray, other: bytes) -> None:
    place = rng.randint(0, len(content))
    content[place:place] = rng.randbytes(rng.choice((1, 1, 2, 4, 8, 100)))


def delete(rng: Random, content: bytearray, other: bytes) -> None:
    place = rng.randint(0, len(content))
    del content[place : place + rng.choice((1, 1, 2, 4, 8, 100, 1000))]


def truncate(rng: Random, content: bytearray, other: bytes) -> None:
    del content[rng.randint(0, len(content)) :]


def repeat(rng: Random, content: bytearray, other: bytes) -> None:
    begin = rng.randint(0, len(content))
    part = content[begin : begin + rng.choice((1, 4, 16, 64, 256))]
    content[begin:begin] = part * rng.choice((1, 2, 10, 100))


def splice(rng: Random, content: bytearray, other: bytes) -> None:
    """The beginning of one file and the end of another."""
    del content[rng.randint(0, len(content)) :]
    content += other[rng.randint(0, len(other)) :]


def transplant(rng: Random, content: bytearray, other: bytes) -> None:
    """Some bytes of another file in place of as many."""
    begin, place = rng.randint(0, len(other)), rng.randint(0, len(content))
    part = other[begin : begin + rng.choice((1, 4, 16, 64, 256))]
    content[place : place + len(part)] = part


def set_word(rng: Random, content: bytearray, other: bytes) -> None:
    """A length or a size of 4 or 8 bytes, as binary headers have them."""
    size = rng.choice((4, 8))
    if len(content) >= size:
        place = rng.randint(0, len(content) - size)
        value = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, 1000, 65_536))
        content[place : place + size] = (value % 2 ** (8 * size)).to_bytes(size, "little")


DAMAGE: tuple[Damage, ...] = (
    *(flip_bit, flip_bit, flip_bit, set_byte, set_byte, insert, delete),
    *(truncate, repeat, splice, transplant, transplant, set_word),
)


def damaged(rng: Random, content: bytes, other: bytes) -> bytes:
    """The content with one to a few places damaged."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        rng.choice(DAMAGE)(rng, changed, other)
    return bytes(changed)
