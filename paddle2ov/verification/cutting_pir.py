"""Parts of a PIR program, see `cutting.py`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from paddle2ov.program.dtypes import PIR_TYPES
from paddle2ov.program.files import ModelFiles
from paddle2ov.program.model import Operator, Program
from paddle2ov.verification.editing import Cut, Raw, without_arrays
from paddle2ov.verification.values import Values


def cut_operator(files: ModelFiles, operator: Operator, inputs: Collection[str], results: Sequence[str]) -> Cut | None:
    """See `extract` of `cutting.py`."""
    source, main = _read(files)
    ops: list[Raw] = main["ops"]
    wanted = ops[operator.index]
    makers, changing = _makers(ops), _input_dependent(ops)
    read = [value for value in _elements_read(wanted, makers) if value in changing]
    names = [name for values in operator.inputs.values() for name in values if name in inputs]
    if len(read) != len(names):
        return None
    before = _resolve(_operands(wanted), ops, dict(zip(read, names, strict=True)))
    ports = zip(operator.outputs.values(), wanted["O"], strict=False)
    made = {names[0]: value for names, value in ports if len(names) == 1}
    if before is None or any(name not in made or not _is_tensor(made[name]) for name in results):
        return None
    feeds, constants = before
    fetches = [_fetch(name, i, made[name], max(makers) + 1 + i) for i, name in enumerate(results)]
    main["ops"] = [*feeds.values(), *constants, wanted, *fetches]
    return Cut(source, _weights(main["ops"]))


def cut_body(values: Values, operator: Operator, block: int) -> Cut | None:
    """See `cut_body` of `cutting.py`."""
    program = values.program
    source, main = _read(values.files)
    ops: list[Raw] = main["ops"]
    inner = ops[operator.index]["regions"][block]["blocks"][0]
    arguments, body, last = list(inner.get("args", ())), list(inner["ops"]), inner["ops"][-1]
    is_loop = operator.type == "while"
    entering = operator.inputs["x"] if is_loop else []
    # Outer values that a loop writes in place come after its arguments.
    entering, beside = entering[: len(arguments)], entering[len(arguments) :]
    if last["#"] != "2.yield" or len(body) < 2 or not all(program.variables[name].is_array for name in beside if name):
        return None
    fresh = max((abs(value["%"]) for op in _walk(ops) for value in _results(op)), default=0) + 1
    arrays = {value["%"] for op in (*ops, *body) for value in _results(op) if _is_array(value)}
    arrays |= {argument["#"] for argument in arguments if _is_array(argument)}
    chosen = without_arrays(body[:-1], arrays, lambda op: (*_captured([op]), *_makers([op])), lambda op: _makers([op]))
    inside = [body[i] for i in chosen]
    yielded = list(_operands(last))
    used = {*_captured(inside), *yielded}
    feeds: list[Raw] = []
    first, ids = {}, {}
    for position, (argument, variable) in enumerate(zip(arguments, entering, strict=True), 1):
        if argument["#"] in used - arrays:  # one that is not used may have any shape
            name, ids[argument["#"]] = f"carried_{fresh}", fresh
            feeds.append(_feed(name, {"%": fresh, "TT": argument["TT"]}))
            first[position] = name, variable
            fresh += 1
    captured = {*_captured(inside), *_captured([last], _makers(body))} - arrays - ids.keys()
    known = _variables_read(operator).intersection(values.dynamic)
    before = _resolve(captured, ops, {value: name for value, name in _names(program, ops).items() if name in known})
    if before is None:
        return None
    outer_feeds, constants = before
    feeds += outer_feeds.values()
    kinds = {value["%"]: value for op in (*feeds, *ops, *body) for value in _results(op)}
    made, array_ops = _makers(inside), [op for i, op in enumerate(body[:-1]) if i not in chosen]
    leaving = [value for value in yielded if value not in arrays]
    leaving += [value for value in _captured(array_ops) if value in made]
    tensors = [value for value in (ids.get(value, value) for value in leaving) if _is_tensor(kinds[value])]
    results = {value: f"result_{i}" for i, value in enumerate(dict.fromkeys(tensors))}
    names = [results.get(ids.get(value, value), "") for value in yielded]
    if not results or (is_loop and not all(names[i] for i in (0, *first))):
        return None
    fetches = [_fetch(name, i, kinds[value], fresh + i) for i, (value, name) in enumerate(results.items())]
    for operand in (item for op in _walk(inside) for item in op.get("I", ())):
        operand["%"] = ids.get(operand["%"], operand["%"])  # no two values of a program have one id
    main["ops"] = [*feeds, *constants, *inside, *fetches]
    start = len(feeds) + len(constants)
    return Cut(
        source,
        _weights(constants),
        {name: name for feed in outer_feeds.values() for name in [feed["A"][0]["AT"]["D"]]},
        {name: (variable, names[position]) for position, (name, variable) in first.items()},
        names[0] if is_loop else "",
        {start + i: old for i, old in enumerate(chosen)},
    )


def _read(files: ModelFiles) -> tuple[Raw, Raw]:
    """A program and its main block."""
    source = json.loads(files.program.read_bytes())
    return source, source["program"]["regions"][0]["blocks"][0]


def _resolve(
    values: Iterable[int], ops: list[Raw], variables: Mapping[int, str]
) -> tuple[dict[int, Raw], list[Raw]] | None:
    """Feeds of those of the `variables` that must be given for a part to read `values`, and what makes the others.

    None where one that depends on the model's inputs cannot be given.
    """
    makers, changing = _makers(ops), _input_dependent(ops)
    feeds: dict[int, Raw] = {}
    kept: set[int] = set()
    seen: set[int] = set()
    waiting = sorted(values)
    while waiting:
        value = waiting.pop()
        if value in seen or value not in makers:  # an operand that is left out is 0
            continue
        seen.add(value)
        maker = makers[value]
        if value not in changing or (value not in variables and maker["#"] == "0.combine"):
            kept.add(id(maker))
            waiting += _operands(maker)
            continue
        result = next(result for result in _results(maker) if result["%"] == value)
        if not _is_tensor(result) or value not in variables:
            return None
        feeds[value] = _feed(variables[value], result)
    return feeds, [op for op in ops if id(op) in kept]


def _operands(op: Raw) -> Iterator[int]:
    return (item["%"] for item in op.get("I", ()))


def _results(op: Raw) -> list[Raw]:
    results = op.get("O", ())
    return [results] if isinstance(results, dict) else list(results)


def _makers(ops: Iterable[Raw]) -> dict[int, Raw]:
    return {value["%"]: op for op in ops for value in _results(op)}


def _elements_read(op: Raw, makers: Mapping[int, Raw]) -> Iterator[int]:
    """The values that an operator reads, the elements of lists one by one."""
    for value in _operands(op):
        maker = makers.get(value)
        if maker is not None and maker["#"] == "0.combine":
            yield from _elements_read(maker, makers)
        else:
            yield value


def _input_dependent(ops: Iterable[Raw]) -> set[int]:
    """The values that depend on the model's inputs."""
    changing: set[int] = set()
    for op in ops:
        if op["#"] in ("1.data", "1.feed") or op.get("regions") or not changing.isdisjoint(_operands(op)):
            changing.update(_makers([op]))
    return changing


