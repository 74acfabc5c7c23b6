"""How results of the models of PaddleX are compared, and where their configurations are found."""

import numpy as np
import pytest

from tools.paddlex_campaign.sources import configs
from tools.paddlex_campaign.trial import difference


def test_differences_are_relative_to_the_largest_value():
    assert difference([np.array([1.0, 3.0])], [np.array([1.0, 4.0])]) == pytest.approx(0.25)


def test_of_masks_it_is_the_share_of_pixels():
    masks = np.zeros((2, 2, 4), np.int32)
    other = masks.copy()
    other[0, 0, 0] = 1
    assert difference([other], [masks]) == pytest.approx(1 / 16)


def test_newer_text_models_have_configurations_in_their_own_repository(tmp_path):
    own = tmp_path / "PaddleOCR" / "configs" / "det" / "PP-OCRv6_tiny_det.yml"
    listed = tmp_path / "PaddleX" / "paddlex" / "repo_apis" / "PaddleTS_api" / "configs" / "TiDE.yaml"
    for path in (own, listed):
        path.parent.mkdir(parents=True)
        path.touch()
    assert list(configs(tmp_path)) == [("PP-OCRv6_tiny_det", "PaddleOCR", own), ("TiDE", "PaddleTS", listed)]
