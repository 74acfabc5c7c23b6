"""Live Paddle objects: a Layer or a static Program is saved to a temporary folder and read from there.

This is the only part of a conversion that needs Paddle, and only because the caller has it already.
"""

from __future__ import annotations

import inspect
import logging
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from openvino import Dimension, Model

from paddle2ov.errors import ConversionInputError, FailingAs, some_of
from paddle2ov.program.model import Program
from paddle2ov.program.reading import read_program
from paddle2ov.program.signatures import Signature
from paddle2ov.translation.input_spec import (
    ExampleArgument,
    InputArgument,
    InputOverride,
    OutputArgument,
    parse_input,
    parse_output,
)

log = logging.getLogger("paddle2ov")


def read_live(
    model: Any,
    input: InputArgument,
    output: OutputArgument,
    example_input: ExampleArgument,
    signatures: Iterable[Signature],
) -> tuple[Program, list[InputOverride], list[str]]:
    """Reads the program of a live model; arguments, errors and what is returned after it are those of `save_live`.

    `signatures` are those of operators that Paddle does not have.
    """
    with tempfile.TemporaryDirectory(prefix="paddle2ov-") as folder:
        overrides, outputs = save_live(model, Path(folder), input, output, example_input)
        program = read_program(folder, signatures=signatures)
    program.source = None  # its files are deleted; their mappings stay valid
    return program, overrides, outputs


def save_live(
    model: Any, folder: Path, input: InputArgument, output: OutputArgument, example_input: ExampleArgument
) -> tuple[list[InputOverride], list[str]]:
    """Saves a `paddle.nn.Layer`, a function made static, or a `paddle.static.Program` to a folder.

    Args:
        model: the object.
        folder: the folder.
        input: a Layer's input spec (`InputSpec`s, or the forms of `convert`); a Program's fed variables.
        output: a Program's fetched variables, or their names; of a Layer, the names of the results to compute.
        example_input: tensors or arrays to take a Layer's input spec from; for a Program, its fed variables.

    Returns:
        Those parts of `input` and `output` that a saved model cannot express.

    Raises:
        ConversionInputError: the object is of a type that cannot be converted, or its inputs or outputs are not known.
    """
    if not any(base.__module__.startswith("paddle.") for base in type(model).__mro__):
        kind = type(model)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        hint = "; compile_model compiles one that is converted" if isinstance(model, Model) else ""
        hint = "; paddle.jit.to_static makes a model of a function" if inspect.isfunction(model) else hint
        raise ConversionInputError(
            f"a model is a path, a pair of paths, a paddle.nn.Layer or a paddle.static.Program, not {name}{hint}"
        )
    import paddle

    prefix = str(folder / "inference")
    if isinstance(model, paddle.static.Program | paddle.base.libpaddle.pir.Program):
        example = [*example_input] if isinstance(example_input, Mapping) else example_input  # the names
        variables, overrides = _fed_variables(input if input is not None else example)
        _save_program(paddle, model, prefix, variables, output)
        return overrides, []
    return _save_layer(paddle, model, prefix, input, example_input), parse_output(output)


def _save_layer(
    paddle: Any, model: Any, prefix: str, input: InputArgument, example_input: ExampleArgument
) -> list[InputOverride]:
    """Saves a Layer; returns what is said of its inputs that Paddle's InputSpec cannot express."""
    if isinstance(model, paddle.Model):  # the high-level API wraps a Layer
        input = input if input is not None else model._inputs
        model = model.network
    names = _names_of(model)
    spec, overrides = None, []
    if input is not None and all(isinstance(item, paddle.static.InputSpec) for item in _leaves(input)):
        spec = _specs(paddle, names, input)
    elif input is not None:
        overrides = parse_input(input)
        # Paddle takes no other spec beside the one that `paddle.jit.to_static` was given.
        if not getattr(getattr(_function_of(model), "_function_spec", None), "input_spec", None):
            spec = _specs_of_shapes(paddle, names, overrides, example_input)
            overrides = _bounded_inputs(names, overrides)
    elif example_input is not None:
        spec = _specs(paddle, names, example_input)
    elif type(model).__name__ in ("TranslatedLayer", "PirTranslatedLayer"):
        raise ConversionInputError(
            "a Layer that paddle.jit.load returned does not tell its inputs: pass the path that it was loaded from, or "
            "input=..."
        )
    tensors = [item for item in _leaves(spec or ()) if isinstance(item, paddle.static.InputSpec)]
    _check_names(tensors)
    if isinstance(model, paddle.nn.Layer):
        _warn_of_doubles(model, tensors)
    was_training = getattr(model, "training", False)
    if was_training:
        model.eval()
    try:
        with FailingAs(ConversionInputError, describe=partial(_why_unsaved, spec)):
            paddle.jit.save(model, prefix, input_spec=spec)
    finally:
        if was_training:
            model.train()
    return overrides


