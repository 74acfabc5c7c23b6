"""After a run that fails, OpenVINO refuses what fits, in all requests, if it has the shape of a run before that one."""

import numpy as np
import paddle
import pytest

from paddle2ov.errors import OpenVINORunError
from paddle2ov.inference import Config, create_predictor
from tests.inference.small_models import saved

FITS, WRONG = np.zeros((2, 4), np.float32), np.zeros((2, 3), np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    def build(x):
        return paddle.concat([x, x], 1) + paddle.arange(8, dtype="float32")

    return saved(tmp_path_factory.mktemp("joined"), build, "float32")


def check_fitting(predictor, array=FITS):
    assert (predictor.run([array])[0] == np.arange(8)).all()


def fail(predictor):
    for _ in range(2):
        with pytest.raises(OpenVINORunError):
            predictor.run([WRONG])


@pytest.mark.parametrize(("threads", "cached"), [(1, False), (2, False), (0, True)])
def test_a_run_that_fails_spoils_no_others(threads, cached, folder, tmp_path):
    config = Config(folder)
    config.set_cpu_math_library_num_threads(threads)
    if cached:
        config.set_optim_cache_dir(tmp_path / "cache")
        create_predictor(config)
    first = create_predictor(config)
    second = first.clone()
    for failing, other in ((first, second), (second, first)):
        for _ in range(2):
            check_fitting(failing)
            fail(failing)
        failing.get_input_handle("x").copy_from_cpu(FITS)
        assert failing.run() is None
        assert (failing.get_output_handle(failing.get_output_names()[0]).copy_to_cpu() == np.arange(8)).all()
        check_fitting(other)
    if cached:  # other shapes run also where the cache was emptied
        predictor = create_predictor(config)
        for path in (tmp_path / "cache").iterdir():
            path.unlink()
        check_fitting(predictor)
        fail(predictor)
        check_fitting(predictor, FITS[:1])
