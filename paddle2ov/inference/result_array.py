"""What `Predictor.run` returns for each result: an array that has the `numpy` method of Paddle's tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle2ov.typing import AnyArray


class ResultArray(np.ndarray[Any, np.dtype[Any]]):
    """An array with `numpy()`. What is computed from it is a plain array, as is what a process sends to another."""

    def numpy(self) -> AnyArray:
        """The same array, as a plain one."""
        return self.view(np.ndarray)

    def __array_wrap__(self, array: AnyArray, context: Any = None, return_scalar: bool = True) -> Any:
        if array is self:  # computed in place
            return self
        plain = array.view(np.ndarray)
        return plain[()] if return_scalar else plain

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.numpy().__reduce_ex__(protocol)
