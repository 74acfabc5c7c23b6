"""Random cases: a declared one, varied within what its relatives show.

Relatives are the cases of an operator with tensors of the same names and ranks, which are masks where the others are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from gen_models.harness.spec import Case, TensorSpec

LARGER = 2
"""By how much a size may grow."""


def varied(cases: Sequence[Case]) -> Callable[[Any], Case]:
    """A function that draws a case with other sizes, types, numbers, flags and words."""
    agreeing = [case for case in cases if case.is_varied and not case.xfail]

    def draw_case(draw: Any) -> Case:
        case: Case = _one_of(draw, agreeing)
        relatives = [other for other in agreeing if _kind(other) == _kind(case)]
        tensors = _tensors(draw, case, relatives)
        arguments = replace(case, arguments=_arguments(draw, case, relatives)).bind(tensors)
        return replace(case, name="", arguments=arguments)

    return draw_case


def _kind(case: Case) -> tuple[Any, ...]:
    return (
        case.formats,
        case.dynamic,
        {name: (len(spec.shape), spec.dtype == "bool") for name, spec in case.tensors().items()},
    )


def _arguments(draw: Any, case: Case, relatives: Sequence[Case]) -> dict[str, Any]:
    """The arguments; some without tensors are as in a relative, or numbers between those of relatives."""
    given: dict[str, list[Any]] = {}
    for other in relatives:
        for name, value in other.arguments.items():
            given.setdefault(name, []).append(value)
    arguments = dict(case.arguments)
    for name, values in sorted(given.items()):
        lengths = {len(value) for value in values if isinstance(value, list | tuple)}
        if len(lengths) > 1 or any(Case({name: value}).tensors() for value in values) or not _flag(draw):
            continue  # lists of several lengths depend on the tensors
        arguments.pop(name, None)
        donor = _one_of(draw, relatives).arguments
        if name in donor:
            arguments[name] = _between(
                draw, donor[name], [value for value in values if type(value) is type(donor[name])]
            )
    return arguments


def _between(draw: Any, value: Any, given: Sequence[Any]) -> Any:
    """A number between those given, a float of two places, which all formats hold alike; what is no number stays."""
    if type(value) is int:
        return draw(st.integers(min(given), max(given)))
    if type(value) is float and _flag(draw):
        part = draw(st.integers(0, 7)) / 7
        return round(min(given) * (1 - part) + max(given) * part, 2)
    return value


def _tensors(draw: Any, case: Case, relatives: Sequence[Case]) -> dict[str, TensorSpec]:
    """The tensors, with types and bounds of a relative; some sizes grow wherever they occur, so indices stay in range.

    A size stays where no relative has another or leaves it open. Tensors of given values stay as they are, and those
    with bounds of their own keep their types.
    """
    own, others = case.tensors(), [other.tensors() for other in relatives]
    fixed = {0}
    for name, spec in own.items():
        for axis, size in enumerate(spec.shape):
            shown = {(other[name].shape[axis], other[name].declared[axis]) for other in others}
            if spec.values is not None or len(shown) == 1:
                fixed.add(size)
    free = {size for spec in own.values() for size in spec.shape} - fixed
    sizes = {size: draw(st.integers(size, size + LARGER)) for size in sorted(free)}
    held = [name for name, spec in own.items() if spec.values is not None or spec.high is not None]
    donor = _one_of(draw, [other for other in others if all(other[name].dtype == own[name].dtype for name in held)])
    drawn = {}
    for name, spec in own.items():
        shape = tuple(sizes.get(size, size) for size in spec.shape)
        dims = tuple(-1 if declared < 0 else size for declared, size in zip(spec.declared, shape, strict=True))
        drawn[name] = replace(spec, shape=shape, dims=dims)
        if name not in held:
            other = donor[name]
            drawn[name] = replace(drawn[name], dtype=other.dtype, low=other.low, high=other.high)
    return drawn


def _flag(draw: Any) -> bool:
    return bool(draw(st.booleans()))


def _one_of(draw: Any, values: Sequence[Any]) -> Any:
    return draw(st.sampled_from(values))
