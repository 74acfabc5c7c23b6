"""Converters of the user's own: as an argument, by a decorator, or from an installed package."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from paddle2ov.errors import ConversionInputError, Paddle2OVError, system_reason
from paddle2ov.program.signatures import Signature, parse_signature
from paddle2ov.program.sources import regular_file

Callback = Callable[[Any], Any]
C = TypeVar("C", bound=Callback)

_ITEMS = r"(?:[\w=|@.-]+(?:, [\w=|@.-]+)*)?"
SIGNATURE = rf"[\w.-]+\({_ITEMS}\) -> \({_ITEMS}\)(?:; {_ITEMS})?"
"""The form of a signature, which is that of a row in `program/signatures.py`."""


@dataclass(frozen=True, slots=True)
class ConversionExtension:
    """A converter for one operator type.

    Takes the same arguments as `openvino.frontend.paddle.ConversionExtension`, so that a callback written for it runs
    unchanged: it gets a node, which has the methods of OpenVINO's, and returns `{port: [Output]}`.

    Args:
        op_type: the operator's name in the program (a custom operator's own name; for Paddle's the registry's key, or
            PIR's name where that is no other operator's key).
        callback: the converter: takes a `NodeContext`, returns named outputs.
        signature: for an operator that is not Paddle's own, its inputs and outputs in order, as
            `"my_op(x, weight) -> (out)"`: PIR programs pass them by position. A legacy spelling that differs from the
            CamelCase of the name follows an equals sign, `x=Input`.
        override: allows it to replace another converter of your own for the same operator. A converter of paddle2ov is
            replaced without it if the extension is an argument of `convert`.

    Raises:
        ConversionInputError: the callback cannot be called, or the signature is not of that form.
    """

    op_type: str
    callback: Callback
    signature: str | None = None
    override: bool = False

    def __post_init__(self) -> None:
        """Refuses early what would otherwise be ignored, or fail in the middle of a conversion."""
        if not isinstance(self.op_type, str):
            raise ConversionInputError(f"extension: an operator's name is expected, not {self.op_type!r}")
        if not callable(self.callback):
            raise ConversionInputError(
                f"extension: the converter of '{self.op_type}' is not a function: {self.callback!r}"
            )
        if self.signature is not None and not (
            isinstance(self.signature, str) and re.fullmatch(SIGNATURE, self.signature)
        ):
            raise ConversionInputError(
                f"extension: cannot read the signature {self.signature!r:.80}; "
                f"the form is '{self.op_type}(x, y) -> (out)'"
            )

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
        ConversionInputError: that is not the name of an operator, or the script registered a converter for it before,
            without `override`.
    """
    if not isinstance(op_type, str):
        raise ConversionInputError(
            f"register_converter: an operator's name is expected, not {op_type!r:.80}: "
            '@register_converter("my_op") stands above the function'
        )

    def register(function: C) -> C:
        if op_type in _script and not override:
            raise ConversionInputError(
                f"operator '{op_type}' already has a converter; pass override=True to replace it"
            )
        _script[op_type] = ConversionExtension(op_type, function, signature, override)
        return function

    return register


def script_extensions() -> tuple[ConversionExtension, ...]:
    """What `register_converter` has registered so far."""
    return tuple(_script.values())


def extensions_of(extension: Extension) -> list[ConversionExtension]:
    """Flattens what users may pass as extensions.

    Raises:
        ConversionInputError: something in it is neither a ConversionExtension nor a mapping of operators to functions.
    """
    if extension is None:
        return []
    if isinstance(extension, ConversionExtension):
        return [extension]
    if isinstance(extension, Mapping):
        return [ConversionExtension(name, callback) for name, callback in extension.items()]
    if isinstance(extension, Iterable) and not isinstance(extension, str | bytes):
        return [value for item in extension for value in extensions_of(item)]
    raise ConversionInputError(
        f"an extension is a paddle2ov.ConversionExtension, a mapping {{operator: function}} or a list of these, "
        f"not {type(extension).__name__}{_instead(extension)}"
    )


def _instead(extension: object) -> str:
    """What to pass in place of what other tools take."""
    if type(extension).__module__.startswith("openvino"):
        return ", which keeps its function to itself: give paddle2ov's the same arguments"
    if isinstance(extension, str):
        return f" ({extension[:80]!r}): import it and pass its converters; the command line takes files (--extension)"
    return ""


def run_extensions(paths: Iterable[Path]) -> None:
    """Runs the files of `--extension`, which register their converters, or list them as `CONVERTERS`.

    Raises:
        ConversionInputError: one of them cannot be run to its end, or has no converters.
    """
    import runpy

    for path in paths:
        before = script_extensions()
        try:
            regular_file(path).close()  # Python would wait for a pipe
        except (OSError, ValueError) as error:
            raise ConversionInputError(f"extension {path}: {system_reason(error)}") from error
        if path.suffix in (".so", ".dll", ".dylib"):
            raise ConversionInputError(f"extension {path}: a compiled library; converters are written in Python here")
        try:
            names = runpy.run_path(str(path))
        except Paddle2OVError:
            raise
        except (Exception, SystemExit) as error:
            raise ConversionInputError(f"extension {path}: {type(error).__name__}: {error}") from error
        for extension in extensions_of(names.get("CONVERTERS")):
            register_converter(extension.op_type, signature=extension.signature, override=True)(extension.callback)
        if script_extensions() == before:
            raise ConversionInputError(
                f"extension {path}: it has no converters: neither a list CONVERTERS nor @register_converter"
            )
