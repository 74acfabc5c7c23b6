"""A program of thousands of operators, for the report: one small block that is written once and then copied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gen_models.harness.building import layer_of
from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor


def _block(self, x):
    """Two branches and a shortcut, of cheap operators; the result has the shape of the input."""
    right = paddle.nn.functional.softmax(paddle.sin(x))
    return paddle.clip(paddle.tanh(x) * right + x, -1.0, 1.0)


BLOCK = Network("block", layer_of(_block), {"x": tensor([2, 8])}, formats=("pir",))


def repeat(folder: Path, times: int, target: Path) -> Path:
    """Writes the PIR program of `folder` with its operators repeated, each copy reading what the one before computes.

    The program must have one input and one result, and no parameters.
    """
    program = json.loads((folder / "inference.json").read_text())
    (block,) = program["program"]["regions"][0]["blocks"]
    data, *body, fetch = block["ops"]
    entry, result = data["O"][0]["%"], fetch["I"][0]["%"]
    most = max(value["%"] for op in block["ops"] for value in op["O"])
    copies: list[Any] = []
    last = entry
    for k in range(times):
        moved = {entry: last}
        for op in body:
            copy = json.loads(json.dumps(op))
            for value in copy["I"]:
                value["%"] = moved[value["%"]]
            for value in copy["O"]:
                moved[value["%"]] = value["%"] = value["%"] + k * most
            copies.append(copy)
        last = moved[result]
    fetch["I"][0]["%"], fetch["O"][0]["%"] = last, (times + 1) * most
    block["ops"] = [data, *copies, fetch]
    target.mkdir(parents=True)
    (target / "inference.json").write_text(json.dumps(program))
    return target
