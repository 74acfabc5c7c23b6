"""What a converter sees of the operator that it converts."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Final, NoReturn, TypeAlias, cast, overload

import numpy as np
from msgspec.structs import replace
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.errors import OpConversionError, Place, warn_of_operator
from paddle2ov.graph.complex_pairs import component_of
from paddle2ov.graph.expected_dims import of_length
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.graph.types import COMPLEX_DTYPES, OV_TYPES, element_type, value_of
from paddle2ov.graph.values import (
    MARKS,
    ConstantValue,
    EmptyTensorArray,
    LoDTensor,
    SequenceLayout,
    Value,
    is_complex,
    unmarked,
)
from paddle2ov.program.budget import MAX_RANK, check_rank
from paddle2ov.program.model import Operator, Semantics, Variable
from paddle2ov.program.signatures import Signature
from paddle2ov.translation.attribute_types import (
    abbreviated,
    abbreviated_attributes,
    are_numbers,
    fits,
    from_text,
    is_integral,
    is_number,
    is_undefined_dtype,
)
from paddle2ov.translation.onednn_attributes import effective_attributes
from paddle2ov.translation.sequence_lengths import lengths_of
from paddle2ov.typing import AnyArray

OutputLike: TypeAlias = Node | Value
NamedOutputs: TypeAlias = Mapping[str, OutputLike | Sequence[OutputLike]]
"""What a converter returns: result name -> value, or list of values for a result that is a list."""
Converter: TypeAlias = "Callable[[NodeContext], NamedOutputs]"


class Required:
    """The type of `REQUIRED`."""

    def __repr__(self) -> str:
        return "required"


REQUIRED: Final = Required()
"""In place of a default: the operator is refused if the program does not carry the attribute."""
_ABSENT: Final = object()
_NUMBERS = frozenset((bool, int, float))
_INTEGER = frozenset((int,))
_PER_DIMENSION = """
axes axis decrease_axes decrease_axis dilations dims ends kernel_size none_axes offsets out_size output_size paddings
perm repeat_times shape starts stride strides target_shape
"""
PER_DIMENSION = frozenset(_PER_DIMENSION.split())
"""Attributes and operands that hold one or two integers for each dimension, or for some dimensions."""


class _AsTheyAre(dict[str, str]):
    """The names of an operator without a signature."""

    def __missing__(self, name: str) -> str:
        return name


_AS_THEY_ARE = _AsTheyAre()


class NodeContext:
    """The operator to convert: its inputs as OpenVINO outputs, its attributes, and its place in the program.

    Inputs, results and attributes go by the names of Paddle's `ops.yaml` (`x`, `axis`, `keepdim`); the
    spelling of legacy programs (`X`, `dim`, `keep_dim`) resolves too. What one format passes as an attribute and the
    other as a tensor is one name here: `get_attribute`, `get_ints` and `get_constant` return its value where it is
    known at conversion, `get_tensor` returns a tensor either way.
    """

    def __init__(
        self,
        operator: Operator,
        inputs: Mapping[str, Sequence[Value | None]],
        variables: Mapping[str, Variable],
        signature: Signature | None,
        used: Set[str] = frozenset(),
        on_components: bool = False,
    ) -> None:
        self._operator = operator
        self._attributes = operator.attributes
        self._inputs = inputs
        self._variables = variables
        self._signature = signature
        self._canonical_names = _AS_THEY_ARE if signature is None else signature.canonical_names
        self._used = used
        self._on_components = on_components  # whether results are real or imaginary parts of the declared complex ones
        self._read: set[str] = set()

    # --- identity -------------------------------------------------------------------------------------------------

    @property
    def op_type(self) -> str:
        """The registry's key of the operator."""
        return self._operator.type

    @property
    def place(self) -> Place:
        """The place of the operator in the program."""
        return self._operator.place

    @property
    def semantics(self) -> Semantics:
        """What the operator computes that its type and attributes do not say."""
        return self._operator.semantics

    def get_op_type(self, name: str = "") -> str:
        """The registry's key of the operator. OpenVINO's frontends take any name, and ignore it."""
        return self._operator.type

    # --- inputs ---------------------------------------------------------------------------------------------------

    def has_input(self, name: str) -> bool:
        """Whether the program passes the input (an optional one may be left out)."""
        values = self._inputs.get(name) or self._given(name)
        return bool(values) and (values[0] is not None or any(value is not None for value in values))

    def get_input_size(self, name: str | None = None) -> int:
        """The number of values passed as input `name`; without a name, of all inputs."""
        if name is None:
            return sum(len(values) for values in self._inputs.values())
        return len(self._given(name))

    def get_input(self, name: str | int, idx: int = 0) -> Output:
        """The value of an input, by name (and position within it) or by position among all inputs.

        Raises:
            OpConversionError: the program does not pass it.
        """
        if isinstance(name, int):
            name, idx = self._port(name)
        values = self._inputs.get(name) or self._given(name)
        if not 0 <= idx < len(values):
            passed = ", ".join(port for port, arguments in self._inputs.items() if arguments) or "none"
            self.refuse(f"input '{name}' [{idx}] is missing; the program passes {passed}")
        value = values[idx]
        return value if isinstance(value, Output) else self._output(value, name)

    def input_dims(self, name: str, idx: int = 0) -> Dims | None:
        """The dimensions of an input, None for one that is not known; None if the rank is not.

        This is for converters that need not read the input itself: a constant of the program does not become a node.
        """
        values = self._inputs.get(name) or self._given(name)
        value = values[idx] if idx < len(values) else None
        if not isinstance(value, ConstantValue):
            value = unmarked(value)
        if isinstance(value, ConstantValue):
            return [*value.array.shape, *([2] if value.array.dtype.kind == "c" else [])]
        return dims_of(self.get_input(name, idx))

    def get_inputs(self, name: str) -> list[Output]:
        """All values of an input that is a list; empty when it is left out."""
        return [self._output(value, name) for value in self._given(name)]

    def get_ng_inputs(self, name: str) -> list[Output]:
        """The spelling that OpenVINO's Paddle frontend has for `get_inputs`, in C++."""
        return self.get_inputs(name)

    def is_empty_array(self, name: str) -> bool:
        """Whether an input is a tensor array that nothing was written to; any other array is a stacked tensor."""
        return any(isinstance(unmarked(value), EmptyTensorArray) for value in self._given(name))

    def get_known(self, name: str, idx: int = 0) -> AnyArray | None:
        """The values of an input that is known at conversion (a weight, a constant), or None.

        The array may be a view into the mapped model file: read it, never write to it.
        """
        values = self._inputs.get(name) or self._given(name)
        value = values[idx] if idx < len(values) else None
        return value.values() if isinstance(value, ConstantValue) else _known(value)

    def get_reshaped(self, name: str, shape: Sequence[int]) -> Output:
        """An input in another shape; a known one (a weight) is viewed so, which costs neither a node nor a copy."""
        values = self._given(name)
        value = unmarked(values[0]) if values else None
        if isinstance(value, ConstantValue):
            return value.view(value.array.reshape(tuple(shape))).constant().output(0)
        return ops.reshape(self.get_input(name), np.asarray(shape, np.int64), False).output(0)

    def declared_input_shape(self, name: str, idx: int = 0) -> tuple[int, ...] | None:
        """The shape that the program declares for an input (-1 for an unknown dimension), or None.

        `convert(input=...)` may ask for another one, which nodes get; Paddle decides by the declared one.
        """
        names = self._operator.inputs.get(name if name in self._inputs else self._canonical_names[name], ())
        variable = self._variables.get(names[idx]) if idx < len(names) else None
        return variable.shape if variable else None

    def has_sequences(self, name: str, idx: int = 0) -> bool:
        """Whether an input holds sequences one after the other (its LoD is not empty)."""
        return self._sequences(name, idx) is not None

    def sequence_layout(self, name: str, idx: int = 0) -> SequenceLayout:
        """How many sequences, all of one length, an input holds one after the other; or the length of each.

        Raises:
            OpConversionError: it holds none, or nothing is known of them.
        """
        sequences = self._sequences(name, idx)
        if sequences is None:
            self.refuse(f"'{name}' has no LoD, which would tell where its sequences begin")
        if sequences.lod is None:
            self.refuse(f"the lengths (LoD) of the sequences of '{name}' are not known")
        return sequences.lod

    def sequence_lengths(self, name: str, idx: int = 0) -> Output | None:
        """How many rows each sequence of an input has, int64 [count]; None for an input that holds no sequences.

        Raises:
            OpConversionError: it holds sequences, but the lengths are not known.
        """
        if not self.has_sequences(name, idx):
            return None
        return lengths_of(self.get_input(name, idx), self.sequence_layout(name, idx))

    def _sequences(self, name: str, idx: int) -> LoDTensor | None:
        values = self._given(name)
        value = values[idx] if idx < len(values) else None
        return value if isinstance(value, LoDTensor) else None

    # --- attributes, and inputs that may be attributes ------------------------------------------------------------

    def has_attribute(self, name: str) -> bool:
        """Whether the program carries the attribute."""
        return self._attribute_name(name) in self._attributes

    def has_any_attribute(self, names: Set[str]) -> bool:
        """Whether the program carries any of the attributes: one check instead of several, as most carry none."""
        return not names.isdisjoint(self._attributes)

    def get_attribute(
        self, name: str, default_value: Any = REQUIRED, dtype: Any = None, *, default: Any = REQUIRED
    ) -> Any:
        """The value of an attribute, as a Python value.

        An input of that name comes first when the program passes one: one element gives a scalar, more give a list.

        Args:
            name: its name.
            default_value: Paddle's own default, for a program that does not carry the attribute.
            dtype: converts the value, or each one of a list: a function of one value, or `openvino.Type` for Paddle's
                data types.
            default: the same as `default_value`, as the other getters call it.

        Raises:
            OpConversionError: it is absent and has no default, it is a tensor that is not known at conversion, it is of
                another type than its default, or `dtype` does not take it.
        """
        default_value = default if default_value is REQUIRED else default_value
        value = self._value(name, default_value if default_value is REQUIRED else _ABSENT)
        if value is _ABSENT:
            return default_value
        if dtype is not None:
            return self._converted(name, value, dtype)
        if type(value) is not type(default_value) and default_value is not REQUIRED and not fits(value, default_value):
            self._refuse_type(name, value, f"a value like {default_value!r}")
        return value.copy() if type(value) is list else value

    def is_known(self, name: str) -> bool:
        """Whether an attribute, or an input that may be one, has a value at conversion (absent counts as known)."""
        for value in self._inputs.get(name) or self._given(name):
            if not isinstance(value, ConstantValue) and _known(value) is None:
                return False
        return True

    def get_constant(self, name: str, default: Any = REQUIRED) -> AnyArray:
        """The value of an input or attribute that must be known at conversion, as an array.

        Raises:
            OpConversionError: it is computed by the program, or it is absent and has no default.
        """
        known = []
        for value in self._inputs.get(name) or self._given(name):
            if (array := _known(value)) is None:
                self.refuse(f"'{name}' is computed by the program; only a value known at conversion is supported")
            known.append(array)
        if not known:
            return np.asarray(self._numbers(name, self._attribute(name, default), default))
        return known[0] if len(known) == 1 else np.concatenate([array.reshape(-1) for array in known])

    def get_bool(self, name: str, default: bool | Required = REQUIRED) -> bool:
        """A boolean attribute or single-element input that is known at conversion; 0 and 1 count as booleans."""
        value = self._value(name, default)
        if type(value) is not bool and not fits(value, False):
            self._refuse_type(name, value, "a boolean")
        return bool(value)

    def get_str(self, name: str, default: str | Required = REQUIRED) -> str:
        """An attribute that is a string."""
        value = self._value(name, default)
        if not isinstance(value, str):
            self._refuse_type(name, value, "a string")
        return value

    def get_int(self, name: str, default: int | Required = REQUIRED) -> int:
        """An integer attribute or single-element input that is known at conversion."""
        value = self._value(name, default)
        if type(value) is not int:
            value = self._scalar(name, value, default)
            if not is_integral(value) and not (self._given(name) and np.isfinite(value)):
                self._refuse_type(name, value, "an integer")
        return int(value)

    def get_float(self, name: str, default: float | Required = REQUIRED, *, may_be_nan: bool = False) -> float:
        """A floating-point attribute or single-element input that is known at conversion; NaN is refused by default."""
        value = self._scalar(name, self._value(name, default), default)
        if not is_number(value) or (value != value and not may_be_nan):  # NaN is not equal to itself
            self._refuse_type(name, value, "a number")
        return float(value)

    def get_ints(self, name: str, default: Sequence[int] | int | Required = REQUIRED) -> list[int]:
        """A list of integers that is known at conversion; a single integer gives a list of one.

        Raises:
            BudgetError: it holds integers for dimensions, and more of them than a tensor may have dimensions.
        """
        values = self._attributes.get(name)
        if type(values) is list and name not in self._inputs and _INTEGER.issuperset(map(type, values)):
            self._read.add(name)  # nearly always
            values = values.copy()
        else:
            values = self._ints(name, default)
        if len(values) > MAX_RANK and name in PER_DIMENSION:
            check_rank(len(values))
        return values

    def _ints(self, name: str, default: Any) -> list[int]:
        if self._given(name):
            return [int(item) for item in self.get_constant(name).reshape(-1).tolist()]
        value = self._attribute(name, default)
        items = np.asarray(self._numbers(name, value, default)).reshape(-1).tolist()
        if not all(map(is_integral, items)):
            self._refuse_type(name, value, "a list of integers")
        return [int(item) for item in items]

    def get_floats(self, name: str, default: Sequence[float] | float | Required = REQUIRED) -> list[float]:
        """A list of numbers that is known at conversion, as floating point; a single number gives a list of one."""
        values = self.get_constant(name, default)
        if values.dtype.kind not in "biuf" or np.isnan(values).any():
            self._refuse_type(name, values.tolist(), "a list of numbers")
        return [float(item) for item in values.reshape(-1).tolist()]

    def get_tensor(self, name: str, dtype: Type | None = None, default: Any = REQUIRED) -> Output:
        """An attribute or input as a tensor, converted to `dtype`; a list of scalars becomes one 1-D tensor."""
        values = self._given(name)
        if not values:
            numbers = self._numbers(name, self._attribute(name, default), default)
            return ops.constant(np.asarray(numbers), dtype).output(0)
        outputs = [self._output(value, name) for value in values]
        if dtype is not None:
            outputs = [out if out.get_element_type() == dtype else ops.convert(out, dtype).output(0) for out in outputs]
        if len(outputs) == 1:
            return self._with_declared_length(outputs[0], name)
        flat = [ops.reshape(out, np.array([1], np.int64), False) for out in outputs]
        return ops.concat(flat, 0).output(0)

    def _with_declared_length(self, output: Output, name: str) -> Output:
        # A shape, a list of axes: the rank of what is computed with it depends on its length, which Paddle declares.
        declared = self.declared_input_shape(name)
        if declared is None or len(declared) != 1 or declared[0] < 0 or output.get_partial_shape().is_static:
            return output
        if not output.get_element_type().is_integral() or output.get_partial_shape().rank != 1:
            return output
        return of_length(output, declared[0])

    def get_values_from_const_input(
        self, idx: int | str, default_value: Any = REQUIRED, dtype: Any = None, *, default: Any = REQUIRED
    ) -> Any:
        """The values of an input: a number for a scalar, else a list.

        Args:
            idx: its position among all inputs, or its name.
            default_value: for an input that is not known at conversion.
            dtype: converts each of the values.
            default: the same as `default_value`.

        Raises:
            OpConversionError: the program does not pass it, it is not known and has no default, or `dtype` does not
                take a value.
        """
        default_value = default if default_value is REQUIRED else default_value
        name, place = self._port(idx) if isinstance(idx, int) else (idx, 0)
        known = self.get_known(name, place)
        if known is None:
            if default_value is REQUIRED:
                self.refuse(f"'{name}' is computed by the program; only a value known at conversion is supported")
            return default_value
        values = known.reshape(-1).tolist() if known.ndim else known.item()
        return values if dtype is None else self._converted(name, values, dtype)

    @overload
    def get_dtype(self, name: str, default: Type) -> Type: ...

    @overload
    def get_dtype(self, name: str = "dtype", default: Type | None = None) -> Type | None: ...

    def get_dtype(self, name: str = "dtype", default: Type | None = None) -> Type | None:
        """The element type that a data type attribute names, or `default` where Paddle leaves it open.

        Raises:
            OpConversionError: it names no type that is known.
        """
        value = self._attributes.get(self._attribute_name(name))
        if is_undefined_dtype(value):
            return default
        dtype = element_type(value) if type(value) in (int, str) else None
        if dtype is None:
            self._refuse_type(name, value, "a data type")
        return dtype

    # --- results --------------------------------------------------------------------------------------------------

    def get_output_size(self, name: str = "out") -> int:
        """The number of values in a result (more than one for a result that is a list, 0 if it is not there)."""
        return len(self._result(name))

    def is_output_used(self, name: str) -> bool:
        """Whether anything in the program reads the result."""
        return not self._used.isdisjoint(self._result(name))

    def declared_output_dtype(self, name: str = "out", idx: int = 0) -> Type | None:
        """The element type that the program declares for a result, or None if it does not."""
        variable = self._output_variable(name, idx)
        return OV_TYPES.get(variable.dtype) if variable and variable.dtype else None

    def declared_output_shape(self, name: str = "out", idx: int = 0) -> tuple[int, ...] | None:
        """The shape that the program declares for a result (-1 for an unknown dimension), or None."""
        variable = self._output_variable(name, idx)
        return variable.shape if variable else None

    def is_complex(self, name: str, idx: int = 0) -> bool:
        """Whether an input or result is complex (then it is carried as real numbers with a last dimension of 2)."""
        values = self._inputs.get(name) or self._given(name)
        if values:
            return idx < len(values) and type(values[idx]) in MARKS and is_complex(values[idx])
        variable = self._output_variable(name, idx)
        return variable is not None and variable.is_complex and not self._on_components

    def has_complex(self) -> bool:
        """Whether any input or result is complex."""
        for values in self._inputs.values():
            for value in values:
                if type(value) in MARKS and is_complex(value):
                    return True
        declared = map(self._variables.get, () if self._on_components else self._operator.output_names())
        return any(variable is not None and variable.dtype in COMPLEX_DTYPES for variable in declared)

    def input_ports(self) -> list[tuple[str, int]]:
        """Name and position of every value that is passed."""
        return [
            (port, i) for port, values in self._inputs.items() for i, value in enumerate(values) if value is not None
        ]

    def complex_inputs(self) -> list[tuple[str, int]]:
        """Name and position of every input that is complex."""
        return [port for port in self.input_ports() if self.is_complex(*port)]

    def of_parts(
        self, chosen: Mapping[tuple[str, int], int | Output], numbers: Mapping[str, int] | None = None
    ) -> NodeContext:
        """The same operator on real numbers.

        Args:
            chosen: for each complex input, by name and position, whether its real (0) or imaginary (1) part is taken;
                or, for any input, its replacement.
            numbers: the same for attributes that are numbers, by name; the imaginary part of a real number is 0.
        """
        inputs = {port: list(values) for port, values in self._inputs.items()}
        for (port, i), part in chosen.items():
            value = inputs[port][i]
            if value is not None:
                real = component_of(unmarked(value), part) if isinstance(part, int) else part
                inputs[port][i] = LoDTensor(real, value.lod) if isinstance(value, LoDTensor) else real
        operator = self._operator
        if numbers:
            parts = {self._attribute_name(name): part for name, part in numbers.items() if self.has_attribute(name)}
            components = {name: _component_of_numbers(operator.attributes[name], part) for name, part in parts.items()}
            operator = replace(operator, attributes={**operator.attributes, **components})
        return NodeContext(operator, inputs, self._variables, self._signature, self._used, on_components=True)

    def with_inputs(self, **replaced: Output | Sequence[Output]) -> NodeContext:
        """The same operator with other inputs, for what is computed by the converter of another operator."""
        replacements: dict[str, Any] = {
            name: [value] if isinstance(value, Output) else list(value) for name, value in replaced.items()
        }
        inputs: Mapping[str, Sequence[Value | None]] = ChainMap(replacements, cast("dict[str, Any]", self._inputs))
        return NodeContext(self._operator, inputs, self._variables, self._signature, self._used, self._on_components)

    def default_single_output_mapping(self, node: Node, names: Sequence[str]) -> NamedOutputs:
        """Maps the outputs of one OpenVINO node to results in order, as OpenVINO's Paddle frontend does, in C++."""
        return {name: node.output(i) for i, name in enumerate(names)}

    # --- refusing -------------------------------------------------------------------------------------------------

    def refuse(self, reason: str, **attributes: Any) -> NoReturn:
        """Raises OpConversionError: this use of the operator cannot be converted.

        Args:
            reason: what is not possible, for the user.
            attributes: the attributes that cause it, with their values.
        """
        shown = ", ".join(f"{name}={value!r}" for name, value in attributes.items())
        raise OpConversionError(self.place, f"{shown}: {reason}" if shown else reason)

    def warn(self, reason: str) -> None:
        """Warns of inputs for which the converted operator differs from Paddle's, if a refusal is too much."""
        warn_of_operator(self.place, reason)

    def require(self, condition: bool, reason: str, **attributes: Any) -> None:
        """Refuses unless `condition` holds."""
        if not condition:
            self.refuse(reason, **attributes)

    def attributes_asked(self) -> str:
        """The attributes that the converter has read so far, with their values, truncated, for messages."""
        return abbreviated_attributes(self._operator.attributes, self._read)

    def zeros_asked(self) -> str:
        """Those of them that are zero, or have a zero among them."""
        own = self._operator.attributes
        values = {name: own[name] if isinstance(own[name], list) else [own[name]] for name in own.keys() & self._read}
        zeros = [
            name
            for name, items in values.items()
            if any(is_number(item) and not isinstance(item, bool) and item == 0 for item in items)
        ]
        return abbreviated_attributes(own, zeros)

    def refuse_unread_attributes(self) -> None:
        """Refuses attributes that Paddle's oneDNN passes set (fusions, int8) unless the converter has read them."""
        for name, value in effective_attributes(self._operator.attributes, self._read).items():
            self.refuse("what Paddle's passes for oneDNN fuse into this operator is not supported", **{name: value})
        # `force_fp32_output` makes int8 and bfloat16 kernels return float32; others return the type of their input.
        if self._operator.attributes.get("force_fp32_output", False):
            element = self.get_input(0).get_element_type()
            self.require(
                element in (Type.f32, Type.f64), f"an input of {element} is not supported", force_fp32_output=True
            )

    # --- names ----------------------------------------------------------------------------------------------------

    def _given(self, name: str) -> Sequence[Value | None]:
        """What the program passes as an input; nothing where it leaves it out."""
        return self._inputs.get(name) or self._inputs.get(self._canonical_names[name], ())

    def _port(self, position: int) -> tuple[str, int]:
        """The name of the input at a position among all of them, and its position there."""
        ports = [(port, i) for port, values in self._inputs.items() for i in range(len(values))]
        if not 0 <= position < len(ports):
            self.refuse(f"input {position} is asked for, the operator has {len(ports)}")
        return ports[position]

    def _converted(self, name: str, value: Any, dtype: Any) -> Any:
        """A value, or each one of a list, as `dtype` makes it."""
        if isinstance(value, list):
            return [self._converted(name, item, dtype) for item in value]
        try:
            converted = dtype(value) if dtype is not Type else None if isinstance(value, bool) else element_type(value)
        except (TypeError, ValueError, OverflowError):
            converted = None
        if converted is None:
            self._refuse_type(name, value, "a data type" if dtype is Type else f"what {dtype!r} takes")
        return converted

    def _attribute(self, name: str, default: Any) -> Any:
        if name not in self._attributes:
            name = self._canonical_names[name]
        self._read.add(name)
        value = self._attributes.get(name, default)
        if value is REQUIRED:
            self.refuse(f"attribute '{name}' is missing")
        return value

    def _value(self, name: str, default: Any) -> Any:
        """What the program passes as an input, if it passes any, else an attribute's value."""
        if name in self._attributes and name not in self._inputs:
            self._read.add(name)
            return self._attributes[name]
        if self.has_input(name):
            array = self.get_constant(name)
            return array.item() if array.size == 1 else array.tolist()
        return self._attribute(name, default)

    def _numbers(self, name: str, value: Any, default: Any) -> Any:
        """The value of an attribute, which must be a number, or lists of numbers."""
        if type(value) in _NUMBERS:
            return value
        parsed = from_text(value)
        if parsed is not default and not are_numbers(parsed):
            self._refuse_type(name, parsed, "a number or numbers")
        return parsed

    def _scalar(self, name: str, value: Any, default: Any) -> Any:
        """The value of an attribute or an input, which must be one number."""
        if type(value) in _NUMBERS:
            return value
        array = np.asarray(self._numbers(name, value, default))
        if array.size != 1:
            self.refuse(f"'{name}' has {array.size} elements, one is expected")
        return array.reshape(-1)[0]

    def _refuse_type(self, name: str, value: Any, wanted: str) -> NoReturn:
        raise OpConversionError(self.place, f"attribute '{name}' is {abbreviated(value)}; {wanted} is expected")

    def _attribute_name(self, name: str) -> str:
        if name not in self._attributes:
            name = self._canonical_names[name]
        self._read.add(name)
        return name

    def _result(self, name: str) -> Sequence[str]:
        outputs = self._operator.outputs
        return outputs.get(name) or outputs.get(self._canonical_names[name], [])

    def _output_variable(self, name: str, idx: int) -> Variable | None:
        names = self._result(name)
        return self._variables.get(names[idx]) if idx < len(names) else None

    def _output(self, value: Value | None, name: str) -> Output:
        if isinstance(value, Output):
            return value
        if isinstance(value, ConstantValue):
            return value.constant().output(0)
        if value is None:
            self.refuse(f"input '{name}' is missing")
        if isinstance(value, EmptyTensorArray):
            self.refuse(f"input '{name}' is a tensor array that nothing was written to")
        return self._output(unmarked(value), name)


def _component_of_numbers(value: Any, component: int) -> Any:
    if isinstance(value, list | tuple):
        return [_component_of_numbers(item, component) for item in value]
    if isinstance(value, complex):
        return value.imag if component else value.real
    return type(value)(0) if component else value


def _known(value: Value | None) -> AnyArray | None:
    if isinstance(value, ConstantValue):
        return value.values()
    if isinstance(value, Output) and isinstance(node := value.get_node(), Constant):
        return value_of(node)
    return _known(unmarked(value)) if type(value) in MARKS else None
