"""Generators of Paddle models: a module per family of operators with a list `OPS`; `networks/` has lists `NETWORKS`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen_models.harness.network import Network
    from gen_models.harness.spec import Op


@cache
def all_networks() -> dict[str, Network]:
    """All whole networks under test by name, in alphabetical order."""
    folders = (__name__, f"{__name__}.networks")
    networks = [
        network for folder in folders for module in _modules(folder) for network in getattr(module, "NETWORKS", ())
    ]
    return {network.name: network for network in sorted(networks, key=lambda one: one.name)}


@cache
def all_ops() -> dict[str, Op]:
    """All operators under test by name, in alphabetical order.

    Raises:
        ValueError: two modules define the same operator.
    """
    ops: dict[str, Op] = {}
    for module in _modules(__name__):
        for op in getattr(module, "OPS", ()):
            if op.name in ops:
                raise ValueError(f"operator '{op.name}' is defined in {ops[op.name].module} and in {op.module}")
            op.module = module.__name__
            ops[op.name] = op
    return dict(sorted(ops.items()))


def _modules(package: str) -> list[ModuleType]:
    """The modules of a package, without those of its folders, in alphabetical order."""
    infos = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return [importlib.import_module(f"{package}.{info.name}") for info in infos if not info.ispkg]
