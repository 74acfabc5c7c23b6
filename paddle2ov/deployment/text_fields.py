"""Fields of a text in protobuf's text format, whose schema is not known."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    position = 0
    while position < len(tokens):
        start, word = tokens[position]
        position += 1
        if word.startswith("#"):
            comments.append(word.rstrip())
            continue
        if word in ",;":
            continue
        if not _NAME.fullmatch(word):
            raise ValueError(f"a field's name is expected, not {word[:40]!r}")
        after = _end_of_value(tokens, position)
        last, final = tokens[after - 1]
        value = text[start + len(word) : last + len(final)].lstrip(" \t:")
        messages = tuple(_messages(text, tokens[position:after]))
        yield TextField(word, tuple(comments), text[start : last + len(final)], value, messages)
        comments, position = [], after
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


def _end_of_value(tokens: list[tuple[int, str]], position: int) -> int:
    """The position after the value that follows a name."""
    words = [word for _, word in tokens]
    if words[position : position + 1] == [":"]:
        position += 1
    open_brackets: list[str] = []
    start = position
    while position < len(words):
        word = words[position]
        position += 1
        if word in _CLOSING:
            open_brackets.append(_CLOSING[word])
        elif open_brackets and word == open_brackets[-1]:
            open_brackets.pop()
        elif word in "}]>:;," and not open_brackets:
            break
        if open_brackets or word.startswith("#"):
            continue
        if word[0] in "\"'" and words[position : position + 1] and words[position][0] in "\"'":
            continue  # strings that follow each other are one
        return position
    raise ValueError("a field has no value, or a bracket is not closed" if position > start else "a field has no value")


def _messages(text: str, tokens: list[tuple[int, str]]) -> Iterator[str]:
    """The texts between the brackets of messages, which may be elements of a list."""
    open_brackets: list[tuple[int, str]] = []
    for position, word in tokens:
        if word in _CLOSING:
            open_brackets.append((position, word))
        elif word in ("}", "]", ">"):
            start, opened = open_brackets.pop()
            if opened in "{<" and all(bracket == "[" for _, bracket in open_brackets):
                yield text[start + 1 : position]
