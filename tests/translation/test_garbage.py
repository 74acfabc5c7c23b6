"""Conversions collect garbage less often, and leave the collector as they found it."""

import gc

import pytest

from paddle2ov.translation.garbage import rare_collections


@pytest.fixture(autouse=True)
def thresholds():
    before = gc.get_threshold()
    gc.set_threshold(600, 9, 8)
    yield
    gc.set_threshold(*before)


def test_nested_and_failing_conversions():
    with rare_collections():
        assert gc.get_threshold() == (100_000, 9, 8)
        with pytest.raises(ValueError, match="no such"), rare_collections():
            raise ValueError("no such operator")
        assert gc.get_threshold() == (100_000, 9, 8)
    assert gc.get_threshold() == (600, 9, 8)


@pytest.mark.parametrize("first", [0, 1_000_000])
def test_a_collector_that_is_off_or_rarer_stays_so(first):
    gc.set_threshold(first, 9, 8)
    with rare_collections():
        assert gc.get_threshold() == (first, 9, 8)
    assert gc.get_threshold() == (first, 9, 8)
