"""What a generated test is made of: `Op`, `case(...)`, `tensor(...)`, and `paddle`, which is imported on first use.

An operator module of `gen_models/` reads:

    from gen_models.harness.spec import Op, case, paddle, tensor

    def _topk(x, *, k, axis=-1):
        return paddle.topk(x, k, axis)

    OPS = [Op("top_k_v2", _topk, case(x=tensor([3, 7]), k=2))]

The keyword arguments of `case` are the builder's: a `tensor(...)` (alone or in lists, tuples and dicts) becomes a
variable of the program, everything else is passed unchanged. A case is plain data with a JSON form, so that it
can cross to the interpreter that writes legacy models, and be saved and run again.

Data are a function of the operator's name and the case's arguments only: another case before it, another tolerance or
another process change nothing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

FORMATS = ("pir", "legacy")
"""`pir`: `inference.json` as Paddle 3 writes it; `legacy`: `inference.pdmodel` as Paddle 2 writes it."""

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
COMPLEX = ("complex64", "complex128")
DTYPES = (*FLOATS, *INTEGERS, "bool", *COMPLEX)


class _LazyPaddle:
    """Stands for the module `paddle`, which takes two seconds to import, until an attribute is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and "paddle" not in sys.modules:  # introspection (pytest, copy, pickle) is no use
            raise AttributeError(name)
        return getattr(import_paddle(), name)


