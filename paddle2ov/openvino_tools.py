"""Defers the tools that OpenVINO imports with itself until something asks for them.

`import openvino` ends with an import of `openvino.tools.ovc`, OpenVINO's converter of other frameworks and its
telemetry, which takes nearly half of the time. If paddle2ov is imported before OpenVINO, that import is refused once;
OpenVINO provides for an ImportError there. The first look at a name that the import would have bound makes up for it
(PEP 562), and leaves OpenVINO's packages as its own import does.

An OpenVINO that was imported before, or whose import ends otherwise, is left alone.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

_TOOL = "openvino.tools.ovc"

_END = """
__version__ = get_version()

# Tools
try:
    # Model Conversion API - ovc should reside in the main namespace
    from openvino.tools.ovc import convert_model
except ImportError:
    pass
"""
"""The end of `openvino/__init__.py`."""

_DEFERRED = {"openvino": ("convert_model", "__all__"), "openvino.tools": ("ovc",), "openvino.frontend": ("tensorflow",)}
"""The names that the import binds, by package. `from openvino import *` looks for `__all__`, which is not there."""

_HOOKS = ("__getattr__", "__dir__")


def defer() -> None:
    """Makes the import of OpenVINO leave out its tools, unless OpenVINO is imported already."""
    if "openvino" not in sys.modules:
        sys.meta_path.insert(0, _Refusal)


class _Refusal:
    """A finder that refuses the tool to the end of OpenVINO's import, and is gone then."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Leaves all other imports to the other finders.

        Raises:
            ModuleNotFoundError: the end of OpenVINO's import asks for the tool.
        """
        if name != _TOOL or not _is_at_known_end():
            return
        sys.meta_path.remove(_Refusal)
        packages = {package: sys.modules[package] for package in _DEFERRED}
        for package, module in packages.items():
            vars(module)["__getattr__"] = partial(_attribute, packages, package)
            vars(module)["__dir__"] = partial(_names, packages, package)
        raise ModuleNotFoundError(f"{name} is deferred", name=name)


def _is_at_known_end() -> bool:
    """Whether nothing but `_END` is left of OpenVINO's import, so that this is what asks for the tool."""
    package = sys.modules.get("openvino")
    if package is None or "__version__" not in vars(package) or "convert_model" in vars(package):
        return False
    if any(name not in sys.modules or set(_HOOKS) & vars(sys.modules[name]).keys() for name in _DEFERRED):
        return False
    try:
        source: str | None = getattr(package.__loader__, "get_source", lambda name: None)("openvino")
    except ImportError:
        return False
    return source is not None and source.endswith(_END)


def _attribute(packages: Mapping[str, ModuleType], package: str, name: str) -> Any:
    module = packages[package]
    if name in _DEFERRED[package]:
        _load(packages)
        if name in vars(module):
            return vars(module)[name]
    raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)


def _names(packages: Mapping[str, ModuleType], package: str) -> list[str]:
    _load(packages)
    return list(vars(packages[package]))


def _load(packages: Mapping[str, ModuleType]) -> None:
    """Does what `_END` does, and removes the hooks."""
    try:
        from openvino.tools.ovc import convert_model
    except ImportError:
        pass
    else:
        vars(packages["openvino"]).setdefault("convert_model", convert_model)
    for module in packages.values():
        for hook in _HOOKS:
            vars(module).pop(hook, None)


__all__ = ["defer"]
