"""`create_predictor`: a converted model with the interface of `paddle.inference.Predictor`."""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import openvino

from paddle2ov.compilation.compile import compile_cached, convert_and_compile
from paddle2ov.errors import ConversionInputError, FailingAs, OpConversionError, OpenVINORunError
from paddle2ov.graph.names import LENGTHS_SUFFIX
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.inference.config import Config
from paddle2ov.inference.renewed_model import RenewedModel
from paddle2ov.inference.spare import Spare
from paddle2ov.program.model import AnyArray, Program

_ATTEMPTS = 3
"""How often a run is tried whose failure may be that of another."""


class Request:
    """OpenVINO's request of a predictor; a thread that touches its tensors holds the lock, as it must not run then."""

    def __init__(self, compiled: openvino.CompiledModel, lock: threading.RLock, drops_errors: bool) -> None:
        self.lock = lock
        self._request = compiled.create_infer_request()
        self._drops_errors = drops_errors

    def infer(self) -> None:
        """Runs the model."""
        if self._drops_errors:
            self._request.start_async()
            self._request.wait()
        else:
            self._request.infer()

    def set_tensor(self, port: openvino.ConstOutput, tensor: openvino.Tensor) -> None:
        """Sets an input."""
        with self.lock:
            self._request.set_tensor(port, tensor)

    def get_tensor(self, port: openvino.ConstOutput) -> openvino.Tensor:
        """The tensor of a port, whose content another run may change."""
        with self.lock:
            return self._request.get_tensor(port)


