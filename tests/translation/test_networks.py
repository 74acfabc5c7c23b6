"""Whole networks in both formats, with several sets of inputs each."""

import pytest

from gen_models import all_networks
from gen_models.harness.store import generated_network
from paddle2ov.testing import check_network
from tests.support.formats import marks_of


def cases():
    for network in all_networks().values():
        for format in network.formats:
            yield pytest.param(network, format, marks=marks_of(format), id=f"testNetwork/{network.name}/{format}")


@pytest.mark.parametrize(("network", "format"), list(cases()))
def test_network(network, format):
    check_network(generated_network(network, format))
