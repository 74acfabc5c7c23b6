"""What the nodes of a model are, what they read and what reads them: asked of OpenVINO once for all rewrites."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct
from openvino import Model, Node
from openvino.op import Constant

from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.passes.node_kinds import BINARY, MOVES, REDUCTIONS, UNARY
from paddle2ov.typing import AnyArray

VARYING = ("If", "Loop", "Multinomial", "RandomUniform", "ReadValue", "TensorIterator")
"""Node types whose results may differ from run to run, or that are not looked into."""
_LAYERS = """
AvgPool Broadcast Concat Constant Convolution ConvolutionBackpropData Gather GroupConvolution
GroupConvolutionBackpropData Interpolate MVN MatMul NonMaxSuppression Pad Parameter Select ShapeOf Slice Softmax Tile
"""
_OF_ONE_OUTPUT = UNARY | BINARY | REDUCTIONS | MOVES | frozenset(_LAYERS.split())
"""Node types of a single output, among others."""


class Index:
    """The nodes of a model by their places in topological order.

    It is true until the model changes (`Graph.changed`), and keeps the nodes until then. Places stand for nodes in it:
    nothing refers back, and nothing refers to an input or an output, which do not keep their node.

    Attributes:
        nodes: the nodes.
        kinds: the type of each.
        sources: the places of the nodes that each reads, one for each input.
        readers: the places of the nodes that read each, one for each of their inputs.
        of_kind: the places of the nodes of a type.
        is_free: whether each is computed without any Parameter.
        free: the places of those that are, but for Constants.
    """

    def __init__(self, model: Model, before: Index | None = None, changed: Collection[Node] = ()) -> None:
        """Lists the nodes of a model.

        Args:
            model: the model.
            before: what was listed before; what has not changed is not asked again.
            changed: nodes that read other tensors since, or have other shapes.
        """
        self.nodes: list[Node] = model.get_ordered_ops()
        self.kinds: list[str] = []
        self.sources: list[Sequence[int]] = []
        self.readers: list[list[int]] = [[] for _ in self.nodes]
        self.of_kind: dict[str, list[int]] = {}
        self.is_free: list[bool] = []
        self.free: list[int] = []
        self._place = {id(node): place for place, node in enumerate(self.nodes)}
        self._read_kinds: dict[str, set[str]] = {}
        self._reader_kinds: dict[int, set[str]] = {}
        self._dims: dict[int, Dims | None] = {}
        self._data: dict[int, AnyArray] = {}
        self._independent: dict[tuple[Collection[str], Collection[str]], list[bool]] = {}
        self._list(self._known(before, {id(node) for node in changed}))

    def _list(self, known: dict[int, tuple[str, Sequence[int]]]) -> None:
        of_kind, kinds, place_of = self.of_kind, self.kinds, self._place
        for place, node in enumerate(self.nodes):
            if place in known:
                kind, sources = known[place]
            elif isinstance(node, Constant):
                kind, sources = "Constant", ()
            else:
                kind, sources = node.get_type_name(), []
                for value in node.input_values():  # of nodes that are kept here: the bindings have one object for each
                    sources.append(place_of[id(value.get_node())])
            kinds.append(kind)
            self.sources.append(sources)
            if kind not in of_kind:
                of_kind[kind], self._read_kinds[kind] = [], set()
            of_kind[kind].append(place)
            if kind == "Constant":
                self.is_free.append(True)
                continue
            is_free = kind != "Parameter"
            for source in sources:
                self.readers[source].append(place)
                is_free = is_free and self.is_free[source]
            self.is_free.append(is_free)
            if is_free:
                self.free.append(place)
            self._read_kinds[kind].update(map(kinds.__getitem__, sources))

    def _known(self, before: Index | None, changed: Collection[int]) -> dict[int, tuple[str, Sequence[int]]]:
        """The types and the sources of the nodes that have not changed; takes over what else is known of them."""
        found: dict[int, tuple[str, Sequence[int]]] = {}
        if before is None:
            return found
        now = [self._place.get(id(node), -1) for node in before.nodes]
        for was, place in enumerate(now):
            if place < 0 or id(self.nodes[place]) in changed:
                continue
            sources = before.sources[was]
            found[place] = before.kinds[was], list(map(now.__getitem__, sources)) if sources else ()
            if was in before._dims:
                self._dims[place] = before._dims[was]
            if was in before._data:
                self._data[place] = before._data[was]
        return found

    def place_of(self, node: Node) -> int | None:
        """The place of a node; None for one that was made since."""
        return self._place.get(id(node))

    def places(self, where: Where) -> list[int]:
        """The places of nodes at which a pattern may match, those of a type in topological order."""
        found: list[int] = []
        if not all(map(self.of_kind.__contains__, where.needs)):
            return found
        name, reads, read_by, when = self.kinds.__getitem__, where.reads, where.read_by, where.when
        for kind in where.roots:
            if kind not in self.of_kind or (reads and reads.isdisjoint(self._read_kinds[kind])):
                continue
            for place in self.of_kind[kind]:
                if reads and reads.isdisjoint(map(name, self.sources[place])):
                    continue
                if read_by and read_by.isdisjoint(map(name, self.readers[place])):
                    continue
                if when is None or when(self, place):
                    found.append(place)
        return found

    def source_kind(self, place: int, port: int = 0) -> str:
        """The type of the node that computes an input of a node."""
        return self.kinds[self.sources[place][port]]

    def reader_kinds(self, place: int) -> set[str]:
        """The types of the nodes that read a node."""
        if place not in self._reader_kinds:
            self._reader_kinds[place] = set(map(self.kinds.__getitem__, self.readers[place]))
        return self._reader_kinds[place]

    def dims(self, place: int) -> Dims | None:
        """The dimensions of the first output of a node, see `dims_of`; of a Constant, those of its elements."""
        if place not in self._dims:
            array = self.data(place)
            if array is None or array.dtype.itemsize == 1:  # several elements may be in a byte
                self._dims[place] = dims_of(self.nodes[place])
            else:
                self._dims[place] = list(array.shape)
        return self._dims[place]

    def read_dims(self, place: int, port: int = 0) -> Dims | None:
        """The dimensions of an input of a node."""
        source = self.sources[place][port]
        if self.kinds[source] in _OF_ONE_OUTPUT:
            return self.dims(source)
        return dims_of(self.nodes[place].input_value(port))

    def data(self, place: int) -> AnyArray | None:
        """The elements of a Constant, see `constant_of`; None for any other node."""
        if self.kinds[place] != "Constant":
            return None
        if place not in self._data:
            node = self.nodes[place]
            assert isinstance(node, Constant)
            self._data[place] = node.get_data()
        return self._data[place]

    def ints(self, place: int, port: int) -> list[int] | None:
        """The values of an input that is an integer Constant; None for any other, and where there is no such input."""
        sources = self.sources[place]
        array = self.data(sources[port]) if port < len(sources) else None
        return None if array is None else [int(value) for value in array.reshape(-1)]

    def perm(self, place: int) -> list[int] | None:
        """The permutation of a Transpose, see `perm_of`."""
        perm = self.ints(place, 1)
        if perm or perm is None:
            return perm
        dims = self.read_dims(place)
        return None if dims is None else list(range(len(dims)))[::-1]

    def is_constant(self, place: int) -> bool:
        """Whether a node is computed from constants alone."""
        return self.is_free[place] and (self.kinds[place] == "Constant" or place not in self._varying)

    @cached_property
    def _varying(self) -> set[int]:
        """The places of the nodes that depend on no Parameter, and yet on no constants alone."""
        found: set[int] = set()
        for place in self.free:
            if self.kinds[place] in VARYING or not found.isdisjoint(self.sources[place]):
                found.add(place)
        return found

    def independent(self, kinds: Collection[str], opaque: Collection[str] = ()) -> list[bool]:
        """Of each node, whether it depends on no node of some types; those of types `opaque` never do."""
        key = kinds, opaque
        if key not in self._independent:
            found = self._independent[key] = []
            can_skip = "Parameter" in kinds and not opaque
            for kind, sources, is_free in zip(self.kinds, self.sources, self.is_free, strict=True):
                judged = kind not in kinds and (is_free or not can_skip)
                if judged and kind not in opaque:
                    for source in sources:
                        if not found[source]:
                            judged = False
                            break
                found.append(judged)
        return self._independent[key]


When: TypeAlias = Callable[[Index, int], bool]
"""Whether a pattern may match at the place of a node."""


class Where(Struct, frozen=True):
    """The nodes at which a pattern may match, as far as the index tells: at any others it is not looked for.

    Attributes:
        roots: their types.
        needs: rarer types that every match contains somewhere: without them in the graph, there is none.
        reads: types of which one is among the nodes that they read; any where there are none.
        read_by: types of which one is among the nodes that read them; any where there are none.
        when: what else is true of them.
        is_local: whether all of that depends on a node and on what it reads alone.
    """

    roots: tuple[str, ...]
    needs: tuple[str, ...] = ()
    reads: frozenset[str] = frozenset()
    read_by: frozenset[str] = frozenset()
    when: When | None = None
    is_local: bool = False


__all__ = ["VARYING", "Index", "When", "Where"]
