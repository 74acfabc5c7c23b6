"""How results of the models of PaddleX are compared, and where their configurations are found."""

import numpy as np
import pytest

from tools.paddlex_campaign.sources import OWN, Source, configs
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
    sources = dict(configs(tmp_path))
    assert sources["PP-OCRv6_tiny_det"] == Source("PaddleOCR", own)
    assert sources["TiDE"] == Source("PaddleTS", listed)
    assert sources.keys() - OWN.keys() == {"PP-OCRv6_tiny_det", "TiDE"}


def test_boxes_whose_scores_differ_by_rounding_may_stand_in_any_order():
    boxes = np.array([[0, 0.9, 1, 2, 3, 4], [0, 0.8, 5, 6, 7, 8], [1, 0.8, 9, 9, 9, 9]])
    swapped = boxes[[0, 2, 1]] + np.array([0, 1e-7, 0, 0, 0, 0])
    assert difference([swapped], [boxes]) == pytest.approx(1.1e-7, rel=0.1)
    assert difference([boxes[[1, 0, 2]]], [boxes]) > 0.1


def test_of_boxes_each_column_has_a_scale_of_its_own():
    boxes = np.array([[0, 0.5, 1, 2, 3, 4e9]])
    changed = boxes + np.array([0, 0.1, 0, 0, 0, 0])
    assert difference([changed], [boxes]) == pytest.approx(0.2)
    assert difference([changed + 0.5], [boxes + 0.5]) < 1e-9  # no labels
