"""Where OpenVINO puts the outputs of nodes in memory: the one table for workarounds of tensors that share it."""

from __future__ import annotations

_RESHAPING = "Reshape Squeeze Unsqueeze"
_SPLITTING = "Split VariadicSplit"
_SCATTERING = "ScatterElementsUpdate ScatterNDUpdate ScatterUpdate"
_SLICING = "Slice StridedSlice"
_MOVING = "Concat Convert Transpose"
_COPYING = """
AvgPool Convolution ConvolutionBackpropData Gather GatherElements GatherND GRUSequence GroupConvolution
GroupConvolutionBackpropData Interpolate LSTMSequence MatMul MaxPool Pad ReduceL1 ReduceL2 ReduceLogicalAnd
ReduceLogicalOr ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum RNNSequence ShapeOf TopK
"""
_OWN_MEMORY = """
AvgPool Constant Convolution ConvolutionBackpropData GroupConvolution GroupConvolutionBackpropData GRUSequence
LSTMSequence MatMul MaxPool RNNSequence ShapeOf TopK
"""
_INDEXING = """
Broadcast Gather GatherElements GatherND Interpolate Pad ReduceL1 ReduceL2 ReduceLogicalAnd ReduceLogicalOr ReduceMax
ReduceMean ReduceMin ReduceProd ReduceSum Reshape ScatterElementsUpdate ScatterNDUpdate ScatterUpdate Slice Split
Squeeze StridedSlice Tile Transpose Unsqueeze VariadicSplit
"""
_FORWARDING = "If Loop Result"
_IN_PLACE = """
Abs Add Ceiling Clamp Divide Elu Equal Erf Exp Floor FloorMod Gelu Greater GreaterEqual HSigmoid HSwish HardSigmoid
IsFinite IsInf IsNaN Less LessEqual Log LogicalAnd LogicalNot LogicalOr LogicalXor Maximum Minimum Mish Mod Multiply
Negative NotEqual PRelu Power Relu Round Select Sigmoid SoftPlus SoftSign Sqrt SquaredDifference Subtract Swish Tanh
"""

SPLITTING = frozenset(_SPLITTING.split())
"""Nodes whose results are parts of their input."""
VIEWS = frozenset((*_RESHAPING.split(), *_SPLITTING.split()))
"""Nodes whose results are views of their input."""
SCATTERING = frozenset(_SCATTERING.split())
"""Nodes that write where they read their first input, after it is copied if OpenVINO sees another reader."""
SLICING = frozenset(_SLICING.split())
"""Nodes whose results are views in the body of a loop, and copies elsewhere."""
MOVING = frozenset(_MOVING.split())
"""Nodes whose results are copies unless nothing moves."""
COPYING = frozenset(_COPYING.split())
"""Nodes that do not write where they read."""
OWN_MEMORY = frozenset(_OWN_MEMORY.split())
"""Nodes that do not write where they read, and are never eliminated on compilation."""
INDEXING = frozenset(_INDEXING.split())
"""Nodes whose results may be in the memory of their first input, but not of any other."""
FORWARDING = frozenset(_FORWARDING.split())
"""Nodes that compute nothing themselves: their results are those of their bodies, or their inputs."""
IN_PLACE = frozenset(_IN_PLACE.split())
"""Nodes that write where they read only if that is a view, or nothing else reads it."""
