"""Models verified: how many come to a verdict. By default, random programs whose inputs depend on each other.

    python -m tools.fuzz_verify --seeds 100
    python -m tools.fuzz_verify --of networks     # those of the tests, in both formats
    python -m tools.fuzz_verify --of operators    # a case of each
    python -m tools.fuzz_verify FOLDER ...        # such as what an example has written

Prints the verdict of each, and the counts. The exit status is 1 if one differs, or has no verdict.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from gen_models import all_networks, all_ops
from gen_models.harness.legacy import legacy_python
from gen_models.harness.spec import import_paddle
from gen_models.harness.store import generated, generated_network
from gen_models.linked import linked_program
from paddle2ov.errors import Paddle2OVError
from paddle2ov.verification.verify import verify


def main(arguments: list[str]) -> int:
    """Run; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="models")
    parser.add_argument("--of", choices=("linked", "networks", "operators"), default="linked", help="what is verified")
    parser.add_argument("--seeds", type=int, default=100, help="programs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    for name, folder in _models(options):
        verdict = "none"
        try:
            report = verify(folder, paddle_python=legacy_python() if (folder / "inference.pdmodel").exists() else None)
            verdict, reason = str(report.verdict), report.note
        except Paddle2OVError as error:
            reason = str(error).splitlines()[0]
        counts[verdict] += 1
        print(f"{name}: {verdict} {reason}", flush=True)
    print(dict(counts))
    return 0 if set(counts) <= {"agree", "ties", "rounding"} else 1


def _models(options: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    """What a model is called, and its folder."""
    if options.folders:
        yield from ((str(folder), folder) for folder in options.folders)
    elif options.of == "linked":
        import_paddle().enable_static()
        for seed in range(options.first, options.first + options.seeds):
            with tempfile.TemporaryDirectory(prefix="paddle2ov-") as folder:
                steps = linked_program(seed, Path(folder))
                yield f"{seed} ({steps})", Path(folder)
    elif options.of == "networks":
        for name, network in all_networks().items():
            for format in network.formats:
                yield f"{name} ({format})", generated_network(network, format)
    else:
        for name, op in all_ops().items():
            case = op.cases[0]
            yield f"{name} ({case.formats[0]})", generated(op, case, case.formats[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
