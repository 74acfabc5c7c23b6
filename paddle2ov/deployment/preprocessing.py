"""Builds the preprocessing that the settings describe into the model, which then takes images as `cv2.imread` gives.

The input that holds the image becomes uint8 [N, H, W, 3] in the order blue, green, red. Where all of the preprocessing
is built in, a detector's `im_shape` and `scale_factor` are computed as well, and are no inputs any more. See
`planning.py` for what is built in, `steps.py` and its like for what it computes. OpenCV computes linear and cubic
interpolation of bytes in fixed point; here it is float32, rounded to whole levels, which differs by at most one level
of 255. Where a model is compiled for bfloat16 its nodes' results are rounded to that: it holds levels exactly, but no
sizes, positions and sums, which are integers therefore. (OpenVINO can keep single nodes in float32, but not by what
Python can set, and its transformations lose that.)
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

import numpy as np
from openvino import Dimension, Model, Node, Output, PartialShape, Type

from paddle2ov.deployment.planning import PreprocessingPlan, plan
from paddle2ov.deployment.steps import as_float, reversed_channels, spatial_shape
from paddle2ov.errors import ConversionInputError, ModelReadError
from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.opset import ops
from paddle2ov.graph.terms import Term
from paddle2ov.graph.upstream import upstream
from paddle2ov.program.settings import Settings

log = logging.getLogger("paddle2ov")

PREPROCESSING = "preprocessing"
"""Behind the input's name and a "/", the names of its nodes, by which reports find them."""


SIZES = ("im_shape", "scale_factor")
"""Inputs of PaddleDetection's models: the size of the image after its resize, and the scales of its sides."""


def build_in(model: Model, settings: Settings) -> None:
    """Replaces the model's image input by one that takes bytes, and computes the preprocessing of it.

    What is built in, and what stays with the caller, is logged and stands in the model's runtime information.

    Raises:
        ModelReadError: the settings are not of the form that is known.
        ConversionInputError: nothing can be built in, or the model has not one input that is an image.
    """
    steps = plan(settings)
    if not steps.steps:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in steps.remaining) or "the file describes none"
        raise ConversionInputError(f"preprocess: {settings.path}: nothing can be built in ({reasons})")
    images = [
        parameter
        for parameter in model.get_parameters()
        if parameter.get_partial_shape().rank == 4 and parameter.get_partial_shape()[1] == 3
    ]
    if len(images) != 1:
        raise ConversionInputError(f"preprocess: the model has {len(images)} inputs of shape [N, 3, H, W], not one")
    (old,) = images
    shape = old.get_partial_shape()
    if old.get_element_type() != Type.f32:
        raise ConversionInputError(
            f"preprocess: input '{old.get_friendly_name()}' is {old.get_element_type()}, not f32"
        )
    for axis, size in zip((2, 3), steps.size, strict=True):
        if size is None and shape[axis].is_static and steps.resizes:
            raise ConversionInputError(
                f"preprocess: images become of any size, the input '{old.get_friendly_name()}' takes {shape[axis]}: "
                "leave it open in `input` (--input); where the program fixes it, prepare the images yourself"
            )
        if size is not None and not shape[axis].compatible(Dimension(size)):
            raise ModelReadError(f"{settings.path}: images become {size} large, the input takes {shape[axis]}")
    names = old.output(0).get_names()
    image = PartialShape([shape[0], *((-1, -1) if steps.resizes else (shape[2], shape[3])), 3])
    new = ops.parameter(image, np.uint8, name=old.get_friendly_name())
    value, sizes = compute(new.output(0), steps)
    _name(value.get_node(), f"{old.get_friendly_name()}/{PREPROCESSING}")
    for user in consumers(old.output(0)):
        user.replace_source_output(value)
    position = model.get_parameter_index(old)
    model.replace_parameter(position, new)
    new.output(0).set_names(names)
    text = steps.describe(() if steps.remaining else _build_in_sizes(model, new, sizes))
    model.validate_nodes_and_infer_types()
    model.set_rt_info(text, ["paddle2ov", "preprocessing"])
    (log.warning if steps.remaining else log.info)("the model %s", text)


def _name(last: Node, name: str) -> None:
    """Names the nodes that lead to `last`."""
    for node in upstream([last]):
        if node.get_type_name() not in ("Constant", "Parameter"):
            node.set_friendly_name(f"{name}/{node.get_name()}")


def _build_in_sizes(model: Model, image: Node, sizes: Mapping[str, Output]) -> tuple[str, ...]:
    """Replaces inputs of two numbers for each image by what they mean; returns their names."""
    built = []
    for parameter in model.get_parameters():
        name = next((size for size in SIZES if size in parameter.output(0).get_names()), None)
        is_pair = parameter.get_partial_shape().compatible(PartialShape([-1, 2]))
        if name is None or not is_pair or parameter.get_element_type() != Type.f32:
            continue
        count = ops.gather(ops.shape_of(image), np.array([0]), np.array(0))
        pairs = ops.broadcast(sizes[name], ops.concat([count, np.array([2])], 0))
        _name(pairs, f"{name}/{PREPROCESSING}")
        for user in consumers(parameter.output(0)):
            user.replace_source_output(pairs.output(0))
        model.remove_parameter(parameter)
        built.append(name)
    return tuple(built)


def compute(value: Output, steps: PreprocessingPlan) -> tuple[Output, dict[str, Output]]:
    """The steps, on channels first throughout: no step but the layout itself depends on where the channels are.

    Returns:
        The prepared images, and the values of `im_shape` and `scale_factor`, each float32 [2].
    """
    image = Term(ops.transpose(value, np.array([0, 3, 1, 2])))
    image = as_float(reversed_channels(image) if steps.rgb else image)
    size, scales = spatial_shape(image), Term(ops.constant(np.ones(2, np.float32)))
    for step in steps.steps:
        before, image = image, step.apply(image)
        size, scales = step.resized(before, image) or (size, scales)
    return image.value, dict(zip(SIZES, (as_float(size).value, scales.value), strict=True))
