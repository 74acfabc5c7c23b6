"""Whole networks, with several sets of inputs each. The formats: `networks`."""

import pytest

from gen_models.harness.store import generated_network
from paddle2ov.testing import check_network
from tests.support.formats import networks


@pytest.mark.parametrize(
    ("network", "format"),
    [pytest.param(*network.values, marks=network.marks, id=f"testNetwork/{network.id}") for network in networks()],
)
def test_network(network, format):
    check_network(generated_network(network, format))
