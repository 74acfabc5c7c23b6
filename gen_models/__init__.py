"""Generators of Paddle models: a module per family of operators with a list `OPS`; networks in lists `NETWORKS`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen_models.network import Network
    from gen_models.spec import Op


@cache
def all_networks() -> dict[str, Network]:
    """All whole networks under test by name, in alphabetical order."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    found = [network for module in modules for network in getattr(module, "NETWORKS", ())]
    return {network.name: network for network in sorted(found, key=lambda one: one.name)}


@cache
def all_ops() -> dict[str, Op]:
    """All operators under test by name, in alphabetical order.

    Raises:
        ValueError: two modules define the same operator.
    """
    found: dict[str, Op] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        for op in getattr(importlib.import_module(f"{__name__}.{module}"), "OPS", ()):
            if op.name in found:
                raise ValueError(f"operator '{op.name}' is defined in {found[op.name].module} and in {op.module}")
            found[op.name] = op
    return dict(sorted(found.items()))
