"""Mutations of PIR programs, as trees of JSON.

Each takes random numbers, the tree, which it changes, and the tree of another program to take pieces from.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import msgspec

from tools.mutation import extremes

Tree = dict[str, Any]
Mutation = Callable[[Random, Tree, Tree], None]

_DTYPE_IDS = (
    "t_bool",
    "t_ui8",
    "t_i8",
    "t_i16",
    "t_i32",
    "t_i64",
    "t_f16",
    "t_f32",
    "t_f64",
    "t_bf16",
    "t_c64",
    "t_c128",
    "t_none",
)
_ENDS = ("1.data", "1.fetch", "p", "0.parameter")


def blocks(tree: Tree) -> Iterator[Tree]:
    """All blocks, outermost first."""
    waiting = [block for region in tree["program"]["regions"] for block in region["blocks"]]
    while waiting:
        block = waiting.pop(0)
        yield block
        waiting += [one for op in block["ops"] for region in op.get("regions", ()) for one in region["blocks"]]


def operators(tree: Tree) -> list[Tree]:
    return [op for block in blocks(tree) for op in block["ops"]]


def computing(tree: Tree) -> list[Tree]:
    """The operators that are not inputs, results or parameters."""
    every = operators(tree)
    return [op for op in every if op["#"] not in _ENDS] or every


def results(op: Tree) -> list[Tree]:
    given = op.get("O", [])
    return given if isinstance(given, list) else [given]


def values(tree: Tree) -> list[int]:
    """The ids of all values that are defined."""
    found = [one["%"] for op in operators(tree) for one in results(op) if "%" in one]
    return found + [one["#"] for block in blocks(tree) for one in block.get("args", ()) if "#" in one] or [1]


# Operators


def drop_operator(rng: Random, tree: Tree, other: Tree) -> None:
    ops = rng.choice(list(blocks(tree)))["ops"]
    if ops:
        del ops[rng.randrange(len(ops))]


def repeat_operator(rng: Random, tree: Tree, other: Tree) -> None:
    ops = rng.choice(list(blocks(tree)))["ops"]
    if ops:
        place = rng.randrange(len(ops))
        again = copy.deepcopy(ops[place])
        if rng.random() < 0.7:
            for one in results(again):
                one["%"] = max(values(tree)) + 1
        ops.insert(rng.randint(0, len(ops)), again)


def swap_operators(rng: Random, tree: Tree, other: Tree) -> None:
    ops = rng.choice(list(blocks(tree)))["ops"]
    if len(ops) > 1:
        a, b = rng.sample(range(len(ops)), 2)
        ops[a], ops[b] = ops[b], ops[a]


def rename_operator(rng: Random, tree: Tree, other: Tree) -> None:
    """Another operator's name, with the operands and attributes as they are."""
    rng.choice(computing(tree))["#"] = rng.choice(operators(other))["#"]


def foreign_operator(rng: Random, tree: Tree, other: Tree) -> None:
    """An operator of another program, in place of one or before it, on values of this one."""
    ops = rng.choice(list(blocks(tree)))["ops"]
    known = values(tree)
    op = copy.deepcopy(rng.choice(computing(other)))
    place = rng.randint(0, max(len(ops) - 1, 0))
    op["I"] = [{"%": rng.choice(known)} for _ in op.get("I", ())]
    fresh = max(known)
    replaced = results(ops[place]) if ops else []
    takes = rng.random() < 0.6
    for position, one in enumerate(results(op)):
        fresh += 1
        one["%"] = (
            replaced[position]["%"] if takes and position < len(replaced) and "%" in replaced[position] else fresh
        )
    ops[place : place + takes] = [op]


# Operands and results


def retarget_operand(rng: Random, tree: Tree, other: Tree) -> None:
    ops = [op for op in operators(tree) if op.get("I")]
    if ops:
        op = rng.choice(ops)
        known = values(tree)
        odd = (0, -1, max(known) + 1, 2**31, 2**63 - 1, *(one.get("%", 0) for one in results(op)))
        op["I"][rng.randrange(len(op["I"]))] = {"%": rng.choice(known if rng.random() < 0.75 else odd)}


def swap_operands(rng: Random, tree: Tree, other: Tree) -> None:
    ops = [op for op in operators(tree) if len(op.get("I", ())) > 1]
    if ops:
        rng.shuffle(rng.choice(ops)["I"])


