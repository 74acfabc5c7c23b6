"""What public functions take beside models: flags, functions to call, times, names that others give arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from numbers import Real
from typing import Any, TypeVar, cast

import numpy as np

from paddle2ov.errors import ConversionInputError

_Function = TypeVar("_Function", bound=Callable[..., Any])


def check_flags(**flags: object) -> None:
    """Refuses what is neither true nor false: "no", for one, would be true.

    Raises:
        ConversionInputError: one of them is neither a bool nor 0 or 1.
    """
    for name, flag in flags.items():
        if not isinstance(flag, bool | np.bool_ | int) or flag not in (0, 1):
            raise ConversionInputError(f"{name}: {flag!r:.80} is neither True nor False")


def check_callables(**functions: object) -> None:
    """Refuses what cannot be called as the work goes on.

    Raises:
        ConversionInputError: one of them is neither a function nor None.
    """
    for name, function in functions.items():
        if function is not None and not callable(function):
            raise ConversionInputError(f"{name}: a function is expected, not {type(function).__name__}")


def check_timeout(timeout: float | None) -> None:
    """Refuses what is no time.

    Raises:
        ConversionInputError: it is neither a number of seconds above 0 nor None.
    """
    if timeout is not None and not (isinstance(timeout, Real) and 0 < timeout < float("inf")):
        raise ConversionInputError(f"timeout: {timeout!s:.80} is not a number of seconds above 0; None is no limit")


def called_here(**names: str) -> Callable[[_Function], _Function]:
    """For a function whose arguments have other names elsewhere: the refusal of such a name says the one to write."""

    def decorate(function: _Function) -> _Function:
        @wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            for name in kwargs.keys() & names.keys():
                raise ConversionInputError(f"{function.__name__} has no argument '{name}': write {names[name]}=...")
            return function(*args, **kwargs)

        return cast(_Function, wrapped)

    return decorate
