"""What the nodes of a model are, what they read and what reads them: asked of OpenVINO once for all rewrites.

`Where` says at which nodes a rewrite looks for its pattern, by what the index tells of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct
from openvino import Model, Node
from openvino.op import Constant

from paddle2ov.graph.constants import integers
from paddle2ov.graph.node_kinds import BINARY, CONVOLUTIONS, MOVES, REDUCTIONS, UNARY
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.graph.types import bits_to_values
from paddle2ov.typing import AnyArray

VARYING = ("If", "Loop", "Multinomial", "RandomUniform", "ReadValue", "TensorIterator")
"""Node types whose results may differ from run to run, or that are not looked into."""
_LAYERS = """
AvgPool Broadcast Concat Constant Gather Interpolate MVN MatMul Pad Parameter Select ShapeOf Slice Softmax Tile
"""
_MAX_BYTES = 1 << 18
_ENDS = ("Assign", "Parameter", "Result")
"""Node types that are part of a model although nothing reads them."""
_OF_ONE_OUTPUT = UNARY | BINARY | REDUCTIONS | MOVES | CONVOLUTIONS | frozenset(_LAYERS.split())
"""Node types of a single output, among others."""


When: TypeAlias = Callable[["Index", int], bool]
"""Whether a pattern may match at the place of a node."""


class Where(Struct, frozen=True):
    """The nodes at which a pattern may match, as far as the index tells: at any others it is not looked for.

    Attributes:
        roots: their types.
        needs: rarer types that every match contains somewhere: without them in the graph, there is none.
        reads: types of which one is among the nodes that they read; any where there are none.
        read_by: types of which one is among the nodes that read them; any where there are none.
        when: what else is true of them.
    """

    roots: tuple[str, ...]
    needs: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    read_by: frozenset[str] = frozenset()
    when: When | None = None

    def may_match_among(self, kinds: Set[str]) -> bool:
        """Whether a pattern may match in a graph with nodes of these types."""
        return kinds >= self.needs and not kinds.isdisjoint(self.roots)


class Index:
    """The nodes of a model by their places: numbers that stand for nodes in it, and stay theirs.

    It is true until the model changes, and keeps the nodes until it is told of that: nothing refers back, and nothing
    refers to an input or an output, which do not keep their node.

    Attributes:
        nodes: place -> node.
        kinds: the type of each.
        sources: the places of the nodes that each reads, one for each input.
        readers: the places of the nodes that read each, one for each of their inputs.
        is_free: whether each is computed without any Parameter.
        version: how often what has changed was taken in.
    """

    def __init__(self, model: Model) -> None:
        self.nodes: dict[int, Node] = {}
        self.kinds: list[str] = []
        self.sources: list[list[int]] = []
        self.readers: list[list[int]] = []
        self.is_free: list[bool] = []
        self.version = 0
        self._of_kind: dict[str, list[int]] = {}
        self._unsorted: set[str] = set()
        self._is_ordered = True
        self._order: list[float] = []
        self._place: dict[int, int] = {}
        self._read_kinds: dict[str, set[str]] = {}
        self._reader_kinds: dict[int, set[str]] = {}
        self._dims: dict[int, Dims | None] = {}
        self._data: dict[int, AnyArray] = {}
        self._numbers: dict[int, float | None] = {}
        self._independent: dict[tuple[Collection[str], Collection[str]], dict[int, bool]] = {}
        nodes = model.get_ordered_ops()
        self._append(nodes, range(len(nodes)))

    def _append(self, nodes: Sequence[Node], orders: Iterable[float]) -> None:
        """Lists nodes in topological order, whose other sources are listed."""
        kinds, all_sources, readers, free = self.kinds, self.sources, self.readers, self.is_free
        of_kind, read_kinds, place_of = self._of_kind, self._read_kinds, self._place
        new = range(len(kinds), len(kinds) + len(nodes))
        self.nodes.update(zip(new, nodes, strict=True))
        place_of.update(zip(map(id, nodes), new, strict=True))
        self._order += orders
        readers += [[] for _ in nodes]
        for place, node in zip(new, nodes, strict=True):
            sources: list[int] = []
            kind = "Constant" if isinstance(node, Constant) else node.get_type_name()
            if kind not in of_kind:
                of_kind[kind], read_kinds[kind] = [], set()
            kinds.append(kind)
            all_sources.append(sources)
            of_kind[kind].append(place)
            is_free = kind != "Parameter"
            if kind != "Constant":
                read = read_kinds[kind]
                for value in node.input_values():  # the bindings have one object for each node that is kept here
                    source = place_of[id(value.get_node())]
                    sources.append(source)
                    readers[source].append(place)
                    read.add(kinds[source])
                    is_free = is_free and free[source]
            free.append(is_free)

    def update(self, rewired: Iterable[tuple[Node, int]], revalidated: Iterable[Node]) -> None:
        """Takes in which inputs read other tensors, with nodes that are new, and which nodes have other shapes."""
        self.version += 1
        for name in ("_in_order", "free"):
            self.__dict__.pop(name, None)
        for node in revalidated:
            self._dims.pop(self._place.get(id(node), -1), None)
        first, left, moved = len(self.kinds), list[int](), dict[int, None]()
        for node, port in rewired:
            place = self._place.get(id(node))
            if place is None:  # it is new, and found by what reads it, or it is not part of the model
                continue
            source = node.input_value(port).get_node()
            now, before = self._place.get(id(source)), self.sources[place][port]
            now = self._listed(source, place) if now is None else now
            if now != before:
                self.readers[before].remove(place)
                self.readers[now].append(place)
                self.sources[place][port] = now
                self._read_kinds[self.kinds[place]].add(self.kinds[now])
                left.append(before)
                moved[place] = None
        new = range(first, len(self.kinds))
        self._reader_kinds.clear()
        self._judge_again(moved)
        self._unsorted |= set(self.kinds[first:]) | self._dropped(left)
        for place in (*moved, *new):
            after = max(map(self._order.__getitem__, self.sources[place]), default=-math.inf)
            if after >= self._order[place] and place in self.nodes:
                self._is_ordered = False
                self._unsorted.update(self._of_kind)
                break

    def _listed(self, node: Node, reader: int) -> int:
        """The place of a node that another one reads; if it is new, it and what it reads come right before that."""
        pending = [node]
        while pending:
            node = pending[-1]
            if id(node) in self._place:
                pending.pop()
                continue
            order, known = self._order[reader], len(pending)
            after = order - 1
            for value in node.input_values():
                source = value.get_node()
                place = self._place.get(id(source))
                if place is None:
                    pending.append(source)
                else:
                    after = max(after, self._order[place])
            if len(pending) == known:
                self._append([pending.pop()], [(after + order) / 2])
        return self._place[id(node)]

    def _judge_again(self, moved: Iterable[int]) -> None:
        """Judges again which nodes depend on what, from nodes that read others on, as far as that changes."""
        pending = list(moved)
        while pending:
            place = pending.pop()
            is_free = all(map(self.is_free.__getitem__, self.sources[place]))
            if is_free != self.is_free[place]:
                self.is_free[place] = is_free
                pending += self.readers[place]
        for (kinds, opaque), known in self._independent.items():
            pending = list(moved)
            while pending:
                place = pending.pop()
                before = known.pop(place, None)
                if before is not None and self.is_independent(place, kinds, opaque) != before:
                    pending += self.readers[place]

    def _dropped(self, left: Iterable[int]) -> set[str]:
        """Drops those nodes that nothing reads any more, and what they alone read; returns their types."""
        kinds, pending = set[str](), list(left)
        while pending:
            place = pending.pop()
            if self.readers[place] or place not in self.nodes or self.kinds[place] in _ENDS:
                continue
            del self._place[id(self.nodes.pop(place))]
            self._dims.pop(place, None)
            self._data.pop(place, None)
            kinds.add(self.kinds[place])
            for source in self.sources[place]:
                self.readers[source].remove(place)
            pending += self.sources[place]
        return kinds

    def _put_in_order(self) -> None:
        """Numbers the nodes in topological order, as close to the present one as that is."""
        pending = sorted(self.nodes, key=self._order.__getitem__, reverse=True)
        done = dict[int, float]()
        while pending:
            place = pending[-1]
            unknown = [source for source in self.sources[place] if source not in done]
            if place in done or not unknown:
                pending.pop()
                done.setdefault(place, len(done))
            pending += unknown
        for place, number in done.items():
            self._order[place] = number
        self._is_ordered = True

    @cached_property
    def _in_order(self) -> list[int]:
        if not self._is_ordered:
            self._put_in_order()
        return sorted(self.nodes, key=self._order.__getitem__)

    @cached_property
    def free(self) -> list[int]:
        """The places of the nodes that are computed without any Parameter, but for Constants, in topological order."""
        return [place for place in self._in_order if self.is_free[place] and self.kinds[place] != "Constant"]

    def all_kinds(self) -> Set[str]:
        """The types of the nodes, and maybe of some that are gone."""
        return self._of_kind.keys()

    def of_kind(self, kind: str) -> Sequence[int]:
        """The places of the nodes of a type, in topological order."""
        if kind in self._unsorted:
            self._sort(kind)
        return self._of_kind.get(kind, ())

    def _sort(self, kind: str) -> None:
        if not self._is_ordered:
            self._put_in_order()
        self._unsorted.remove(kind)
        there = filter(self.nodes.__contains__, self._of_kind[kind])
        self._of_kind[kind] = sorted(there, key=self._order.__getitem__)

    def place_of(self, node: Node) -> int | None:
        """The place of a node; None for one that was made since."""
        return self._place.get(id(node))

    def places(self, where: Where) -> list[int]:
        """The places of nodes at which a pattern may match, those of a type in topological order."""
        roots: list[int] = []
        if all(map(self.of_kind, where.needs)):
            for kind in where.roots:
                if kind in self._of_kind and not (where.reads and where.reads.isdisjoint(self._read_kinds[kind])):
                    if kind in self._unsorted:
                        self._sort(kind)
                    roots += self._of_kind[kind]
        return self.fitting(where, roots) if roots else roots

    def fitting(self, where: Where, roots: Iterable[int]) -> list[int]:
        """The places at which a pattern may match, of places of nodes of its types."""
        name, reads, read_by, when = self.kinds.__getitem__, where.reads, where.read_by, where.when
        found: list[int] = []
        for place in roots:
            if reads and reads.isdisjoint(map(name, self.sources[place])):
                continue
            if read_by and read_by.isdisjoint(map(name, self.readers[place])):
                continue
            if when is None or when(self, place):
                found.append(place)
        return found

    def reader_kinds(self, place: int) -> set[str]:
        """The types of the nodes that read a node."""
        if place not in self._reader_kinds:
            self._reader_kinds[place] = set(map(self.kinds.__getitem__, self.readers[place]))
        return self._reader_kinds[place]

    def forget_dims(self) -> None:
        """Forgets the dimensions of all nodes, as all shapes were inferred again."""
        self._dims.clear()

    def dims(self, place: int) -> Dims | None:
        """The dimensions of the first output of a node, see `dims_of`; of a Constant, those of its elements."""
        if place not in self._dims:
            array = self.data(place) if self.kinds[place] == "Constant" else None
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

    def number(self, place: int) -> float | None:
        """What all elements of a Constant of 256 KB at most are; None for any other node, or if they differ."""
        if place not in self._numbers:
            array, number = self.data(place), None
            if array is not None and array.size and array.item(0) == array.item(-1) and array.nbytes <= _MAX_BYTES:
                node = self.nodes[place]
                assert isinstance(node, Constant)
                is_one = (array == array.item(0)).all()
                number = float(bits_to_values(array, node.get_element_type()).item(0)) if is_one else None
            self._numbers[place] = number
        return self._numbers[place]

    def ints(self, place: int, port: int) -> list[int] | None:
        """The values of an input that is an integer Constant; None for any other, and where there is no such input."""
        sources = self.sources[place]
        array = self.data(sources[port]) if port < len(sources) else None
        return None if array is None else integers(array)

    def perm(self, place: int) -> list[int] | None:
        """The permutation of a Transpose, see `perm_of`."""
        perm = self.ints(place, 1)
        if perm or perm is None:
            return perm
        dims = self.read_dims(place)
        return None if dims is None else list(range(len(dims)))[::-1]

    def is_constant(self, place: int) -> bool:
        """Whether a node is computed from constants alone."""
        return self.is_free[place] and (self.kinds[place] == "Constant" or self.is_independent(place, VARYING))

    def is_independent(self, place: int, kinds: Collection[str], opaque: Collection[str] = ()) -> bool:
        """Whether a node depends on no node of some types; those of types `opaque` never do."""
        known = self._independent.setdefault((kinds, opaque), {})
        pending = [place]
        while pending:
            place = pending[-1]
            kind, sources = self.kinds[place], self.sources[place]
            if place in known:
                pending.pop()
            elif kind in kinds or kind in opaque:
                known[place] = kind not in kinds
            else:
                judged = [known[source] for source in sources if source in known]
                if len(judged) == len(sources) or False in judged:
                    known[place] = False not in judged
                else:
                    pending += [source for source in sources if source not in known]
        return known[place]
