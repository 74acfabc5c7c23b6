"""A row of the table: a finder, a remedy, the faults that they keep out, and where."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from openvino import Node

from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.rule import Rule, Visitor
from paddle2ov.workarounds.target import Target, version_of

CPU, ANY = frozenset(("CPU",)), frozenset(("CPU", "GPU", "NPU"))
"""Where a fault shows: on CPUs alone, or in transformations that all devices share."""

Site = TypeVar("Site")
"""What a finder finds and a remedy changes: an input, a node, or a tuple of what the remedy needs."""


class Workaround:
    """A row of the table, which is a rewrite of a graph: of the graph as a whole, by one function.

    Attributes:
        name: of that function, or of its finder, with the module: `post_ops.of_small_product`.
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
        rewrite: Callable[..., Any],
        *faults: str,
        remedy: str = "",
        where: Collection[str] = ANY,
        until: str | None = None,
        early: bool = False,
        fits_sizes: bool = False,
    ) -> None:
        self.name = self.__name__ = f"{rewrite.__module__.rpartition('.')[2]}.{rewrite.__name__}"
        self.text, self.remedy, self.faults, self.where = rewrite.__doc__ or "", remedy, faults, frozenset(where)
        self.until = version_of(until) if until else None
        self.early, self.fits_sizes = early, fits_sizes
        self._rewrite = rewrite

    def __call__(self, graph: Graph) -> Counts:
        """Changes the graph; returns at how many sites."""
        counts: Counts = self._rewrite(graph)
        return counts

    def serves(self, target: Target) -> bool:
        """Whether a graph for the target needs it."""
        is_there = target.device is None or target.device in self.where
        return is_there and (self.until is None or target.openvino < self.until)


class Local(Rule, Workaround):
    """A row that looks at one node after the other."""

    def __init__(
        self,
        finder: Visitor[Sequence[Site] | None],
        remedy: Callable[[Graph, Site], None],
        *faults: str,
        **about: Any,
    ) -> None:
        """A finder returns what the remedy is to change, None where nothing matches; `about`: as of `Workaround`."""

        def visit(graph: Graph, node: Node) -> Counts:
            sites = finder.visit(graph, node) or ()
            for site in sites:
                remedy(graph, site)
            return {"sites": len(sites)}

        Rule.__init__(self, Visitor(visit, finder.where), "sites")
        Workaround.__init__(self, finder.visit, *faults, remedy=remedy.__doc__ or "", **about)
