"""What public functions take beside models: flags, functions to call, times, names that others give arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
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


MODEL_NAMES = {"device_name": "device", "input_model": "model", "model_dir": "model", "model_path": "model"}
CONVERSION_NAMES = {
    **MODEL_NAMES,
    **dict.fromkeys(("input_shape", "inputs", "shape", "shapes"), "input"),
    "example_inputs": "example_input",
    "extensions": "extension",
    "outputs": "output",
}
"""What others call the arguments of a conversion."""


def called_here(**names: str) -> Callable[[_Function], _Function]:
    """For a function whose arguments have other names elsewhere: the refusal of such a name says the one to write.

    It is told of what it has not, or lacks, by its own name, whatever else decorates it. What it passes on as options
    is for `check_options`.
    """

    def decorate(function: _Function) -> _Function:
        parameters = signature(function).parameters
        first, own = next(iter(parameters)), frozenset(parameters)
        has_options = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
        elsewhere = {name: here for name, here in names.items() if here in own}

        @wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            for name in () if has_options else kwargs.keys() - own:
                raise _not_here(function.__name__, name, elsewhere)
            if not args and first not in kwargs:
                raise TypeError(f"{function.__name__}() is missing its argument '{first}'")
            return function(*args, **kwargs)

        return cast(_Function, wrapped)

    return decorate


def check_options(function: str, convert: Callable[..., Any], options: Mapping[str, object], **names: str) -> None:
    """Refuses what is no argument of `convert`, for a function that passes others on to it; as `called_here` does.

    Raises:
        ConversionInputError: it is another name of an argument.
        TypeError: it is none.
    """
    for name in options.keys() - signature(convert).parameters.keys():
        raise _not_here(function, name, CONVERSION_NAMES | names)


def _not_here(function: str, name: str, elsewhere: Mapping[str, str]) -> Exception:
    """The error of a function that has no argument of that name."""
    if name not in elsewhere:
        return TypeError(f"{function}() got an unexpected keyword argument '{name}'")
    return ConversionInputError(f"{function} has no argument '{name}': write {elsewhere[name]}=...")
