"""Hatch build hook: puts converters/ and op_table.py, which stand at the root, into the wheel's paddle2ov/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GRAFTED = ("converters", "op_table.py")


class GraftBuildHook(BuildHookInterface[Any]):
    """Adds the grafted names to a standard wheel; an editable install finds them in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"].update({str(Path(self.root, name)): f"paddle2ov/{name}" for name in GRAFTED})
