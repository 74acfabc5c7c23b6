"""The architectures of PaddleX's models, exported with random weights, run on OpenVINO and compared with Paddle.

    python -m tools.paddlex_campaign --sources FOLDER [--only 'PP-LCNet*'] [--workers 2]

FOLDER holds clones of the repositories that define the models (`--commits` lists them); what they import has to be
installed. Each model is a process of its own. What came out is kept in docs/paddlex.json: a model that
was compared is not run again, without `--again`. `python -m tools.paddlex_models` writes the table.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tools.paddlex_campaign.sources import COMMITS, Source, configs
from tools.paddlex_campaign.table import DATA, load, save

GIB = 1 << 30


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    if options.commits:
        print("\n".join(f"https://github.com/PaddlePaddle/{name} {commit}" for name, commit in COMMITS.items()))
        return 0
    if options.sources is None:
        print("error: --sources FOLDER is needed", file=sys.stderr)
        return 2
    trials = load()
    wanted = [item for item in _wanted(options) if options.again or trials.get(item[0], {}).get("stage") != "done"]
    with ThreadPoolExecutor(options.workers) as pool:
        running = {pool.submit(run, options, source): (name, source) for name, source in wanted}
        for future in as_completed(running):
            name, source = running[future]
            described = {"repository": source.repository, "config": source.path.name}
            if source.changes:
                described["changes"] = ", ".join(f"{key}: {value}" for key, value in source.changes.items())
            trials[name] = {**described, **future.result()}
            save(trials)
            print(name, trials[name].get("difference", trials[name].get("reason")), flush=True)
    print(f"{DATA.name}: {sum(value['stage'] == 'done' for value in trials.values())} of {len(trials)} compared")
    return 0


def run(options: argparse.Namespace, source: Source) -> dict[str, Any]:
    """What the process of a model says of it, or what became of the process."""
    folder = (options.sources / source.repository).resolve()
    command = [sys.executable, "-m", "tools.paddlex_campaign.trial", source.repository, str(folder)]
    command += [str(source.path.resolve()), json.dumps(source.changes), str(int(options.memory * GIB))]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout, check=False)
    except subprocess.TimeoutExpired:
        return {"stage": "process", "reason": f"took longer than {options.timeout:g} s"}
    lines = ended.stdout.splitlines()
    if ended.returncode or not lines:
        return {"stage": "process", "reason": f"its process died (exit code {ended.returncode})"}
    result: dict[str, Any] = json.loads(lines[-1])
    return result


def _wanted(options: argparse.Namespace) -> Iterator[tuple[str, Source]]:
    for name, source in configs(options.sources):
        if any(fnmatch.fnmatch(name, pattern) for pattern in options.only.split(":")):
            yield name, source


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, help="folder with clones of the repositories")
    parser.add_argument("--commits", action="store_true", help="list the repositories and the commits, and end")
    parser.add_argument("--only", default="*", help="names, with * and ?, separated by :")
    parser.add_argument("--again", action="store_true", help="also what was compared before")
    parser.add_argument("--workers", type=int, default=1, help="processes at a time")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for a model")
    parser.add_argument("--memory", type=float, default=12.0, help="GiB of memory for a model")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
