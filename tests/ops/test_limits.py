"""What docs/limits.md quotes of OpenVINO is what a run says: a reader searches for the words that he sees.

Kernels for other instructions may say it in other words. The runs are in a process that is held to AVX2.
"""

import json
import re
from pathlib import Path

import numpy as np
import paddle
import pytest
from paddle.nn import functional

import paddle2ov
from tests.support.command_line import python
from tests.support.models import save_program

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"
QUOTED = r'\| the run raises "([^"]+)" \|'


def zeros(*shape):
    return np.zeros(shape, np.float32)


BATCH = {"x": zeros(0, 2, 4, 4)}, {"x": [-1, 2, 4, 4]}
MATRICES = {"x": [-1, -1], "y": [-1, -1]}
RUNS = {
    "squeeze": (lambda x: paddle.squeeze(x[5:6], [0]), {"x": zeros(3, 4)}, {"x": [-1, 4]}),
    "reshape": (
        lambda x, y: paddle.reshape(x, [paddle.shape(y)[0], 2, paddle.shape(x)[0]]),
        {"x": zeros(0, 2, 3), "y": zeros(3)},
        {"x": [-1, 2, 3], "y": [-1]},
    ),
    "max_pool2d": (lambda x: functional.max_pool2d(x, 2), *BATCH),
    "adaptive_avg_pool2d": (lambda x: functional.adaptive_avg_pool2d(x, 2), *BATCH),
    "local_response_norm": (lambda x: functional.local_response_norm(x, 3), *BATCH),
    "reflection": (lambda x: functional.pad(x, [1, 1, 1, 1], mode="reflect"), *BATCH),
    "activation of a product": (
        lambda x, y: functional.relu(paddle.matmul(x, y)),
        {"x": zeros(2, 0), "y": zeros(0, 3)},
        MATRICES,
    ),
    "sum of a product": (lambda x, y: paddle.matmul(x, y) + 1.5, {"x": zeros(2, 0), "y": zeros(0, 3)}, MATRICES),
    "einsum": (lambda x, y: paddle.einsum("ij,jk->ik", x, y), {"x": zeros(2, 1), "y": zeros(4, 3)}, MATRICES),
    "topk": (
        lambda x, k: paddle.topk(x, k)[0],
        {"x": zeros(3, 4), "k": np.array([0], np.int32)},
        {"x": [3, 4], "k": ([1], "int32")},
    ),
}


def errors_of_runs(folder):
    """What each run raises."""
    errors = {}
    for number, (name, (build, arrays, shapes)) in enumerate(RUNS.items()):
        compiled = paddle2ov.compile_model(save_program(Path(folder) / str(number), build, **shapes), "CPU")
        try:
            compiled(arrays)
        except RuntimeError as error:
            errors[name] = str(error)
    return errors


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    code = "import json, sys; from tests.ops.test_limits import *; print(json.dumps(errors_of_runs(sys.argv[1])))"
    child = python("-c", code, tmp_path_factory.mktemp("limits"), ONEDNN_MAX_CPU_ISA="AVX2")
    return json.loads(child.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def quoted():
    return re.findall(QUOTED, PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RUNS)
def test_the_page_quotes_what_the_run_says(name, errors, quoted):
    assert any(words in errors[name] for words in quoted), errors[name]


def test_every_row_says_what_is_seen():
    assert "| the run raises |" not in PAGE.read_text(encoding="utf-8")
