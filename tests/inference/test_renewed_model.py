"""A predictor whose model came from a cache directory, after runs that failed."""

import numpy as np
import paddle
import pytest

from paddle2ov.errors import OpenVINORunError
from paddle2ov.inference import Config, create_predictor

FITS, WRONG = np.zeros((2, 4), np.float32), np.zeros((2, 3), np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    class Doubled(paddle.nn.Layer):
        def forward(self, x):
            return paddle.concat([x, x], 1) + paddle.arange(8, dtype="float32")

    folder = tmp_path_factory.mktemp("doubled")
    spec = [paddle.static.InputSpec([None, None], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(Doubled(), input_spec=spec), str(folder / "inference"))
    return folder


@pytest.fixture
def config(folder, tmp_path):
    config = Config(folder)
    config.set_optim_cache_dir(tmp_path / "cache")
    create_predictor(config)
    return config


def fail(predictor):
    for _ in range(2):
        with pytest.raises(OpenVINORunError):
            predictor.run([WRONG])


def test_a_run_that_fails_spoils_no_others(config):
    predictor = create_predictor(config)
    for _ in range(3):
        assert (predictor.run([FITS])[0] == np.arange(8)).all()
        fail(predictor)
    assert (predictor.clone().run([FITS])[0] == np.arange(8)).all()


def test_other_shapes_run_where_the_cache_was_emptied(config, tmp_path):
    predictor = create_predictor(config)
    for path in (tmp_path / "cache").iterdir():
        path.unlink()
    assert (predictor.run([FITS])[0] == np.arange(8)).all()
    fail(predictor)
    assert (predictor.run([FITS[:1]])[0] == np.arange(8)).all()
