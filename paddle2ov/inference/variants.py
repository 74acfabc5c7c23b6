"""The compiled models of a predictor: one as the program declares its inputs, and some for other shapes."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import openvino

from paddle2ov.errors import ConversionInputError, ModelReadError, Paddle2OVError
from paddle2ov.graph.forks import renew_after_fork
from paddle2ov.inference.shared_model import Shapes, SharedModel

if TYPE_CHECKING:
    from paddle2ov.translation.sequence_lengths import SequenceCount

log = logging.getLogger("paddle2ov")

MAX_VARIANTS = 4
"""How many compiled models are kept beside the declared one; each has its own copy of the weights."""
MAX_FEW = 20
"""So many sequences are computed row by row at most: with LAC's layers of 128 features, as fast as all together."""
_MAX_REFUSED = 100
"""How many refusals are remembered."""


class Variants:
    """The models that a predictor and its clones share.

    Paddle does not compare arrays with the shapes that the program declares: operators refuse what they cannot compute.
    So the program is converted again, with the declared sizes replaced by those of the array; where these change, by
    any size. What does not convert is refused, as by Paddle.

    Args:
        declared: the model as the program declares its inputs, for one sequence in each (LoD).
        make: compiles the program with other shapes of some inputs (-1: any size), or for several sequences.
    """

    def __init__(self, declared: SharedModel, make: Callable[[Shapes, SequenceCount], SharedModel]) -> None:
        self.declared = declared
        self._make = make
        self._lock = threading.Lock()
        self._kept: OrderedDict[object, SharedModel] = OrderedDict()
        self._refused: dict[object, str] = {}  # not the errors, which hold whole programs
        self._changed: set[object] = set()  # which sizes have differed before
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Forgets the threads of the process before, one of which may have held the lock."""
        self._lock = threading.Lock()

    def fitting(self, shapes: Shapes, sequences: int = 1) -> SharedModel:
        """The model for inputs of these shapes, and this many sequences; `shapes` names all inputs.

        Raises:
            ConversionInputError: the program cannot be computed with them.
            ModelReadError: its files have changed since the predictor was made.
        """
        unfit = self.declared.unfit(shapes)
        if not unfit and sequences == 1:
            return self.declared
        expected: SequenceCount = "one" if sequences == 1 else "few" if sequences <= MAX_FEW else "many"
        with self._lock:
            model = self._model(shapes, unfit, expected)
        if not isinstance(model, str):
            return model
        if not unfit:
            raise ConversionInputError(
                f"the program cannot be computed with several sequences (LoD) in an input: {model}"
            )
        name = unfit[0]
        raise ConversionInputError(
            f"input '{name}' takes {self.declared.inputs[name].source.get_partial_shape().to_string()}, the array is "
            f"{list(shapes[name])}, with which the program cannot be computed: {model}"
        )

    def _model(self, shapes: Shapes, unfit: Sequence[str], expected: SequenceCount) -> SharedModel | str:
        """The model for the sizes of the arrays, or for any, where they have changed before; why there is none."""
        declared = {name: self.declared.inputs[name].source.get_partial_shape() for name in unfit}
        exact = {name: _replaced(shape, shapes[name], shapes[name]) for name, shape in declared.items()}
        any_size = {name: _replaced(shape, shapes[name], None) for name, shape in declared.items()}
        key, pattern = (expected, _key(exact)), (expected, _key(any_size))
        if key not in self._kept and pattern in self._changed:
            model = self._kept_or_made(pattern, any_size, expected)
            if not isinstance(model, str) and not model.unfit(shapes):
                return model
        model = self._kept_or_made(key, exact, expected)
        if not isinstance(model, str):
            self._changed.add(pattern)
            if names := model.unfit(shapes):
                takes = model.inputs[names[0]].source.get_partial_shape().to_string()
                return f"'{names[0]}' must be {takes}"
        return model

    def _kept_or_made(self, key: object, shapes: Shapes, expected: SequenceCount) -> SharedModel | str:
        if key in self._refused:
            return self._refused[key]
        if key not in self._kept:
            if shapes:
                log.info("the program is compiled for other shapes: Config.set_openvino_shapes(%s)", shapes)
            try:
                self._kept[key] = self._make(shapes, expected)
            except ModelReadError:
                raise
            except Paddle2OVError as error:
                if len(self._refused) > _MAX_REFUSED:
                    self._refused.clear()
                return self._refused.setdefault(key, str(error))
        self._kept.move_to_end(key)
        if len(self._kept) > MAX_VARIANTS:
            self._kept.popitem(last=False)
        return self._kept[key]


def _replaced(declared: openvino.PartialShape, shape: Sequence[int], sizes: Sequence[int] | None) -> list[int]:
    """The declared shape with other sizes where an array differs from it; None: with any size."""
    if declared.rank.is_dynamic or len(declared) != len(shape):
        return list(shape)
    sizes_now = [int(size.get_length()) if size.is_static else -1 for size in declared]
    for axis, (size, actual) in enumerate(zip(declared, shape, strict=True)):
        if not size.compatible(openvino.Dimension(actual)):
            sizes_now[axis] = -1 if sizes is None else sizes[axis]
    return sizes_now


def _key(shapes: Shapes) -> object:
    return tuple((name, tuple(shape)) for name, shape in shapes.items())
