"""A row of the table: a finder, a remedy, the faults that they keep out, and where."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any

from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.rule import Finder, Rule, Site
from paddle2ov.workarounds.target import Target, version_of

CPU, ANY = frozenset(("CPU",)), frozenset(("CPU", "GPU", "NPU"))
"""Where a fault shows: on CPUs alone, or in transformations that all devices share."""


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
        looking: Callable[..., Any],
        faults: Sequence[str],
        remedy: str | None = None,
        *,
        where: Collection[str],
        until: str | None,
        early: bool,
        fits_sizes: bool = False,
    ) -> None:
        self.name = self.__name__ = f"{looking.__module__.rpartition('.')[2]}.{looking.__name__}"
        self.faults, self.where = tuple(faults), frozenset(where)
        self.early, self.fits_sizes = early, fits_sizes
        self.until = version_of(until) if until else None
        self.text, self.remedy = looking.__doc__ or "", remedy or ""

    @abstractmethod
    def __call__(self, graph: Graph) -> Counts:
        """Changes the graph; returns at how many sites."""

    def serves(self, target: Target) -> bool:
        """Whether a graph for the target needs it."""
        is_there = target.device is None or target.device in self.where
        return is_there and (self.until is None or target.openvino < self.until)


class _LocalWorkaround(Rule[Site], Workaround):
    """A row that looks at one node after the other."""

    def __init__(
        self, finder: Finder[Site], remedy: Callable[[Graph, Site], None], faults: Sequence[str], **about: Any
    ) -> None:
        Rule.__init__(self, finder, remedy, "sites")
        Workaround.__init__(self, finder.find, faults, remedy.__doc__, **about)


class _WholeWorkaround(Workaround):
    """A row that looks at the graph as a whole."""

    def __init__(self, rewrite: Callable[[Graph], Counts], faults: Sequence[str], **about: Any) -> None:
        super().__init__(rewrite, faults, **about)
        self._rewrite = rewrite

    def __call__(self, graph: Graph) -> Counts:
        return self._rewrite(graph)


def local(
    finder: Finder[Site],
    remedy: Callable[[Graph, Site], None],
    *faults: str,
    where: Collection[str] = ANY,
    until: str | None = None,
    early: bool = False,
    fits_sizes: bool = False,
) -> Workaround:
    """A row that looks at one node after the other."""
    return _LocalWorkaround(finder, remedy, faults, where=where, until=until, early=early, fits_sizes=fits_sizes)


def whole(
    rewrite: Callable[[Graph], Counts],
    *faults: str,
    where: Collection[str] = ANY,
    until: str | None = None,
    early: bool = False,
) -> Workaround:
    """A row that looks at the graph as a whole."""
    return _WholeWorkaround(rewrite, faults, where=where, until=until, early=early)
