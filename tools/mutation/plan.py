"""Which mutant has a number: a function of the seed, the number and the corpus alone."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tools.mutation import beside, legacy, parameters, pir, settings
from tools.mutation.corpus import Corpus, Source
from tools.mutation.damage import damaged
from tools.mutation.mutant import PARAMETERS, PROGRAM, Mutant

_FORMATS: dict[str, Any] = {"pir": pir, "legacy": legacy}
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
    found = _model(source, content, family)
    found.options = _options(rng)
    return found


def _restructured(rng: Random, family: str, source: Source, other: Source) -> bytes:
    tools = _FORMATS[source.format]
    tree, donor = tools.parse(source.program), tools.parse(other.program)
    if family == "together":
        families = rng.choices([name for name in tools.FAMILIES if name != "growth"], k=rng.choice((2, 2, 3, 4)))
    else:
        families = [family] * rng.choice((1, 1, 1, 2, 3))
        families = families[:1] if family == "growth" else families
    for i, one in enumerate(families):
        try:
            rng.choice(tools.FAMILIES[one])(rng, tree, donor)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            if not i:
                raise
            break  # what an earlier mutation left is no tree of a program any more
    content: bytes = tools.render(tree)
    return content


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
    found = _model(source, source.program, family)
    if family == "parameters: sizes" and rng.random() < 0.2:
        found.sizes[PARAMETERS] = len(content) + rng.choice(parameters.HOLES)
    else:
        found.files[PARAMETERS] = rng.choice(parameters.FAMILIES[family])(rng, content, other)
    found.options = _options(rng)
    return found


def _options(rng: Random) -> dict[str, Any]:
    """What a model is converted with; mostly nothing."""
    chances = {
        "share_weights": (0.02, False),
        "rewrite": (0.05, False),
        "sequence_lengths": (0.05, True),
        "report": (0.1, True),
    }
    return {name: value for name, (chance, value) in chances.items() if rng.random() < chance}
