"""paddle2ov: PaddlePaddle models on OpenVINO.

`convert(model)` turns a Paddle inference model of either format into an `openvino.Model`, without Paddle.
"""

from pathlib import Path as _Path

__version__ = "0.1.0"

# In a checkout op_table.py and converters/ stand at the repository's root; there the root is part of the package too.
# An installed paddle2ov has both beside this file and needs no graft.
if not (_Path(__file__).parent / "op_table.py").exists():
    __path__.append(str(_Path(__file__).parents[1]))

from paddle2ov.convert import convert
from paddle2ov.errors import (
    ConversionInputError,
    ModelReadError,
    OpConversionError,
    Paddle2OVError,
    Place,
    UnsupportedOpsError,
)
from paddle2ov.extension import ConversionExtension, register_converter
from paddle2ov.inspection import Inspection, inspect
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.program import read_program

__all__ = [
    "ConversionExtension",
    "ConversionInputError",
    "Inspection",
    "ModelReadError",
    "NamedOutputs",
    "NodeContext",
    "OpConversionError",
    "Paddle2OVError",
    "Place",
    "UnsupportedOpsError",
    "convert",
    "inspect",
    "read_program",
    "register_converter",
]
