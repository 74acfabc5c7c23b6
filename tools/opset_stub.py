"""The types of `paddle2ov.graph.opset.ops`, as a stub made from the installed OpenVINO for the type check.

`python -m tools.opset_stub` prints it, so that two versions of OpenVINO can be compared. Names, parameters and defaults
are those of the functions; types are those that OpenVINO annotates, where it says `Node` for all that becomes a node. A
parameter has a name in the stub where every function that a call passes through knows it by that name: OpenVINO's
decorators and the functions that paddle2ov puts in their place take some by position only.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
from openvino import Node, opset16
from openvino.utils.decorators import MultiMethod

from paddle2ov.graph.opset import ops

# What OpenVINO annotates with another type than it takes or returns.
PARAMETERS = {("elu", "alpha"): "float", ("parameter", "shape"): "PartialShape | Shape | Sequence[int | Dimension]"}
RETURNS = {"parameter": "Parameter", "result": "Result", "constant": "Constant"}
NAMED = ("parameter", "result")
"""Functions whose nodes get their name as they are made; others are named by `paddle2ov/graph/node_names.py`."""
ELEMENT_TYPES = ("destination_type", "element_type", "output_type")
NAMES = {
    np.ndarray: "np.ndarray[Any, Any]",
    np.dtype: "np.dtype[Any]",
    np.number: "np.number[Any]",
    np.bool_: "np.bool_",
    dict: "dict[str, Any]",
    list: "Sequence[Any]",
    types.NoneType: "None",
}

HEAD = """from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np
from openvino import Dimension, Node, PartialShape, Shape, Tensor, Type, op
from openvino.op import Constant, Parameter, Result
from openvino.op.util import Variable

from paddle2ov.graph.node_factory import NodeInput

class Opset:
"""


def stub() -> str:
    """The module's text."""
    lines = [line for name in sorted(vars(ops)) for line in member(name, getattr(ops, name), getattr(opset16, name))]
    return HEAD + "".join(f"    {line}\n" for line in lines)


def member(name: str, ours: Any, theirs: Any) -> Iterator[str]:
    """The lines of one name of the opset."""
    if isinstance(theirs, type):
        if theirs.__module__ == "openvino._pyopenvino.op":
            yield f"{name}: type[op.{theirs.__name__}]"
    elif isinstance(theirs, MultiMethod):
        for function in vars(theirs)["typemap"].values():
            yield "@overload"
            yield method(name, function, function)
    elif callable(theirs) and theirs.__module__.startswith("openvino.opset"):
        yield method(name, ours, theirs)


def method(name: str, ours: Callable[..., Any], theirs: Callable[..., Any]) -> str:
    """The definition of one function."""
    called = [*layers(theirs), *([] if ours is theirs else [ours])]
    parameters = list(inspect.signature(theirs).parameters.values())
    if name not in NAMED:
        parameters = [parameter for parameter in parameters if parameter.name != "name"]
    by_position = sum(
        not all(takes(layer, parameter.name, i) for layer in called) for i, parameter in enumerate(parameters)
    )
    texts = [definition(parameter, PARAMETERS.get((name, parameter.name))) for parameter in parameters]
    by_keyword = next(
        (i for i, parameter in enumerate(parameters) if parameter.kind is parameter.KEYWORD_ONLY), len(parameters)
    )
    texts[by_keyword:] = ["*", *texts[by_keyword:]] if by_keyword < len(parameters) else []
    texts[by_position:by_position] = ["/"] if by_position else []
    return f"def {name}({', '.join(['self', *texts])}) -> {RETURNS.get(name, 'Node')}: ..."


def layers(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """A decorated function, and those that it calls in turn."""
    yield function
    if hasattr(function, "__wrapped__"):
        yield from layers(function.__wrapped__)


def takes(function: Callable[..., Any], name: str, position: int | None = None) -> bool:
    """Whether a function, its decorators apart, knows a parameter by name (and takes no other at that position)."""
    parameters = inspect.signature(function, follow_wrapped=False).parameters
    positional = [value.name for value in parameters.values() if value.kind is value.POSITIONAL_OR_KEYWORD]
    if position is not None and position < len(positional):
        return positional[position] == name
    return name in parameters or any(value.kind is value.VAR_KEYWORD for value in parameters.values())


def definition(parameter: inspect.Parameter, annotation: str | None) -> str:
    """One parameter as it is written."""
    text = annotation or rendered(parameter.annotation)
    if parameter.name.endswith(ELEMENT_TYPES) and text in ("str", "str | None"):
        text = text.replace("str", "str | Type")  # the factory of nodes takes both
    if parameter.default is None and not text.endswith("None"):
        text += " | None"
    if parameter.default is parameter.empty:
        return f"{parameter.name}: {text}"
    default = parameter.default if isinstance(parameter.default, str | float | int | None) else ...
    return f"{parameter.name}: {text} = {'...' if default is ... else repr(default)}"


def rendered(annotation: Any) -> str:
    """An annotation in today's spelling; what becomes a node may be an output, and any sequence does for a list."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is Node:
        return "NodeInput"
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if origin in (Union, types.UnionType):
        if Node in arguments:
            return "NodeInput | None" if types.NoneType in arguments else "NodeInput"
        return " | ".join(map(rendered, arguments))
    if origin is list:
        return f"Sequence[{rendered(*arguments)}]"
    return NAMES.get(annotation) or annotation.__name__


if __name__ == "__main__":
    sys.stdout.write(stub())