def import_paddle() -> Any:
    """Imports Paddle quietly: its C++ log and the advice that it prints on import say nothing about our models."""
    if "paddle" not in sys.modules:
        os.environ.setdefault("GLOG_v", "0")
        os.environ.setdefault("GLOG_minloglevel", "2")
        # Paddle 3.3 computes a sum in the memory of an input of the program that an `if` returns and that is a result.
        os.environ.setdefault("FLAGS_pir_apply_inplace_pass", "0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module("paddle")
    return sys.modules["paddle"]


paddle: Any = _LazyPaddle()


# --- tensors ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TensorSpec:
    """An input: its shape, its data (given, or drawn from a range), and the shape that is declared to Paddle."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float | None = None
    high: float | None = None
    values: Any = None
    dims: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype {self.dtype!r} is not one of {', '.join(DTYPES)}")
        if any(d < 0 for d in self.shape):
            raise ValueError(f"shape {list(self.shape)} is that of the data; a dynamic dimension is declared by `dims`")
        fits = self.dims is None or (
            len(self.dims) == len(self.shape) and all(d in (-1, s) for d, s in zip(self.dims, self.shape, strict=True))
        )
        if not fits:
            raise ValueError(f"dims {list(self.dims or ())} do not admit data of shape {list(self.shape)}")
        if self.values is not None and np.size(self.values) != int(np.prod(self.shape)):
            raise ValueError(f"{np.size(self.values)} values do not fill shape {list(self.shape)}")

    @property
    def declared(self) -> tuple[int, ...]:
        """The shape in the program, -1 for a dynamic dimension."""
        return self.shape if self.dims is None else self.dims

    def __repr__(self) -> str:
        """As it is written in a module of cases."""
        parts = [str(list(self.shape)), repr(self.dtype)]
        parts += [
            f"{key}={getattr(self, key)!r}" for key in ("low", "high", "values") if getattr(self, key) is not None
        ]
        parts += [] if self.dims is None else [f"dims={list(self.dims)}"]
        return f"tensor({', '.join(parts)})"

    def data(self, seed: int) -> Array:
        """The array to feed; bfloat16 comes as uint16, the bits that Paddle takes for it."""
        rng = np.random.default_rng(seed)
        if self.values is not None:
            array = np.asarray(self.values)
        elif self.dtype == "bool":
            array = rng.integers(0, 2, self.shape)
        elif self.dtype in INTEGERS:
            low = (0 if self.dtype == "uint8" else -10) if self.low is None else self.low
            array = rng.integers(int(low), int(10 if self.high is None else self.high), self.shape)
        else:
            low, high = (-1.0 if self.low is None else self.low), (1.0 if self.high is None else self.high)
            array = np.asarray(rng.uniform(low, high, self.shape))
            if self.dtype in COMPLEX:
                array = array + 1j * rng.uniform(low, high, self.shape)
        array = np.reshape(array, self.shape)
        return bfloat16_bits(array) if self.dtype == "bfloat16" else np.array(array, self.dtype, order="C")


def tensor(
    shape: Sequence[int],
    dtype: str = "float32",
    low: float | None = None,
    high: float | None = None,
    values: Any = None,
    dims: Sequence[int] | None = None,
) -> TensorSpec:
    """An input tensor of a case.

    shape: the shape of the data; `[]` is 0-D, a zero in it an empty tensor.
    low, high: floats are uniform in [low, high), default [-1, 1); integers default to [-10, 10), uint8 to [0, 10).
    values: the data themselves (nested lists or an array; NaN and infinities allowed).
    dims: the shape declared to Paddle, -1 for a dynamic dimension; default `shape`.
    """
    if values is not None:
        values = np.asarray(values).tolist()
    plain = tuple(int(d) for d in shape)
    return TensorSpec(plain, str(dtype), low, high, values, None if dims is None else tuple(int(d) for d in dims))


def int64s(*values: int, dims: Sequence[int] | None = None) -> TensorSpec:
    """A vector of these int64, an input of a case."""
    return tensor([len(values)], "int64", values=values, dims=dims)


def int32s(*values: int, dims: Sequence[int] | None = None) -> TensorSpec:
    """A vector of these int32, an input of a case."""
    return tensor([len(values)], "int32", values=values, dims=dims)


def bfloat16_bits(array: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """The upper halves of float32, rounded to nearest even; NaN stays NaN."""
    single = np.ascontiguousarray(array, np.float32).reshape(np.shape(array))
    bits = single.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(single), np.uint16(0x7FC0), rounded).astype(np.uint16)


_OPTIONS = ("atol", "rtol", "formats", "dynamic")
"""What a case may set if it says why."""


# --- cases -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One call of a builder, and what is expected of the comparison."""

    arguments: dict[str, Any]
    name: str = ""
    atol: float = 2e-5
    rtol: float = 2e-5
    formats: tuple[str, ...] = FORMATS
    dynamic: bool = True
    why: str = ""
    xfail: str = ""
    is_varied: bool = True

    def __post_init__(self) -> None:
        unknown = set(self.formats) - set(FORMATS)
        if unknown or not self.formats:
            raise ValueError(f"formats {self.formats!r}: choose from {FORMATS}")
        altered = [option for option in _OPTIONS if not self._is_default(option)]
        if altered and not self.why:
            raise ValueError(f"a case that sets {', '.join(altered)} says why: case(..., why='...')")

    def tensors(self) -> dict[str, TensorSpec]:
        """The inputs by their names in the program: the argument's name; `x_0`, `x_1`, ... for a list."""
        return dict(_walk_tensors(self.arguments))

    def data(self, op: str) -> dict[str, Array]:
        """The arrays to feed, by the inputs' names."""
        content = f"{op}:{json.dumps(encode(self.arguments), sort_keys=True)}"
        return {name: spec.data(_seed(f"{content}:{name}")) for name, spec in self.tensors().items()}

    def bind(self, variables: dict[str, Any]) -> dict[str, Any]:
        """The builder's keyword arguments, with each tensor replaced by the variable of its name."""
        return {key: _bind(key, value, variables) for key, value in self.arguments.items()}

    def to_json(self) -> dict[str, Any]:
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {**fields, "formats": list(self.formats), "arguments": encode(self.arguments)["dict"]}

    @staticmethod
    def from_json(plain: dict[str, Any]) -> Case:
        arguments = decode({"dict": plain["arguments"]})
        return Case(**{**plain, "formats": tuple(plain["formats"]), "arguments": arguments})

    def digest(self, *more: str) -> str:
        """Short name of this case's content (and of whatever else decides what is generated from it)."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256("\0".join((text, *more)).encode()).hexdigest()[:12]

    def __repr__(self) -> str:
        """As it is written in a module of cases."""
        parts = [f"{key}={value!r}" for key, value in self.arguments.items()]
        parts += [f"{key}={getattr(self, key)!r}" for key in (*_OPTIONS, "why", "xfail") if not self._is_default(key)]
        return f"case({', '.join(parts)})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How hypothesis prints the case that fails."""
        printer.text(repr(self))

    def _is_default(self, field: str) -> bool:
        return bool(getattr(self, field) == Case.__dataclass_fields__[field].default)


def case(
    *,
    atol: float = 2e-5,
    rtol: float = 2e-5,
    formats: Iterable[str] = FORMATS,
    dynamic: bool = True,
    why: str = "",
    xfail: str = "",
    is_varied: bool = True,
    **arguments: Any,
) -> Case:
    """A case: `arguments` go to the builder; the rest says how its results are compared.

    atol, rtol: tolerances for floats, absolute plus relative, as in `numpy.allclose`.
    formats: where the case can be written at all.
    dynamic: False when OpenVINO itself cannot compute the operator with dynamic dimensions.
    why: the reason for any of these.
    xfail: the reason why the case fails today; it is an error when it passes.
    is_varied: False where tensors and arguments depend on each other, and Paddle does not check it: random cases have
        nothing of it.
    """
    return Case(arguments, "", atol, rtol, tuple(formats), dynamic, why, xfail, is_varied)


class Op:
    """An operator under test: registry key, builder, cases, and whether random cases are made by varying these.

    `build(**arguments)` calls Paddle inside a static program and returns the tensor, or the tensors, to fetch.
    The cases are named `<name>_test_1`, `<name>_test_2`, ... in their order. `marks` hold for each of them, beside its
    own. `module` is the name of the module that has it in a list: that of the builder, unless `gen_models.all_ops`
    finds it in another.
    """

    def __init__(
        self, name: str, build: Callable[..., Any], *cases: Case, is_varied: bool = True, **marks: Any
    ) -> None:
        self.name, self.build, self.is_varied, self.module = name, build, is_varied, build.__module__
        self.cases = tuple(
            dataclasses.replace(each, **{**marks, "name": f"{name}_test_{i}", "why": _joined(each.why, marks)})
            for i, each in enumerate(cases, 1)
        )

    @property
    def source(self) -> str:
        """The path of the module that has the operator in a list."""
        return getattr(sys.modules.get(self.module), "__file__", None) or ""


def _joined(why: str, marks: dict[str, Any]) -> str:
    """The reasons of a case and of what marks all cases of its operator."""
    return "; ".join(dict.fromkeys(reason for reason in (why, marks.get("why")) if reason))


# --- plain data ------------------------------------------------------------------------------------------------------


def encode(value: Any) -> Any:
    """A JSON form that keeps tensors, tuples, slices, complex numbers and arrays apart (and from dicts)."""
    if isinstance(value, TensorSpec):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {"tensor": {k: encode(v) for k, v in fields.items() if v is not None}}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [encode(v) for v in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(v) for v in value]}
    if isinstance(value, dict):
        return {"dict": {str(k): encode(v) for k, v in value.items()}}
    if isinstance(value, np.ndarray):
        return {"array": [str(value.dtype), list(value.shape), encode(value.ravel().tolist())]}
    if isinstance(value, slice):
        return {"slice": [encode(v) for v in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"ellipsis": True}
    raise TypeError(f"an argument of a case is a tensor or plain data, not {value!r}")


def decode(value: Any) -> Any:
    """The inverse of `encode`."""
    if isinstance(value, list):
        return [decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "tensor":
        return TensorSpec(**{k: decode(v) for k, v in content.items()})
    if kind == "array":
        dtype, shape, flat = content
        return np.array(decode(flat), dtype).reshape(shape)
    if kind == "dict":
        return {k: decode(v) for k, v in content.items()}
    if kind == "ellipsis":
        return Ellipsis
    items = decode(content)
    return {"complex": lambda: complex(*items), "tuple": lambda: tuple(items), "slice": lambda: slice(*items)}[kind]()


def _walk_tensors(value: Any, name: str = "") -> Iterator[tuple[str, TensorSpec]]:
    if isinstance(value, TensorSpec):
        yield name, value
    for key, item in _items(value):
        yield from _walk_tensors(item, f"{name}_{key}" if name else str(key))


def _bind(name: str, value: Any, variables: dict[str, Any]) -> Any:
    if isinstance(value, TensorSpec):
        return variables[name]
    if isinstance(value, dict):
        return {k: _bind(f"{name}_{k}", v, variables) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_bind(f"{name}_{i}", v, variables) for i, v in enumerate(value))
    return value


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return cast("Iterable[tuple[Any, Any]]", value.items())
    return enumerate(value) if isinstance(value, (list, tuple)) else ()


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
