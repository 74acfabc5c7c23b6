"""`Predictor`: a compiled model with the interface of `paddle.inference.Predictor`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, overload
from weakref import WeakKeyDictionary

from paddle2ov.errors import ConversionInputError, OpenVINORunError
from paddle2ov.graph.forks import keep_forever, renew_after_fork
from paddle2ov.inference.config import Config
from paddle2ov.inference.configured_model import variants_of
from paddle2ov.inference.request import Port, Request, by_name
from paddle2ov.inference.result_array import ResultArray
from paddle2ov.inference.shared_model import SharedModel
from paddle2ov.inference.spare import Spare
from paddle2ov.inference.tensor import Tensor
from paddle2ov.inference.variants import Variants

_ATTEMPTS = 3
"""How often a run is tried whose failure may be that of another."""


class Predictor:
    """A model that runs; `create_predictor(config)` makes it, or `Predictor(config)`.

    Handles and `run()` are for one thread at a time: `clone` gives another one its own. Any number of threads may call
    `run(inputs)`.
    """

    def __init__(self, model: Variants | Config, spare: Spare[Predictor] | None = None) -> None:
        if isinstance(model, Config):
            model = variants_of(model)
        if not isinstance(model, Variants):
            raise ConversionInputError(f"Predictor: a Config is expected, not {type(model).__name__}")
        self._variants = variants = model
        declared = variants.declared
        # Not the model's: what refers to itself keeps its memory until Python's cyclic collector comes.
        self._spare: Spare[Predictor] = (
            Spare(partial(Predictor, variants), declared.spare_bound) if spare is None else spare
        )
        self._lock = threading.RLock()
        self._input_handles: dict[str, Tensor] = {}
        self._result_handles: dict[str, Tensor] = {}
        self._shapes: list[tuple[str | int, ...]] = []  # of the inputs, with their names
        self._requests: WeakKeyDictionary[SharedModel, Request] = WeakKeyDictionary()
        self._use(declared)
        renew_after_fork(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuses to be pickled or copied, as a compiled model is part of its process.

        Raises:
            TypeError: always.
        """
        raise TypeError(
            "a Predictor cannot be pickled or copied: send its Config, and create a predictor in the other process; "
            "clone() makes one for another thread"
        )

    def after_fork(self) -> None:
        """Forgets the threads of the process before, one of which may have held the lock."""
        self._lock = threading.RLock()
        for request in self._requests.values():
            keep_forever(request)  # which waits for them as it is destroyed
            request.lock = self._lock

    def _use(self, model: SharedModel) -> None:
        """Makes this the model that runs, also for the handles that there are, which keep their arrays."""
        request = self._requests.get(model)
        if request is None or request.compiled is not model.compiled:  # another predictor has renewed it
            request = self._requests[model] = Request(model.compiled, self._lock, model.drops_errors)
        self._model, self._request = model, request
        self._request.has_run = False  # not on what the handles hold now
        self._inputs, self._results = request.inputs, by_name(request.results)
        for handles, ports in ((self._input_handles, self._inputs), (self._result_handles, self._results)):
            for name, handle in handles.items():
                handle.move(self._request, ports[name])

    def get_input_names(self) -> list[str]:
        """The names of the inputs, in the program's order."""
        return list(self._inputs)

    def get_output_names(self) -> list[str]:
        """The names of the results, in the program's order; a variable that is returned twice is listed twice."""
        return [port.name for port in self._request.results]

    def get_input_handle(self, name: str) -> Tensor:
        """The handle of an input.

        Raises:
            ConversionInputError: there is no input of this name.
        """
        return self._handle("input", name, self._inputs, self._input_handles)

    def get_output_handle(self, name: str) -> Tensor:
        """The handle of a result.

        Raises:
            ConversionInputError: there is no result of this name.
        """
        return self._handle("result", name, self._results, self._result_handles)

    def get_input_tensor_shape(self) -> dict[str, list[int]]:
        """The declared shapes of the inputs; -1 where a dimension is not fixed."""
        return {name: port.declared_shape() for name, port in self._variants.declared.inputs.items()}

    @overload
    def run(self, inputs: None = None) -> None: ...

    @overload
    def run(self, inputs: Sequence[Any]) -> list[Any]: ...

    def run(self, inputs: Sequence[Any] | None = None) -> list[Any] | None:
        """Runs the model on what the input handles hold, or on a list of arrays in the order of the inputs.

        Given a list of such lists, it runs on each of them, on as many at a time as the compiled model is made for
        (`Config.set_openvino_hint`). A thread that finds the predictor busy with another one's list takes a request
        that it shares with all clones, or waits for one.

        Returns:
            None, as Paddle's; given a list of arrays, the results as arrays, in their order; for several lists, a list
            of these. The arrays have `numpy()` as well, as Paddle's tensors; bfloat16 is float32.

        Raises:
            ConversionInputError: an input is not set, an array has another type, whose numbers would change, or a shape
                that the program cannot be computed with, or a list has another length.
            ModelReadError: the shapes are others than the program declares, for which it is read again, and its files
                have changed since the predictor was made.
            OpenVINORunError: OpenVINO refuses the inputs.
        """
        if inputs is None:
            with self._lock:
                self._run_handles()
            return None
        if not isinstance(inputs, list | tuple):
            raise ConversionInputError(f"run: a list of arrays is expected, not {type(inputs).__name__}")
        if inputs and all(isinstance(item, list | tuple) for item in inputs):
            with ThreadPoolExecutor(min(self._spare.bound, len(inputs))) as threads:
                return list(threads.map(self._run_on_spare, inputs))
        if not self._lock.acquire(blocking=False):
            return self._run_on_spare(inputs)
        try:
            return self._run_arrays(inputs)
        finally:
            self._lock.release()

    def _run_on_spare(self, inputs: Sequence[Any]) -> list[ResultArray]:
        """The results of a run by one of the predictors that all clones share."""
        with self._spare.borrow() as other:
            return other._run_arrays(inputs)

    def _run_arrays(self, inputs: Sequence[Any]) -> list[ResultArray]:
        """The results of a run on these arrays, which the input handles hold then."""
        names = self.get_input_names()
        if len(inputs) != len(names):
            raise ConversionInputError(f"{len(inputs)} arrays are given; the inputs are {', '.join(names)}")
        for name, array in zip(names, inputs, strict=True):
            self.get_input_handle(name).share_or_copy(array)
        self._run_handles()
        return [self._request.result(port).view(ResultArray) for port in self._request.results]

    def _run_handles(self) -> None:
        """Runs the model on what the input handles hold."""
        is_ready = self._request.has_run and self._model.compiled is self._request.compiled
        if not is_ready:
            self._request.has_results = False
            self._choose_model()
            self._prepare()
        running = self._model.running  # that of this process: one that is forked meanwhile begins another
        running.append(None)
        try:
            self._infer(is_ready)
        finally:
            running.pop()
        if not is_ready:
            self._model.succeeded(self._shapes)
            self._request.has_run = True

    def _choose_model(self) -> None:
        """Uses the model for the shapes of what the input handles hold."""
        handles = {name: self.get_input_handle(name) for name in self._inputs}
        input_shapes = {name: handle.value().shape for name, handle in handles.items()}
        sequences = max([handle.sequences() for handle in handles.values()], default=1)
        model = self._variants.fitting(input_shapes, sequences)
        if model is not self._model or model.compiled is not self._request.compiled:
            self._use(model)
        self._shapes = [(name, *shape) for name, shape in input_shapes.items()]

    def _prepare(self) -> None:
        """Hands what the input handles hold to the request."""
        for name in self.get_input_names():
            self.get_input_handle(name).prepare()

    def _infer(self, has_succeeded: bool) -> None:
        """Runs on the inputs, whose shapes may have succeeded before; once more where another run may be at fault."""
        attempts = _ATTEMPTS
        while True:
            try:
                self._request.infer()
                return
            except OpenVINORunError:
                attempts -= 1
                if has_succeeded:
                    self._model.succeeded(self._shapes)
                if self._model.after_failure(self._request.compiled, self._shapes) is None:
                    raise
                self._use(self._model)
                self._prepare()
                if not attempts:
                    raise

    def clone(self) -> Predictor:
        """A predictor for another thread; the compiled model is shared."""
        return Predictor(self._variants, self._spare)

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
        self._model.compiled.release_memory()

    def try_shrink_memory(self) -> int:
        """Releases the memory of intermediate results; returns 0, as how much is not known."""
        self._model.compiled.release_memory()
        return 0

    def _handle(self, what: str, name: str, ports: dict[str, Port], handles: dict[str, Tensor]) -> Tensor:
        if not isinstance(name, str) or name not in ports:
            raise ConversionInputError(f"there is no {what} {str(name)[:80]!r}; there are {', '.join(ports) or 'none'}")
        if name not in handles:
            handles[name] = Tensor(self._request, ports[name])
        return handles[name]