class Tensor:
    """A handle on an input or a result of a predictor."""

    def __init__(
        self,
        request: Request,
        port: openvino.ConstOutput,
        name: str,
        is_input: bool = True,
        lengths: openvino.ConstOutput | None = None,
    ) -> None:
        self._request = request
        self._port = port
        self._name = name
        self._is_input = is_input
        self._kind = port.get_element_type()
        self._given: AnyArray | None = None
        self._shape: tuple[int, ...] | None = None
        self._lengths = lengths  # the port of the lengths of its sequences
        self._offsets: list[int] | None = None

    def name(self) -> str:
        """The tensor's name."""
        return self._name

    def type(self) -> np.dtype[np.generic]:
        """Its NumPy type; bfloat16 is float32 in results."""
        return numpy_dtype(self._kind) or np.dtype(np.float32)

    def reshape(self, shape: Sequence[int]) -> None:
        """Sets the shape for arrays that are given flat, with as many elements; other arrays keep theirs.

        Raises:
            ConversionInputError: it is not a shape.
        """
        try:
            self._shape = tuple(operator.index(size) for size in shape)
        except TypeError:
            raise ConversionInputError(f"input '{self._name}': {str(shape)[:80]} is not a shape") from None

    def copy_from_cpu(self, array: AnyArray) -> None:
        """Sets the input; the array may be changed afterwards.

        Raises:
            ConversionInputError: it is of another type or shape than the input.
        """
        self._set(np.array(array, order="C"))

    def share_external_data(self, array: Any) -> None:
        """Sets the input without copying it: the array must stay as it is until the predictor has run.

        One that cannot be written to, or is not contiguous, is copied.

        Raises:
            ConversionInputError: it is not an array, or of another type or shape than the input.
        """
        if not isinstance(array, np.ndarray | np.generic) and not hasattr(array, "numpy"):
            raise ConversionInputError(f"input '{self._name}': an array is expected, not {type(array).__name__}")
        self._set(np.asarray(array if isinstance(array, np.ndarray | np.generic) else array.numpy()))

    def copy_to_cpu(self) -> AnyArray:
        """The value: a result of the last run, or the input that was set."""
        if self._given is not None:
            return self._given.copy()
        with self._request.lock:
            tensor = self._request.get_tensor(self._port)
            if self._kind == openvino.Type.bf16:
                bits = np.frombuffer(tensor.data.tobytes(), np.uint16).astype(np.uint32) << 16
                return bits.view(np.float32).reshape(tuple(tensor.shape))
            return np.array(tensor.data)

    to_numpy = copy_to_cpu
    numpy = copy_to_cpu

    def shape(self) -> list[int]:
        """The shape of the value; of an input that is not set the declared one, with -1 where it is not fixed.

        Of a result before the first run, 0 stands where it is not fixed.
        """
        if self._given is not None:
            return list(self._given.shape)
        if self._shape is not None:
            return list(self._shape)
        return _declared(self._port) if self._is_input else list(self._request.get_tensor(self._port).shape)

    def lod(self) -> list[list[int]]:
        """Where the sequences of the tensor begin, and where the last one ends; empty for a plain tensor."""
        if self._lengths is None:
            return []
        if self._is_input:
            return [] if self._offsets is None else [list(self._offsets)]
        return [[0, *np.cumsum(self._request.get_tensor(self._lengths).data).tolist()]]

    def set_lod(self, lod: Sequence[Sequence[int]]) -> None:
        """Says where the sequences of the input begin, and where the last one ends: `[[0, 3, 7]]`.

        Without it, or with an empty list, the rows are one sequence.

        Raises:
            ConversionInputError: it is not such a list, has more than one level, or the input has no sequences.
        """
        levels = [list(level) for level in lod if len(level)]
        if levels and self._lengths is None:
            raise ConversionInputError(f"input '{self._name}': the model takes no sequences (LoD) here")
        if len(levels) > 1:
            raise ConversionInputError(f"input '{self._name}': sequences of sequences (LoD) are not supported")
        if levels and (levels[0][0] != 0 or any(b < a for a, b in pairwise(levels[0])) or len(levels[0]) < 2):
            raise ConversionInputError(
                f"input '{self._name}': {levels[0]} are no offsets of sequences; [0, ...] is expected"
            )
        self._offsets = levels[0] if levels else None

    def _set_lengths(self) -> None:
        """Hands the lengths of the sequences to the model, where it asks for them."""
        if self._lengths is None or self._given is None:
            return
        rows = len(self._given)
        offsets = [0, rows] if self._offsets is None else self._offsets
        if offsets[-1] != rows:
            raise ConversionInputError(
                f"input '{self._name}' has {rows} rows, its sequences (LoD) end at {offsets[-1]}"
            )
        self._request.set_tensor(self._lengths, openvino.Tensor(np.diff(offsets).astype(np.int64)))

    def _set(self, array: AnyArray) -> None:
        if not self._is_input:
            raise ConversionInputError(f"'{self._name}' is a result; it cannot be set")
        wanted = self.type()
        if array.dtype != wanted and not (self._kind == openvino.Type.bf16 and array.dtype == np.uint16):
            raise ConversionInputError(f"input '{self._name}' is {wanted}, the array is {array.dtype}")
        array = np.ascontiguousarray(array).reshape(array.shape)  # ascontiguousarray makes 0-D arrays 1-D
        if self._shape is not None and array.ndim == 1 and math.prod(self._shape) == array.size:
            array = array.reshape(self._shape)
        declared = self._port.get_partial_shape()
        if not declared.compatible(openvino.PartialShape(list(array.shape))):
            raise ConversionInputError(
                f"input '{self._name}' takes {declared.to_string()}, the array is {list(array.shape)}"
            )
        if not array.flags.writeable:  # OpenVINO shares what it could write to
            array = array.copy()
        self._share(array)

    def _move(self, request: Request, port: openvino.ConstOutput, lengths: openvino.ConstOutput | None) -> None:
        """Makes this the handle on the tensor of another request, which gets the array that is set."""
        self._request, self._port, self._lengths = request, port, lengths
        if self._given is not None:
            self._share(self._given)

    def _share(self, array: AnyArray) -> None:
        if self._kind == openvino.Type.bf16:
            tensor = openvino.Tensor(array, openvino.Shape(array.shape), self._kind)
        else:
            tensor = openvino.Tensor(array, shared_memory=array.size > 0)
        with _openvino_errors("take this input"):
            self._request.set_tensor(self._port, tensor)
        self._given = array


