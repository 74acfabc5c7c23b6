"""Operators that are worth more together: chains of a program that are translated as one."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from openvino import Node

from paddle2ov.program.model import Block, Operator, Variable

SUPPRESSIONS = ("matrix_nms", "multiclass_nms", "multiclass_nms2", "multiclass_nms3")
PARTS = ("yolo_box", "transpose2", "transpose", "concat", *SUPPRESSIONS)
"""The operators of YOLO's post-processing."""
CHOSEN = "/chosen"
"""The end of the name of a node that computes only what can survive, of what it stands for."""

_MALFORMED = (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError)


def merge_suppressions(
    block: Block,
    wanted: Iterable[str],
    given: Iterable[str] = (),
    variables: Mapping[str, Variable] | None = None,
    replaced: Collection[str] = (),
) -> dict[str, int]:
    """Suppressions learn what they may look behind, so that only boxes are decoded that can survive.

    Given:
        multiclass_nms or matrix_nms with score_threshold >= 0 and scores that share their image's boxes.
    Result:
        Where heads of YOLO are all that comes before (yolo_box → (transpose) → concat, with operators between that do
        nothing), and nothing else reads what lies between: the suppression without `bboxes` and `scores`; instead it
        has `x` and `img_size`, one of each head, and an attribute `heads`: the operators that read them.
        Else: the suppression with an attribute `shared`: the variables before it that something else needs as well.

    Args:
        block: the block; it is changed, its operators are not.
        wanted: the variables that are read from outside.
        given: the variables that are provided from outside, whatever computes them here.
        variables: the variables as they are declared.
        replaced: operators with a converter of the user's own, which are left as they are.

    Returns:
        How many suppressions took in their heads.
    """
    suppressions = [one for one in block.operators if one.type in SUPPRESSIONS and one.type not in replaced]
    outside = frozenset((*wanted, *given))
    chains = _Chains(block, outside, variables or {}) if suppressions else None
    merged = 0
    gone: set[int] = set()
    for operator in suppressions:
        assert chains is not None
        threshold = operator.attributes.get("score_threshold", -1.0)
        if not isinstance(threshold, int | float) or threshold < 0 or any(operator.inputs.get("rois_num", ())):
            continue
        try:
            heads = None if any(part in replaced for part in PARTS) else chains.heads_before(operator)
        except _MALFORMED:  # left alone: the converter of the operator at fault says what is wrong
            continue
        if heads:
            inputs = {port: [name for one in heads for name in one.inputs[port]] for port in ("x", "img_size")}
            attributes = {**operator.attributes, "heads": heads}
            gone |= chains.seen
            merged += 1
        else:
            inputs = operator.inputs
            attributes = {**operator.attributes, "shared": _shared(block, operator, outside)}
        unit = dataclasses.replace(operator, inputs=inputs, attributes=attributes)
        block.operators[next(i for i, one in enumerate(block.operators) if one is operator)] = unit
    block.operators = [one for one in block.operators if id(one) not in gone]
    return {"heads": merged}


def count_chosen(nodes: Iterable[Node]) -> int:
    """How many nodes compute only what can survive a suppression."""
    return sum(node.get_friendly_name().endswith(CHOSEN) for node in nodes)


def _shared(block: Block, suppression: Operator, outside: frozenset[str]) -> frozenset[str]:
    """The variables before a suppression that something else needs as well."""
    readers: dict[str, list[int]] = {}
    for operator in block.walk():
        for name in operator.input_names():
            readers.setdefault(name, []).append(id(operator))
    own, shared = {id(suppression)}, set()
    for operator in reversed(block.operators):
        names = [name for name in operator.output_names() if name]
        if operator is suppression:
            continue
        others = any(reader not in own for name in names for reader in readers.get(name, ()))
        if operator.blocks or others or not outside.isdisjoint(names):
            shared.update(names)
        else:
            own.add(id(operator))
    return frozenset(shared)


