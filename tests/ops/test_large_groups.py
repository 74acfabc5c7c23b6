"""Group normalization of pictures: sums of millions of numbers in float32."""

import numpy as np
import pytest

from gen_models.harness.spec import paddle
from tests.support.models import saved_request
from tests.support.one_operator import refused


@pytest.mark.parametrize("dims", [[1, 16, 512, 768], [-1, 16, -1, -1]], ids=str)
def test_sums_of_a_large_group_keep_their_digits(dims, tmp_path):
    """Groups of 1.6 million numbers. OpenVINO's MVN of each group in one row is off by 1.2e-4."""
    group_norm = paddle.nn.functional.group_norm
    x = np.random.default_rng(0).standard_normal((1, 16, 512, 768), np.float32)
    wanted = group_norm(paddle.to_tensor(x.astype(np.float64)), 4).numpy()
    (actual,) = saved_request(tmp_path, lambda x: group_norm(x, 4), x=dims).infer([x]).values()
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=4e-5)


@pytest.mark.parametrize("dims", [[2, 6], [2, 6, 2, 2], [2, 6, 1, 2, 2, 2]], ids=str)
@pytest.mark.parametrize("groups", [-1, 0, 4])
def test_channels_that_are_no_whole_groups_are_refused(dims, groups):
    message = f"groups={groups}: not a divisor of 6 channels"
    refused(message, "group_norm", {"x": np.ones(dims, np.float32)}, {"groups": groups}, ("y",))


@pytest.mark.parametrize("dims", [[], [6]], ids=str)
def test_an_input_without_channels_is_refused(dims):
    message = f"an input of rank {len(dims)} has no channels to normalize"
    refused(message, "group_norm", {"x": np.ones(dims, np.float32)}, {"groups": 3}, ("y",))
