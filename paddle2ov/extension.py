"""Converters of the user's own: as an argument, by a decorator, or from an installed package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from paddle2ov.program.signatures import Signature, parse_signature

Callback = Callable[[Any], Any]
C = TypeVar("C", bound=Callback)


@dataclass(frozen=True, slots=True)
class ConversionExtension:
    """A converter for one operator type.

    Takes the same arguments as `openvino.frontend.paddle.ConversionExtension`, so that a callback written for it runs
    unchanged: it gets a node and returns `{port: [Output]}`.

    Args:
        op_type: the operator's name in the program (a custom operator's own name; for Paddle's the registry's key).
        callback: the converter: takes a `NodeContext`, returns named outputs.
        signature: for an operator that is not Paddle's own, its inputs and outputs in order, as
            `"my_op(x, weight) -> (out)"`: PIR programs pass them by position. A legacy spelling that differs from the
            CamelCase of the name follows an equals sign, `x=Input`.
        override: allows it to replace a converter that exists already.
    """

    op_type: str
    callback: Callback
    signature: str | None = None
    override: bool = False

    def parsed_signature(self) -> Signature | None:
        """The signature of the operator, if one is given."""
        return parse_signature(self.op_type, self.signature) if self.signature is not None else None


Extension: TypeAlias = (
    ConversionExtension | Mapping[str, Callback] | Iterable[ConversionExtension | Mapping[str, Callback]] | None
)
"""What `convert(..., extension=...)` takes."""

_script: dict[str, ConversionExtension] = {}


def register_converter(op_type: str, *, signature: str | None = None, override: bool = False) -> Callable[[C], C]:
    """Decorates a converter function, so that every later `convert` of this process knows it.

    Args:
        op_type: the operator's name in the program.
        signature: the operator's inputs and outputs, see `ConversionExtension`.
        override: allows it to replace a converter that exists already.

    Raises:
        ValueError: the script registered a converter for this operator before, without `override`.
    """

    def register(function: C) -> C:
        if op_type in _script and not override:
            raise ValueError(f"operator '{op_type}' already has a converter; pass override=True to replace it")
        _script[op_type] = ConversionExtension(op_type, function, signature, override)
        return function

    return register


def script_extensions() -> tuple[ConversionExtension, ...]:
    """What `register_converter` has registered so far."""
    return tuple(_script.values())


def extensions_of(extension: Extension) -> list[ConversionExtension]:
    """Flattens what users may pass as extensions.

    Raises:
        TypeError: something in it is neither a ConversionExtension nor a mapping of operator names to functions.
    """
    if extension is None:
        return []
    if isinstance(extension, ConversionExtension):
        return [extension]
    if isinstance(extension, Mapping):
        return [ConversionExtension(name, callback) for name, callback in extension.items()]
    if isinstance(extension, Iterable) and not isinstance(extension, str | bytes):
        return [one for item in extension for one in extensions_of(item)]
    raise TypeError(
        f"an extension is a paddle2ov.ConversionExtension, a mapping {{operator: function}} or a list of these, "
        f"not {type(extension).__name__}"
    )
