"""pytest options and fixtures of the tests: `--filter`, `--seeds`, `--every-form`, `--fast`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from gen_models.harness import store
from gen_models.harness.generate import short_stacks
from gen_models.harness.naming import matches

if TYPE_CHECKING:
    from pathlib import Path

    from gen_models.harness.network import Network


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("paddle2ov")
    group.addoption(
        "--filter", default=None, metavar="GLOBS", help="run tests by name: 'testOpFuzzy/top_k_v2*:-*legacy'"
    )
    group.addoption("--seeds", type=int, default=None, metavar="N", help="random examples per operator and format")
    group.addoption(
        "--every-form",
        action="store_true",
        help="all combinations of parameters, not one of several; operators in all forms and formats",
    )
    group.addoption(
        "--fast",
        action="store_true",
        help="a sample: one case of each operator in each format, the first parameters of other tests, no networks",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Leaves out networks with `--fast`: a test that asks for one is skipped."""
    # Tests start hundreds of processes, each of which would compile the whole package.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    config.addinivalue_line("markers", "every_form: runs with --every-form only")
    config.addinivalue_line("markers", "one_in(step): without --every-form, one in `step` combinations of parameters")
    if config.getoption("--fast"):
        store.generated_network = _no_network


def _no_network(network: Network, format: str) -> Path:
    pytest.skip("networks are left out (--fast)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps the tests that `--filter` names, by pytest's id where they have no such name; a sample with `--fast`.

    Those marked `every_form` are kept with that option, and so are most of those marked `one_in`.
    """
    pattern, every_form = config.getoption("--filter"), config.getoption("--every-form")
    kept = [item for item in items if pattern is None or matches(_name(item), pattern)]
    rare = set() if every_form else set(_rare(kept))
    kept = [item for item in kept if item not in rare]
    if config.getoption("--fast"):
        kept = list({_sampled_as(item): item for item in reversed(kept)}.values())[::-1]
    if dropped := set(items).difference(kept):
        config.hook.pytest_deselected(items=[item for item in items if item in dropped])
    items[:] = kept


def _rare(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Those that run with `--every-form` only: marked so, or of a test that is marked `one_in` most.

    Of its combinations of parameters those run without whose places add up to a multiple of the step, so that each
    value of one parameter still meets others.
    """
    places: dict[tuple[str, int], dict[str, int]] = {}
    for item in items:
        mark, place = item.get_closest_marker("one_in"), 0
        spec = getattr(item, "callspec", None)
        if mark is not None and spec is not None:
            for axis, id in enumerate(spec._idlist):  # pytest has no public name for the ids of each parametrization
                seen = places.setdefault((item.nodeid.partition("[")[0], axis), {})
                place += seen.setdefault(id, len(seen))
        if item.get_closest_marker("every_form") is not None or (mark is not None and place % mark.args[0]):
            yield item


def pytest_collection_finish() -> None:
    """Spares the garbage collector the tests themselves, which it would go through again and again."""
    gc.collect()
    gc.freeze()


def _sampled_as(item: pytest.Item) -> tuple[str, ...]:
    """The same for those tests of which `--fast` keeps the first."""
    test = item.nodeid.partition("[")[0]
    spec = getattr(item, "callspec", None)
    if spec is None or not {"op", "case", "form"} <= spec.params.keys():
        return (test,)
    return (test, spec.params["op"].name, spec.params["form"].format)


def _name(item: pytest.Item) -> str:
    spec = getattr(item, "callspec", None)
    return spec.id if spec is not None and spec.id.startswith("test") else item.name


@pytest.fixture(scope="session", autouse=True)
def _short_stacks() -> Iterator[None]:
    with short_stacks():
        yield


@pytest.fixture(scope="session", autouse=True)
def _end_of_worker() -> Iterator[None]:
    yield
    from gen_models.harness.store import worker

    if worker.cache_info().currsize:
        worker().close()