def _check_names(spec: Sequence[Any]) -> None:
    """Refuses inputs of one name, as the entries of two mappings may be."""
    names = [item.name for item in spec if item.name]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ConversionInputError(f"input: '{repeated}' names several inputs; give InputSpecs of other names")


def _warn_of_doubles(model: Any, spec: Sequence[Any]) -> None:
    """Logs which inputs of a network in float32 are float64: NumPy makes such arrays unless it is told otherwise."""
    weights = {_dtype_name(item) for item in model.parameters()}
    doubles = [f"'{item.name}'" for item in spec if _dtype_name(item) == "float64"]
    if doubles and weights and "float64" not in weights:
        log.warning("%s is float64, and the Layer's weights are not: .astype('float32')?", some_of(doubles))


def _why_unsaved(spec: Sequence[Any] | None, error: BaseException) -> str:
    if spec is None and isinstance(error, ValueError):
        return (
            "a Layer needs its input spec: pass input=[paddle.static.InputSpec(...)] or example_input; to verify and "
            f"check it, shapes or inputs ({error})"
        )
    tensors = [item for item in _leaves(spec or ()) if hasattr(item, "dtype")]
    if "is not involved in the target_vars" in str(error):
        names = [str(item.name) for item in tensors]
        return (
            f"Paddle cannot save the Layer: no result depends on one of its inputs ({some_of(names)}), which Paddle "
            "does not save; leave it out of the mapping, or wrap the network in a Layer that does not take it"
        )
    mappings = [f"{{{', '.join(map(str, item))}}}" for item in spec or () if isinstance(item, Mapping)]
    told = f" (with the mapping {', '.join(mappings)} for a parameter of `forward`)" if mappings else ""
    floats = [item for item in tensors if _dtype_name(item) == "float32"]
    types = (
        f"\nfloat32 here: {some_of([str(item.name) for item in floats])}; another type is given with the shape, as "
        f"input={{'{floats[0].name}': ({list(floats[0].shape)}, 'int64')}}"
        if floats
        else ""
    )
    return f"Paddle cannot save the Layer{told}, as paddle.jit.save does: {type(error).__name__}: {error}{types}"


def _function_of(model: Any) -> Any:
    """What computes a Layer: its `forward`; of a function that is made static, the same."""
    return getattr(model, "forward", model)


def _names_of(model: Any) -> tuple[str, ...]:
    """The names of what it takes, which are those of its inputs as Paddle saves it, unless a spec has others."""
    function = _function_of(model)
    parameters = inspect.signature(getattr(function, "dygraph_function", function)).parameters.values()
    return tuple(item.name for item in parameters if item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD))


def _name_at(names: Sequence[str], position: int, given: Collection[str | None] = ()) -> str:
    """The name of an input that is given without one, beside others of `given` names."""
    name = names[position] if position < len(names) else f"x{position}"
    return f"x{position}" if name in given else name


def _leaves(value: Any) -> Iterator[Any]:
    """What lists and mappings hold, however deep: a parameter of `forward` may be a list, or a mapping, of tensors."""
    if isinstance(value, Mapping | list | tuple):
        for item in _items(value):
            yield from _leaves(item)
    else:
        yield value


_Item = TypeVar("_Item")


def _in_order(names: Sequence[str], items: list[tuple[str, _Item]]) -> list[Any]:
    """Inputs by name, in the order of the parameters of `forward`; as they are if none of the names is a parameter's.

    Several for a single parameter of another name can only be a mapping that it takes.

    Raises:
        ConversionInputError: some names are a parameter's, and others are not, or one before them is missing.
    """
    by_name = dict(items)
    others = [name for name in by_name if name not in names]
    if others == list(by_name):
        return [by_name] if len(names) == 1 and len(by_name) > 1 else [item for _, item in items]
    wanted = names[: len(by_name)]
    if others or set(wanted) != set(by_name):
        missing = [item for item in wanted if item not in by_name]
        wrong = f"'{others[0]}' is none" if others else f"'{missing[0]}' is missing"
        raise ConversionInputError(
            f"input: the Layer's inputs are {', '.join(names)}; {wrong}. Those that are given have to be the first"
        )
    return [by_name[name] for name in wanted]


def _specs(paddle: Any, names: Sequence[str], given: Any) -> list[Any]:
    """The spec of each parameter, of tensors, arrays and InputSpecs, which stand in a list or by their names."""
    if isinstance(given, Mapping):
        return _in_order(names, [(str(name), _spec_of(paddle, item, str(name))) for name, item in given.items()])
    return [_spec_of(paddle, item, _name_at(names, i)) for i, item in enumerate(_items(given))]


