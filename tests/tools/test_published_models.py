"""The page of published models is what the recorded results say; two results are compared as a user reads them."""

import json

import pytest

from tools.published_models.__main__ import RESULTS
from tools.published_models.comparison import difference
from tools.published_models.packages import PACKAGES
from tools.published_models.page import PAGE, page


def test_the_page_is_that_of_the_results():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert results["packages"].keys() == {package.name for package in PACKAGES}
    assert PAGE.read_text(encoding="utf-8") == page(results)


@pytest.mark.parametrize(
    ("theirs", "ours", "expected"),
    [
        ([["a", 1.0], 2], [["a", 1.0], 2], 0.0),
        ([["a", 0.5]], [["a", 0.75]], 0.25),
        ({"box": [100.0]}, {"box": [101.0]}, 0.01),
        (["a"], ["b"], None),
        ([1], [2], None),
        ([1], [1.0], None),
        ([1, 2], [1], None),
        ({"a": 1}, {"b": 1}, None),
        ([], [], 0.0),
    ],
)
def test_difference(theirs, ours, expected):
    assert difference(theirs, ours) == expected
