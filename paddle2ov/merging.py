"""Operators that are worth more together: chains of a program that are translated as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from paddle2ov.program.model import Block, Operator

SUPPRESSIONS = ("matrix_nms", "multiclass_nms", "multiclass_nms2", "multiclass_nms3")
PARTS = ("yolo_box", "transpose2", "transpose", "concat", *SUPPRESSIONS)
"""The operators of YOLO's post-processing."""


def merge_yolo(block: Block, wanted: Iterable[str], given: Iterable[str] = ()) -> int:
    """YOLO's heads are decoded where they are suppressed, so that only boxes are decoded that can survive.

    Given:
        yolo_box → (transpose) → concat → multiclass_nms or matrix_nms with score_threshold >= 0, for any number of
        heads, where nothing else reads what lies between.
    Result:
        The suppression without `bboxes` and `scores`; instead it has `x` and `img_size`, one of each head, and an
        attribute `heads`: the operators that read them.

    Args:
        block: the block; it is changed.
        wanted: the variables that are read from outside.
        given: the variables that are provided from outside, whatever computes them here.

    Returns:
        How many suppressions took in their heads.
    """
    suppressions = [one for one in block.operators if one.type in SUPPRESSIONS]
    if not suppressions:
        return 0
    chains = _Chains(block, wanted, given)
    merged = 0
    gone: set[int] = set()
    for operator in suppressions:
        inputs = operator.inputs
        if operator.attributes.get("score_threshold", -1.0) < 0 or any(inputs.get("rois_num", ())):
            continue
        chains.seen = set()
        boxes, scores = (chains.heads(inputs[port][0], port == "scores") for port in ("bboxes", "scores"))
        if not boxes or not scores or [id(one) for one, _ in boxes] != [id(one) for one, _ in scores]:
            continue
        if {port for _, port in boxes} != {"boxes"} or {port for _, port in scores} != {"scores"}:
            continue
        heads = [one for one, _ in boxes]
        unit = Operator(
            operator.type,
            {port: [name for one in heads for name in one.inputs[port]] for port in ("x", "img_size")},
            operator.outputs,
            {**operator.attributes, "heads": heads},
            operator.source_type,
            operator.block_index,
            operator.index,
            call_stack=operator.call_stack,
        )
        block.operators[block.operators.index(operator)] = unit
        gone |= chains.seen
        merged += 1
    block.operators = [one for one in block.operators if id(one) not in gone]
    return merged


class _Chains:
    """Follows a suppression's inputs back to their heads."""

    def __init__(self, block: Block, wanted: Iterable[str], given: Iterable[str]) -> None:
        self._writers = {name: one for one in block.operators for name in one.output_names() if name}
        self._readers = Counter(name for one in block.walk() for name in one.input_names())
        self._readers.update((*wanted, *given))
        self.seen: set[int] = set()

    def heads(self, name: str, turned: bool) -> list[tuple[Operator, str]] | None:
        """The heads and which of their results is read, in order; `turned` where boxes are the last dimension."""
        operator = self._writers.get(name)
        if operator is None or self._readers[name] != 1:
            return None
        self.seen.add(id(operator))
        if operator.type == "yolo_box":
            port = next(port for port, names in operator.outputs.items() if name in names)
            return None if turned else [(operator, port)]
        if operator.type in ("transpose", "transpose2"):
            if list(operator.attributes.get("perm", ())) != [0, 2, 1]:
                return None
            return self.heads(operator.inputs["x"][0], not turned)
        if operator.type != "concat" or self._axis(operator) not in ((2, -1) if turned else (1, -2)):
            return None
        found = []
        for one in operator.inputs["x"]:
            part = self.heads(one, turned)
            if part is None:
                return None
            found += part
        return found

    def _axis(self, concat: Operator) -> int | None:
        names = concat.inputs.get("axis", ())
        if not names:
            return int(concat.attributes.get("axis", 0))
        writer = self._writers.get(names[0])
        if writer is None or writer.type != "fill_constant" or any(writer.inputs.values()):
            return None
        return int(writer.attributes["value"])


__all__ = ["PARTS", "SUPPRESSIONS", "merge_yolo"]
