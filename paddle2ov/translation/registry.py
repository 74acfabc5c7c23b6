"""Which converter an operator gets: the table of this repository, overlaid by converters of the user's own."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from paddle2ov.errors import ConversionInputError
from paddle2ov.program.signatures import Signature, key_of_pir, signature
from paddle2ov.program.traits import with_trait
from paddle2ov.program.vocabulary import Vocabulary
from paddle2ov.translation.extension import ConversionExtension, Extension, extensions_of, script_extensions

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from paddle2ov.program.model import Block, Operator, Program
    from paddle2ov.translation.node_context import Converter

ENTRY_POINT_GROUP = "paddle2ov.converters"

STRUCTURE = tuple(sorted(with_trait("structure")))
"""Operators that are part of a program's structure: readers and translator handle them, without a converter."""


class Registry:
    """The converters that one conversion uses.

    Later sources overlay earlier ones and never change them: the operator table, installed packages (entry points of
    the group `paddle2ov.converters`), converters registered by the running script, the `extension` argument.

    Raises:
        ConversionInputError: two name the same operator and the later one does not say `override=True`. The `extension`
            argument need not say so, unless it names an operator twice itself.
    """

    def __init__(self, extension: Extension = None) -> None:
        from paddle2ov.op_table import OP_TABLE  # the converters are loaded when a model is converted

        self._table: Mapping[str, Converter] = OP_TABLE
        self._overlay: dict[str, ConversionExtension] = {}
        self._add(_installed())
        self._add(script_extensions())
        self._add(extensions_of(extension), explicit=True)
        self._vocabulary = Vocabulary(self.signatures())

    def _add(self, extensions: Iterable[ConversionExtension], explicit: bool = False) -> None:
        added: set[str] = set()
        for item in map(self._by_key, extensions):
            known = item.op_type in self._overlay or item.op_type in self._table
            if (item.op_type in added if explicit else known) and not item.override:
                raise ConversionInputError(
                    f"operator '{item.op_type}' already has a converter; pass override=True to replace it"
                )
            self._overlay[item.op_type] = item
            added.add(item.op_type)

    def _by_key(self, item: ConversionExtension) -> ConversionExtension:
        """An extension under the registry's key; PIR's name is taken too, where no other operator has it as its key."""
        name = item.op_type.removeprefix("pd_op.")
        if item.signature is None and (name != item.op_type or signature(name) is None):
            name = key_of_pir(name) or name
        return item if name == item.op_type else replace(item, op_type=name)

    def unused(self, program: Program) -> Iterator[tuple[str, str]]:
        """Extensions whose name is PIR's of an operator of the program that goes by another: pairs (name, key)."""
        if not self._overlay or program.format != "pir":
            return
        types = {child.type for child in program.block.walk()}
        for name in self._overlay.keys() - types:
            key = key_of_pir(name)
            if key in types and key not in self._overlay and key is not None:
                yield name, key

    def get(self, key: str) -> Converter | None:
        """The converter of an operator, or None."""
        item = self._overlay.get(key)
        return item.callback if item is not None else self._table.get(key)

    def missing(self, block: Block) -> list[Operator]:
        """The operators of a block, and of the blocks inside, that have no converter."""
        unknown = {
            name for name in {child.type for child in block.walk()}.difference(STRUCTURE) if self.get(name) is None
        }
        return [child for child in block.walk() if child.type in unknown] if unknown else []

    def is_extension(self, key: str) -> bool:
        """Whether the operator's converter is not of this repository."""
        return key in self._overlay

    def has_extensions(self) -> bool:
        """Whether there are converters that are not of this repository."""
        return bool(self._overlay)

    def signatures(self) -> list[Signature]:
        """The signatures that they come with."""
        return [signature for item in self._overlay.values() if (signature := item.parsed_signature()) is not None]

    def signature(self, key: str) -> Signature | None:
        """The signature of an operator: that of its extension, or else of the table; None if there is neither."""
        return self._vocabulary.of_legacy(key)

    def names(self) -> list[str]:
        """The sorted names of all operators that have a converter."""
        return sorted({*self._table, *self._overlay})


@cache
def _installed() -> tuple[ConversionExtension, ...]:
    extensions: list[ConversionExtension] = []
    for entry in _entry_points():
        try:
            extensions += extensions_of(entry.load())
        except Exception as error:
            raise ConversionInputError(
                f"entry point {entry.name} = {entry.value} of {ENTRY_POINT_GROUP}: {error}"
            ) from error
    return tuple(extensions)


def _entry_points() -> Iterable[EntryPoint]:
    """Those of the group; `importlib.metadata`, which takes 30 ms with a hundred packages, looks only if any may be."""
    others = (finder for finder in sys.meta_path if finder is not PathFinder)
    if not any(map(_may_declare, sys.path)) and not any(hasattr(finder, "find_distributions") for finder in others):
        return ()
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINT_GROUP)


def _may_declare(folder: str) -> bool:
    """Whether a package in a folder of `sys.path` declares any; an archive there, which is not read, may."""
    try:
        entries = [*Path(folder).iterdir()]
    except OSError:
        return Path(folder).is_file()
    for entry in entries:
        if entry.name.lower().endswith((".dist-info", "egg-info")):
            with suppress(OSError):
                if ENTRY_POINT_GROUP.encode() in (entry / "entry_points.txt").read_bytes():
                    return True
    return False
