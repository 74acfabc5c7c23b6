"""A row of the table: a finder, a remedy, the faults that they keep out, and where."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct
from openvino import Node

from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.rule import Local
from paddle2ov.passes.where import When, Where
from paddle2ov.workarounds.target import Target, version_of

Site = TypeVar("Site")
"""What a finder finds and a remedy changes: an input, a node, or a Struct of both."""

CPU, ANY = frozenset(("CPU",)), frozenset(("CPU", "GPU", "NPU"))
"""Where a fault shows: on CPUs alone, or in transformations that all devices share."""


class Skip(Struct, frozen=True):
    """Why a match stays as it is; a string literal, as reports count by it."""

    reason: str


class Finder(Generic[Site]):
    """Looks at nodes of some types for what OpenVINO computes wrongly."""

    def __init__(
        self,
        find: Callable[[Graph, Node], Sequence[Site] | Skip | None],
        where: Where,
    ) -> None:
        self.find, self.where = find, where
        self.name = f"{find.__module__.rpartition('.')[2]}.{find.__name__}"
        self.__doc__ = find.__doc__


def at(
    *roots: str,
    needs: Collection[str] = (),
    reads: Collection[str] = (),
    read_by: Collection[str] = (),
    when: When | None = None,
) -> Callable[[Callable[[Graph, Node], Sequence[Site] | Skip | None]], Finder[Site]]:
    """Makes a finder of a function.

    Args:
        roots: the types of the nodes that it looks at.
        needs: rarer types that every match contains: without them in the graph, it looks at none.
        reads: types of which one is among the nodes that each of them reads, if there are any.
        read_by: types of which one is among the nodes that read each of them, if there are any.
        when: what else the index tells of each of them.
    """
    where = Where(roots, frozenset(needs), frozenset(reads), frozenset(read_by), when)
    return lambda find: Finder(find, where)


class Workaround(ABC):
    """A row of the table, which is a rewrite of a graph.

    Attributes:
        name: of its finder, with the module: `post_ops.of_small_product`.
        text: what goes wrong, and where (`Given`).
        remedy: what is made of it.
        faults: the names of what it works around, in the register of faults.
        where: the devices on which they show.
        until: the first OpenVINO that computes them right; None while there is none.
        early: whether it runs before the rewrites, which look for constants.
        fits_sizes: whether the remedy is right for the sizes at hand alone, as that of products of one number. It is
            for sizes that the program fixes, not for those of a `Model.reshape`, which another one may follow.
    """

    def __init__(
        self,
        name: str,
        faults: Sequence[str],
        text: str | None,
        remedy: str | None = None,
        *,
        where: Collection[str],
        until: str | None,
        early: bool,
        fits_sizes: bool = False,
    ) -> None:
        self.name = self.__name__ = name
        self.faults, self.where = tuple(faults), frozenset(where)
        self.early, self.fits_sizes = early, fits_sizes
        self.until = version_of(until) if until else None
        self.text, self.remedy = text or "", remedy or ""

    @abstractmethod
    def __call__(self, graph: Graph) -> Counts:
        """Changes the graph; returns at how many sites."""

    def serves(self, target: Target) -> bool:
        """Whether a graph for the target needs it."""
        is_there = target.device is None or target.device in self.where
        return is_there and (self.until is None or target.openvino < self.until)


class _LocalWorkaround(Workaround, Local, Generic[Site]):
    """A row that looks at one node after the other."""

    counts = ("sites",)

    def __init__(
        self, find: Finder[Site], change: Callable[[Graph, Site], None], faults: Sequence[str], **about: Any
    ) -> None:
        super().__init__(find.name, faults, find.__doc__, change.__doc__, **about)
        self.looks_at = find.where
        self._find, self._change = find.find, change

    def __call__(self, graph: Graph) -> Counts:
        done = 0
        for node in graph.candidates(self.looks_at):
            sites = self._find(graph, node)
            if sites is None:
                continue
            if isinstance(sites, Skip):
                graph.match_failed(self.name, node, sites.reason)
                continue
            for site in sites:
                self._change(graph, site)
                done += 1
        return {"sites": done}


class _WholeWorkaround(Workaround):
    """A row that looks at the graph as a whole."""

    def __init__(self, rewrite: Callable[[Graph], Counts], faults: Sequence[str], **about: Any) -> None:
        name = f"{rewrite.__module__.rpartition('.')[2]}.{rewrite.__name__}"
        super().__init__(name, faults, rewrite.__doc__, **about)
        self._rewrite = rewrite

    def __call__(self, graph: Graph) -> Counts:
        return self._rewrite(graph)


def local(
    find: Finder[Site],
    remedy: Callable[[Graph, Site], None],
    *faults: str,
    where: Collection[str] = ANY,
    until: str | None = None,
    early: bool = False,
    fits_sizes: bool = False,
) -> Workaround:
    """A row that looks at one node after the other."""
    return _LocalWorkaround(find, remedy, faults, where=where, until=until, early=early, fits_sizes=fits_sizes)


def whole(
    rewrite: Callable[[Graph], Counts],
    *faults: str,
    where: Collection[str] = ANY,
    until: str | None = None,
    early: bool = False,
) -> Workaround:
    """A row that looks at the graph as a whole."""
    return _WholeWorkaround(rewrite, faults, where=where, until=until, early=early)
