"""Whole networks in both formats, with several sets of inputs each."""

import pytest

from gen_models import all_networks
from gen_models.legacy import legacy_python
from gen_models.store import generated_network
from paddle2ov.testing import check_network


def cases():
    for network in all_networks().values():
        for format in network.formats:
            marks = []
            if format == "legacy" and legacy_python() is None:
                marks.append(pytest.mark.skip(reason="no Paddle 2 here; `make venv-legacy` sets it up"))
            yield pytest.param(network, format, marks=marks, id=f"testNetwork/{network.name}/{format}")


@pytest.mark.parametrize(("network", "format"), list(cases()))
def test_network(network, format):
    check_network(generated_network(network, format))