def _specs_of_shapes(
    paddle: Any, names: Sequence[str], overrides: Sequence[InputOverride], example_input: ExampleArgument
) -> list[Any]:
    """The spec of each parameter, of shapes and types; what these leave open is that of the example."""
    is_named = all(override.name is not None for override in overrides)
    if is_named:
        named = [(override.name or "", override) for override in overrides]
        overrides = [*_leaves(_in_order(names, named))]
    examples = _items(example_input) if example_input is not None else []
    if isinstance(example_input, Mapping):
        examples = [*_leaves(_in_order(names, [(str(key), item) for key, item in example_input.items()]))]
    spec, given = [], {override.name for override in overrides}
    for i, override in enumerate(overrides):
        example = examples[i] if i < len(examples) else None
        if override.shape is None and example is None:
            raise ConversionInputError(f"input: the shape of input {i} of the Layer is not given")
        shape = (
            [int(dim.get_length()) if dim.is_static else -1 for dim in override.shape]
            if override.shape is not None
            else list(example.shape if example is not None else ())
        )
        dtype = override.dtype.to_dtype().name if override.dtype is not None else _dtype_name(example)
        spec.append(paddle.static.InputSpec(shape, dtype, override.name or _name_at(names, i, given)))
    return _in_order(names, [(item.name, item) for item in spec]) if is_named else spec


def _bounded_inputs(names: Sequence[str], overrides: Sequence[InputOverride]) -> list[InputOverride]:
    """The inputs with bounded dimensions, which Paddle's InputSpec cannot express."""
    given = {override.name for override in overrides}
    return [
        InputOverride(override.name or _name_at(names, i, given), override.shape)
        for i, override in enumerate(overrides)
        if override.shape is not None and any(dim.is_dynamic and dim != Dimension() for dim in override.shape)
    ]


def _spec_of(paddle: Any, example: Any, name: str) -> Any:
    """The spec of an example; those of lists and mappings are named as Paddle names them."""
    if isinstance(example, paddle.static.InputSpec):
        return example if example.name else paddle.static.InputSpec(example.shape, example.dtype, name)
    if isinstance(example, Mapping):
        return {key: _spec_of(paddle, item, str(key)) for key, item in example.items()}
    if isinstance(example, list | tuple):
        return [_spec_of(paddle, item, f"{name}_{i}") for i, item in enumerate(example)]
    if not hasattr(example, "shape"):
        raise ConversionInputError(f"example_input: {type(example).__name__} is no tensor or array")
    return paddle.static.InputSpec(list(example.shape), _dtype_name(example), name)


def _dtype_name(example: Any | None) -> str:
    return "float32" if example is None else str(example.dtype).rpartition(".")[2]


def _items(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else [value]


def _fed_variables(input: Any) -> tuple[Any, list[InputOverride]]:
    """The variables to feed to a Program, or their names, and what is said of their shapes and types."""
    items = [] if input is None or isinstance(input, str | Mapping) else _items(input)
    if input is None or (items and all(hasattr(item, "get_defining_op") or hasattr(item, "desc") for item in items)):
        return input, []
    overrides = [] if any(isinstance(item, np.ndarray) for item in items) else parse_input(input)
    names = [override.name for override in overrides]
    if not names or None in names:
        raise ConversionInputError("input: the inputs of a Program are given as variables, or by their names")
    return names, [override for override in overrides if override.shape is not None or override.dtype is not None]


def _save_program(paddle: Any, program: Any, prefix: str, input: Any, output: OutputArgument) -> None:
    feeds = _variables(program, input, "input")
    fetches = _variables(program, output, "output")
    if not feeds:
        feeds = [variable for variable in _all_variables(program) if _is_fed(variable)]
    if not fetches:
        raise ConversionInputError(
            "a Program needs output=[...]: the variables, or the names of those, to fetch; to verify it, "
            "outputs=[...]; check what convert makes of it"
        )
    static_mode = not paddle.in_dynamic_mode()
    if not static_mode:
        paddle.enable_static()
    try:
        executor = paddle.static.Executor(paddle.CPUPlace())
        paddle.static.save_inference_model(prefix, feeds, fetches, executor, program=program)
    finally:
        if not static_mode:
            paddle.disable_static()


def _variables(program: Any, given: Any, argument: str) -> list[Any]:
    if given is None:
        return []
    items = _items(given)
    if not any(isinstance(item, str) for item in items):
        return items
    by_name = {name: variable for variable in _all_variables(program) if (name := _name_of(variable))}
    variables = []
    for name in parse_output(items):
        if name not in by_name:
            raise ConversionInputError(
                f"{argument}: the program has no variable '{name}'; pass the variable itself: in PIR few have a name"
            )
        variables.append(by_name[name])
    return variables


def _name_of(variable: Any) -> str | None:
    try:
        name: str | None = getattr(variable, "name", None)
    except ValueError:  # most values of PIR have none, and say so
        return None
    return name


def _all_variables(program: Any) -> Sequence[Any]:
    return list(program.list_vars()) if hasattr(program, "list_vars") else []


def _is_fed(variable: Any) -> bool:
    if getattr(variable, "is_data", False):
        return True
    source = variable.get_defining_op() if hasattr(variable, "get_defining_op") else None
    return source is not None and source.name() in ("pd_op.data", "pd_op.feed")