def drop_operand(rng: Random, tree: Tree, other: Tree) -> None:
    ops = [op for op in operators(tree) if op.get("I")]
    if ops:
        operands = rng.choice(ops)["I"]
        if rng.random() < 0.5:
            del operands[rng.randrange(len(operands))]
        else:
            operands[rng.randrange(len(operands))] = {"%": 0}


def add_operand(rng: Random, tree: Tree, other: Tree) -> None:
    op = rng.choice(operators(tree))
    count = rng.choice((1, 1, 2, 10, 1000))
    op.setdefault("I", []).extend({"%": one} for one in rng.choices(values(tree), k=count))


def change_results(rng: Random, tree: Tree, other: Tree) -> None:
    op = rng.choice(operators(tree))
    given = results(op)
    draw = rng.random()
    if given and draw < 0.4:
        del given[rng.randrange(len(given))]
    elif given and draw < 0.6:
        rng.choice(given)["%"] = rng.choice((*values(tree), 0, -1, 2**63 - 1))
    else:
        given.append(copy.deepcopy(rng.choice(given)) if given else {"%": max(values(tree)) + 1})
    op["O"] = given


# Types and shapes


def _tensors(tree: Tree) -> list[list[Any]]:
    """The data of all tensor types that are written."""
    found: list[list[Any]] = []
    for op in operators(tree):
        for one in results(op):
            kind = one.get("TT")
            waiting = [kind] if isinstance(kind, dict) else []
            while waiting:
                kind = waiting.pop()
                if not isinstance(kind, dict) or not isinstance(kind.get("D"), list):
                    continue
                if kind["#"].endswith("t_vec"):
                    waiting += kind["D"]
                else:
                    found.append(kind["D"])
    return found


def change_shape(rng: Random, tree: Tree, other: Tree) -> None:
    tensors = [one for one in _tensors(tree) if len(one) > 1 and isinstance(one[1], list)]
    if tensors:
        one = rng.choice(tensors)
        one[1] = extremes.shape(rng, one[1])


def change_input_shape(rng: Random, tree: Tree, other: Tree) -> None:
    """What is declared of an input, and what its operator says."""
    inputs = [op for op in operators(tree) if op["#"] == "1.data"]
    if inputs:
        op = rng.choice(inputs)
        for one in results(op):
            kind = one.get("TT")
            if isinstance(kind, dict) and isinstance(kind.get("D"), list) and len(kind["D"]) > 1:
                kind["D"][1] = dims = extremes.shape(rng, kind["D"][1] if isinstance(kind["D"][1], list) else [])
                for attribute in _attributes(op):
                    if attribute["N"] == "shape":
                        attribute["AT"]["D"] = dims


def change_dtype(rng: Random, tree: Tree, other: Tree) -> None:
    tensors = [one for one in _tensors(tree) if one and isinstance(one[0], dict)]
    if tensors:
        rng.choice(tensors)[0]["#"] = "0." + rng.choice(_DTYPE_IDS)


def change_kind(rng: Random, tree: Tree, other: Tree) -> None:
    """A tensor becomes a vector, an array, nothing; and the other way round."""
    ops = [op for op in operators(tree) if results(op)]
    if ops:
        one = rng.choice(results(rng.choice(ops)))
        kind = one.get("TT")
        draw = rng.choice(("vector", "array", "rows", "none", "missing", "other"))
        if draw == "vector":
            one["TT"] = {"#": "0.t_vec", "D": [kind] * rng.choice((0, 1, 2, 1000))}
        elif draw in ("array", "rows") and isinstance(kind, dict):
            kind["#"] = "1.t_dense_tensor_array" if draw == "array" else "1.t_selected_rows"
        elif draw == "none":
            one["TT"] = {"#": "NULL"}
        elif draw == "missing":
            one.pop("TT", None)
        else:
            donors = [result for op in operators(other) for result in results(op) if "TT" in result]
            if donors:
                one["TT"] = copy.deepcopy(rng.choice(donors)["TT"])


# Attributes


def _attributes(op: Tree) -> list[Tree]:
    return [one for one in op.get("A", ()) if isinstance(one, dict) and isinstance(one.get("AT"), dict) and "N" in one]


