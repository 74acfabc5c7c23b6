"""Flags that are given a value, and options that had other names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click


class RenamedOption(click.Option):
    """An option that is also known by old names, which the help leaves out.

    Args:
        arguments: as click's.
        old_names: such as `--shape`.
        settings: as click's.
    """

    def __init__(self, *arguments: Any, old_names: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._old_names = old_names

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """As click's, with the old names."""
        shown = self.opts
        self.opts = [*shown, *self._old_names]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown


class ValuedFlags(click.Command):
    """A command whose flags with a `--no-` form may have a value, as those of `ovc` do.

    `--compress_to_fp16=False` or `--compress_to_fp16 False`.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's, with each of these as the form that it means."""
        end = args.index("--") if "--" in args else len(args)
        joined = self._joined(args[:end])
        return super().parse_args(ctx, [*(self._without_value(argument, ctx) for argument in joined), *args[end:]])

    def _joined(self, args: list[str]) -> list[str]:
        """`--flag True` as `--flag=True`."""
        flags = {name for option in self.params if option.secondary_opts for name in option.opts}
        arguments: list[str] = []
        for arg in args:
            if arguments and arguments[-1] in flags and arg.lower() in ("true", "false"):
                arguments[-1] += f"={arg}"
            else:
                arguments.append(arg)
        return arguments

    def _without_value(self, argument: str, ctx: click.Context) -> str:
        name, separator, value = argument.partition("=")
        for option in self.params if separator else ():
            if name in option.opts and option.secondary_opts:
                on = click.BOOL.convert(value, option, ctx)
                return name if on else option.secondary_opts[0]
        return argument
