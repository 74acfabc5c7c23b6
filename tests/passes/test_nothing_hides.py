"""What OpenVINO's own transformations make of a graph shows no fault that the workarounds did not see in ours.

Where a workaround acts on the graph that `MOCTransformations` make, it has acted before, or refused with a reason. On
what they made themselves the workarounds do nothing.
"""

import pytest
from openvino._offline_transformations import apply_moc_transformations

from gen_models import all_networks
from gen_models.harness.store import generated_network
from paddle2ov import ConversionReport, convert
from paddle2ov.passes import NORMAL_FORM, run_rewrites
from paddle2ov.workarounds import rewrites_for
from tests.support.random_graphs import random_graph

SEEDS = 25
NETWORKS = ("attention_unmasked", "dense_denoiser", "formula_decoder")
"""On these a workaround once acted again, or on what is made of the body of a loop."""
SEEN_LATE = {"memory.loop_invariants"}
"""It copies what ScaledDotProductAttention reads in a loop, which OpenVINO makes of products that write nowhere."""


def acting(model):
    done = run_rewrites(model.clone(), rewrites_for(rewrite=False))
    return {name for name, counts in done.items() if any(counts.values())} - {item.__name__ for item in NORMAL_FORM}


def check(model, seen):
    assert acting(model) == set()
    compiled = model.clone()
    apply_moc_transformations(compiled, False)
    assert acting(compiled) <= seen | SEEN_LATE


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("--seeds") or SEEDS))


@pytest.mark.one_in(2)
def test_random_graph(seed):
    for learned in (0.0, 0.3):
        model, _ = random_graph(seed, learned)
        failures = {}
        done = run_rewrites(model, rewrites_for(), failures)
        check(model, {name for name, counts in done.items() if any(counts.values())} | failures.keys())


@pytest.mark.parametrize("name", NETWORKS)
def test_network(name):
    network = all_networks()[name]
    report = ConversionReport()
    model = convert(generated_network(network, network.formats[0]), report=report)
    acted = {name for name, counts in report.rewrites.items() if any(counts.values())}
    check(model, acted | report.match_failures.keys())