def _scalar(rng: Random, kind: str) -> Tree:
    """An attribute of a kind, at an extreme."""
    name = kind.rpartition(".")[2]
    if name in ("a_f32", "a_f64"):
        value = extremes.number(rng)
        if not math.isfinite(value):
            return {"#": kind, "VD": "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"}
        return {"#": kind, "D": value}
    if name in ("a_i32", "a_i64", "a_index", "a_ui8", "a_i16"):
        return {"#": kind, "D": extremes.integer(rng) if rng.random() < 0.95 else rng.choice(extremes.BEYOND)}
    if name == "a_bool":
        return {"#": kind, "D": rng.random() < 0.5}
    if name == "a_dtype":
        return {"#": kind, "D": rng.choice((*extremes.DTYPES, "UNDEFINED", "pstring", "int4", ""))}
    if name == "a_str":
        return {"#": kind, "D": extremes.text(rng)}
    if name in ("a_c64", "a_c128"):
        return {"#": kind, "D": [rng.choice((0.0, 1e300)), extremes.integer(rng)]}
    if name == "a_place":
        return {"#": kind, "D": rng.choice(([], [0], None, "cpu", [2**63, 0, ""]))}
    return {"#": kind, "D": rng.choice((None, 0, "", [], {}))}


def _extreme(rng: Random, given: Tree) -> Tree:
    kind = str(given.get("#"))
    data = given.get("D")
    if kind.endswith("a_array") and isinstance(data, list):
        inner = (
            str(data[0].get("#"))
            if data and isinstance(data[0], dict)
            else rng.choice(("0.a_i32", "0.a_i64", "0.a_f32"))
        )
        return {"#": kind, "D": extremes.resized(rng, data, lambda: _scalar(rng, inner))}
    if kind.endswith("a_intarray") and isinstance(data, list):
        return {"#": kind, "D": extremes.resized(rng, data, lambda: extremes.integer(rng))}
    if kind.endswith(("a_i32", "a_i64")) and isinstance(data, int) and rng.random() < 0.2:
        return {"#": kind, "D": extremes.near(rng, data)}
    return _scalar(rng, kind)


_KINDS = (
    "0.a_i32",
    "0.a_i64",
    "0.a_f32",
    "0.a_f64",
    "0.a_bool",
    "0.a_str",
    "1.a_dtype",
    "0.a_c64",
    "1.a_place",
    "0.a_type",
)


def _of_other_kind(rng: Random) -> Tree:
    kind = rng.choice(_KINDS)
    draw = rng.random()
    if draw < 0.6:
        return _scalar(rng, kind)
    if draw < 0.8:
        return {"#": "0.a_array", "D": [_scalar(rng, kind) for _ in range(rng.choice(extremes.LENGTHS[:6]))]}
    if draw < 0.9:
        return {"#": "1.a_intarray", "D": [extremes.integer(rng) for _ in range(rng.choice(extremes.LENGTHS[:6]))]}
    return {"#": "1.a_scalar", "D": [rng.choice(extremes.DTYPES), rng.choice((1, -1, 2**40, "NaN", 0.5, True, [1, 2]))]}


def change_attribute(rng: Random, tree: Tree, other: Tree) -> None:
    ops = [op for op in computing(tree) if _attributes(op)]
    if ops:
        one = rng.choice(_attributes(rng.choice(ops)))
        draw = rng.random()
        one["AT"] = _extreme(rng, one["AT"]) if draw < 0.85 else _of_other_kind(rng)


def drop_attribute(rng: Random, tree: Tree, other: Tree) -> None:
    ops = [op for op in computing(tree) if op.get("A")]
    if ops:
        op = rng.choice(ops)
        if rng.random() < 0.8:
            del op["A"][rng.randrange(len(op["A"]))]
        else:
            op["A"] = []


def add_attribute(rng: Random, tree: Tree, other: Tree) -> None:
    """An attribute of another operator, or one with the name of another."""
    donors = [one for op in operators(other) for one in _attributes(op)]
    if donors:
        given = copy.deepcopy(rng.choice(donors))
        op = rng.choice(computing(tree))
        own = _attributes(op)
        if own and rng.random() < 0.5:
            given["N"] = rng.choice(own)["N"]
        op.setdefault("A", []).insert(0, given)


# Constants


