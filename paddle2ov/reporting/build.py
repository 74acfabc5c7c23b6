"""Builds reports: of a converted model, `build_report`, and of a program that is refused, `refused_report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import openvino
from msgspec import structs
from openvino import Model, Output, PartialShape, Type

import paddle2ov
from paddle2ov.deployment.preprocessing import PREPROCESSING
from paddle2ov.errors import NEXT_STEPS, ConversionInputError, Paddle2OVError, Refusal
from paddle2ov.graph.core import shared_core
from paddle2ov.graph.node_names import LENGTHS_SUFFIX
from paddle2ov.graph.types import OV_TYPES, numpy_dtype
from paddle2ov.inputs.channels import channels_last
from paddle2ov.inputs.random_inputs import RandomInputs
from paddle2ov.inputs.usual_sizes import filled, named_shapes
from paddle2ov.program.liveness import prune
from paddle2ov.program.model import Program, Variable
from paddle2ov.program.settings import Settings
from paddle2ov.report import ConversionReport
from paddle2ov.reporting.compiled import Inputs, compile_report
from paddle2ov.reporting.contents import Report, ReportedOperator, ReportedTensor
from paddle2ov.reporting.operators import describe_operators
from paddle2ov.verification.results import Verification
from paddle2ov.workarounds import mismatch


def build_report(
    model: Model,
    conversion: ConversionReport,
    *,
    name: str = "model",
    inputs: Inputs | None = None,
    verification: Verification | None = None,
    config: Mapping[str, Any] | None = None,
) -> Report:
    """Compiles and runs a converted model, and reports what became of each operator, how fast and how exact it is.

        conversion = ConversionReport()
        model = convert("model", report=conversion)
        report = build_report(model, conversion)

    Args:
        model: the model that `convert` made, or the same read back from its IR.
        conversion: what `convert(..., report=...)` filled.
        name: the model's name, for titles.
        inputs: arrays by the names of the inputs, to measure with; default: random ones, see `verify`.
        verification: what `verify(model, operators=True)` found, to show with the rest.
        config: further properties for OpenVINO's compilation.

    Raises:
        ModelReadError: the model's weights are mapped from a file that has changed.
        ConversionInputError: `conversion` was not filled by `convert`, or `inputs` lacks an input of the model.
    """
    program = conversion.program
    if program is None:
        raise ConversionInputError("the ConversionReport is empty: give it to convert(..., report=...) first")
    missing = [port.get_any_name() for port in model.inputs if inputs is not None and not port.get_names() & {*inputs}]
    if missing:
        raise ConversionInputError(f"inputs: '{missing[0]}' is missing")
    report = _described(name, program)
    report.parameters, report.parameter_bytes = conversion.parameters, conversion.parameter_bytes
    report.conversion, report.verification = conversion, verification
    variables = {output.name: output.variable for output in program.outputs}
    report.inputs, report.outputs = (
        [_port(port, variables) for port in ports] for ports in (model.inputs, model.outputs)
    )
    _mark_unused(report.operators, program, model)
    _mark_constant(report.operators, {tensor.variable for tensor in report.inputs})
    if verification is not None:
        _mark_verified(report.operators, verification)
    if model.has_rt_info(["paddle2ov", PREPROCESSING]):
        report.operators += _preprocessing(model, program, len(report.operators))
    try:
        arrays = generated_inputs(model, program, conversion.settings) if inputs is None else inputs
    except (ConversionInputError, MemoryError, ValueError) as error:
        report.notes.append(f"No inputs could be made up, so nothing was measured: {error}")
        arrays = {}
    if verification is not None:  # times and differences are of the same computation
        config = {"INFERENCE_PRECISION_HINT": verification.precision, **(config or {})}
    inputs_text = "random inputs, so nothing was measured (others can be given)" if inputs is None else "these inputs"
    attempts = [(arrays, f"run on {inputs_text}")] if arrays else []
    for arguments, what in (*attempts, ({}, "compiled")):
        try:
            report.compiled = compile_report(model, report.operators, arguments, config, conversion.origins)
            break
        except (RuntimeError, MemoryError) as error:
            report.notes.append(f"The model could not be {what}: {_first_line(error)}")
    _note_precisions(report)
    report.notes += filter(None, [mismatch(model, "CPU")])
    return report


def refused_report(
    program: Program, error: Paddle2OVError, name: str = "model", refusals: Sequence[Refusal] | None = None
) -> Report:
    """What is known of a program whose conversion was refused.

    Args:
        program: the program.
        error: what `convert` raised.
        name: the model's name, for titles.
        refusals: all that is refused, as `paddle2ov.inspection.find_refusals` finds it; default: what the error says.
    """
    report = _described(name, program)
    report.parameters = len(program.parameters)
    report.parameter_bytes = sum(weight.data.nbytes for weight in program.parameters.values())
    variables = program.variables
    report.inputs = [_declared(variable.name, variable) for variable in program.inputs]
    report.outputs = [_declared(output.name, variables[output.variable]) for output in program.outputs]
    _mark_constant(report.operators, {tensor.variable for tensor in report.inputs})
    report.refusals = list(refusals or error.refusals)
    report.notes.append(NEXT_STEPS if report.refusals else str(error))
    refused = {(place.block, place.index) for refusal in report.refusals for place in refusal.places}
    for operator in report.operators:
        if (operator.block, operator.index) in refused:
            operator.fate = "refused"
    return report


def generated_inputs(model: Model, program: Program, settings: Settings | None = None) -> dict[str, Any]:
    """Random arrays for a model's inputs, which may lie inside the program: the first set that `verify` would use.

    What the model leaves open has the size that the settings beside it name, if they do.

    Raises:
        ConversionInputError: the shapes do not fit the program.
    """
    fed = {port.get_any_name() for port in model.inputs}
    lengths = {name: name.removesuffix(LENGTHS_SUFFIX) for name in fed if name.endswith(LENGTHS_SUFFIX)}
    ports = [port for port in model.inputs if lengths.get(port.get_any_name()) not in fed]
    named = next(iter(named_shapes(program, settings, channels_last(model))), {})
    variables, shapes = [], {}
    for port in ports:
        name, shape = port.get_any_name(), port.get_partial_shape()
        variable = program.variables.get(name) or Variable(name, "float32")
        if shape.rank.is_static:
            pairs = (variable.dtype or "").startswith("complex")
            shapes[name] = shape = PartialShape(list(shape)[: len(shape) - pairs])
        known = named.get(name)
        if _takes_images(port, variable):
            variable = Variable(name, "uint8", tuple(dim.get_length() if dim.is_static else -1 for dim in shape))
            known = PartialShape([known[axis] for axis in (0, 2, 3, 1)]) if known is not None else None
        if known is not None and shape.compatible(known):
            shapes[name] = shape = filled(shape, known)
        declared = PartialShape.dynamic() if variable.shape is None else PartialShape(list(variable.shape))
        # A model that was reshaped since takes other shapes than the program does.
        variables.append(variable if declared.compatible(shape) else structs.replace(variable, shape=None))
    arrays = RandomInputs(structs.replace(program, inputs=variables), model, [shapes]).sets[0]
    for port in ports:
        name, dtype = port.get_any_name(), numpy_dtype(port.get_element_type())
        if dtype is not None and arrays[name].dtype != dtype and arrays[name].dtype.kind != "c":
            arrays[name] = arrays[name].astype(dtype)
    return arrays | {name: np.array([len(arrays[rows])]) for name, rows in lengths.items() if rows in fed}


def _takes_images(port: Output, variable: Variable) -> bool:
    """Whether built-in preprocessing takes bytes [N, H, W, 3] for an input that is floating point in the program."""
    shape = port.get_partial_shape()
    return bool(port.get_element_type() == Type.u8 and variable.dtype != "uint8" and shape.rank == 4 and shape[3] == 3)


def _described(name: str, program: Program) -> Report:
    operators, modules = describe_operators(program)
    versions = paddle2ov.__version__, openvino.__version__
    return Report(name, *versions, program.format, operators=operators, modules=modules)


def _port(port: Output, variables: Mapping[str, str]) -> ReportedTensor:
    name, kind = port.get_any_name(), port.get_element_type().get_type_name()
    return ReportedTensor(name, kind, str(port.get_partial_shape()), variables.get(name, name))


def _declared(name: str, variable: Variable) -> ReportedTensor:
    kind = OV_TYPES.get(variable.dtype or "")
    pairs = [2] if (variable.dtype or "").startswith("complex") else []
    shape = PartialShape.dynamic() if variable.shape is None else PartialShape([*variable.shape, *pairs])
    return ReportedTensor(name, kind.get_type_name() if kind is not None else "?", str(shape), variable.name)


def _preprocessing(model: Model, program: Program, id: int) -> list[ReportedOperator]:
    """Built-in preprocessing, which the program does not have, as an operator of its own."""
    for port in model.inputs:
        name = port.get_any_name()
        if _takes_images(port, program.variables.get(name) or Variable(name, "float32")):
            return [ReportedOperator(id, PREPROCESSING, -1, -1, None, (name,), (name,), {}, ())]
    return []


def _mark_unused(operators: list[ReportedOperator], program: Program, model: Model) -> None:
    names = {name for port in model.outputs for name in port.get_names()}
    wanted = [output.variable for output in program.outputs if output.name in names]
    wanted += [name for name in names if name in program.variables]
    block, _ = prune(program.block, wanted, [name for port in model.inputs for name in port.get_names()])
    needed = {operator.index for operator in block.operators}
    for operator in operators:
        owner = operators[operator.owner] if operator.owner is not None else None
        if (owner.fate == "unused") if owner is not None else operator.index not in needed:
            operator.fate = "unused"


def _mark_constant(operators: list[ReportedOperator], inputs: set[str]) -> None:
    """Marks operators that read weights and constants only; inside branches and loops, those that read nothing."""
    varying, known = set(inputs), {name for operator in operators for name in operator.outputs}
    for operator in operators:
        if operator.owner is None:
            operator.constant = not any(name in varying for name in operator.inputs)
        else:
            operator.constant = not operator.inputs
        if not operator.constant:
            varying.update(operator.outputs)
    for operator in operators:  # an owner is constant only if all that it owns is
        if operator.owner is not None and any(name not in known or name in varying for name in operator.inputs):
            owner: int | None = operator.owner
            while owner is not None and operators[owner].constant:
                operators[owner].constant = False
                owner = operators[owner].owner


def _mark_verified(operators: list[ReportedOperator], verification: Verification) -> None:
    main = {operator.index: operator for operator in operators if operator.owner is None}
    for compared in verification.operators:
        operator = main.get(compared.index)
        if operator is not None and operator.type == compared.type and compared.outputs:
            operator.difference = compared.error
            operator.agrees = all(output.ok for output in compared.outputs)


def _note_precisions(report: Report) -> None:
    compiled, verification = report.compiled, report.verification
    if compiled is None or verification is None:
        return
    if compiled.precision == verification.precision:
        usual = shared_core().get_property("CPU", "INFERENCE_PRECISION_HINT").get_type_name()
        if compiled.precision != usual:
            report.notes.append(
                f"The compiled model and its times are in {compiled.precision}, as the comparison with Paddle is; "
                f"by default, OpenVINO computes in {usual} on this processor"
            )
        return
    report.notes.append(
        f"The compiled model and its times are in {compiled.precision}, as was asked for, the comparison with Paddle "
        f"is in {verification.precision}: paddle2ov verify --precision {compiled.precision} compares in that"
    )


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    useful = [line for line in lines if not line.startswith(("Exception from", "Check '"))]
    return (useful or lines or ["no message"])[0]