class Predictor:
    """A model that runs; made by `create_predictor`.

    Handles and `run()` are for one thread at a time: `clone` gives another one its own. Any number of threads may call
    `run(inputs)`.
    """

    def __init__(self, model: SharedModel, spare: Spare[Predictor] | None = None) -> None:
        self._model = model
        # Not the model's: what refers to itself keeps its memory until Python's cyclic collector comes.
        self._spare: Spare[Predictor] = Spare(partial(Predictor, model), model.spare_bound) if spare is None else spare
        self._lock = threading.RLock()
        self._handles: dict[str, Tensor] = {}
        self._use(model.compiled)

    def _use(self, compiled: openvino.CompiledModel) -> None:
        """Makes this the compiled model, also for the handles that there are, which keep their arrays."""
        self._compiled = compiled
        self._request = Request(compiled, self._lock, self._model.drops_errors)
        self._inputs, self._input_lengths = _split(compiled.inputs)
        self._outputs, self._output_lengths = _split(compiled.outputs)
        others = self._output_lengths.values()
        self._results = [(port.get_any_name(), port) for port in compiled.outputs if port not in others]
        for handle in self._handles.values():
            if handle._is_input:
                handle._move(self._request, self._inputs[handle._name], self._input_lengths.get(handle._name))
            else:
                handle._move(self._request, self._outputs[handle._name], self._output_lengths.get(handle._name))

    def get_input_names(self) -> list[str]:
        """The names of the inputs, in the program's order."""
        return list(self._inputs)

    def get_output_names(self) -> list[str]:
        """The names of the results, in the program's order; a variable that is returned twice is listed twice."""
        return [name for name, _ in self._results]

    def get_input_handle(self, name: str) -> Tensor:
        """The handle of an input.

        Raises:
            ConversionInputError: there is no input of this name.
        """
        return self._handle(name, self._inputs, "input", self._input_lengths)

    def get_output_handle(self, name: str) -> Tensor:
        """The handle of a result.

        Raises:
            ConversionInputError: there is no result of this name.
        """
        return self._handle(name, self._outputs, "result", self._output_lengths)

    def get_input_tensor_shape(self) -> dict[str, list[int]]:
        """The declared shapes of the inputs; -1 where a dimension is not fixed."""
        return {name: _declared(port) for name, port in self._inputs.items()}

    def run(self, inputs: Sequence[Any] | None = None) -> Any:
        """Runs the model on what the input handles hold, or on a list of arrays in the order of the inputs.

        Given a list of such lists, it runs on each of them, on as many at a time as the compiled model is made for
        (`Config.set_openvino_hint`). A thread that finds the predictor busy with another one's list takes a request
        that it shares with all clones, or waits for one.

        Returns:
            True; given a list of arrays, the results as arrays, in their order; for several lists, a list of these.

        Raises:
            ConversionInputError: an input is not set, of another type or shape, or a list has another length.
            OpenVINORunError: OpenVINO refuses the inputs.
        """
        if inputs is None:
            with self._lock:
                self._run_handles()
            return True
        if not isinstance(inputs, list | tuple):
            raise ConversionInputError(f"run: a list of arrays is expected, not {type(inputs).__name__}")
        if inputs and all(isinstance(one, list | tuple) for one in inputs):
            return self._run_all(inputs)
        if not self._lock.acquire(blocking=False):
            return self._run_elsewhere(inputs)
        try:
            return self._run_arrays(inputs)
        finally:
            self._lock.release()

    def _run_all(self, inputs: Sequence[Sequence[Any]]) -> list[list[AnyArray]]:
        """The results of several runs, some of which are computed at once."""
        with ThreadPoolExecutor(min(self._spare.bound, len(inputs))) as threads:
            return list(threads.map(self._run_elsewhere, inputs))

    def _run_elsewhere(self, inputs: Sequence[Any]) -> list[AnyArray]:
        """The results of a run by one of the predictors that all clones share."""
        with self._spare.borrow() as other:
            return other._run_arrays(inputs)

    def _run_arrays(self, inputs: Sequence[Any]) -> list[AnyArray]:
        """The results of a run on these arrays, which the input handles hold then."""
        names = self.get_input_names()
        if len(inputs) != len(names):
            raise ConversionInputError(f"{len(inputs)} arrays are given; the inputs are {', '.join(names)}")
        for name, array in zip(names, inputs, strict=True):
            self.get_input_handle(name).share_external_data(array)
        self._run_handles()
        return [Tensor(self._request, port, name, is_input=False).copy_to_cpu() for name, port in self._results]

    def _run_handles(self) -> None:
        """Runs the model on what the input handles hold."""
        if self._compiled is not self._model.compiled:  # another predictor has renewed it
            self._use(self._model.compiled)
        names = self.get_input_names()
        for name in names:
            handle = self.get_input_handle(name)
            if handle._given is None:
                raise ConversionInputError(f"input '{name}' is not set: get_input_handle('{name}').copy_from_cpu(...)")
            handle._set_lengths()
        shapes: list[tuple[str | int, ...]] = [(name, *self.get_input_handle(name).shape()) for name in names]
        with self._model.running():
            self._infer(shapes)
        self._model.succeeded(shapes)

    def _infer(self, shapes: Sequence[tuple[str | int, ...]]) -> None:
        """Runs on inputs of these shapes; once more where another run that failed may be the reason."""
        for left in reversed(range(_ATTEMPTS)):
            try:
                with _openvino_errors("run the model on these inputs"):
                    self._request.infer()
                return
            except OpenVINORunError:
                other = self._model.after_failure(self._compiled, shapes)
                if other is None:
                    raise
                self._use(other)
                for name in self._inputs:
                    self.get_input_handle(name)._set_lengths()
                if not left:
                    raise

    def clone(self) -> Predictor:
        """A predictor for another thread; the compiled model is shared."""
        return Predictor(self._model, self._spare)

    def register_output_hook(self, hook: Any) -> None:
        """Not possible.

        Raises:
            ConversionInputError: always: intermediate results do not exist as Paddle's operators give them.
        """
        raise ConversionInputError(
            "register_output_hook: the compiled model has other operators; `paddle2ov verify` shows what lies between"
        )

    register_input_hook = register_output_hook

    def clear_intermediate_tensor(self) -> None:
        """Releases the memory of intermediate results."""
        self._compiled.release_memory()

    def try_shrink_memory(self) -> int:
        """Releases the memory of intermediate results; returns 0, as how much is not known."""
        self._compiled.release_memory()
        return 0

    def _handle(self, name: str, ports: dict[str, Any], what: str, lengths: dict[str, Any]) -> Tensor:
        if name not in ports:
            raise ConversionInputError(f"there is no {what} '{name}'; there are {', '.join(ports) or 'none'}")
        key = f"{what} {name}"
        if key not in self._handles:
            self._handles[key] = Tensor(self._request, ports[name], name, what == "input", lengths.get(name))
        return self._handles[key]


