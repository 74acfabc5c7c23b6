"""Node types that are treated alike."""

from __future__ import annotations

_UNARY = """
Abs Ceiling Clamp Convert Elu Erf Exp Floor Gelu HSigmoid HSwish HardSigmoid Log LogicalNot Mish Negative Relu Round
Selu Sigmoid Sign SoftPlus SoftSign Sqrt Swish Tanh
"""
_BINARY = """
Add Divide Equal FloorMod Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalXor Maximum Minimum Mod
Multiply NotEqual Power SquaredDifference Subtract
"""
_REDUCTIONS = """
ReduceL1 ReduceL2 ReduceLogicalAnd ReduceLogicalOr ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
"""
UNARY, BINARY, REDUCTIONS = (frozenset(names.split()) for names in (_UNARY, _BINARY, _REDUCTIONS))
CONVOLUTIONS = frozenset(("Convolution", "ConvolutionBackpropData", "GroupConvolution", "GroupConvolutionBackpropData"))
RECURRENT = frozenset(("GRUSequence", "LSTMSequence", "RNNSequence"))
ELEMENTWISE = UNARY | BINARY | {"FakeQuantize", "PRelu", "Select"}
MOVES = frozenset(("Reshape", "Squeeze", "Transpose", "Unsqueeze"))
"""What moves elements, or only tells their axes, of the first input; OpenVINO moves these, too."""
NEUTRAL = {"Add": 0, "Divide": 1, "Multiply": 1, "Subtract": 0}
"""Binary node type -> the second operand with which it changes nothing; of Add and Multiply also the first."""