def _weights(ops: Iterable[Raw]) -> set[str]:
    return {op["A"][-1] for op in ops if op["#"] == "p"}


def _is_tensor(value: Raw) -> bool:
    return bool(value["TT"]["#"] == "0.t_dtensor")


def _is_array(value: Raw) -> bool:
    return str(value.get("TT", {}).get("#", "")).endswith("_array")


def _blocks(op: Raw) -> Iterator[Raw]:
    return (block for region in op.get("regions", ()) for block in region["blocks"])


def _walk(ops: Iterable[Raw]) -> Iterator[Raw]:
    for op in ops:
        yield op
        for block in _blocks(op):
            yield from _walk(block["ops"])


def _captured(ops: Iterable[Raw], outside: Collection[int] = ()) -> Iterator[int]:
    """The values that operators read and that neither they make nor `outside` holds."""
    made = set(outside)
    for op in ops:
        yield from (value for value in _operands(op) if value not in made)
        for block in _blocks(op):
            yield from _captured(block["ops"], made | {argument["#"] for argument in block.get("args", ())})
        made.update(_makers([op]))


def _names(program: Program, ops: list[Raw]) -> dict[int, str]:
    """The variables of the values of the main block that are one tensor each."""
    names: dict[int, str] = {}
    operators = {operator.index: operator for operator in program.block.operators}
    for position, op in enumerate(ops):
        values = _results(op)
        if op["#"] in ("1.data", "1.feed"):
            names[values[0]["%"]] = next(item["AT"]["D"] for item in op["A"] if item["N"] == "name")
        elif position in operators:
            ports = list(operators[position].outputs.values())
            ports = [[name] for name in ports[0]] if op.get("regions") else ports
            names |= {value["%"]: port[0] for value, port in zip(values, ports, strict=False) if len(port) == 1}
    return names


def _variables_read(operator: Operator) -> set[str]:
    """The variables that the blocks read, not under another name because something was written to them in place."""
    return {
        name
        for block in operator.blocks
        for inner in (*block.walk(), operator)
        for name in (*inner.input_names(), *block.outputs)
    }


def _feed(name: str, value: Raw) -> Raw:
    """An operator that makes a value an input; its name is its first attribute."""
    kind, shape = value["TT"]["D"][:2]
    attributes: dict[str, Raw] = {
        "name": {"#": "0.a_str", "D": name},
        "shape": {"#": "1.a_intarray", "D": shape},
        "dtype": {"#": "1.a_dtype", "D": PIR_TYPES[kind["#"].removeprefix("0.")]},
        "place": {"#": "1.a_place", "D": [0, 0, ""]},
    }
    return _op("1.data", attributes, [], [value])


def _fetch(name: str, column: int, value: Raw, new: int) -> Raw:
    """An operator that makes a value a result; `new` is an id that no other value has."""
    attributes: dict[str, Raw] = {"name": {"#": "0.a_str", "D": name}, "col": {"#": "0.a_i32", "D": column}}
    return _op("1.fetch", attributes, [{"%": value["%"]}], [{**value, "%": new}])


def _op(name: str, attributes: Mapping[str, Raw], operands: list[Raw], results: list[Raw]) -> Raw:
    return {
        "#": name,
        "A": [{"N": key, "AT": value} for key, value in attributes.items()],
        "I": operands,
        "O": results,
        "OA": [{"N": "stop_gradient", "AT": {"#": "0.a_array", "D": [{"#": "0.a_bool", "D": True}]}}],
    }
