"""Many processes compile models through one cache while some of them are killed.

    python tests/support/cache_stress.py VERSIONS WORK PROCESSES

VERSIONS holds the folders 1 to 4, each a model whose results tell which it is. In each of two rounds another version is
written into the files of one model, sizes and times unchanged; then so many processes compile it at once, and a third
of them are killed, at any time.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from paddle2ov import compile_model

ROUNDS = 2
FAILED, STALE = 3, 4


def main(versions: Path, work: Path, processes: int) -> int:
    chance = random.Random(0)
    model = work / "model"
    model.mkdir(parents=True)
    ended, killed, stale, failed = 0, 0, 0, 0
    for turn in range(ROUNDS):
        version = turn % 4 + 1
        _write(versions / str(version), model)
        children = [_start(model, work / "cache", version) for _ in range(processes)]
        for child in chance.sample(children, len(children) // 3):
            time.sleep(chance.uniform(0, 0.05))
            os.kill(child, signal.SIGKILL)
        for child in children:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            ended, killed = ended + (status == 0), killed + (status == -signal.SIGKILL)
            stale, failed = stale + (status == STALE), failed + (status not in (0, STALE, -signal.SIGKILL))
    sys.stdout.write(f"{ended} ended, {killed} killed, {stale} stale, {failed} failed\n")
    return 1 if stale or failed or not ended or not killed else 0


def _write(version: Path, model: Path) -> None:
    for path in version.iterdir():
        target = model / path.name
        before = target.stat() if target.exists() else path.stat()
        target.write_bytes(path.read_bytes())
        os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))


def _start(model: Path, cache: Path, version: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        config = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
        result = compile_model(model, config=config, cache_dir=cache)(np.zeros((1, 3), np.float32))[0]
        os._exit(0 if result[0, 0] == version else STALE)
    except BaseException as error:
        sys.stderr.write(f"{error!r}\n")
        sys.stderr.flush()
        os._exit(FAILED)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
