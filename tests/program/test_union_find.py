"""Sets of what is known to be the same."""

import random

from paddle2ov.program.union_find import UnionFind
from tests.support.steps import steps


def test_what_is_joined_has_one_representative():
    sets = UnionFind()
    for pair in [("a", "b"), ("c", "d"), ("d", "b"), ("e", "e")]:
        sets.join(*pair)
    assert [sets.find(name) for name in "abcdef"] == ["b", "b", "b", "b", "e", "f"]
    assert list(sets) == ["b", "a", "d", "c", "e"]


def test_against_sets_that_are_merged():
    rng = random.Random(0)
    sets, merged = UnionFind(), {i: {i} for i in range(50)}
    for _ in range(40):
        one, other = rng.randrange(50), rng.randrange(50)
        sets.join(one, other)
        both = merged[one] | merged[other]
        merged.update(dict.fromkeys(both, both))
    for one in range(50):
        assert {other for other in range(50) if sets.find(other) == sets.find(one)} == merged[one]


def test_chains_take_linear_time():
    """Each item is joined with the next one, and the first one looked up each time."""

    def run(count):
        sets = UnionFind()
        for i in range(count):
            sets.join(i, i + 1)
            sets.find(0)

    assert steps(lambda: run(160)) < 6 * steps(lambda: run(40))
