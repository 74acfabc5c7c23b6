"""Signatures by the names of both formats: the signature table, and what extensions add to it."""

from __future__ import annotations

from collections.abc import Iterable

from paddle2ov.program.signatures import Signature, key_of_pir, signature


class Vocabulary:
    """Finds the signature of an operator by its name in either format; extensions' own come first."""

    def __init__(self, extra: Iterable[Signature] = ()) -> None:
        self._by_key = {item.key: item for item in extra}
        self._by_pir: dict[str, Signature | None] = {item.pir_name or item.key: item for item in self._by_key.values()}

    def of_pir(self, name: str) -> Signature | None:
        """The signature of a PIR operator, by its name without the dialect."""
        if name not in self._by_pir:
            key = key_of_pir(name)
            self._by_pir[name] = signature(key) if key is not None else None
        return self._by_pir[name]

    def of_legacy(self, name: str) -> Signature | None:
        """The signature of an operator of a legacy program."""
        return self._by_key.get(name) or signature(name)
