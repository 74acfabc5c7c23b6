"""Tensors repeated by counts that each run computes."""

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import paddle
from paddle2ov.compilation.running import compile_on_cpu


@pytest.mark.parametrize(
    ("known", "counts"),
    [
        pytest.param(0, [[2, 3, 2, 3], [1, 1, 1, 1], [2, 1, 0, 2], [3, 2, 2, 2]], id="four"),
        pytest.param(0, [[2, 3, 2], [1, 2, 2]], id="three of four"),
        pytest.param(0, [[2, 3, 2, 3, 2], [2, 1, 3, 1, 2]], id="five of four"),
        pytest.param(4, [[2, 3, 2, 3], [2, 1, 3, 2]], id="known sizes"),
    ],
)
def test_tile(known, counts, tmp_path):
    dims = [2, 3, 2, 3]
    specs = [paddle.static.InputSpec([*dims[:known], *[-1] * (4 - known)], "float32", "x")]
    specs.append(paddle.static.InputSpec([len(counts[0])], "int32", "counts"))
    program = paddle.jit.to_static(paddle.tile, input_spec=specs, full_graph=True)
    paddle.jit.save(program, str(tmp_path / "inference"))
    request = compile_on_cpu(paddle2ov.convert(tmp_path)).create_infer_request()
    for run, times in enumerate(counts):
        data = np.random.default_rng(run).standard_normal(dims if known or run % 2 == 0 else [1, 2, 4, 2])
        found = request.infer([data.astype(np.float32), np.array(times, np.int32)], share_outputs=False)
        np.testing.assert_array_equal(found[0], np.tile(data.astype(np.float32), times))


def test_tile_along_one_axis(tmp_path):
    """Counts that are known to be 1 cost nothing."""

    def function(x):
        return paddle.tile(x, [paddle.shape(x)[3], 1, 1, 1])

    specs = [paddle.static.InputSpec([-1, 3, -1, -1], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(function, input_spec=specs, full_graph=True), str(tmp_path / "inference"))
    model = paddle2ov.convert(tmp_path)
    assert [node.get_type_name() for node in model.get_ops()].count("Tile") == 1
    data = np.ones([1, 3, 2, 4], np.float32)
    found = compile_on_cpu(model).create_infer_request().infer([data])
    assert found[0].shape == (4, 3, 2, 4)
