"""The tables of docs/serving.md are what Paddle and the drop-in do, and neither computes another result."""

import pytest

from tests.inference import beside_paddle


@pytest.mark.parametrize("name", beside_paddle.TABLES)
def test_tables(name):
    table = beside_paddle.TABLES[name]()
    assert table == beside_paddle.written(name)
    for wrong in ("stricter", "other", "another result", "computes | refuses"):
        assert wrong not in table
