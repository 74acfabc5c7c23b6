"""Whether faults show: the script of each runs in a process of its own, at each level of the processor.

The variable ONEDNN_MAX_CPU_ISA, which OpenVINO's CPU plugin reads, takes abilities away for one run.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openvino

from tools.faults.register import FAULTS

LEVELS = {"AVX512_CORE": "avx512f", "AVX512_CORE_VNNI": "avx512_vnni", "AVX512_CORE_BF16": "avx512_bf16"}
"""The levels that OpenVINO survives (AVX2 on a processor with AVX-512 it does not), and the flag of a processor."""
MORE = ("avx512_fp16", "amx_bf16", "amx_int8", "amx_fp16")
"""What a processor may have beyond these levels."""
SECONDS = 120


def table(names: Sequence[str]) -> str:
    """A Markdown table by fault and level of this processor, with the release of OpenVINO above it."""
    flags = _flags()
    levels = ["", *(level for level, flag in LEVELS.items() if flag in flags)]
    if len(levels) > 1 and not flags & {*MORE}:
        del levels[-1]  # all that the processor has
    listed = ", ".join(sorted(flag for flag in flags if flag.startswith(("avx", "amx")))) or platform.machine()
    release = openvino.__version__.split("-")[0]
    lines = [f"OpenVINO {release} on a processor with {listed}\n"]
    lines += [f"| fault | registered for | {' | '.join(level or 'all abilities' for level in levels)} |"]
    lines += ["|---" * (2 + len(levels)) + "|"]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {name: [pool.submit(outcome, FAULTS[name].script(), level) for level in levels] for name in names}
        for name, row in runs.items():
            cells = [item.result() for item in row]
            lines.append(f"| {name} | {FAULTS[name].processor or 'any'} | {' | '.join(cells)} |")
    return "\n".join(lines)


def outcome(script: str, level: str = "", seconds: float = SECONDS) -> str:
    """What becomes of a script: "shows" or how else it ends, "-" where OpenVINO computes what is right."""
    environment = {**os.environ, **({"ONEDNN_MAX_CPU_ISA": level} if level else {})}
    command = [sys.executable, "-c", script]
    try:
        run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"runs longer than {seconds:g} s"
    if run.returncode == 0:
        return "-"
    if run.returncode != 1:
        return "ends the process"
    return "shows" if ", in check\n" in run.stderr else f"is not built: {run.stderr.strip().splitlines()[-1]}"


def _flags() -> set[str]:
    """The abilities of the processor, where the system tells."""
    info = Path("/proc/cpuinfo")
    match = re.search(r"(?m)^flags\s*:(.*)", info.read_text()) if info.exists() else None
    return set(match[1].split()) if match else set()
