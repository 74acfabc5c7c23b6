"""Groups of a drawing's nodes, which the page folds: modules of the source, and sections of what would be too many."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field

_MOST = 40
"""How many members a group may have: more are cut into sections."""
_FEWEST_NODES = 40
"""A drawing of no more nodes shows no modules."""


@dataclass(frozen=True, slots=True)
class GroupKey:
    """What tells a group from others of its parent: `mark` differs where `label` does not."""

    kind: str
    label: str
    mark: Hashable
    ref: int = -1


Path = tuple[GroupKey, ...]
"""The groups that a node stands in, the outermost first."""


@dataclass(slots=True)
class Group:
    """Nodes, by their position, and further groups.

    Attributes:
        kind: "module", "section", or "block" of a branch or loop.
        label: its name on the page.
        ref: of a block, the operator that owns it; else -1.
        members: what stands in it, in order.
    """

    kind: str = ""
    label: str = ""
    ref: int = -1
    members: list[Group | int] = field(default_factory=list)


def runs(modules: Sequence[Sequence[str]], outer: Path = ()) -> list[Path]:
    """The groups of operators, whose modules are given with the outermost first, in the order of the program.

    A module that is left and entered again has a group for each time: no group reads what it itself leads to. All of
    them stand in the groups `outer`.
    """
    numbers = itertools.count()
    paths: list[Path] = []
    last: Path = ()
    for names in modules:
        same = 0
        while same < min(len(names), len(last)) and last[same].label == names[same]:
            same += 1
        last = (*last[:same], *(GroupKey("module", name, next(numbers)) for name in names[same:]))
        paths.append(outer + last)
    return paths


def group_nodes(paths: Sequence[Path], edges: Sequence[tuple[int, int]], loose: Collection[int] = ()) -> Group:
    """The tree of groups of a graph's nodes; groups that help nobody are left out, large ones are cut into sections.

    The paths, which are the groups of each node, are in topological order, and edges are by position. Some nodes stay
    outside of sections (`loose`): inputs and results.
    """
    root = Group()
    groups: dict[Path, Group] = {(): root}
    for i, path in enumerate(paths):
        for depth in range(1, len(path) + 1):
            if path[:depth] not in groups:
                key = path[depth - 1]
                new_group = groups[path[:depth]] = Group(key.kind, key.label, key.ref)
                groups[path[: depth - 1]].members.append(new_group)
        groups[path].members.append(i)
    small = len(paths) <= _FEWEST_NODES
    for group in reversed(groups.values()):  # the inner ones first
        group.members = [inner for member in group.members for inner in _without_needless(member, small)]
    for group in groups.values():
        _cut_into_sections(group, edges, loose)
    return root


def nodes_of(member: Group | int) -> Iterator[int]:
    """The nodes of a group and of those inside."""
    waiting = [member]
    while waiting:
        next_member = waiting.pop()
        if isinstance(next_member, Group):
            waiting += reversed(next_member.members)
        else:
            yield next_member


def _without_needless(member: Group | int, small: bool) -> list[Group | int]:
    if isinstance(member, Group) and member.kind == "module" and (small or len(member.members) == 1):
        return member.members
    return [member]


def _cut_into_sections(group: Group, edges: Sequence[tuple[int, int]], loose: Collection[int]) -> None:
    apart = [member for member in group.members if isinstance(member, int) and member in loose]
    members = [member for member in group.members if not (isinstance(member, int) and member in loose)]
    while len(members) > _MOST:
        ends = _ends(members, edges)
        sections = itertools.pairwise([0, *ends, len(members)])
        members = [
            Group("section", _name(i, len(ends) + 1, members[start:end]), members=members[start:end])
            for i, (start, end) in enumerate(sections)
        ]
    group.members = [*apart, *members]


def _name(position: int, count: int, members: Sequence[Group | int]) -> str:
    first, last = members[0], members[-1]
    if isinstance(first, Group) and isinstance(last, Group):
        return f"{first.label.partition(' … ')[0]} … {last.label.rpartition(' … ')[2]}"
    return f"part {position + 1} of {count}"


def _ends(members: Sequence[Group | int], edges: Sequence[tuple[int, int]]) -> list[int]:
    """Where to cut a sequence: into parts of about the same length, where the fewest edges cross."""
    place = {node: i for i, member in enumerate(members) for node in nodes_of(member)}
    change = [0] * (len(members) + 1)
    for source, target in {(place.get(a), place.get(b)) for a, b in edges}:
        if source is not None and target is not None and source != target:
            change[min(source, target) + 1] += 1
            change[max(source, target) + 1] -= 1
    crossing = list(itertools.accumulate(change))
    length = len(members) / math.ceil(len(members) / (0.7 * _MOST))
    ends = []
    for k in range(1, round(len(members) / length)):
        middle, reach = k * length, length / 4
        near = range(math.ceil(middle - reach), math.floor(middle + reach) + 1)
        ends.append(min(near, key=lambda i: (crossing[i], abs(i - middle))))
    return ends
