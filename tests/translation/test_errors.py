"""Errors survive the way between processes, as multiprocessing and pytest-xdist send them."""

import copy
import pickle

import pytest

from paddle2ov import ConversionInputError, ModelReadError, OpConversionError, OpInputError, Place, UnsupportedOpsError

PLACE = Place(0, 3, "gru", "h", ('File "net.py", line 7, in forward', "h = self.gru(x)"))


@pytest.mark.parametrize(
    "error",
    [
        ModelReadError("no such file"),
        ConversionInputError("no such input"),
        OpConversionError(PLACE, "mode 3"),
        OpInputError(PLACE, "mode 3", ["'x' as [1] (the program declares [2] float32)"]),
        UnsupportedOpsError([PLACE, Place(1, 0, "lstm"), Place(1, 4, "gru"), Place(2, 0, "lstm"), Place(2, 1, "lstm")]),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("way", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"])
def test_copy(error, way):
    same = way(error)
    assert type(same) is type(error)
    assert str(same) == str(error)
    assert vars(same) == vars(error)
