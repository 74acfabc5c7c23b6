"""Where OpenVINO puts the outputs of nodes in memory: the one table for workarounds of tensors that share it."""

from __future__ import annotations

from paddle2ov.graph.node_kinds import BINARY, CONVOLUTIONS, MOVES, RECURRENT, REDUCTIONS, UNARY

SPLITTING = frozenset(("Split", "VariadicSplit"))
"""Nodes whose results are parts of their input."""
VIEWS = SPLITTING | (MOVES - {"Transpose"})
"""Nodes whose results are views of their input."""
SCATTERING = frozenset(("ScatterElementsUpdate", "ScatterNDUpdate", "ScatterUpdate"))
"""Nodes that write where they read their first input, after it is copied if OpenVINO sees another reader."""
SLICING = frozenset(("Slice", "StridedSlice"))
"""Nodes whose results are views in the body of a loop, and copies elsewhere."""
MOVING = frozenset(("Concat", "Convert", "Transpose"))
"""Nodes whose results are copies unless nothing moves."""
_LAYERS = CONVOLUTIONS | RECURRENT | frozenset(("AvgPool", "MatMul", "MaxPool", "ShapeOf", "TopK"))
_GATHERING = frozenset(("Gather", "GatherElements", "GatherND", "Interpolate", "Pad"))
COPYING = _LAYERS | REDUCTIONS | _GATHERING
"""Nodes that do not write where they read."""
OWN_MEMORY = _LAYERS | {"Constant"}
"""Nodes that do not write where they read, and are never eliminated on compilation."""
INDEXING = REDUCTIONS | _GATHERING | SCATTERING | SLICING | VIEWS | frozenset(("Broadcast", "Tile", "Transpose"))
"""Nodes whose results may be in the memory of their first input, but not of any other."""
FORWARDING = frozenset(("If", "Loop", "Result"))
"""Nodes that compute nothing themselves: their results are those of their bodies, or their inputs."""
IN_PLACE = (UNARY - {"Convert", "Selu", "Sign"}) | BINARY | frozenset(("IsFinite", "IsInf", "IsNaN", "PRelu", "Select"))
"""Nodes that write where they read only if that is a view, or nothing else reads it."""
