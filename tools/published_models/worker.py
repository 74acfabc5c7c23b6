"""One package on one side, in a process of its own.

`python -m tools.published_models.worker NAME SIDE INSTALLED RESULT`
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from tools.published_models import drivers
from tools.published_models.packages import PACKAGES
from tools.published_models.stand_ins import module, put_engine_in_place, put_paddle2ov_in_place, switch_onednn_off

ROOT = Path(__file__).resolve().parents[2]
RUNS = 7


def main(name: str, side: str, installed: str, result: str) -> None:
    sys.argv = sys.argv[:1]  # which some packages read
    _hide_own_tools()
    os.chdir(installed)
    sys.path.insert(0, installed)
    (package,) = (package for package in PACKAGES if package.name == name)
    try:
        module("aiohttp")  # for PaddleOCR's client of a server
        if side == "paddle2ov" and package.engine:
            put_engine_in_place()
        elif side == "paddle2ov":
            put_paddle2ov_in_place(imports_paddle=package.imports_paddle)
        elif not package.onednn:
            switch_onednn_off()
        run = getattr(drivers, name)()
        outcome: dict[str, Any] = {"seen": run(), "milliseconds": _timed(run)}
    except Exception:
        outcome = {"error": traceback.format_exc()}
    Path(result).write_text(json.dumps(outcome, default=_plain), encoding="utf-8")


def _hide_own_tools() -> None:
    """A package may have a `tools` of its own."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "tools"]:
        del sys.modules[name]
    sys.path.remove(str(ROOT))
    sys.path.append(str(ROOT))


def _timed(run: drivers.Run) -> float:
    times: list[float] = []
    while len(times) < RUNS and (len(times) < 3 or sum(times) < 20_000):
        started = perf_counter()
        run()
        times.append((perf_counter() - started) * 1000)
    return median(times)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(type(value))


if __name__ == "__main__":
    main(*sys.argv[1:])
