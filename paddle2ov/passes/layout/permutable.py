"""Node types that can compute with permuted axes, and what that requires of each of their inputs.

`PERMUTABLE` holds all that is assumed of a type: each input has a role, which says what happens to a tensor there and
what to a constant. A node whose inputs are not as in the table is not permuted.
"""

from __future__ import annotations

from enum import Enum, auto

from msgspec import Struct
from openvino import Node, Output

from paddle2ov.graph import arrays
from paddle2ov.graph.constants import constant_of, ints_of
from paddle2ov.graph.node_kinds import BINARY, REDUCTIONS, UNARY
from paddle2ov.graph.opset import ints
from paddle2ov.graph.permutation import inverse
from paddle2ov.graph.shapes import dims_of, is_single
from paddle2ov.passes.computed_constants import large_constant
from paddle2ov.typing import AnyArray, known


class Role(Enum):
    """How an input relates to the axes of a node."""

    DATA = auto()
    """Has these axes. A tensor is read in the other layout, a constant is permuted."""
    BROADCAST = auto()
    """Broadcasts to these axes. A constant of lower rank gets the missing axes, of size 1, and is permuted."""
    AXES = auto()
    """Holds indices of axes, in any order. It must be constant, and the indices are mapped."""
    PER_AXIS = auto()
    """Has one element for each axis. It must be constant, and is permuted."""
    SINGLE = auto()
    """Has one element, and stays as it is. A node where it may have more is not permuted."""
    UNRELATED = auto()
    """Does not depend on the axes of the node, as the lengths of a split, and stays as it is."""


class Permutable(Struct, frozen=True):
    """The roles of the inputs of a node type, and its attribute that holds an axis."""

    inputs: tuple[Role, ...]
    optional: int = 0
    """How many of the last inputs may be missing."""
    repeated: bool = False
    """Whether the last input is variadic."""
    axis: str = ""

    def roles(self, count: int) -> tuple[Role, ...] | None:
        """The roles of `count` inputs; None if it cannot have as many."""
        most = len(self.inputs)
        if self.repeated and count >= most:
            return self.inputs + self.inputs[-1:] * (count - most)
        return self.inputs[:count] if most - self.optional <= count <= most else None


_DATA, _BROADCAST, _AXES = Role.DATA, Role.BROADCAST, Role.AXES
_PER_AXIS, _SINGLE, _UNRELATED = Role.PER_AXIS, Role.SINGLE, Role.UNRELATED
PERMUTABLE: dict[str, Permutable] = {
    **dict.fromkeys(UNARY, Permutable((_DATA,))),
    **dict.fromkeys(BINARY, Permutable((_BROADCAST,) * 2)),
    **dict.fromkeys(REDUCTIONS, Permutable((_DATA, _AXES))),
    # OpenVINO's kernel takes as long along any axis.
    **dict.fromkeys(("LogSoftmax", "Softmax"), Permutable((_DATA,), axis="axis")),
    "Concat": Permutable((_DATA,), repeated=True, axis="axis"),
    "FakeQuantize": Permutable((_DATA, *(_BROADCAST,) * 4)),
    "HardSigmoid": Permutable((_DATA, _SINGLE, _SINGLE)),
    "PRelu": Permutable((_DATA, _SINGLE)),  # a slope of one axis lies along axis 1
    "Pad": Permutable((_DATA, _PER_AXIS, _PER_AXIS, _SINGLE), optional=1),
    "Select": Permutable((_BROADCAST,) * 3),
    "Selu": Permutable((_DATA, _SINGLE, _SINGLE)),
    "Slice": Permutable((_DATA, *(_UNRELATED,) * 3, _AXES)),
    "Split": Permutable((_DATA, _AXES)),
    "Swish": Permutable((_DATA, _SINGLE), optional=1),
    "VariadicSplit": Permutable((_DATA, _AXES, _UNRELATED)),
}
"""The node types that can compute with permuted axes."""
HAVING_AXES = frozenset((Role.DATA, Role.BROADCAST))
"""Roles of tensors that have the axes of a node."""
MAX_CONSTANT_ELEMENTS = 1 << 20
"""A larger constant is neither inspected nor copied by rewrites of layouts: that would take long."""


def roles_of(node: Node) -> tuple[Role, ...] | None:
    """The role of each input of a node; None for a node that cannot be permuted."""
    kind = PERMUTABLE.get(node.get_type_name())
    return None if kind is None else kind.roles(node.get_input_size())


def data_of(node: Node, rank: int) -> list[Output] | None:
    """The tensors that have the axes of a node; None if it cannot compute with its `rank` axes permuted."""
    roles, tensors = roles_of(node), []
    if roles is None:
        return None
    for source, role in zip(node.input_values(), roles, strict=True):
        array = constant_of(source)
        if array is not None:
            if not _fits_constant(node, source, array, role, rank):
                return None
            continue
        dims = dims_of(source)
        if not _fits_tensor(source, None if dims is None else len(dims), role, rank):
            return None
        if role in HAVING_AXES and dims:
            tensors.append(source)
    return tensors


def _fits_tensor(source: Output, length: int | None, role: Role, rank: int) -> bool:
    """Whether a tensor that is not constant can be the input of a permuted node."""
    match role:
        case Role.UNRELATED:
            return True
        case Role.AXES | Role.PER_AXIS:
            return False
        case Role.SINGLE:
            return is_single(source)
        case Role.DATA:
            return length == rank
        case Role.BROADCAST:
            return length in (0, rank)


def _fits_constant(node: Node, source: Output, array: AnyArray, role: Role, rank: int) -> bool:
    """Whether a constant can be adapted to a permuted node."""
    match role:
        case Role.UNRELATED | Role.AXES:
            return True
        case Role.PER_AXIS:
            return bool(array.shape == (rank,))
        case Role.SINGLE:
            return bool(array.size == 1)
        case Role.DATA | Role.BROADCAST:
            if array.size > MAX_CONSTANT_ELEMENTS or source.get_element_type().bitwidth < 8:
                return False
            broadcasts = role == Role.BROADCAST and array.ndim < rank
            is_aligned = array.ndim == 0 or node.get_attributes().get("auto_broadcast", "numpy") == "numpy"
            return bool(array.ndim == rank or (broadcasts and is_aligned))


def permuted_constant(source: Output, role: Role, perm: list[int]) -> Node | None:
    """A constant adapted to a node that computes on the data before the transpose `perm`; None if unchanged."""
    array = constant_of(source)
    if array is None:
        return None
    rank = len(perm)
    match role:
        case Role.UNRELATED | Role.SINGLE:
            return None
        case Role.AXES:
            axes = [perm[axis % rank] for axis in known(ints_of(source))]
            return ints(axes if array.ndim else axes[0])
        case Role.PER_AXIS:
            return ints([int(array[axis]) for axis in inverse(perm)])
        case Role.DATA | Role.BROADCAST:
            if array.size == 1:
                return None
            full = array.reshape((1,) * (rank - array.ndim) + array.shape)
            return large_constant(arrays.copied(full.transpose(inverse(perm))), source.get_element_type())
