"""Names and filters as in googletest: `testOpFuzzy/top_k_v2_test_1/pir`, `--filter 'testOpFuzzy/top_k*:-*legacy'`."""

from __future__ import annotations

from fnmatch import fnmatchcase


def matches(name: str, pattern: str) -> bool:
    """Whether a filter selects a name: patterns separated by ':'; those after a '-' exclude.

    A pattern also selects the names below it: `testOpFuzzy/top_k_v2*` selects `testOpFuzzy/top_k_v2_test_1/pir`.
    """
    positive, _, negative = pattern.partition("-")
    chosen = [item for item in positive.split(":") if item] or ["*"]
    dropped = [item for item in negative.split(":") if item]
    return any(_match(name, item) for item in chosen) and not any(_match(name, item) for item in dropped)


def _match(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}/*")
