"""What the drop-in does with arrays of other types and shapes than declared, beside `paddle.inference`.

python -m tests.inference.beside_paddle    # writes the tables of docs/serving.md; a test compares them
"""

import contextlib
import re
import tempfile
from pathlib import Path

import numpy as np
import paddle
from paddle.nn import functional

from paddle2ov.errors import Paddle2OVError
from paddle2ov.inference import Config, create_predictor
from tests.inference.small_models import doubled, saved, theirs
from tests.support.models import save_program

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"
DECLARED = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
ARRAYS = [
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64"),
]
NUMBERS = np.array([[1, 0, 1]])
PADDLE_ERRORS = (ValueError, RuntimeError, TypeError, IndexError, NotImplementedError)


def cast(x):
    return x.astype("float64" if x.dtype in (paddle.float32, "float32") else "float32")


def looked_up(x):
    table = paddle.static.create_parameter([4, 2], "float32", default_initializer=paddle.nn.initializer.Normal())
    return functional.embedding(x, table)


def folder_of(build, shape, dtype, is_pir=True):
    """The folder of such a program; None where Paddle builds none of this type."""
    with contextlib.suppress(*PADDLE_ERRORS):
        return save_program(tempfile.mkdtemp(), build, legacy=not is_pir, x=(shape, dtype))


def result(predictor, array):
    """The result of a run; None where it is refused."""
    try:
        predictor.get_input_handle("x").copy_from_cpu(array)
        predictor.run()
        return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    except (*PADDLE_ERRORS, Paddle2OVError):
        return None


def is_same(found, expected):
    return found.shape == expected.shape and np.allclose(
        found.astype(np.float64), expected.astype(np.float64), 1e-5, 1e-6
    )


def type_cells(declared):
    """What becomes of arrays of each type."""
    folders = [
        folder_of(build, [-1, 3], declared, is_pir)
        for build, is_pir in ((cast, True), (doubled, False), (looked_up, True))
        if build is not looked_up or declared in ("int32", "int64")
    ]
    seen = {name: set() for name in ARRAYS}
    for folder in filter(None, folders):
        known, ours = theirs(folder), create_predictor(Config(folder))
        for name, cell in seen.items():
            array = NUMBERS.astype(name)
            # Of a legacy program, Paddle keeps the kernels of the first run.
            expected, actual = result(known.clone(), array), result(ours, array)
            if (declared, name) == ("bfloat16", "uint16"):
                cell.add("bits")
            elif expected is None:
                cell.add("refused" if actual is None else "+")
            elif actual is not None and "bool" in (declared, name):  # Paddle adds in the type of the array
                cell.add("=" if is_same(actual.astype(bool), expected.astype(bool)) else "other")
            else:
                cell.add("stricter" if actual is None else "=" if is_same(actual, expected) else "other")
    # Which operators Paddle computes in 16 bits depends on the processor.
    for name, cell in seen.items():
        if "float16" in (declared, name) or declared == "bfloat16":
            cell.update(["+", "="] if "bits" not in cell else [])
    return ["(=)" if cell == {"+", "="} else " ".join(sorted(cell)) for cell in seen.values()]


def types_table():
    head = _table([["declared", *ARRAYS], ["---"] * (len(ARRAYS) + 1)])
    return "\n".join([head, *map(types_line, DECLARED)])


def types_line(declared):
    return _table([[declared, *type_cells(declared)]])


class Recogniser(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        paddle.seed(0)
        self.conv, self.linear = paddle.nn.Conv2D(3, 4, 3), paddle.nn.Linear(4, 5)

    def forward(self, x):
        return self.linear(self.conv(x).mean(2).transpose([0, 2, 1]))


def linear():
    paddle.seed(0)
    return paddle.nn.Sequential(paddle.nn.Linear(4, 5), paddle.nn.ReLU())


RECOGNISED = "convolution, mean over the height, linear"
SHAPES = [
    (RECOGNISED, Recogniser(), [-1, 3, 48, -1], [[1, 3, 32, 20], [1, 4, 48, 20], [3, 48, 20]]),
    ("linear", linear(), [-1, 4], [[2, 5]]),
    ("`x * 2`", lambda x: x * 2, [2, 4], [[3, 5], [8], [1, 2, 4]]),
    ("`softmax(x)`", lambda x: functional.softmax(x, -1), [-1, 6], [[2, 8], [3], [2, 3, 4]]),
    ("`x.reshape([2, 12])`", lambda x: x.reshape([2, 12]), [4, 6], [[3, 8], [24], [4, 7]]),
    ("`x.flatten(1)`", lambda x: x.flatten(1), [2, 3, 4], [[2, 3, 5], [2, 3, 4, 5], [2]]),
    ("`x + arange(6)`", lambda x: x + paddle.arange(6, dtype="float32"), [-1, 6], [[2, 1], [6], [2, 8]]),
    ("`x[:, 1:5]`", lambda x: x[:, 1:5], [-1, 6], [[2, 8], [2, 3]]),
    ("`split(x, 2, 1)`", lambda x: paddle.split(x, 2, 1)[1], [-1, 6], [[2, 8], [2, 7]]),
    ("`topk(x, 3)`", lambda x: paddle.topk(x, 3)[0], [4, 4], [[5, 3], [4], [5, 2]]),
    ("`x @ x.T`", lambda x: x @ x.transpose([1, 0]), [4, 4], [[5, 3], [2, 3, 4]]),
]


def shapes_table():
    lines = [["network", "declared", "array", "Paddle", "here"], ["---"] * 5]
    for name, layer, declared, arrays in SHAPES:
        folder = saved(Path(tempfile.mkdtemp()), layer, "float32", declared)
        known, ours = theirs(folder), create_predictor(Config(folder))
        for shape in arrays:
            array = np.random.default_rng(0).random(shape, np.float32)
            expected, actual = result(known, array), result(ours, array)
            here = "refuses" if actual is None else "computes"
            if expected is not None and actual is not None:
                here = "the same" if is_same(actual, expected) else "another result"
            lines.append([name, declared, shape, "refuses" if expected is None else "computes", here])
    return _table(lines)


def _table(lines):
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


TABLES = {"types": types_table, "shapes": shapes_table}


def written(name):
    """The table that stands in the page."""
    return re.search(_block(name), PAGE.read_text(), re.DOTALL)[2]


def _block(name):
    return rf"(<!-- {name}: written by tests.inference.beside_paddle -->\n\n)(.*?)(\n\n<!-- end of {name} -->)"


if __name__ == "__main__":
    text = PAGE.read_text()
    for name, make in TABLES.items():
        table = make()
        text = re.sub(_block(name), lambda match, table=table: match[1] + table + match[3], text, flags=re.DOTALL)
    PAGE.write_text(text)
