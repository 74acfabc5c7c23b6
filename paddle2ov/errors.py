"""The error types of paddle2ov; what conversion, inspection and inference raise derives from `Paddle2OVError`."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from traceback import walk_stack
from typing import Any

_UNSHOWN = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
"""Characters that no text on a terminal holds: they move the cursor, change its colours, or turn the line around."""
_LONG_WORD = r"\S{4000,}"
_SOURCE_PLACE = r"(?m)Exception from \S+:\d+:|^.*' failed at \S+:\d+:"  # anchored: lines may be long
_UNKNOWN_SIZE = ("Cannot get length of dynamic dimension", "to_shape was called on a dynamic shape.")
_REFUSED_NODE = r"While validating node '\w+::(\w+) (.*)' with friendly_name"
_NODE_INPUT = r"\[\d+\]:(\w+\[[^]]*\])"
_LIBRARY_FRAME = r'File "[^"]*[/\\](paddle|decorator)(\.py|[/\\])'


def shown(text: str) -> str:
    """A text as it is shown: what a file names may hold control characters, or be a megabyte long."""
    text = re.sub(_UNSHOWN, escaped, text)
    return re.sub(_LONG_WORD, lambda word: f"{word[0][:1000]}... ({len(word[0])} characters)", text)


def some_of(names: Sequence[str]) -> str:
    """Names as a message lists them: the first ten, and how many more there are."""
    listed = ", ".join(names[:_MAX_NAMED])
    return f"{listed} and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else listed


_MAX_NAMED = 10


def escaped(match: re.Match[str]) -> str:
    """A character as Python writes it in a string; a byte of a file name that is no UTF-8, as that byte."""
    character = match[0]
    if "\udc80" <= character <= "\udcff":
        character = chr(ord(character) - 0xDC00)
    return ascii(character)[1:-1]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an operator stands in a Paddle program.

    `call_stack` holds the Python frames that created the operator, where the program carries them.
    """

    block: int
    index: int
    op_type: str
    output: str = ""
    call_stack: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"block {self.block}, operator {self.index} ({self.op_type})"
        if self.output:
            text += f", output '{self.output}'"
        frames = self.source_frames()
        if frames:
            text += "\n  created at:\n" + "\n".join(f"    {frame}" for frame in frames)
        return shown(text)

    def source_frames(self, most: int = 3) -> list[str]:
        """The innermost frames of the model's own source: those inside Paddle's package are left out."""
        frames: list[str] = []
        for line in self.call_stack:
            if line.startswith("File ") or not frames:
                frames.append(line)
            else:
                frames[-1] += f": {line}"
        own = [frame for frame in frames if not re.search(_LIBRARY_FRAME, frame)]
        return (own or frames)[-most:]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The operators of one type that stop a conversion for one reason.

    Attributes:
        operator: their type.
        reason: why they cannot be converted.
        places: where each of them stands.
        given: the inputs with other shapes or types than the program declares, where these are the reason.
    """

    operator: str
    reason: str
    places: tuple[Place, ...]
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        used, at = (f", used {len(self.places)}x", "first at") if len(self.places) > 1 else ("", "at")
        given = f"not with {', '.join(self.given)}: " if self.given else ""
        return f"{self.operator}{used}: {given}{self.reason}\n  {at} {self.places[0]}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: their number, and the first place, with the model's source where it is known."""
        return {
            "operator": self.operator,
            "reason": self.reason,
            "given": list(self.given),
            "place": str(self.places[0]),
            "count": len(self.places),
        }


NEXT_STEPS = (
    "What to do: where a size is unknown, give shapes (`--input`, in Python `input=`); change the attribute, or leave "
    "out what is for training, and export again; cut the operator off (`--input`, `--output`) and compute it yourself; "
    "or give a converter of your own (`--extension FILE`, `extension=`; CONTRIBUTING.md, 'An operator in a package of "
    "your own')."
)
"""What a user can do about a refused operator."""
ALL_REFUSALS = "All that stops this model, in one list: `paddle2ov inspect MODEL`."
"""How to find all refusals; a conversion shows only the first."""


def install_command(extra: str) -> str:
    """How an extra is installed; paddle2ov is not on PyPI, so from a checkout."""
    return f"pip install '.[{extra}]' in the checkout of paddle2ov"


class Paddle2OVError(Exception):
    """Base of all errors that paddle2ov raises on purpose.

    Attributes:
        refusals: the operators that it is about, where it is about operators.
    """

    refusals: tuple[Refusal, ...] = ()

    def __str__(self) -> str:
        return shown(super().__str__())

    def __reduce__(self) -> tuple[object, ...]:
        # Without the constructor, which an exception calls with its message alone: some take other arguments.
        return type(self).__new__, (type(self), *self.args), vars(self)


class ModelReadError(Paddle2OVError):
    """The model's files cannot be found, are damaged, or are of a kind or version that is not known."""


class ConversionInputError(Paddle2OVError, ValueError):
    """An argument of `convert` is of an unknown kind, or does not fit the model (unknown name, wrong shape)."""


class UnsupportedOpsError(Paddle2OVError):
    """The program holds operators without a converter. Raised before any conversion starts.

    Attributes:
        operators: the number of uses of every unsupported operator.
        places: the first place of each.
        refusals: each of them, the most used first.
    """

    def __init__(self, places: Sequence[Place], reasons: Mapping[str, str] | None = None) -> None:
        by_type: dict[str, list[Place]] = {}
        for place in places:
            by_type.setdefault(place.op_type, []).append(place)
        self.operators = Counter({name: len(of_type) for name, of_type in by_type.items()})
        self.places = {name: of_type[0] for name, of_type in by_type.items()}
        why = reasons or {}
        self.refusals = tuple(
            Refusal(name, f"no converter: {why[name]}" if name in why else "no converter", tuple(by_type[name]))
            for name, _ in self.operators.most_common()
        )
        lines = [
            f"no converter for {len(self.operators)} operator type(s) of this program:",
            *(f"- {refusal}" for refusal in self.refusals),
            NEXT_STEPS,
            ALL_REFUSALS,
        ]
        super().__init__("\n".join(lines))


