"""Programs of one operator made by hand, and what Paddle computes from one."""

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import import_paddle, paddle
from paddle2ov import OpConversionError
from paddle2ov.compilation.running import run as run_model
from paddle2ov.program.model import Variable
from paddle2ov.program.signatures import ROWS, parse_signature
from tests.support import programs

INERT = {"is_test", "allow_out_of_range"}
"""Attributes that only say which inputs or which results there may be."""


def functional():
    """Paddle's functions, imported when they are needed."""
    return paddle.nn.functional


def tensors(*arrays):
    """Arrays as Paddle's tensors."""
    return [paddle.to_tensor(array) for array in arrays]


def normals(rng):
    """A function that draws normal numbers of a shape, in float32."""
    return lambda *shape: rng.normal(size=shape).astype(np.float32)


class Noted(dict):
    """A mapping that notes which of its keys are asked for."""

    def __init__(self, items):
        super().__init__(items)
        self.read = set()

    def __contains__(self, key):
        self.read.add(key)
        return super().__contains__(key)

    def __getitem__(self, key):
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        self.read.add(key)
        return super().get(key, default)


def program(op_type, inputs, attributes, results=("out",), dynamic=False, format="pir"):
    """A program of one operator, and the arrays to feed; inputs: port -> array or list of arrays.

    Ports and results have the names of the signature table, attributes may have their legacy names.
    """
    signature = parse_signature(op_type, ROWS[op_type])
    unknown = {*inputs, *results} - {*signature.operands, *signature.results}
    if format == "pir":  # legacy operators have some ports more
        assert not unknown, f"{op_type} has no {', '.join(sorted(unknown))}"
    named = {
        port: [(f"{port}_{i}", array) for i, array in enumerate(value if isinstance(value, list) else [value])]
        for port, value in inputs.items()
    }
    fed = [
        Variable(name, str(array.dtype), tuple(-1 if dynamic else size for size in array.shape))
        for pairs in named.values()
        for name, array in pairs
    ]
    reads = " ".join(f"{port}={','.join(name for name, _ in pairs)}" for port, pairs in named.items())
    row = (op_type, reads, " ".join(f"{result}={result}" for result in results))
    declared = [Variable(result, "float32") for result in results]
    whole = programs.program([row], fed, " ".join(results), declared, format=format)
    (operator,) = whole.block.operators
    operator.attributes = Noted({signature.canonical(name): value for name, value in attributes.items()})
    if format == "legacy":
        whole.version = 1_008_000
    return whole, dict(pair for pairs in named.values() for pair in pairs)


def refused(message, op_type, inputs, attributes, results=("out",), dynamic=False, format="pir"):
    """Such a program is refused with an error that names the operator, and that the pattern matches; returns it."""
    whole, _ = program(op_type, inputs, attributes, results, dynamic, format)
    with pytest.raises(OpConversionError, match=message) as caught:
        paddle2ov.convert(whole)
    assert caught.value.place.op_type == op_type
    return caught.value


def run(op_type, inputs, attributes, results=("out",), dynamic=None, format="pir"):
    """What OpenVINO computes from such a program, in float32: an array for each result.

    The converter must ask for each of the attributes. Unless it is told which, dimensions are known, and then unknown,
    which gives the same.
    """
    forms = (False, True) if dynamic is None else (dynamic,)
    computed = [_run(*program(op_type, inputs, attributes, results, form, format)) for form in forms]
    for known, unknown in zip(computed[0], computed[-1], strict=True):
        close(unknown, known)
    return computed[0]


def _run(whole, feeds):
    model = paddle2ov.convert(whole)
    tracked = whole.block.operators[0].attributes
    assert set(tracked) - tracked.read <= INERT
    passed = {port.any_name for port in model.inputs}
    computed = run_model(model, {name: array for name, array in feeds.items() if name in passed})
    return [result.array for result in computed]


def run_legacy(op_type, inputs, attributes, result="out"):
    """What OpenVINO computes from such a program of Paddle 2 with known dimensions, for one result."""
    return run(op_type, inputs, attributes, [result], False, "legacy")[0]


def run_in_paddle(op_type, inputs, attributes, results, wanted):
    """What Paddle's executor computes from a legacy program of one operator, with legacy names throughout.

    Attributes that are not given have Paddle's defaults.
    """
    paddle = import_paddle()
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main, paddle.static.Program()):
                ports = {
                    port: [paddle.static.data(port, input_.shape, str(input_.dtype))] for port, input_ in inputs.items()
                }
                block = main.global_block()
                made = {port: block.create_var(name=f"made_{port}", dtype="float32") for port in results}
                outputs = {port: [variable] for port, variable in made.items()}
                block.append_op(type=op_type, inputs=ports, outputs=outputs, attrs=dict(attributes))
                executor = paddle.static.Executor(paddle.CPUPlace())
                return executor.run(main, feed=inputs, fetch_list=[made[wanted]])[0]
    finally:
        paddle.disable_static()


def close(found, wanted, tolerance=2e-5):
    """Both are the same, shape and values; `wanted` is Paddle's tensor or an array."""
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, atol=tolerance, rtol=tolerance)