class _Chains:
    """Follows a suppression's inputs back to their heads."""

    def __init__(self, block: Block, outside: Iterable[str], variables: Mapping[str, Variable]) -> None:
        self._writers = {name: one for one in block.operators for name in one.output_names() if name}
        self._readers = Counter(name for one in block.walk() for name in one.input_names())
        self._readers.update(outside)
        self._variables = variables
        self.seen: set[int] = set()

    def heads_before(self, suppression: Operator) -> list[Operator] | None:
        """The heads, if they are all that comes before; `seen` has the operators between."""
        self.seen = set()
        inputs = suppression.inputs
        boxes, scores = (self._heads(inputs[port][0], port == "scores") for port in ("bboxes", "scores"))
        if not boxes or not scores or [id(one) for one, _ in boxes] != [id(one) for one, _ in scores]:
            return None
        if {port for _, port in boxes} != {"boxes"} or {port for _, port in scores} != {"scores"}:
            return None
        return [one for one, _ in boxes]

    def _heads(self, name: str, turned: bool) -> list[tuple[Operator, str]] | None:
        """The heads and which of their results is read, in order; `turned` where boxes are the last dimension."""
        operator = self._writers.get(name)
        if operator is None or self._readers[name] != 1:
            return None
        self.seen.add(id(operator))
        if operator.type == "yolo_box":
            port = next(port for port, names in operator.outputs.items() if name in names)
            return None if turned else [(operator, port)]
        does_nothing = _NOTHING.get(operator.type)
        if does_nothing is not None and does_nothing(self, operator):
            return self._heads(operator.inputs["x"][0], turned)
        if operator.type in ("transpose", "transpose2"):
            if list(operator.attributes.get("perm", ())) != [0, 2, 1]:
                return None
            return self._heads(operator.inputs["x"][0], not turned)
        if operator.type != "concat" or self._number(operator, "axis", 0) not in ((2, -1) if turned else (1, -2)):
            return None
        found = []
        for one in operator.inputs["x"]:
            part = self._heads(one, turned)
            if part is None:
                return None
            found += part
        return found

    # --- operators that do nothing ------------------------------------------------------------------------------------

    def _number(self, operator: Operator, port: str, default: float) -> float | None:
        """A number that is an attribute or an operand; None where it is not known."""
        names = operator.inputs.get(port, ())
        if not names:
            return float(operator.attributes.get(port, default))
        writer = self._writers.get(names[0])
        if writer is None or writer.type != "fill_constant" or any(writer.inputs.values()):
            return None
        return float(writer.attributes["value"])

    def _declared(self, operator: Operator) -> tuple[Variable | None, Variable | None]:
        names = operator.inputs["x"][0], operator.outputs["out"][0]
        return self._variables.get(names[0]), self._variables.get(names[1])

    def _always(self, operator: Operator) -> bool:
        return True

    def _keeps_order(self, operator: Operator) -> bool:
        return list(operator.attributes.get("perm", ())) == [0, 1, 2]

    def _keeps_type(self, operator: Operator) -> bool:
        x, out = self._declared(operator)
        return x is not None and out is not None and x.dtype is not None and x.dtype == out.dtype

    def _keeps_numbers(self, operator: Operator) -> bool:
        return self._number(operator, "scale", 1.0) == 1 and self._number(operator, "bias", 0.0) == 0

    def _keeps_shape(self, operator: Operator) -> bool:
        """At most one dimension is left to be inferred: the others are the same, so it is, too."""
        x, out = self._declared(operator)
        if any(operator.inputs.get("shape", ())):
            writer = self._writers.get(operator.inputs["shape"][0])
            target = writer.attributes.get("value") if writer and writer.type == "full_int_array" else None
        else:
            target = operator.attributes.get("shape")
        if x is None or x.shape is None or target is None or len(target) != len(x.shape) or out is None:
            return False
        changed = [dim for dim, old in zip(target, x.shape, strict=True) if dim not in (0, old) or dim == -1]
        return changed in ([], [-1])


_NOTHING: dict[str, Callable[[_Chains, Operator], bool]] = {
    **dict.fromkeys(("assign", "memcpy", "shadow_feed", "share_data"), _Chains._always),
    "cast": _Chains._keeps_type,
    "reshape": _Chains._keeps_shape,
    "reshape2": _Chains._keeps_shape,
    "scale": _Chains._keeps_numbers,
    "transpose": _Chains._keeps_order,
    "transpose2": _Chains._keeps_order,
}
"""What may stand between a head and its suppression: operator -> whether it leaves its input as it is."""

__all__ = ["CHOSEN", "PARTS", "SUPPRESSIONS", "count_chosen", "merge_suppressions"]