def input_to_constant(rng: Random, tree: Tree, other: Tree) -> None:
    """An input becomes a constant, so that what follows is folded."""
    inputs = [op for op in operators(tree) if op["#"] == "1.data"]
    if not inputs:
        return
    for op in inputs if rng.random() < 0.5 else [rng.choice(inputs)]:
        named = {one["N"]: one["AT"] for one in _attributes(op)}
        dims = [
            abs(one) if isinstance(one, int) and abs(one) < 100 else 2 for one in named.get("shape", {}).get("D") or []
        ]
        if rng.random() < 0.3:
            dims = [one if one in (0, 1, 2, 3, -1) else 2 for one in extremes.shape(rng, dims)][:8]
        dtype = named.get("dtype", {}).get("D", "float32")
        is_float = "float" in str(dtype)
        number = _scalar(rng, "0.a_f64") if is_float else {"#": "0.a_f64", "D": float(extremes.integer(rng))}
        place = {"#": "1.a_place", "D": [1, 0, ""]}
        if rng.random() < 0.6:
            op["#"] = "1.full"
            given = {"shape": {"#": "1.a_intarray", "D": dims}, "value": number}
        else:
            op["#"] = "1.assign_value"
            kind = "0.a_f64" if is_float else "0.a_i64"
            count = min(math.prod(dims), 1000)
            given = {
                "shape": {"#": "0.a_array", "D": [{"#": "0.a_i32", "D": one} for one in dims]},
                "values": {"#": "0.a_array", "D": [_scalar(rng, kind) for _ in range(max(count, 0))]},
            }
        op["A"] = [
            {"N": name, "AT": one}
            for name, one in (given | {"dtype": {"#": "1.a_dtype", "D": dtype}, "place": place}).items()
        ]
        for one in results(op):
            declared = one.get("TT")
            if isinstance(declared, dict) and isinstance(declared.get("D"), list) and len(declared["D"]) > 1:
                declared["D"][1] = dims


_CONSTANTS = (
    "1.full",
    "1.full_int_array",
    "1.assign_value",
    "1.assign_value_",
    "1.full_with_tensor",
    "1.arange",
    "1.linspace",
)


def change_constant(rng: Random, tree: Tree, other: Tree) -> None:
    ops = [op for op in operators(tree) if op["#"] in _CONSTANTS and _attributes(op)]
    if not ops:
        input_to_constant(rng, tree, other)
        return
    one = rng.choice(
        [one for one in _attributes(rng.choice(ops)) if one["N"] in ("value", "values", "shape", "dtype")]
        or [{"AT": {}}]
    )
    if one["AT"]:
        one["AT"] = _extreme(rng, one["AT"])


# Blocks


def nest(rng: Random, tree: Tree, other: Tree) -> None:
    """A block inside an operator that has none, or one more in one that has."""
    op = rng.choice(operators(tree))
    block = copy.deepcopy(rng.choice([*blocks(tree), *blocks(other)]))
    if len(block["ops"]) > 50:
        return
    draw = rng.random()
    if draw < 0.3:
        op["#"] = rng.choice(("1.if", "1.while"))
    region = {"#": "region_0", "blocks": [block]}
    if draw < 0.5:
        op.setdefault("regions", []).append(region)
    else:
        op["regions"] = [copy.deepcopy(region) for _ in range(rng.choice((1, 2, 3)))]


def change_regions(rng: Random, tree: Tree, other: Tree) -> None:
    owners = [op for op in operators(tree) if op.get("regions")]
    if not owners:
        nest(rng, tree, other)
        return
    regions = rng.choice(owners)["regions"]
    draw = rng.random()
    if draw < 0.2:
        del regions[rng.randrange(len(regions))]
    elif draw < 0.4:
        rng.shuffle(regions)
    elif draw < 0.6:
        regions.append(copy.deepcopy(rng.choice(regions)))
    elif draw < 0.8:
        inside = [block for region in regions for block in region["blocks"]]
        if inside:
            block = rng.choice(inside)
            block["args"] = [*block.get("args", []), {"#": -max(values(tree)) - 1}] if rng.random() < 0.5 else []
    else:
        inside = [op for region in regions for block in region["blocks"] for op in block["ops"] if op["#"] == "2.yield"]
        if inside:
            op = rng.choice(inside)
            op["I"] = [] if rng.random() < 0.5 else [*op.get("I", []), {"%": rng.choice(values(tree))}]


# Anything


def _places(node: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one))
        for key in keys:
            found.append((one, key))
            if isinstance(one[key], dict | list):
                waiting.append(one[key])
    return found


def change_any(rng: Random, tree: Tree, other: Tree) -> None:
    """Any value of the tree becomes another."""
    holder, key = rng.choice(_places(tree))
    draw = rng.random()
    if draw < 0.15:
        del holder[key]
    elif draw < 0.35:
        donor, place = rng.choice(_places(other))
        holder[key] = copy.deepcopy(donor[place])
    elif draw < 0.5:
        donor, place = rng.choice(_places(tree))
        holder[key] = copy.deepcopy(donor[place])
    elif draw < 0.6 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif draw < 0.65 and isinstance(holder, list):
        holder[key:key] = [holder[key]] * rng.choice((10, 100, 1000))
    else:
        holder[key] = rng.choice(
            (
                None,
                True,
                False,
                0,
                -1,
                1,
                0.5,
                1e300,
                "",
                "x",
                [],
                {},
                [[]],
                [0],
                {"#": ""},
                {"%": 0},
                *extremes.INTS,
                *extremes.BEYOND,
            )
        )


