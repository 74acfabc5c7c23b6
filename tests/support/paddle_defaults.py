"""The defaults that Paddle has for attributes of its operators, as JSON: operator -> attribute -> default.

Run as a script by the Paddle of a legacy format, or read from the headers of the installed one for PIR. An attribute
that has no default is `NONE`; a program that lacks it is refused.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

NONE = "no default"
Defaults = dict[str, dict[str, list[Any]]]


@cache
def legacy_defaults(python: str) -> Defaults:
    """What the protos of an installed Paddle say, which an interpreter has; the one of PIR has protos too."""
    if python == sys.executable:
        text = _told()
    else:
        text = subprocess.run([python, "-W", "ignore", __file__], capture_output=True, text=True, check=True).stdout
    defaults: Defaults = json.loads(text)
    return defaults


def _told() -> str:
    import paddle

    core = paddle.base.core
    defaults = {}
    for name, proto in paddle.base.framework.OpProtoHolder.instance().op_proto_map.items():
        found = {**core.get_op_extra_attrs(name), **core.get_op_attrs_default_value(name.encode())}
        names = {*(attribute.name for attribute in proto.attrs), *found}
        defaults[name] = {attribute: [found.get(attribute, NONE)] for attribute in names}
    return json.dumps(defaults)


@cache
def pir_defaults() -> Defaults:
    """What the builders of PIR's operators say; an operator may have builders with different defaults."""
    spec = importlib.util.find_spec("paddle")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "include/paddle/fluid/pir/dialect/operator/ir"
    defaults: Defaults = {}
    for file in ("pd_op.h", "manual_op.h", "control_flow_op.h"):
        for text in re.split(r"^class ", re.sub(r"//.*", "", (folder / file).read_text()), flags=re.MULTILINE):
            name = re.search(r'name\(\) \{ return "pd_op\.(\w+)"', text)
            if name:
                operator_defaults = defaults.setdefault(name[1].removesuffix("_"), {})
                for arguments in re.findall(r"static void Build\((.*?)\);", text, re.DOTALL):
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


if __name__ == "__main__":
    sys.stdout.write(_told())
