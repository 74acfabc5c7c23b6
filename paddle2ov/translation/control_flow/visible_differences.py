"""Warnings of values whose rank or type is not that of Paddle, in loops."""

from __future__ import annotations

from collections.abc import Sequence, Set

from openvino import Output

from paddle2ov.errors import warn_of_operator
from paddle2ov.graph.types import dtype_name
from paddle2ov.graph.upstream import depends_on_data, inputs_behind
from paddle2ov.graph.values import EmptyTensorArray
from paddle2ov.program.model import Operator
from paddle2ov.program.shown_values import ShownValues
from paddle2ov.translation.control_flow.block_values import as_output, is_undefined
from paddle2ov.translation.control_flow.loop_assembly import LoopBody, runs_at_least_once
from paddle2ov.translation.translator import Translator


def warn_of_initial_values(
    translator: Translator,
    operator: Operator,
    results: Sequence[str],
    loop_body: LoopBody,
    unread: Set[int],
    decides: Output,
) -> None:
    """Warns of initial values whose rank or type differs from Paddle's, where something may read them.

    Args:
        translator: what knows which variables show their rank and type.
        operator: the loop.
        results: the names of the final values, first those of what the loop carries.
        loop_body: the body.
        unread: the positions of values that do not matter.
        decides: what is 0 or false where the loop has no iteration.
    """
    said: dict[tuple[str, str], list[str]] = {}  # the same of several variables is said once
    states = zip(results, loop_body.given.items(), loop_body.initial, loop_body.yielded, strict=False)
    for k, (result, (name, value), start, after) in enumerate(states):
        if (
            k in unread
            or is_undefined(value)
            or any(isinstance(item, EmptyTensorArray) for item in (value, start, after))
        ):
            continue
        found = _of_types(translator.shown, name, result, tuple(map(as_output, (value, start, after))), decides)
        if found is None and as_output(value).get_partial_shape().rank == 0:
            found = _of_rank(translator.shown, name, result, as_output(start), decides)
        if found is not None:
            said.setdefault(found, []).append(f"'{result.partition('@')[0]}'")
    for (before, behind), variables in said.items():
        warn_of_operator(operator.place, f"{before} {', '.join(variables)} {behind}")


def _of_types(
    shown: ShownValues, name: str, result: str, values: Sequence[Output], decides: Output
) -> tuple[str, str] | None:
    """What to say, before and behind its name, of a variable whose type is not Paddle's in every iteration."""
    before, held, later = (dtype_name(item.get_element_type()) for item in values)
    if before == held == later:
        return None
    inside, outside = shown.type_of(name), shown.type_of(result)
    if held != later and (inside or outside):
        where, theirs = "after an iteration", later
    elif held != before and inside:
        where, theirs = "in the first iteration", before
    elif held != before and outside and not runs_at_least_once(None, decides):
        where, theirs = _without_iteration(decides), before
    else:
        return None
    return f"{where}, the type of", f"is {theirs} in Paddle and {held} here. Initialize as {later} in the network"


def _of_rank(shown: ShownValues, name: str, result: str, start: Output, decides: Output) -> tuple[str, str] | None:
    """The same of a number that is a tensor here before the first iteration."""
    rank = start.get_partial_shape().rank
    if rank.is_dynamic or rank == 0:
        return None
    count = rank.get_length()
    advice = f"Initialize with {count} dimensions in the network"
    if shown.rank_of(name, count):
        where = "in the first iteration"
    elif not runs_at_least_once(None, decides) and shown.rank_of(result, count):
        where = _without_iteration(decides)
        advice += "" if depends_on_data(decides.get_node()) else ", or fix the shapes of the inputs with `input`"
    else:
        return None
    return f"{where}, the rank of", f"is 0 in Paddle and {count} here (each dimension is 1). {advice}"


def _without_iteration(decides: Output) -> str:
    return f"where the loop has no iteration, as {inputs_behind(decides)} may decide"
