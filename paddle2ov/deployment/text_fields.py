"""Fields of a text in protobuf's text format, whose schema is not known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(r"""\s+|\#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[{}\[\]<>:;,]|[^\s\#"'{}\[\]<>:;,]+""")
_NAME = re.compile(r"[A-Za-z_]\w*")
_CLOSING = {"{": "}", "[": "]", "<": ">"}


@dataclass(frozen=True, slots=True)
class TextField:
    """One field of a message.

    Attributes:
        name: its name; "" for comments after the last field.
        comments: the comments before it.
        text: itself.
        value: what follows its name.
        messages: the texts of the messages that are its value, or elements of it.
    """

    name: str
    comments: tuple[str, ...]
    text: str = ""
    value: str = ""
    messages: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """The field after its comments, a line each."""
        return "\n".join((*self.comments, *filter(None, [self.text])))


def text_fields(text: str) -> Iterator[TextField]:
    """The fields of a message in order.

    Raises:
        ValueError: it is no such text.
    """
    tokens = list(_tokens(text))
    comments: list[str] = []
    place = 0
    while place < len(tokens):
        start, word = tokens[place]
        place += 1
        if word.startswith("#"):
            comments.append(word.rstrip())
        elif word not in ",;":
            if not _NAME.fullmatch(word):
                raise ValueError(f"a field's name is expected, not {word[:40]!r}")
            place, messages = _value(text, tokens, place)
            last, final = tokens[place - 1]
            end = last + len(final)
            value = text[start + len(word) : end].lstrip(" \t:")
            yield TextField(word, tuple(comments), text[start:end], value, tuple(messages))
            comments = []
    if comments:
        yield TextField("", tuple(comments))


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise ValueError(f"a string does not end: {text[position : position + 40]!r}")
        if not token[0].isspace():
            yield position, token[0]
        position = token.end()


def _value(text: str, tokens: Sequence[tuple[int, str]], first: int) -> tuple[int, list[str]]:
    """Where the value ends that follows a name, and the texts of the messages in it, or in its list."""
    brackets: list[tuple[int, str]] = []
    messages = []
    for place in range(first, len(tokens)):
        position, word = tokens[place]
        if word in _CLOSING:
            brackets.append((position, word))
        elif brackets and word == _CLOSING[brackets[-1][1]]:
            start, opened = brackets.pop()
            if opened in "{<" and all(bracket == "[" for _, bracket in brackets):
                messages.append(text[start + 1 : position])
        elif word in "}]>" or (not brackets and word in ":;," and (place, word) != (first, ":")):
            raise ValueError("a bracket is not closed" if brackets else "a field has no value")
        is_string = word[0] in "\"'" and place + 1 < len(tokens) and tokens[place + 1][1][0] in "\"'"
        if not (brackets or word.startswith(("#", ":")) or is_string):  # strings that follow each other are one
            return place + 1, messages
    raise ValueError(
        "a field has no value, or a bracket is not closed" if first < len(tokens) else "a field has no value"
    )
