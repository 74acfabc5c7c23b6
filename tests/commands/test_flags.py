"""Flags with values, as `ovc` is given them."""

import click
import pytest
from click.testing import CliRunner

from paddle2ov.commands.conversion_options import ValuedFlags
from paddle2ov.commands.convert import convert_command
from paddle2ov.commands.group import cli


def parsed(*arguments):
    with convert_command.make_context("convert", list(arguments), click.Context(cli, **cli.context_settings)) as ctx:
        return ctx.params["fp16"], ctx.params["model"].name


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("--compress_to_fp16", True),
        ("--compress_to_fp16=True", True),
        ("--compress_to_fp16=False", False),
        ("--compress-to-fp16=0", False),
        ("--no-compress-to-fp16", False),
    ],
)
def test_a_flag_with_a_value(flag, expected):
    assert parsed("net", flag) == (expected, "net")
    name, separator, value = flag.partition("=")
    if value in ("True", "False"):
        assert parsed(name, value, "net") == parsed("net", name, value.lower()) == (expected, "net")
    if not separator:
        assert parsed(flag, "net") == (expected, "net")


def test_a_value_that_is_none():
    with pytest.raises(click.BadParameter, match="'maybe' is not a valid boolean"):
        parsed("net", "--compress_to_fp16=maybe")


def test_what_stands_behind_two_dashes_is_an_argument():
    assert parsed("--", "--compress_to_fp16=1") == (None, "--compress_to_fp16=1")


def test_other_options_keep_their_values():
    command = ValuedFlags("one", params=[click.Option(["--name"]), click.Option(["--quiet"], is_flag=True)])
    command.callback = lambda name, quiet: click.echo(name)
    assert CliRunner().invoke(command, ["--name=False"]).output == "False\n"
    assert CliRunner().invoke(command, ["--quiet=False"]).exit_code == 2
