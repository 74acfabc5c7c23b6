"""The operators that own blocks -> how they are translated."""

from __future__ import annotations

from paddle2ov.translation.control_flow.branches import if_
from paddle2ov.translation.control_flow.loops import recurrent, while_
from paddle2ov.translation.translator import BlockConverter

CONTROL_FLOW: dict[str, BlockConverter] = {"if": if_, "recurrent": recurrent, "while": while_}
