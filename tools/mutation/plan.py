"""Which mutant has a number: a function of the seed, the number and the corpus alone."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tools.mutation import beside, parameters, settings
from tools.mutation.corpus import Corpus, Source
from tools.mutation.damage import damaged
from tools.mutation.legacy import LEGACY
from tools.mutation.mutant import PARAMETERS, PROGRAM, Mutant
from tools.mutation.pir import PIR
from tools.mutation.structure import Format

FORMATS: dict[str, Format] = {"pir": PIR, "legacy": LEGACY}
_FAMILIES = {name: format.families() for name, format in FORMATS.items()}
_MOST_DRAWS = 10
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

_ALONE: dict[str, Callable[[Random], Mutant]] = {
    "settings": settings.mutant,
    "arrays": beside.arrays,
    "state": beside.state,
}


def mutant(corpus: Corpus, seed: int, number: int) -> Mutant:
    """The mutant with a number."""
    rng = Random(f"{seed}/{number}")
    (family,) = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
    if family in _ALONE:
        return _ALONE[family](rng)
    source = corpus.draw(rng)
    if family == "parameters":
        return _of_parameters(rng, corpus, source)
    other = corpus.draw(rng, source.format)
    content = source.program
    if family == "bytes":
        content = damaged(rng, content, other.program)
    else:
        content = _restructured(rng, family, source, other)
    mutated = _model(source, content, family)
    mutated.options = _options(rng)
    return mutated


def _restructured(rng: Random, family: str, source: Source, other: Source) -> bytes:
    format, known = FORMATS[source.format], _FAMILIES[source.format]
    tree, donor = format.parse(source.program), format.parse(other.program)
    if family == "together":
        families = rng.choices([name for name in known if name != "growth"], k=rng.choice((2, 2, 3, 4)))
    else:
        families = [family] * (rng.choice((1, 1, 1, 2, 3)) if family != "growth" else 1)
    for chosen in families:
        for _ in range(_MOST_DRAWS):
            try:
                rng.choice(known[chosen])(rng, tree, donor)
                break
            except (LookupError, TypeError, AttributeError, ValueError):
                continue  # there is none of what it changes, or an earlier mutation left no tree of a program
    return format.render(tree)


def _model(source: Source, content: bytes, family: str) -> Mutant:
    files = {PROGRAM[source.format]: content}
    weights = source.parameters
    if weights is not None:
        files[PARAMETERS] = weights
    return Mutant("convert", source.format, files, family=family, source=source.name)


def _of_parameters(rng: Random, corpus: Corpus, source: Source) -> Mutant:
    while (content := source.parameters) is None:
        source = corpus.draw(rng)
    other = corpus.draw(rng).parameters or b""
    family = rng.choice(list(parameters.FAMILIES))
    mutated = _model(source, source.program, family)
    if family == "parameters: sizes" and rng.random() < 0.2:
        mutated.sizes[PARAMETERS] = len(content) + rng.choice(parameters.HOLES)
    else:
        mutated.files[PARAMETERS] = rng.choice(parameters.FAMILIES[family])(rng, content, other)
    mutated.options = _options(rng)
    return mutated


def _options(rng: Random) -> dict[str, Any]:
    """What a model is converted with; mostly nothing."""
    chances = {
        "share_weights": (0.02, False),
        "rewrite": (0.05, False),
        "sequence_lengths": (0.05, True),
        "report": (0.1, True),
    }
    return {name: value for name, (chance, value) in chances.items() if rng.random() < chance}
