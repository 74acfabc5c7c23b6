"""A block of an `if` or a `while` as a Paddle model of its own: captured values become inputs, yielded values results.

The operators are those of the file, in their order; constants from outside of the block are computed as there. What
works on tensor arrays is left out: arrays are neither fed nor fetched. What is written to them is a result.
`body_pir.py` and `body_legacy.py` write it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paddle2ov.program.files import ModelFiles


@dataclass(slots=True)
class BodyModel:
    """A block as a model.

    Attributes:
        files: the model.
        given: the inputs that do not change: input -> variable of the program around it.
        state: what a loop carries: input -> (variable that enters it, result that enters the next iteration).
        condition: the result that says whether a loop goes on.
        positions: position of an operator in the model -> that in the block.
    """

    files: ModelFiles
    given: dict[str, str]
    positions: dict[int, int]
    state: dict[str, tuple[str, str]] = field(default_factory=dict)
    condition: str = ""
