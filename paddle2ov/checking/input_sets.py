"""The inputs that a model is checked on, given or random, and the order of the runs."""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Model, Node, PartialShape, Tensor

from paddle2ov.compilation.running import as_tensor
from paddle2ov.errors import ConversionInputError
from paddle2ov.graph.types import OV_TYPES, dtype_name
from paddle2ov.inputs.given_arrays import Inputs, InputsArgument, given_inputs, model_inputs, named_arrays
from paddle2ov.inputs.random_inputs import RandomInputs
from paddle2ov.program.model import Block, Program, Variable
from paddle2ov.translation.input_spec import InputArgument

_SETS = 3


def chosen_inputs(
    model: Model, program: Program | None, given: InputsArgument, shapes: Sequence[InputArgument], seed: int
) -> list[Inputs]:
    """The arrays to check a model on, by the names of its inputs: those that are given, or random ones.

    A Paddle program that the model was converted from says what integers may be.

    Raises:
        ConversionInputError: they do not fit the model, or a file cannot be read.
    """
    if program is not None:
        return given_inputs(program, given) or _random(program, model, shapes, seed, is_chosen=bool(shapes))
    stand_in = _stand_in(model)
    arrays = named_arrays(given)
    if arrays:
        return [model_inputs(_named(model), stand_in, array) for array in arrays]
    dynamic = any(node.get_output_partial_shape(0).is_dynamic for node in model.get_parameters())
    own = {input_name(node): node.get_output_partial_shape(0) for node in model.get_parameters()}
    ranked = {name: shape for name, shape in own.items() if shape.rank.is_static}
    sets = shapes or [ranked] * (_SETS if dynamic else 1)
    return _random(stand_in, model, sets, seed, is_chosen=bool(shapes))


def _random(
    program: Program, model: Model, shapes: Sequence[InputArgument], seed: int, is_chosen: bool
) -> list[Inputs]:
    """Random inputs; shapes that are chosen are refused where the model takes others."""
    sets = RandomInputs(program, model, shapes, seed).sets
    for node in model.get_parameters() if is_chosen else ():
        name, taken = input_name(node), node.get_output_partial_shape(0)
        for arrays in sets:
            shape = [*arrays[name].shape, *([2] if arrays[name].dtype.kind == "c" else ())]
            if not taken.compatible(PartialShape(shape)):
                raise ConversionInputError(
                    f"shapes: '{name}' has shape {shape}, the model takes {taken}; leave out --input (in Python "
                    "shapes=) for sizes that fit it"
                )
    return sets


def run_orders(sets: Sequence[Inputs]) -> list[list[int]]:
    """The inputs that requests take, one after the other.

    The first: large, small, what is between, and large again, as memory of an earlier run shows then. The second, of
    a model that is compiled anew: small and large, as what was prepared for small inputs may be kept.
    """
    sizes = [sum(array.size for array in item.values()) for item in sets]
    order = sorted(range(len(sets)), key=lambda k: -sizes[k])
    if len(order) == 1:
        return [[0, 0]]
    return [[order[0], *order[-1:], *order[1:-1], order[0]], [order[-1], order[0]]]


def tensors_of(model: Model, arrays: Inputs) -> list[Tensor]:
    """The arrays as tensors, in the order of a model's inputs."""
    return [
        as_tensor(
            next(arrays[name] for name in (*node.output(0).get_names(), node.get_friendly_name()) if name in arrays),
            node.get_element_type(),
        )
        for node in model.get_parameters()
    ]


def input_name(node: Node) -> str:
    """The name of an input: that of its tensor, or of its node."""
    names = sorted(node.output(0).get_names())
    return names[0] if names else str(node.get_friendly_name())


def _named(model: Model) -> Model:
    """A model whose inputs have names."""
    if all(port.get_names() for port in model.inputs):
        return model
    model = model.clone()
    for node in model.get_parameters():
        node.output(0).set_names({input_name(node)})
    return model


def _stand_in(model: Model) -> Program:
    """A program without operators whose inputs are the model's."""
    inputs = []
    for node in model.get_parameters():
        kind, shape = dtype_name(node.get_element_type()), node.get_output_partial_shape(0)
        if kind not in OV_TYPES:
            raise ConversionInputError(
                f"inputs: '{input_name(node)}' has the type {kind}, which random inputs have not"
            )
        dims = tuple(item.get_length() if item.is_static else -1 for item in shape) if shape.rank.is_static else None
        inputs.append(Variable(input_name(node), kind, dims))
    return Program("openvino", 0, Block(0), inputs, [], {input_.name: input_ for input_ in inputs}, {})
