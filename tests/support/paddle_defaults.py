"""The defaults that Paddle has for attributes of its operators: operator -> attribute -> default.

Those of a legacy format are told by its Paddle, those of PIR read from the headers of the installed one. An attribute
that has no default is `NONE`; a program that lacks it is refused.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.paddles import told

NONE = "no default"
Defaults = dict[str, dict[str, list[Any]]]


@cache
def legacy_defaults(python: str) -> Defaults:
    """What the protos of an installed Paddle say, which an interpreter has; the one of PIR has protos too."""
    defaults: Defaults = json.loads(told(python, _TELL))
    return defaults


_TELL = f"""
import json, paddle

core, defaults = paddle.base.core, {{}}
for name, proto in paddle.base.framework.OpProtoHolder.instance().op_proto_map.items():
    found = {{**core.get_op_extra_attrs(name), **core.get_op_attrs_default_value(name.encode())}}
    names = {{*(attribute.name for attribute in proto.attrs), *found}}
    defaults[name] = {{attribute: [found.get(attribute, {NONE!r})] for attribute in names}}
print(json.dumps(defaults))
"""


def pir_classes() -> Iterator[tuple[str, str]]:
    """Each operator of PIR, with its in-place `_`, and its class in the headers of Paddle's wheel."""
    spec = importlib.util.find_spec("paddle")
    assert spec is not None, "the tests need Paddle"
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "include/paddle/fluid/pir/dialect/operator/ir"
    for file in ("pd_op.h", "manual_op.h", "control_flow_op.h"):
        for text in re.split(r"^class ", re.sub(r"//.*", "", (folder / file).read_text()), flags=re.MULTILINE):
            name = re.search(r'name\(\) \{ return "pd_op\.(\w+)"', text)
            if name:
                yield name[1], text


def builders(text: str) -> list[str]:
    """The arguments of all `Build` methods of such a class."""
    return re.findall(r"static void Build\((.*?)\);", text, re.DOTALL)


@cache
def pir_defaults() -> Defaults:
    """What the builders of PIR's operators say; an operator may have builders with different defaults."""
    defaults: Defaults = {}
    for name, text in pir_classes():
        operator_defaults = defaults.setdefault(name.removesuffix("_"), {})
        for arguments in builders(text):
            for argument, default in re.findall(_ARGUMENT, arguments + ","):
                operator_defaults.setdefault(argument, []).append(_literal(default) if default else NONE)
    return defaults


_ARGUMENT = re.compile(r"(\w+)\s*(?:=\s*(\{.*?\}|\(.*?\).*?|\".*?\"|[^,]*?)\s*)?,")


def _literal(text: str) -> Any:
    """The value of a literal or a quotient of C++; other expressions as they are."""
    dividend, slash, divisor = text.partition("/")
    if slash:
        return _literal(dividend) / _literal(divisor)
    text = re.sub(r"(?<=[\d.])[fL]\b", "", text).replace("{", "[").replace("}", "]")
    try:
        return json.loads(re.sub(r"\.(?!\d)", ".0", re.sub(r"(?<!\d)\.", "0.", text)))
    except json.JSONDecodeError:
        return text.removeprefix("phi::DataType::")
