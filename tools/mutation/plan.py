"""Which mutant has a number: a function of the seed, the number and the corpus alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from tools.mutation import beside, damage
from tools.mutation.corpus import Corpus, Source
from tools.mutation.formats import FORMATS
from tools.mutation.mutant import PARAMETERS, Mutant
from tools.mutation.trees import Mutation, Tree

_WEIGHTS = {
    "attributes": 30,
    "constants": 10,
    "operands": 8,
    "operators": 8,
    "types": 6,
    "shapes": 8,
    "blocks": 4,
    "any value": 8,
    "growth": 3,
    "bytes": 6,
    "parameters": 5,
    "together": 4,
    "settings": 3,
    "arrays": 1,
    "state": 1,
}
"""How often a family is drawn."""
_FAMILIES = {name: format.families() for name, format in FORMATS.items()}
_ALONE: dict[str, Callable[[Random], Mutant]] = {
    "settings": beside.settings,
    "arrays": beside.arrays,
    "state": beside.state,
}
_OPTIONS = {
    "share_weights": (0.02, False),
    "rewrite": (0.05, False),
    "sequence_lengths": (0.05, True),
    "report": (0.1, True),
}
"""What a model is converted with: how often, and the value; mostly nothing."""


def mutant(corpus: Corpus, seed: int, number: int) -> Mutant:
    """The mutant with a number."""
    rng = Random(f"{seed}/{number}")
    (family,) = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
    if family in _ALONE:
        return _ALONE[family](rng)
    source = corpus.draw(rng)
    for _ in range(100):  # a corpus need not have parameters
        if family == "parameters" and not source.parameters:
            source = corpus.draw(rng)
    if family == "parameters" and not source.parameters:
        family = "bytes"
    other = corpus.draw(rng, source.format)
    files, sizes = {FORMATS[source.format].file: source.program}, {}
    if source.parameters is not None:
        files[PARAMETERS] = source.parameters
    if family == "parameters":
        family = rng.choice(list(damage.PARAMETERS))
        if family == "parameters: sizes" and rng.random() < 0.2:
            sizes[PARAMETERS] = len(files[PARAMETERS]) + rng.choice(damage.HOLES)
        else:
            chosen = damage.PARAMETERS[family]
            files[PARAMETERS] = _tried(lambda: rng.choice(chosen)(rng, files[PARAMETERS], other.parameters or b""))
    elif family == "bytes":
        files[FORMATS[source.format].file] = damage.damaged(rng, source.program, other.program)
    else:
        files[FORMATS[source.format].file] = _restructured(rng, family, source, other)
    options = {name: value for name, (chance, value) in _OPTIONS.items() if rng.random() < chance}
    return Mutant("convert", source.format, files, sizes, options, family, source.name)


def _restructured(rng: Random, family: str, source: Source, other: Source) -> bytes:
    format, known = FORMATS[source.format], _FAMILIES[source.format]
    tree, donor = format.parse(source.program), format.parse(other.program)
    families = [family] * (rng.choice((1, 1, 1, 2, 3)) if family != "growth" else 1)
    if family == "together":
        families = rng.choices([name for name in known if name != "growth"], k=rng.choice((2, 2, 3, 4)))
    for chosen in families:
        _tried(partial(_mutate, rng, known[chosen], tree, donor))
    return format.render(tree)


def _mutate(rng: Random, mutations: tuple[Mutation, ...], tree: Tree, donor: Tree) -> None:
    rng.choice(mutations)(rng, tree, donor)


def _tried(change: Callable[[], Any]) -> Any:
    """What comes of a mutation, drawn again where there is none of what it changes; None where there never is."""
    for _ in range(10):
        try:
            return change()
        except (LookupError, TypeError, AttributeError, ValueError):
            continue
    return None