# Bombs


def combine_bomb(rng: Random, tree: Tree, other: Tree) -> None:
    """A combine of a combine of a combine, each twice: names double with every level."""
    block = next(blocks(tree))
    known = values(tree)
    last, fresh = rng.choice(known), max(known)
    bomb = []
    times = rng.choice((2, 2, 3, 10))
    for _ in range(rng.choice((4, 12, 28, 60, 1000))):
        fresh += 1
        bomb.append(
            {
                "#": "0.combine",
                "A": [],
                "I": [{"%": last}] * times,
                "O": [{"%": fresh, "TT": {"#": "0.t_vec", "D": []}}],
            }
        )
        last = fresh
    place = rng.randint(0, len(block["ops"]))
    block["ops"][place:place] = bomb
    if rng.random() < 0.7:
        later = [op for op in block["ops"][place + len(bomb) :] if op.get("I")]
        if later:
            operands = rng.choice(later)["I"]
            operands[rng.randrange(len(operands))] = {"%": last}


def chain_bomb(rng: Random, tree: Tree, other: Tree) -> None:
    """An operator many times, each on the result of the last in every operand."""
    every = [
        (block, op)
        for block in blocks(tree)
        for op in block["ops"]
        if op.get("I") and results(op) and op["#"] not in _ENDS
    ]
    if not every:
        return
    block, op = rng.choice(every)
    place = next(i for i, one in enumerate(block["ops"]) if one is op) + 1
    fresh = max(values(tree))
    last = results(op)[0].get("%", 1)
    chain = []
    for _ in range(rng.choice((3, 10, 40, 150))):
        again = copy.deepcopy(op)
        again["I"] = [{"%": last} for _ in op["I"]] if rng.random() < 0.5 else [{"%": last}, *op["I"][1:]]
        for one in results(again):
            fresh += 1
            one["%"] = fresh
        last = results(again)[0]["%"]
        chain.append(again)
    block["ops"][place:place] = chain
    for later in block["ops"][place + len(chain) :]:
        if later["#"] == "1.fetch" and later.get("I"):
            later["I"][0] = {"%": last}


def deep_nesting(rng: Random, tree: Tree, other: Tree) -> None:
    """Blocks in blocks, or lists in lists."""
    depth = rng.choice((5, 20, 60, 200, 1000, 20_000))
    if rng.random() < 0.6:
        block = next(blocks(tree))
        value = rng.choice(values(tree))
        op: Tree = {"#": rng.choice(("1.if", "1.while")), "A": [], "I": [{"%": value}], "regions": "@"}
        op["O"] = [
            {"%": max(values(tree)) + 1, "TT": {"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, [1], "NCHW", [], 0]}}
        ]
        inner = [{"#": "r", "blocks": [{"#": "b", "args": [], "ops": [op]}]}]
        before, after = json.dumps(inner).split('"@"')
        text = before * depth + "[]" + after * depth
        block["ops"].append({**op, "regions": msgspec.Raw(text.encode())})
    else:
        holder, key = rng.choice(_places(tree))
        before, after = rng.choice((("[", "]"), ('{"#":"0.a_array","D":[', "]}")))
        holder[key] = msgspec.Raw((before * depth + "1" + after * depth).encode())


FAMILIES: dict[str, tuple[Mutation, ...]] = {
    "attributes": (*[change_attribute] * 12, drop_attribute, add_attribute),
    "constants": (input_to_constant, input_to_constant, change_constant),
    "operands": (retarget_operand, retarget_operand, swap_operands, drop_operand, add_operand, change_results),
    "operators": (
        drop_operator,
        repeat_operator,
        swap_operators,
        rename_operator,
        rename_operator,
        foreign_operator,
        foreign_operator,
    ),
    "types": (change_dtype, change_dtype, change_kind),
    "shapes": (change_shape, change_input_shape, change_input_shape),
    "blocks": (nest, change_regions),
    "any value": (change_any,),
    "growth": (combine_bomb, chain_bomb, deep_nesting),
}


def parse(content: bytes) -> Tree:
    tree: Tree = json.loads(content)
    return tree


def known(content: bytes) -> bytes:
    """The file as this module writes it."""
    return render(parse(content))


def render(tree: Tree) -> bytes:
    return msgspec.json.encode(tree)
