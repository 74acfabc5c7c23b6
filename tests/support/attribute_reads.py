"""The attributes that a converter reads, and with which defaults, by its source.

Expressions are evaluated as far as they are known before a conversion: constants, closures, arguments of helpers that
get the node.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from paddle2ov.translation.complex_aware import ComplexAware
from paddle2ov.translation.node_context import REQUIRED, NodeContext

_PARAMETERS = {
    name: [item.removesuffix("_value") for item in list(inspect.signature(getattr(NodeContext, name)).parameters)[1:]]
    for name in (
        *("get_attribute", "get_bool", "get_constant", "get_dtype", "get_float", "get_floats"),
        *("get_int", "get_ints", "get_str", "get_tensor"),
    )
}


class _Mark:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


UNKNOWN = _Mark("unknown")
"""A value that only a conversion tells."""
_NODE = _Mark("node")
_ITEMS = (list, tuple, set, frozenset, dict, range)


class Repeated(NamedTuple):
    """A list of one value, whose length only a conversion tells."""

    item: Any


class Read(NamedTuple):
    """A read of an attribute; the default is REQUIRED where there is none."""

    attribute: Any
    default: Any
    getter: str
    place: str


def reads_of(converter: Any) -> list[Read]:
    """Every read of an attribute that a converter can come to."""
    ways = (converter.convert, converter.of_complex) if isinstance(converter, ComplexAware) else (converter,)
    reads = [read for way in ways for read in _reads(way, [_NODE], {})]
    for part in getattr(getattr(converter, "__self__", None), "functions", ()):  # of what a class was made of
        reads += _reads(part, [_NODE, UNKNOWN, UNKNOWN], {})
    return list({repr(read): read for read in reads if read.attribute is not None}.values())


def reads_with_defaults(file: Path, module: str) -> set[str]:
    """The places of all reads with a default in a file."""
    calls = [part for part in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(part, ast.Call)]
    return {f"{module}:{call.lineno}" for call in calls if _getter(call) and _has_default(call)}


def _getter(call: ast.Call) -> str | None:
    return call.func.attr if isinstance(call.func, ast.Attribute) and call.func.attr in _PARAMETERS else None


def _has_default(call: ast.Call) -> bool:
    getter = _getter(call)
    if getter is None or getter == "get_dtype":
        return getter is not None
    return len(call.args) > _PARAMETERS[getter].index("default") or bool(
        {"default", "default_value"} & {keyword.arg for keyword in call.keywords}
    )


_READS: dict[str, list[Read]] = {}


def _reads(function: Any, values: list[Any], named: Mapping[str, Any]) -> list[Read]:
    """What a function of the converters reads that is called with these arguments."""
    if isinstance(function, functools.partial):
        return _reads(function.func, [*function.args, *values], {**function.keywords, **named})
    if isinstance(function, types.MethodType):
        function, values = function.__func__, [function.__self__, *values]
    elif isinstance(function, type):
        function, values = vars(function).get("__init__"), [UNKNOWN, *values]
    if not isinstance(function, types.FunctionType) or not function.__module__.startswith("paddle2ov.converters"):
        return []
    code = function.__code__
    tree = _functions(code.co_filename)[code.co_firstlineno]
    enclosing = inspect.getclosurevars(function).nonlocals
    key = f"{code.co_filename}:{code.co_firstlineno} {enclosing} {values} {named}"
    if key not in _READS:
        _READS[key] = []  # of a function that calls itself
        scope = {**vars(builtins), **function.__globals__, **enclosing, **_arguments(function, values, named)}
        _READS[key] = list(_Body(scope, function.__module__).reads(tree))
    return _READS[key]


@cache
def _functions(file: str) -> dict[int, ast.AST]:
    """The functions of a module by the line in which they begin."""
    functions: dict[int, ast.AST] = {}
    for part in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(part, ast.FunctionDef | ast.Lambda):
            decorators = part.decorator_list if isinstance(part, ast.FunctionDef) else []
            functions.setdefault(min(decorator.lineno for decorator in (part, *decorators)), part)
    return functions


def _arguments(function: types.FunctionType, values: list[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    empty = inspect.Parameter.empty
    scope = {
        name: UNKNOWN if parameter.default is empty else parameter.default for name, parameter in parameters.items()
    }
    for i, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind is parameter.VAR_POSITIONAL:
            scope[name] = tuple(values[i:])
        elif parameter.kind is not parameter.KEYWORD_ONLY and i < len(values):
            scope[name] = values[i]
    return scope | {name: value for name, value in named.items() if name in parameters}


class _Body:
    """Walks the body of a function in the order of execution, both ways at each branch."""

    def __init__(self, scope: dict[str, Any], module: str) -> None:
        self._scope = scope
        self._module = module

    def reads(self, part: ast.AST) -> Iterator[Read]:
        """What is read within a part of the source."""
        if isinstance(part, ast.For | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            yield from self._loop(part)
            return
        if isinstance(part, ast.FunctionDef | ast.Lambda) and "node" in [argument.arg for argument in part.args.args]:
            self._scope["node"] = _NODE
        for child in ast.iter_child_nodes(part):
            yield from self.reads(child)
        if isinstance(part, ast.ImportFrom):
            module = importlib.import_module(part.module or "")
            self._scope.update({name.asname or name.name: getattr(module, name.name) for name in part.names})
        elif isinstance(part, ast.Assign):
            self._bind(part.targets[0], self._value(part.value))
        elif isinstance(part, ast.Call):
            yield from self._call(part)

    def _loop(self, part: Any) -> Iterator[Read]:
        loop = part if isinstance(part, ast.For) else part.generators[0]
        yield from self.reads(loop.iter)
        if isinstance(part, ast.For):
            body = [*part.body, *part.orelse]
        else:
            body = [
                *loop.ifs,
                *part.generators[1:],
                *([part.key, part.value] if isinstance(part, ast.DictComp) else [part.elt]),
            ]
        items = self._value(loop.iter)
        for item in items if isinstance(items, _ITEMS) else [UNKNOWN]:
            self._bind(loop.target, item)
            for value in body:
                yield from self.reads(value)

    def _bind(self, target: ast.AST, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._scope[target.id] = value
        elif isinstance(target, ast.Tuple):
            matches = isinstance(value, Sequence) and len(value) == len(target.elts)
            for i, elt in enumerate(target.elts):
                self._bind(elt, value[i] if matches else UNKNOWN)

    def _call(self, part: ast.Call) -> Iterator[Read]:
        values: list[Any] = []
        for argument in part.args:
            value = self._value(argument.value if isinstance(argument, ast.Starred) else argument)
            values += value if isinstance(argument, ast.Starred) and isinstance(value, list | tuple) else [value]
        named = {key.arg.removesuffix("_value"): self._value(key.value) for key in part.keywords if key.arg}
        getter = _getter(part)
        if getter is not None:
            passed = {**dict(zip(_PARAMETERS[getter], values, strict=False)), **named}
            no_default = None if getter == "get_dtype" else REQUIRED
            yield Read(
                passed.get("name", "dtype"), passed.get("default", no_default), getter, f"{self._module}:{part.lineno}"
            )
        elif any(value is _NODE for value in (*values, *named.values())):
            yield from _reads(self._value(part.func), values, named)

    def _value(self, part: Any) -> Any:
        """The value of an expression, as far as it is known before a conversion."""
        try:
            return self._evaluate(part)
        except (AttributeError, IndexError, KeyError, TypeError):
            return UNKNOWN

    def _evaluate(self, part: Any) -> Any:
        value = self._value
        match part:
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name):
                return self._scope[name]
            case ast.Tuple(elts=parts):
                return tuple(map(value, parts))
            case ast.List(elts=parts):
                return [*map(value, parts)]
            case ast.Dict(keys=keys, values=values):
                return dict(zip(map(value, keys), map(value, values), strict=True))
            case ast.Attribute(value=inner, attr=attr):
                return getattr(value(inner), attr)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -value(inner)
            case ast.BinOp(op=ast.Mult(), left=ast.List(elts=[item]), right=count):
                return [value(item)] * count.value if isinstance(count, ast.Constant) else Repeated(value(item))
            case ast.BinOp(op=ast.Div(), left=left, right=right):
                return value(left) / value(right)
            case ast.JoinedStr(values=parts):
                texts = [value(part.value if isinstance(part, ast.FormattedValue) else part) for part in parts]
                return UNKNOWN if UNKNOWN in texts else "".join(map(str, texts))
            case ast.Subscript(value=inner, slice=ast.Slice()):
                return value(inner)  # everything that it may hold
            case ast.Subscript(value=inner, slice=index):
                return value(inner)[value(index)]
            case ast.Call(func=ast.Attribute(value=inner, attr="items" | "upper" as method), args=[]):
                returned = getattr(value(inner), method)()
                return list(returned) if method == "items" else returned
            case ast.Call(func=ast.Name(id="zip" | "enumerate"), args=args):
                return list(value(part.func)(*map(value, args)))
        return UNKNOWN


__all__ = ["UNKNOWN", "Read", "Repeated", "reads_of", "reads_with_defaults"]
