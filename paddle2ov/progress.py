"""What is called as work goes on."""

from __future__ import annotations

from collections.abc import Callable

StageProgress = Callable[[str, int, int], None]
"""Called with (what is done, how much of it is done, how much there is)."""
