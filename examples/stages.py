"""What the examples share: the digits they learn, and that one process trains in Paddle, another runs without it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def handwritten_digits() -> list[Array]:
    """Scikit-learn's digits: images to train with, images held back ([count, 8, 8], 0 to 1), and the labels of both."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    images, labels = load_digits(return_X_y=True)
    images, labels = (images / 16.0).astype(np.float32).reshape(-1, 8, 8), labels.astype(np.int64)
    split: list[Array] = train_test_split(images, labels, test_size=0.3, random_state=2026, stratify=labels)
    return split


def quiet_paddle() -> None:
    """Keeps Paddle, which is imported after this, from talking about every step."""
    os.environ.setdefault("GLOG_minloglevel", "2")
    warnings.filterwarnings("ignore", module="paddle")


@contextmanager
def step(text: str) -> Iterator[None]:
    """Says what is being done, and how long it took."""
    print(f"{text} ... ", end="", flush=True)
    started = perf_counter()
    yield
    print(f"{perf_counter() - started:.1f} s", flush=True)


def run(train: Callable[[Path], None], deploy: Callable[[Path], bool]) -> int:
    """`train(folder)` here, `deploy(folder)` in a process of its own; the exit status is 0 if it returns True.

    The folder is the script's argument, by default a temporary one.
    """
    if sys.argv[1:2] == ["--deploy"]:
        return 0 if deploy(Path(sys.argv[2])) else 1
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        folder.mkdir(parents=True, exist_ok=True)
        quiet_paddle()
        train(folder)
        return subprocess.run([sys.executable, sys.argv[0], "--deploy", str(folder)], check=False).returncode
