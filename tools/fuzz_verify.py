"""Random programs whose inputs depend on each other, verified: how many come to a verdict.

    python -m tools.fuzz_verify --seeds 100

Prints the verdict of each, and the counts. The exit status is 1 if one differs, or has no verdict.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from gen_models.harness.spec import import_paddle
from gen_models.linked import linked_program
from paddle2ov.errors import Paddle2OVError
from paddle2ov.verification.verify import verify


def main(arguments: list[str]) -> int:
    """Run; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100, help="programs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args(arguments)
    import_paddle().enable_static()
    counts: Counter[str] = Counter()
    for seed in range(options.first, options.first + options.seeds):
        with tempfile.TemporaryDirectory(prefix="paddle2ov-") as folder:
            steps = linked_program(seed, Path(folder))
            verdict = "none"
            try:
                found = verify(folder)
                verdict, reason = str(found.verdict), found.note
            except Paddle2OVError as error:
                reason = str(error).splitlines()[0]
        counts[verdict] += 1
        print(f"{seed}: {verdict} ({steps}) {reason}", flush=True)
    print(dict(counts))
    return 0 if counts["agree"] == options.seeds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
