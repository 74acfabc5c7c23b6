"""Mutations of PIR programs, as trees of JSON."""

from __future__ import annotations

import copy
import json
import math
from random import Random
from typing import Any

import msgspec

from tools.mutation import extremes
from tools.mutation.structure import Format, Mutation, Tree, alter

_DTYPE_IDS = ("bool", "ui8", "i8", "i16", "i32", "i64", "f16", "f32", "f64", "bf16", "c64", "c128", "none")
_CONSTANTS = ("full", "full_int_array", "assign_value", "assign_value_", "full_with_tensor", "arange", "linspace")
_KINDS = (
    *("0.a_i32", "0.a_i64", "0.a_f32", "0.a_f64", "0.a_bool", "0.a_str", "1.a_dtype", "0.a_c64", "1.a_place"),
    "0.a_type",
)


class Pir(Format):
    """What is where in a PIR program."""

    kind, attributes, name, input = "#", "A", "N", "1.data"
    ends = ("1.data", "1.fetch", "p", "0.parameter")

    def parse(self, content: bytes) -> Tree:
        tree: Tree = json.loads(content)
        for op in self.operators(tree):
            if isinstance(op.get("O"), dict):
                op["O"] = [op["O"]]
        return tree

    def render(self, tree: Tree) -> bytes:
        return msgspec.json.encode(tree)

    def blocks(self, tree: Tree) -> list[Tree]:
        blocks = [block for region in tree["program"]["regions"] for block in region["blocks"]]
        for block in blocks:
            blocks += [inner for op in block["ops"] for region in op.get("regions", ()) for inner in region["blocks"]]
        return blocks

    def operands(self, op: Tree) -> list[list[Any]]:
        return [op.setdefault("I", [])]

    def results(self, op: Tree) -> list[list[Any]]:
        return [op.setdefault("O", [])]

    def _ids(self, tree: Tree) -> list[int]:
        """The ids of all values that are defined."""
        ids = [result["%"] for op in self.operators(tree) for result in op.get("O", ()) if "%" in result]
        return ids + [item["#"] for block in self.blocks(tree) for item in block.get("args", ()) if "#" in item] or [1]

    def values(self, tree: Tree) -> list[Any]:
        return [{"%": number} for number in self._ids(tree)]

    def odd_values(self, tree: Tree) -> tuple[Any, ...]:
        return tuple({"%": number} for number in (0, -1, max(self._ids(tree)) + 1, 2**31, 2**63 - 1))

    def renew(self, tree: Tree, op: Tree) -> None:
        for fresh, result in enumerate(op.get("O", ()), max(self._ids(tree)) + 1):
            result["%"] = fresh

    def as_operand(self, result: Any) -> Any:
        return {"%": result["%"]}

    def types(self, tree: Tree) -> list[Tree]:
        kinds = []
        waiting = [result.get("TT") for op in self.operators(tree) for result in op.get("O", ())]
        for kind in waiting:
            if isinstance(kind, dict) and isinstance(kind.get("D"), list):
                if kind["#"].endswith("t_vec"):
                    waiting += kind["D"]
                else:
                    kinds.append(kind)
        return kinds

    def dims(self, kind: Tree) -> list[int]:
        dims: list[int] = kind["D"][1]
        return dims

    def input_type(self, tree: Tree, op: Tree) -> Tree:
        kind: Tree = op["O"][0]["TT"]
        return kind

    def declare(self, op: Tree, dims: list[int], shape: list[int]) -> None:
        dims[:] = shape
        for attribute in op["A"]:
            if attribute["N"] == "shape":
                attribute["AT"]["D"] = shape

    def set_dtype(self, rng: Random, kind: Tree) -> None:
        kind["D"][0]["#"] = f"0.t_{rng.choice(_DTYPE_IDS)}"

    def make_extreme(self, rng: Random, attribute: Tree) -> None:
        attribute["AT"] = _extreme(rng, attribute["AT"]) if rng.random() < 0.85 else _of_other_kind(rng)

    def make_constant(self, rng: Random, op: Tree, kind: Tree, dims: list[int]) -> None:
        named = {attribute["N"]: attribute["AT"] for attribute in op["A"]}
        is_float = "float" in str(named["dtype"]["D"])
        if rng.random() < 0.6:
            op["#"] = "1.full"
            number = _scalar(rng, "0.a_f64") if is_float else {"#": "0.a_f64", "D": float(extremes.integer(rng))}
            attributes = {"shape": {"#": "1.a_intarray", "D": dims}, "value": number}
        else:
            op["#"] = "1.assign_value"
            count = max(min(math.prod(dims), 1000), 0)
            sizes = [{"#": "0.a_i32", "D": size} for size in dims]
            values = [_scalar(rng, "0.a_f64" if is_float else "0.a_i64") for _ in range(count)]
            attributes = {"shape": {"#": "0.a_array", "D": sizes}, "values": {"#": "0.a_array", "D": values}}
        attributes |= {"dtype": named["dtype"], "place": {"#": "1.a_place", "D": [1, 0, ""]}}
        op["A"] = [{"N": name, "AT": value} for name, value in attributes.items()]
        kind["D"][1] = dims

    def own_mutations(self) -> dict[str, tuple[Mutation, ...]]:
        return {
            "constants": (self._change_constant,),
            "types": (self._change_kind,),
            "blocks": (self._nest, self._change_regions),
            "growth": (self._combine_bomb, self._deep_nesting),
        }

    def _change_constant(self, rng: Random, tree: Tree, other: Tree) -> None:
        ops = [op for op in self.operators(tree) if op["#"].partition(".")[2] in _CONSTANTS]
        attribute = rng.choice([item for op in ops for item in op["A"] if item["N"] in ("value", "values", "shape")])
        attribute["AT"] = _extreme(rng, attribute["AT"])

    def _change_kind(self, rng: Random, tree: Tree, other: Tree) -> None:
        """A tensor becomes a vector, an array, nothing."""
        result = rng.choice([result for op in self.operators(tree) for result in op.get("O", ())])
        kind = result.get("TT")
        draw = rng.choice(("vector", "t_dense_tensor_array", "t_selected_rows", "none", "missing"))
        if draw == "vector":
            result["TT"] = {"#": "0.t_vec", "D": [kind] * rng.choice((0, 1, 2, 1000))}
        elif draw == "none":
            result["TT"] = {"#": "NULL"}
        elif draw == "missing":
            result.pop("TT", None)
        else:
            kind["#"] = f"1.{draw}"

    def _nest(self, rng: Random, tree: Tree, other: Tree) -> None:
        """A block inside an operator that has none, or one more in one that has."""
        op = rng.choice(self.operators(tree))
        block = copy.deepcopy(rng.choice([*self.blocks(tree), *self.blocks(other)]))
        if len(block["ops"]) > 50:
            return
        if rng.random() < 0.3:
            op["#"] = rng.choice(("1.if", "1.while"))
        region = {"#": "region_0", "blocks": [block]}
        if rng.random() < 0.3:
            op.setdefault("regions", []).append(region)
        else:
            op["regions"] = [copy.deepcopy(region) for _ in range(rng.choice((1, 2, 3)))]

    def _change_regions(self, rng: Random, tree: Tree, other: Tree) -> None:
        owners = [op for op in self.operators(tree) if op.get("regions")]
        if not owners:
            self._nest(rng, tree, other)
            return
        regions = rng.choice(owners)["regions"]
        blocks = [block for region in regions for block in region["blocks"]]
        draw = rng.random()
        if draw < 0.2:
            rng.shuffle(regions)
        elif draw < 0.4:
            alter(rng, regions, regions)
        elif draw < 0.7:
            block = rng.choice(blocks)
            number = -max(self._ids(tree)) - 1
            block["args"] = [*block.get("args", []), {"#": number}] if rng.random() < 0.5 else []
        else:
            op = rng.choice([op for block in blocks for op in block["ops"] if op["#"] == "2.yield"])
            op["I"] = [] if rng.random() < 0.5 else [*op.get("I", []), rng.choice(self.values(tree))]

    def _combine_bomb(self, rng: Random, tree: Tree, other: Tree) -> None:
        """A combine of a combine of a combine, each twice: names double with every level."""
        ops, fresh, times = self.blocks(tree)[0]["ops"], max(self._ids(tree)), rng.choice((2, 2, 3, 10))
        last, bomb = rng.choice(self.values(tree)), []
        for _ in range(rng.choice((4, 12, 28, 60, 1000))):
            fresh += 1
            result = {"%": fresh, "TT": {"#": "0.t_vec", "D": []}}
            bomb.append({"#": "0.combine", "A": [], "I": [last] * times, "O": [result]})
            last = {"%": fresh}
        place = rng.randint(0, len(ops))
        later = [op["I"] for op in ops[place:] if op.get("I")]
        ops[place:place] = bomb
        if later and rng.random() < 0.7:
            operands = rng.choice(later)
            operands[rng.randrange(len(operands))] = last

    def _deep_nesting(self, rng: Random, tree: Tree, other: Tree) -> None:
        """Blocks in blocks, or lists in lists."""
        depth = rng.choice((5, 20, 60, 200, 1000, 20_000))
        block = self.blocks(tree)[0]
        if rng.random() < 0.6:
            kind = {"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, [1], "NCHW", [], 0]}
            result = {
                "%": max(self._ids(tree)) + 1,
                "TT": kind,
            }
            op = {"#": rng.choice(("1.if", "1.while")), "A": [], "I": [rng.choice(self.values(tree))], "O": [result]}
            inner = [{"#": "r", "blocks": [{"#": "b", "args": [], "ops": [{**op, "regions": "@"}]}]}]
            before, after = json.dumps(inner).split('"@"')
            block["ops"].append({**op, "regions": msgspec.Raw((before * depth + "[]" + after * depth).encode())})
        else:
            before, after = rng.choice((("[", "]"), ('{"#":"0.a_array","D":[', "]}")))
            attribute = rng.choice([item for op in self.operators(tree) for item in op.get("A", ()) if "AT" in item])
            attribute["AT"] = msgspec.Raw((before * depth + "1" + after * depth).encode())


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


def _extreme(rng: Random, attribute: Tree) -> Tree:
    kind, data = str(attribute.get("#")), attribute.get("D")
    if kind.endswith("a_array") and isinstance(data, list):
        inner = str(data[0].get("#")) if data else rng.choice(("0.a_i32", "0.a_i64", "0.a_f32"))
        return {"#": kind, "D": extremes.resized(rng, data, lambda: _scalar(rng, inner))}
    if kind.endswith("a_intarray") and isinstance(data, list):
        return {"#": kind, "D": extremes.resized(rng, data, lambda: extremes.integer(rng))}
    if kind.endswith(("a_i32", "a_i64")) and isinstance(data, int) and rng.random() < 0.2:
        return {"#": kind, "D": extremes.near(rng, data)}
    return _scalar(rng, kind)


def _of_other_kind(rng: Random) -> Tree:
    kind, draw, length = rng.choice(_KINDS), rng.random(), rng.choice(extremes.LENGTHS[:6])
    if draw < 0.6:
        return _scalar(rng, kind)
    if draw < 0.8:
        return {"#": "0.a_array", "D": [_scalar(rng, kind) for _ in range(length)]}
    if draw < 0.9:
        return {"#": "1.a_intarray", "D": [extremes.integer(rng) for _ in range(length)]}
    return {"#": "1.a_scalar", "D": [rng.choice(extremes.DTYPES), rng.choice((1, -1, 2**40, "NaN", 0.5, True, [1, 2]))]}


PIR = Pir()
