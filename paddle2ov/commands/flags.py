"""Flags that are given a value."""

from __future__ import annotations

import click


class ValuedFlags(click.Command):
    """A command whose flags with a `--no-` form may have a value, as those of `ovc` do: `--compress_to_fp16=False`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's, with each of these as the form that it means."""
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [*(self._without_value(one, ctx) for one in args[:end]), *args[end:]])

    def _without_value(self, argument: str, ctx: click.Context) -> str:
        name, given, value = argument.partition("=")
        for option in self.params if given else ():
            if name in option.opts and option.secondary_opts:
                on = click.BOOL.convert(value, option, ctx)
                return name if on else option.secondary_opts[0]
        return argument


__all__ = ["ValuedFlags"]
