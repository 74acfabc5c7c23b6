"""Whether a conversion does more than before, in counts that no load of the machine changes.

    python -m benchmarks.guard                       # the networks of `benchmarks.conversion_kinds`
    python -m benchmarks.guard resnet18 swin_stage   # these
    python -m benchmarks.guard --record              # what is counted is the ceiling from now on

Each network is converted until nothing is new (caches, templates), and once more under Python's profiler. What is
counted, all but the last for an operator of Paddle: calls of Python functions and calls into OpenVINO's bindings in the
whole conversion, the same in the rewrites alone, and the nodes of the model, those in bodies included. The ceilings
stand in `benchmarks/ceilings.json`; the tests hold some of the networks to them. They are the most that several
processes count: OpenVINO lists the readers of a tensor by their addresses, so that rewrites meet them in another order
each time. The command fails if anything counted is above its ceiling by more than 3%; what is below by more than 10% is
marked, so that the ceiling can follow. It takes Python 3.10 or 3.11: the profiler of later ones misses calls around
those into the bindings.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import sys
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path

import paddle2ov
from benchmarks.conversion_kinds import KINDS
from benchmarks.generated import model_folder
from benchmarks.record import table
from paddle2ov.conversion import translated
from paddle2ov.graph.bodies import walk
from paddle2ov.passes import run_rewrites
from paddle2ov.workarounds import Target, rewrites_for

CEILINGS = Path(__file__).with_name("ceilings.json")
COUNTED = ("python", "bindings", "rewrites: python", "rewrites: bindings", "nodes")
TOLERANCE, SLACK = 1.03, 0.9
COUNTS_ALL = sys.version_info < (3, 12)
_WARM, _PROCESSES = 4, 8

Counts = dict[str, float]
"""What is counted -> how often."""


def main() -> None:
    """Counts, compares and tells."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", help="default: all of benchmarks.conversion_kinds")
    parser.add_argument("--record", action="store_true", help="writes the ceilings instead")
    arguments = parser.parse_args()
    if not COUNTS_ALL:
        parser.error("Python 3.10 or 3.11 is needed: the profiler of later ones misses calls")
    names = arguments.networks or [name for kind in KINDS.values() for name in kind]
    counts = most_of_processes(names) if arguments.record else all_counted(names)
    known = ceilings()
    print(rendered(counts, known))
    if arguments.record:
        CEILINGS.write_text(json.dumps({**known, **counts}, indent=2, sort_keys=True) + "\n")
    elif more := above(counts, known):
        sys.exit("more than before:\n" + "\n".join(more))


def most_of_processes(names: Sequence[str]) -> dict[str, Counts]:
    """The most that is counted of each network, in processes that each count all of them."""
    with get_context("spawn").Pool(2, maxtasksperchild=1) as pool:
        runs = pool.map(all_counted, [names] * _PROCESSES, chunksize=1)
    return {name: {kind: max(run[name][kind] for run in runs) for kind in COUNTED} for name in names}


def all_counted(names: Sequence[str]) -> dict[str, Counts]:
    """What is counted of each network."""
    return {name: counted(name) for name in names}


def counted(name: str) -> Counts:
    """What the conversion of a network does, for an operator; and how many nodes the model has."""
    model = model_folder(name)
    report = paddle2ov.ConversionReport()
    paddle2ov.convert(model, report=report)
    for _ in range(_WARM):
        converted = paddle2ov.convert(model)
    whole = _calls(lambda: paddle2ov.convert(model))
    graph, rewrites = translated(model), rewrites_for(Target())
    alone = _calls(lambda: run_rewrites(graph, rewrites))
    counts = (*whole, *alone)
    per_operator = (round(count / report.operators, 2) for count in counts)
    return dict(zip(COUNTED, (*per_operator, len(list(walk(converted)))), strict=True))


def _calls(run: Callable[[], object]) -> tuple[int, int]:
    """How many Python functions, and how many of OpenVINO's bindings, are called."""
    profile = cProfile.Profile()
    profile.runcall(run)
    python = bindings = 0
    for entry in profile.getstats():
        if not isinstance(entry.code, str):
            python += entry.callcount
        elif "openvino._pyopenvino" in entry.code:
            bindings += entry.callcount
    return python, bindings


def ceilings() -> dict[str, Counts]:
    """Network -> what may be counted."""
    counts: dict[str, Counts] = json.loads(CEILINGS.read_text()) if CEILINGS.exists() else {}
    return counts


def above(found: dict[str, Counts], known: dict[str, Counts]) -> list[str]:
    """What is above its ceiling, a line each; a network without ceilings is as well."""
    lines = [f"{name}: no ceilings (--record)" for name in found if name not in known]
    for name, counts in found.items():
        limits = known.get(name, {})
        lines += [
            f"{name}: {kind} {count:g}, at most {limits[kind]:g}"
            for kind, count in counts.items()
            if kind in limits and count > TOLERANCE * limits[kind]
        ]
    return lines


def rendered(found: dict[str, Counts], known: dict[str, Counts]) -> str:
    """A row for each network: what is counted, and the ceiling where it is more than a tenth above that."""
    rows: list[Sequence[object]] = []
    for name, counts in found.items():
        limits = known.get(name, {})
        cells = [
            f"{count:g} (ceiling {limits[kind]:g})" if count < SLACK * limits.get(kind, 0) else f"{count:g}"
            for kind, count in counts.items()
        ]
        rows.append([name, *cells])
    return table(["calls for an operator", *COUNTED], rows)


if __name__ == "__main__":
    main()
