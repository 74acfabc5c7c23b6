"""Limits on what reading and converting one program may take, all of them linear in the size of its files.

A few bytes of a program can ask for any amount of time and memory: a list that is made of itself twice, again and
again, blocks that two operators hold, shapes that attributes give. What a program of that size cannot need is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct

from paddle2ov.errors import ModelReadError

MAX_PROGRAM_BYTES = 256 << 20
"""The size of a program's file, without the parameters; the largest known has 60 MB."""

MAX_NESTED_BLOCKS = 64
"""How deep blocks of branches and loops may be nested."""

MAX_ARRAY_ELEMENTS = 1 << 22
"""The size of an array that is made at conversion; larger results are computed by nodes, or refused."""


MAX_COMPUTED_ELEMENTS = 1 << 25
"""The size of a tensor of integers that nodes compute from constants: OpenVINO computes it if a shape depends on it."""

MAX_REPEATS = 1000
"""How often a converter repeats the nodes of a step, such as one for each class, level or layer."""


MAX_DIM = 2**62
"""A dimension of a tensor."""

MAX_RANK = 64
"""The rank of a tensor: Paddle's have at most 9, and converters compute with a few dimensions more."""


class Limit(Struct, frozen=True):
    """How much of something a program may take: `base`, and `factor` for each of what it is proportional to."""

    base: int
    factor: int
    per: str


COPIES = "bytes of copied constants"
"""Many nodes may read one constant, of which a converter or a rewrite makes another one for each."""
REPEATS = "repetitions of nodes"
"""An operator of a few bytes may ask for each."""
LIMITS = {
    # In the program's file a name takes more than one byte, an operator more than ten, one that fetches more than 100.
    "names in lists of values": Limit(5_000, 1, "bytes of the program"),
    "bytes of blocks that are read again": Limit(1_000_000, 8, "bytes of the program"),
    "bytes for results": Limit(50_000, 1, "bytes of the program"),
    "operators in blocks": Limit(50_000, 1, "bytes of the program"),
    # The body of a loop is translated until its shapes hold in every iteration, that of an inner loop each time.
    "translations of operators": Limit(1_000, 64, "operators"),
    "bytes of constants made at conversion": Limit(1 << 28, 4, "bytes of the program and its parameters"),
    # Weights that are folded from integers of 8 bits take four times as much, and are cut or permuted once more.
    COPIES: Limit(1 << 28, 16, "bytes of the program and its parameters"),
    # Each is some ten nodes: a step of an iteration, a position of the windows whose gradient is computed.
    REPEATS: Limit(3_000, 4, "operators"),
}


class BudgetError(ModelReadError):
    """A program asks for more of something than a program of its size can need."""


class Budget:
    """Counts what a program takes.

    Args:
        program: the bytes of the program's file.
        parameters: the bytes of its parameters.
        operators: the number of its operators, each counted once.
    """

    def __init__(self, program: int = 0, parameters: int = 0, operators: int = 0) -> None:
        sizes = {
            "bytes of the program": program,
            "bytes of the program and its parameters": program + parameters,
            "operators": operators,
        }
        self._most = {what: limit.base + limit.factor * sizes[limit.per] for what, limit in LIMITS.items()}
        self._left = dict(self._most)

    def charge(self, what: str, amount: int = 1) -> None:
        """Takes an amount of one of the resources in `LIMITS`.

        Raises:
            BudgetError: less than that is left.
        """
        left = self._left[what] = self._left[what] - amount
        if left < 0:
            most = self._most[what]
            raise BudgetError(f"takes {most - left} {what}; a program of this size may take {most}")

    def affords(self, what: str, amount: int) -> bool:
        """Whether that much of one of the resources is left, which is then taken."""
        is_left = self._left[what] >= amount
        self._left[what] -= amount if is_left else 0
        return is_left


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def charging(budget: Budget) -> Iterator[None]:
    """A context in which arrays (`charge_array`, `paddle2ov/graph/arrays.py`) are charged to this budget."""
    token = _current.set(budget)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Budget | None:
    """The budget that arrays are charged to; None where nothing bounds them."""
    return _current.get()


def check_repeats(count: int) -> int:
    """Returns `count` if a converter may make the same nodes that many times.

    Raises:
        BudgetError: it is larger than `MAX_REPEATS`.
    """
    if count > MAX_REPEATS:
        raise BudgetError(f"takes the same nodes {count} times; at most {MAX_REPEATS} are made")
    return charge_repeats(count)


def charge_repeats(count: int) -> int:
    """Returns `count` if the operators of a program, all together, may make the same nodes that many times more.

    Raises:
        BudgetError: they have made too many.
    """
    budget = current()
    if budget is not None:
        budget.charge(REPEATS, count)
    return count


_FREE = 1 << 12
"""Bytes of a constant that are not counted: programs have as many small ones as they have operators."""


def charge_copy(size: int) -> None:
    """Charges the budget for a constant of so many bytes that is made of what the program has, or may have, already.

    Raises:
        BudgetError: the program has made too many.
    """
    if size > _FREE and (budget := current()) is not None:
        budget.charge(COPIES, size)


def check_rank(dimensions: int) -> int:
    """Returns `dimensions` if a tensor may have that many; call it where a program decides the rank.

    Raises:
        BudgetError: it is larger than `MAX_RANK`.
    """
    if dimensions > MAX_RANK:
        raise BudgetError(f"a tensor of {dimensions} dimensions; at most {MAX_RANK} are taken")
    return dimensions


def check_computed(elements: int) -> None:
    """Checks the number of integers that nodes compute from constants; call it before the nodes are made.

    Raises:
        BudgetError: they are more than `MAX_COMPUTED_ELEMENTS`.
    """
    if elements > MAX_COMPUTED_ELEMENTS:
        raise BudgetError(f"{elements} elements are computed from constants; at most {MAX_COMPUTED_ELEMENTS} can be")


def charge_array(elements: int, itemsize: int = 8) -> None:
    """Charges the budget for an array whose size a program decides; call it before the array is made.

    Raises:
        BudgetError: it is larger than `MAX_ARRAY_ELEMENTS`, or the program has made too many.
    """
    if elements > MAX_ARRAY_ELEMENTS:
        raise BudgetError(
            f"an array of {elements} elements is needed at conversion; at most {MAX_ARRAY_ELEMENTS} are made"
        )
    budget = current()
    if budget is not None:
        budget.charge("bytes of constants made at conversion", max(elements, 0) * itemsize)