class SharedModel(RenewedModel):
    """A compiled model that several predictors share, and how many spare ones they may have beside them."""

    def __init__(self, compiled: openvino.CompiledModel, device: str, properties: dict[str, Any]) -> None:
        super().__init__(compiled, device, properties)
        wanted = int(properties.get("PERFORMANCE_HINT_NUM_REQUESTS") or 0)
        # One more than are computed at once is filled or read meanwhile.
        self.spare_bound = wanted or int(_property(compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", 1)) + 1
        # OpenVINO 2026.4 loses what `infer` raises in a stream of one thread; what `wait` raises it does not.
        limits = [_property(compiled, name, 0) for name in ("NUM_STREAMS", "INFERENCE_NUM_THREADS")]
        self.drops_errors = limits == [1, 1]


def create_predictor(config: Config) -> Predictor:
    """Converts the model that a configuration names, and compiles it.

    Its files are read once, whole: the predictor and its clones keep what they held, whatever becomes of them.

    Raises:
        ModelReadError: the model cannot be found or read, or its files change while they are read.
        UnsupportedOpsError, OpConversionError: it cannot be converted.
        ConversionInputError: the configuration names no model, or is not a `Config`.
        OpenVINORunError: OpenVINO cannot compile the model, or knows no such device, property or value.
    """
    return _created(config, 1)


def _created(config: Config, predictors: int) -> Predictor:
    """The first of so many predictors that run at once."""
    if not isinstance(config, Config):
        raise ConversionInputError(f"create_predictor: a Config is expected, not {type(config).__name__}")
    device, properties = str(config.openvino_device()), config._properties_for(predictors)
    model, params, buffers = config._model, config._params, config._buffers
    if buffers is not None:
        made = convert_and_compile(lambda: _from_contents(*buffers), device, properties)
        return Predictor(SharedModel(made, device, properties))
    if model is None:
        raise ConversionInputError("the Config names no model: Config(model_dir) or Config(program, params)")
    if config._cache_dir is None:
        made = convert_and_compile(lambda: _from_files(model, params), device, properties)
    else:
        options, cache_dir = {"for": "predictor"}, config._cache_dir
        made = compile_cached(model, params, device, properties, cache_dir, options, lambda: _from_files(model, params))
    return Predictor(SharedModel(made, device, properties))


def _from_contents(program: bytes, params: bytes) -> openvino.Model:
    from paddle2ov.program import read_contents
    from paddle2ov.translation.registry import Registry

    return _with_lengths(read_contents(program, params, Registry().signatures()))


def _from_files(model: Path, params: Path | None) -> openvino.Model:
    from paddle2ov.program import read_program
    from paddle2ov.translation.registry import Registry

    return _with_lengths(read_program(model, params, Registry().signatures(), mapped=False))


def _with_lengths(program: Program) -> openvino.Model:
    """The model, which takes sequences of any lengths unless one of its operators takes only one."""
    from paddle2ov.conversion import convert  # which a model from the cache does not need

    try:
        return convert(program, sequence_lengths=True)
    except OpConversionError:
        return convert(program)


class PredictorPool:
    """Several predictors of one model, for as many threads, which OpenVINO computes at once as far as there are cores.

    Each gets the number of threads that the configuration sets, or its part of all cores. A configuration that sets a
    hint or a number of streams is kept.
    """

    def __init__(self, config: Config, size: int) -> None:
        if not isinstance(size, int) or size < 1:
            raise ConversionInputError(f"a pool of {size!r} predictors")
        first = _created(config, size)
        self._predictors = [first, *(first.clone() for _ in range(size - 1))]

    def retrieve(self, index: int) -> Predictor:
        """One of the predictors.

        Raises:
            ConversionInputError: there is not one of that number.
        """
        if not isinstance(index, int) or not 0 <= index < len(self._predictors):
            raise ConversionInputError(f"predictor {index!r} of a pool of {len(self._predictors)}")
        return self._predictors[index]

    retrive = retrieve  # as Paddle 2 spells it


def _property(compiled: openvino.CompiledModel, name: str, default: int) -> Any:
    """A property, which not every device has."""
    try:
        return compiled.get_property(name)
    except RuntimeError:
        return default


def _openvino_errors(what: str) -> FailingAs:
    """Raises OpenVINO's errors as `OpenVINORunError`."""
    return FailingAs(lambda reason: OpenVINORunError(f"OpenVINO does not {what}: {reason}"), RuntimeError, str)


def _split(
    ports: Sequence[openvino.ConstOutput],
) -> tuple[dict[str, openvino.ConstOutput], dict[str, openvino.ConstOutput]]:
    """A model's inputs or results by name, and by the same names the ports of the lengths of their sequences."""
    named: dict[str, openvino.ConstOutput] = {}
    for port in ports:
        named.setdefault(port.get_any_name(), port)
    lengths = {name: named[name + LENGTHS_SUFFIX] for name in named if name + LENGTHS_SUFFIX in named}
    return {name: port for name, port in named.items() if port not in lengths.values()}, lengths


def _declared(port: openvino.ConstOutput) -> list[int]:
    return [size.get_length() if size.is_static else -1 for size in port.get_partial_shape()]
