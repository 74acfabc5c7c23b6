"""pytest options and fixtures of the tests: `--filter`, `--seeds`, `--exports`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gen_models.harness.naming import matches


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("paddle2ov")
    group.addoption(
        "--filter", default=None, metavar="GLOBS", help="run tests by name: 'testOpFuzzy/top_k_v2*:-*legacy'"
    )
    group.addoption("--seeds", type=int, default=None, metavar="N", help="random examples per operator and format")
    group.addoption("--exports", type=int, default=20, metavar="N", help="how often a served model is exported again")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps the tests that `--filter` names; a test without such a name goes by its pytest id."""
    pattern = config.getoption("--filter")
    if pattern is None:
        return
    kept = [item for item in items if matches(_name(item), pattern)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


def _name(item: pytest.Item) -> str:
    spec = getattr(item, "callspec", None)
    return spec.id if spec is not None and spec.id.startswith("test") else item.name


@pytest.fixture(scope="session", autouse=True)
def _end_of_worker() -> Iterator[None]:
    yield
    from gen_models.harness.store import worker

    if worker.cache_info().currsize:
        worker().close()
