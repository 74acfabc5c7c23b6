"""Defers the tools that OpenVINO imports with itself until something asks for them.

`import openvino` ends with an import of `openvino.tools.ovc`, OpenVINO's converter of other frameworks and its
telemetry, which takes nearly half of the time. If paddle2ov is imported before OpenVINO, that import is refused once;
OpenVINO provides for an ImportError there. The first look at a name that the import would have bound makes up for it
(PEP 562), and leaves OpenVINO's packages as its own import does.

An OpenVINO that was imported before, or whose import ends otherwise, is left alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
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
        for package, names in _DEFERRED.items():
            _install_hooks(sys.modules[package], names)
        raise ModuleNotFoundError(f"{name} is deferred", name=name)


def _is_at_known_end() -> bool:
    """Whether nothing but `_END` is left of OpenVINO's import, so that this is what asks for the tool."""
    packages = [sys.modules.get(name) for name in _DEFERRED]
    if any(package is None or set(_HOOKS) & vars(package).keys() for package in packages):
        return False
    package = sys.modules["openvino"]
    try:
        source = package.__loader__.get_source("openvino")  # type: ignore[union-attr]
    except (AttributeError, ImportError):  # a loader without sources
        return False
    return "__version__" in vars(package) and source is not None and source.endswith(_END)


def _install_hooks(package: ModuleType, deferred: Sequence[str]) -> None:
    def attribute(name: str) -> Any:
        if name in deferred:
            _load()
            if name in vars(package):
                return vars(package)[name]
        raise AttributeError(f"module {package.__name__!r} has no attribute {name!r}", name=name, obj=package)

    def names() -> list[str]:
        _load()
        return list(vars(package))

    vars(package).update(__getattr__=attribute, __dir__=names)


def _load() -> None:
    """Does what `_END` does, and removes the hooks."""
    try:
        from openvino.tools.ovc import convert_model
    except ImportError:
        pass
    else:
        vars(sys.modules["openvino"]).setdefault("convert_model", convert_model)
    for name in _DEFERRED:
        for hook in _HOOKS:
            vars(sys.modules[name]).pop(hook, None)


__all__ = ["defer"]
