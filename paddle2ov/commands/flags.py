"""Flags that are given a value."""

from __future__ import annotations

import click


class ValuedFlags(click.Command):
    """A command whose flags with a `--no-` form may have a value, as those of `ovc` do.

    `--compress_to_fp16=False` or `--compress_to_fp16 False`.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's, with each of these as the form that it means."""
        flags = {name: option for option in self.params if option.secondary_opts for name in option.opts}
        end = args.index("--") if "--" in args else len(args)
        arguments: list[str] = []
        for argument in args[:end]:
            if arguments and arguments[-1] in flags and argument.lower() in ("true", "false"):
                argument = f"{arguments.pop()}={argument}"
            name, separator, value = argument.partition("=")
            if separator and name in flags:
                option = flags[name]
                argument = name if click.BOOL.convert(value, option, ctx) else option.secondary_opts[0]
            arguments.append(argument)
        return super().parse_args(ctx, [*arguments, *args[end:]])