class OpConversionError(Paddle2OVError):
    """An operator could not be converted: its converter refused a mode, or failed.

    Attributes:
        place: where the operator stands.
        reason: why it could not be converted.
    """

    def __init__(self, place: Place, reason: str) -> None:
        self.place = place
        self.reason = reason
        self.refusals = (Refusal(place.op_type, reason, (place,)),)
        super().__init__(f"cannot convert '{place.op_type}': {reason}\n  at {place}")


class OpInputError(ConversionInputError, OpConversionError):
    """An operator does not convert with the shapes and types given, but does with those that the program declares.

    Attributes:
        place: where the operator stands.
        reason: why it could not be converted.
        given: each input as given, and as the program declares it.
    """

    def __init__(self, place: Place, reason: str, given: Sequence[str]) -> None:
        super().__init__(place, reason)
        self.given = tuple(given)
        self.refusals = (Refusal(place.op_type, reason, (place,), self.given),)
        self.args = (
            f"input: the model does not convert with {', '.join(given)}; it does with what the program declares.\n"
            f"{place.op_type}: {reason}\n  at {place}",
        )


class RewriteError(Paddle2OVError):
    """A rewrite of the graph failed.

    Attributes:
        rewrite: its name; `convert(..., without=(name,))` leaves it out, if it is a workaround.
        reason: why it failed.
    """

    def __init__(self, rewrite: str, reason: str) -> None:
        self.rewrite = rewrite
        self.reason = reason
        super().__init__(f"the rewrite '{rewrite}' failed: {reason}")


def is_refusal(error: BaseException) -> bool:
    """Whether OpenVINO cannot express the model; else something could not be done, such as reading or writing it."""
    kinds = UnsupportedOpsError | OpConversionError | RewriteError
    return isinstance(error, kinds) and not isinstance(error, ConversionInputError)


class ConversionWarning(UserWarning):
    """The model converts, but computes something else than Paddle for inputs that the message names."""


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Gives a warning that shows the line outside of paddle2ov which led to it, in place of one of ours."""
    names = (frame.f_globals.get("__name__", "") for frame, _ in walk_stack(sys._getframe()))
    own = sum(1 for _ in takewhile(lambda name: name.startswith(("paddle2ov.", "contextlib")), names))
    warnings.warn(text, category, stacklevel=own + 1)


def warn_of_operator(place: Place, reason: str) -> None:
    """Gives a `ConversionWarning` about an operator.

    Raises:
        OpConversionError: such warnings are errors.
    """
    try:
        warn(f"'{place.op_type}': {reason}\n  at {place}", ConversionWarning)
    except ConversionWarning as warning:
        raise OpConversionError(place, reason) from warning


def described(error: BaseException) -> str:
    """The message of an exception that nobody raised on purpose, in one line, without places in OpenVINO's source."""
    lines = [line.strip() for line in re.sub(_SOURCE_PLACE, "", str(error)).splitlines() if line.strip()]
    if lines and lines[0] in _UNKNOWN_SIZE:
        return "it depends on a size that is not known: give the shapes of the model's inputs"
    if lines and (node := re.match(_REFUSED_NODE, lines[0])):
        lines[0] = f"OpenVINO refuses {node[1]}({', '.join(re.findall(_NODE_INPUT, node[2]))}):"
    message = " ".join(lines[:3])
    if message and type(error) is RuntimeError:  # OpenVINO's errors
        return message
    return f"{type(error).__name__}: {message or 'no message'}"


def system_reason(error: BaseException) -> str:
    """What the system says of a file, without the name and the number; of other errors, their message.

    Python says "File exists" of a file, or a link in a circle, where a folder is to be made.
    """
    if isinstance(error, FileExistsError):
        return os.strerror(errno.ENOTDIR)
    return (isinstance(error, OSError) and error.strerror) or str(error) or described(error)


def system_message(error: Exception) -> str:
    """The same after the name of the file, for what does not name it itself."""
    name = error.filename if isinstance(error, OSError) else None
    reason = (isinstance(error, FileExistsError) and error.strerror) or system_reason(error)
    return reason if name is None else f"{os.fsdecode(name)}: {reason}"


class FailingAs:
    """A context that converts unexpected exceptions, which a program may provoke, to a `Paddle2OVError`.

    Not a generator: from Python 3.12 on the frames of one and the exception that it converts hold each other, and with
    them all that was converted, until the cyclic collector comes.

    Args:
        error: makes one from the message of the exception, which becomes its cause.
        kinds: the exceptions that are converted.
        describe: gives the message of an exception.
    """

    __slots__ = ("_describe", "_error", "_kinds")

    def __init__(
        self,
        error: Callable[[str], Paddle2OVError],
        kinds: type[Exception] | tuple[type[Exception], ...] = Exception,
        describe: Callable[[BaseException], str] = described,
    ) -> None:
        self._error, self._kinds, self._describe = error, kinds, describe

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, cause: BaseException | None, traceback: object) -> None:
        if isinstance(cause, self._kinds) and not isinstance(cause, Paddle2OVError):
            raise self._error(self._describe(cause)) from cause


class OpenVINORunError(Paddle2OVError, RuntimeError):
    """OpenVINO cannot compile the converted model, or refuses to run it on these inputs."""


class PaddleRunError(Paddle2OVError):
    """Paddle, which `verify` runs in a process of its own, is not there, refuses the model or its inputs, or died."""
