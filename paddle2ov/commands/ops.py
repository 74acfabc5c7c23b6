"""`paddle2ov ops`."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from paddle2ov.translation.registry import Registry


@click.command("ops")
@click.argument("pattern", default="*")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: name -> family (or reason).")
@click.option("--unsupported", is_flag=True, help="List the operators of Paddle that cannot be converted, and why.")
def ops_command(pattern: str, as_json: bool, unsupported: bool) -> None:
    """List the operators that can be converted, by family; PATTERN filters them ('reduce_*')."""
    from paddle2ov.commands.families import families as modules_of_converters
    from paddle2ov.translation.registry import STRUCTURE, Registry

    registry = Registry()
    if unsupported:
        _print_unsupported(registry, pattern, as_json)
        return
    names = [name for name in registry.names() if fnmatch.fnmatchcase(name, pattern)]
    modules = modules_of_converters()
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(_family(registry, modules, name), []).append(name)
    structure = [name for name in STRUCTURE if fnmatch.fnmatchcase(name, pattern)]
    if structure:
        families["program structure"] = structure
        names += structure
    if as_json:
        click.echo(json.dumps({name: family for family, members in families.items() for name in members}, indent=1))
        return
    for family in sorted(families):
        click.secho(f"{family} ({len(families[family])})", bold=True)
        click.echo(click.wrap_text(", ".join(families[family]), 100, "  ", "  "))
    click.echo(f"{len(names)} operators in {len(families)} families")


def _print_unsupported(registry: Registry, pattern: str, as_json: bool) -> None:
    from paddle2ov.program.signatures import ROWS
    from paddle2ov.translation.registry import STRUCTURE
    from paddle2ov.translation.unsupported import by_reason

    missing = [name for name in ROWS if registry.get(name) is None and name not in STRUCTURE]
    groups = by_reason(name for name in missing if fnmatch.fnmatchcase(name, pattern))
    if as_json:
        click.echo(json.dumps({name: why for why, members in groups.items() for name in members}, indent=1))
        return
    for why, members in groups.items():
        click.secho(f"{why} ({len(members)})", bold=True)
        click.echo(click.wrap_text(", ".join(members), 100, "  ", "  "))
    click.echo(f"{sum(len(members) for members in groups.values())} operators")


def _family(registry: Registry, modules: Mapping[str, str], name: str) -> str:
    """The module of `converters/`; of a converter from elsewhere, its own."""
    if registry.is_extension(name):
        return str(getattr(registry.get(name), "__module__", "") or "")
    return modules[name]
