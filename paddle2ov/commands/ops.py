"""`paddle2ov ops`."""

from __future__ import annotations

import difflib
import fnmatch
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from paddle2ov.commands.exit_status import FAILED, REFUSED

if TYPE_CHECKING:
    from paddle2ov.translation.registry import Registry

Groups = dict[str, list[str]]
"""Family, or reason for having no converter -> operators."""


@click.command("ops")
@click.argument("pattern", default="*")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: name -> family (or reason).")
@click.option("--unsupported", is_flag=True, help="List the operators of Paddle that cannot be converted, and why.")
def ops_command(pattern: str, as_json: bool, unsupported: bool) -> None:
    """List the operators that can be converted, by family; PATTERN filters them ('reduce_*').

    Operators go by their names in legacy programs; PIR's names are found as well. The exit status is 0 if an operator
    that matches can be converted, 1 if none can, which is explained, and 2 if Paddle has no operator of that name.
    """
    from paddle2ov.translation.registry import Registry

    registry = Registry()
    pattern = pattern.removeprefix("pd_op.")  # as a printed PIR program has it
    names = _pir_names(registry)
    plain = pattern.removesuffix("_")
    forms = {name: (name, (pir_name or name).removesuffix("_")) for name, pir_name in names.items()}
    matching = [name for name in names if any(fnmatch.fnmatchcase(form, plain) for form in forms[name])]
    convertible = _supported(registry, matching)
    supported = bool(convertible) and not unsupported
    groups = convertible if supported else _unsupported(registry, matching, pattern)
    if not groups and convertible:
        if as_json:
            click.echo(json.dumps({}))
        else:
            click.echo(f"Every operator that matches '{pattern}' can be converted:")
            _print(convertible, names, pattern, supported=True)
        return
    if not groups:
        known = {*names, *filter(None, names.values())}
        close = ", ".join(difflib.get_close_matches(pattern, sorted(known)))
        hint = f"; did you mean {close}?" if close else ""
        click.secho(f"error: no operator of Paddle's that is known here matches '{pattern}'{hint}", fg="red", err=True)
        sys.exit(FAILED)
    if as_json:
        click.echo(json.dumps({name: group for group, members in groups.items() for name in members}, indent=1))
    else:
        _print(groups, names, pattern, supported)
    sys.exit(0 if supported or unsupported else REFUSED)


def _pir_names(registry: Registry) -> dict[str, str | None]:
    """Every operator that is known -> PIR's name of it."""
    from paddle2ov.program.signatures import ROWS
    from paddle2ov.translation.registry import STRUCTURE

    signatures = {name: registry.signature(name) for name in (*ROWS, *STRUCTURE, *registry.names())}
    return {name: signature.pir_name if signature is not None else None for name, signature in signatures.items()}


def _supported(registry: Registry, names: Sequence[str]) -> Groups:
    """The operators that have a converter, by families in alphabetic order, and those that need none."""
    from paddle2ov.commands.families import families
    from paddle2ov.translation.registry import STRUCTURE

    modules = families()
    groups: Groups = {}
    for name in names:
        if name in STRUCTURE:
            groups.setdefault("program structure", []).append(name)
        elif registry.is_extension(name):  # the module of a converter from elsewhere
            groups.setdefault(str(getattr(registry.get(name), "__module__", "") or ""), []).append(name)
        elif name in modules:
            groups.setdefault(modules[name], []).append(name)
    return {group: sorted(members) for group, members in sorted(groups.items())}


def _unsupported(registry: Registry, names: Sequence[str], pattern: str) -> Groups:
    """Those that have none, by the reason; one that the signature table leaves out is found by its full name."""
    from paddle2ov.translation.registry import STRUCTURE
    from paddle2ov.translation.unsupported import by_reason, left_out

    groups = by_reason([name for name in names if registry.get(name) is None and name not in STRUCTURE])
    why = left_out(pattern)
    return {why: [pattern.removesuffix("_")]} if why and not groups else groups


def _print(groups: Groups, names: Mapping[str, str | None], pattern: str, supported: bool) -> None:
    plain = pattern.removesuffix("_")
    for group, members in groups.items():
        title = group if supported else f"no converter: {group}"
        shown = [
            member if fnmatch.fnmatchcase(member, plain) else f"{member} (in PIR: {names[member]})"
            for member in members
        ]
        click.secho(f"{title} ({len(members)})", bold=True)
        click.echo(click.wrap_text(", ".join(shown), 100, "  ", "  "))
    count, kind = sum(map(len, groups.values())), "families" if supported else "reasons"
    click.echo(f"operators: {count}, {kind}: {len(groups)}")
