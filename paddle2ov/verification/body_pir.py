"""A block of an `if` or a `while` of a PIR program as a model of its own, see `body.py`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from paddle2ov.program.files import ModelFiles, find_model
from paddle2ov.program.model import Operator, Program
from paddle2ov.verification.body import BodyModel
from paddle2ov.verification.editing import Raw, feed_op, fetch_op, input_dependent, read_pir, values_of, write_model


def write_body(
    folder: Path, files: ModelFiles, program: Program, operator: Operator, block: int, dynamic: Collection[str]
) -> BodyModel | None:
    """Writes the model of a block to `folder`.

    Args:
        folder: where to write; it exists.
        files: the files of the model around it.
        program: the same, read.
        operator: an `if` or `while` of its main block.
        block: which of its blocks.
        dynamic: the variables that depend on the model's inputs.

    Returns:
        None where the block cannot stand alone: it is empty, the loop condition depends on tensor arrays, or it
        writes in place to an outer value.
    """
    source, main = read_pir(files.program)
    ops: list[Raw] = main["ops"]
    owner = ops[operator.index]
    inner = owner["regions"][block]["blocks"][0]
    arguments, body, last = list(inner.get("args", ())), list(inner["ops"]), inner["ops"][-1]
    is_loop = operator.type == "while"
    entering = operator.inputs["x"] if is_loop else []
    # Outer values that a loop writes in place come after its arguments.
    entering, beside = entering[: len(arguments)], entering[len(arguments) :]
    if last["#"] != "2.yield" or len(body) < 2 or not all(program.variables[name].is_array for name in beside if name):
        return None
    new = _FreshIds(ops)
    feeds: list[Raw] = []
    state, ids = {}, {}
    arrays = {value["%"] for op in ops for value in values_of(op) if _is_array(value)}
    arrays |= {one["#"] for one in arguments if _is_array(one)}
    chosen = _without_arrays(body[:-1], arrays)
    inside = [body[i] for i in chosen]
    used = {*_captured(inside), *(item["%"] for item in last["I"])}
    for position, (argument, variable) in enumerate(zip(arguments, entering, strict=True), 1):
        if argument["#"] in used - arrays:  # one that is not used may have any shape
            ids[argument["#"]] = number = new()
            feeds.append(feed_op(f"carried_{number}", {"%": number, "TT": argument["TT"]}))
            state[position] = f"carried_{number}", variable
    captured = {*_captured(inside), *_captured([last], _defined(body))} - arrays - ids.keys()
    known = _read(operator).intersection(dynamic)
    variables = {value: name for value, name in _names(program, ops).items() if name in known}
    outside = _resolve_captured(captured, ops, variables)
    if outside is None:
        return None
    given, constants = outside
    feeds += [feed_op(variable, kind) for variable, kind in given.items()]
    kinds = {value["%"]: value for op in (*feeds, *ops, *body) for value in values_of(op)}
    results: dict[int, str] = {}
    leaving = [item["%"] for item in last["I"] if item["%"] not in arrays]
    leaving += _made_for_array_ops(body[:-1], chosen)
    for value in (ids.get(one, one) for one in leaving):
        if kinds[value]["TT"]["#"] == "0.t_dtensor":
            results.setdefault(value, f"result_{len(results)}")
    fetches = [fetch_op(name, i, kinds[value], new()) for i, (value, name) in enumerate(results.items())]
    before = [*feeds, *constants]
    main["ops"] = [*before, *_renumbered(inside, ids), *fetches]
    yielded = [results.get(ids.get(item["%"], item["%"]), "") for item in last["I"]]
    if not results or (is_loop and not all(yielded[i] for i in (0, *state))):
        return None
    weights = {op["A"][-1] for op in before if op["#"] == "p"}
    target = write_model(folder, source, weights, program)
    carried = {name: (first, yielded[position]) for position, (name, first) in state.items()}
    positions = {len(before) + i: old for i, old in enumerate(chosen)}
    condition = yielded[0] if is_loop else ""
    return BodyModel(find_model(target), {name: name for name in given}, positions, carried, condition)


def _resolve_captured(
    captured: Iterable[int], ops: list[Raw], variables: Mapping[int, str]
) -> tuple[dict[str, Raw], list[Raw]] | None:
    """How the values that a block captures are obtained.

    Args:
        captured: the values.
        ops: the operators around the block.
        variables: value -> variable, of those that can be given.

    Returns:
        What must be given (variable -> value), and the operators that make the others, in their order; None where one
        that depends on the model's inputs cannot be given.
    """
    makers = {value["%"]: op for op in ops for value in values_of(op)}
    changing = input_dependent(ops)
    given: dict[str, Raw] = {}
    constants: set[int] = set()
    seen: set[int] = set()
    waiting = sorted(captured)
    while waiting:
        value = waiting.pop()
        maker = makers.get(value)
        if value in seen or maker is None:
            continue
        seen.add(value)
        if value not in changing:
            constants.add(id(maker))
            waiting += [item["%"] for item in maker.get("I", ())]
            continue
        kind = next(one for one in values_of(maker) if one["%"] == value)
        if kind["TT"]["#"] != "0.t_dtensor" or value not in variables:
            return None
        given[variables[value]] = kind
    return given, [op for op in ops if id(op) in constants]


class _FreshIds:
    """Generates value ids that the program does not use."""

    def __init__(self, ops: Iterable[Raw]) -> None:
        self._last = max((abs(value["%"]) for op in _walk(ops) for value in values_of(op)), default=0)

    def __call__(self) -> int:
        self._last += 1
        return self._last


def _walk(ops: Iterable[Raw]) -> Iterator[Raw]:
    for op in ops:
        yield op
        for region in op.get("regions", ()):
            for block in region["blocks"]:
                yield from _walk(block["ops"])


def _is_array(value: Raw) -> bool:
    return str(value.get("TT", {}).get("#", "")).endswith("_array")


def _defined(ops: Iterable[Raw]) -> set[int]:
    return {value["%"] for op in ops for value in values_of(op)}


def _without_arrays(ops: list[Raw], arrays: set[int]) -> list[int]:
    """The positions of operators that work without arrays; the results of the others are added to `arrays`."""
    found = []
    for position, op in enumerate(ops):
        if not arrays.isdisjoint(_captured([op])) or any(_is_array(value) for value in values_of(op)):
            arrays |= _defined([op])
        else:
            found.append(position)
    return found


def _made_for_array_ops(ops: list[Raw], chosen: Collection[int]) -> list[int]:
    """The values that the chosen operators compute and the others, which work with arrays, read."""
    made = _defined([ops[i] for i in chosen])
    return [one for i, op in enumerate(ops) if i not in chosen for one in _captured([op]) if one in made]


def _captured(ops: Iterable[Raw], outside: Collection[int] = ()) -> Iterator[int]:
    """The values that operators read and that neither they make nor `outside` holds."""
    made = set(outside)
    for op in ops:
        yield from (item["%"] for item in op.get("I", ()) if item["%"] not in made)
        for region in op.get("regions", ()):
            for block in region["blocks"]:
                yield from _captured(block["ops"], made | {one["#"] for one in block.get("args", ())})
        made.update(value["%"] for value in values_of(op))


def _renumbered(ops: Iterable[Raw], ids: Mapping[int, int]) -> list[Raw]:
    """The operators with other value ids; an inner block may define an id again."""
    found = []
    for op in ops:
        op = {**op, "I": [{**item, "%": ids.get(item["%"], item["%"])} for item in op.get("I", ())]}
        if op.get("regions"):
            op["regions"] = [
                {**region, "blocks": [_renumbered_block(block, ids) for block in region["blocks"]]}
                for region in op["regions"]
            ]
        found.append(op)
    return found


def _renumbered_block(block: Raw, ids: Mapping[int, int]) -> Raw:
    own = {one["#"] for one in block.get("args", ())}
    return {**block, "ops": _renumbered(block["ops"], {old: new for old, new in ids.items() if old not in own})}


def _names(program: Program, ops: list[Raw]) -> dict[int, str]:
    """The variables of the values of the main block that are one tensor each."""
    found = {}
    operators = {one.index: one for one in program.block.operators}
    for position, op in enumerate(ops):
        values = values_of(op)
        if op["#"] in ("1.data", "1.feed"):
            found[values[0]["%"]] = next(item["AT"]["D"] for item in op["A"] if item["N"] == "name")
        elif position in operators:
            ports = list(operators[position].outputs.values())
            names = [[name] for name in ports[0]] if op.get("regions") else ports
            found |= {value["%"]: one[0] for value, one in zip(values, names, strict=False) if len(one) == 1}
    return found


def _read(operator: Operator) -> set[str]:
    """The variables that the blocks read, not under another name because something was written to them in place."""
    return {
        name
        for block in operator.blocks
        for inner in (*block.walk(), operator)
        for name in (*inner.input_names(), *block.outputs)
    }
