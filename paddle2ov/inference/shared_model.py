"""A compiled model as the predictors of a program share it, renewed after a run that failed and after a fork.

In OpenVINO 2026.4 a run that fails because its shapes do not fit spoils the compiled model: inputs of shapes that ran
before count as unchanged and fail as well, in every request, until others have run. The model is exported and
imported then, which is as good as compiling it anew, and the run is repeated.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import openvino

from paddle2ov.compilation.compile import export_model, import_model
from paddle2ov.errors import OpenVINORunError
from paddle2ov.graph.forks import has_lost_threads, renew_after_fork
from paddle2ov.graph.workarounds import works_around
from paddle2ov.inference.request import by_name, ports_of

Shapes: TypeAlias = Mapping[str, Sequence[int]]
"""The shapes of inputs, by their names."""
_REMEMBERED = 1000
"""How many shapes that have run are remembered."""


@works_around("run_after_one_that_failed")
class SharedModel:
    """A compiled model that several predictors share, with the device and the properties that it was compiled for.

    Attributes:
        inputs: its inputs.
        spare_bound: how many spare predictors there may be beside them.
        drops_errors: whether OpenVINO 2026.4 loses what `infer` raises, as in a stream of one thread; `wait` raises it.
        running: as many as runs that are not at an end, by whose failure others may fail.
    """

    def __init__(self, compiled: openvino.CompiledModel, device: str, properties: dict[str, Any]) -> None:
        self._compiled = compiled
        self._is_inherited = False
        self._device = device
        self._properties = {name: value for name, value in properties.items() if name != "CACHE_DIR"}
        self._lock = threading.Lock()
        self._shapes: set[Hashable] = set()  # that have run; they may fail after another run has
        self._has_failed = False
        self.running: list[None] = []
        self._exported: io.BytesIO | openvino.Tensor | None = None
        self.inputs = by_name(ports_of(compiled.inputs, is_input=True))
        wanted = int(properties.get("PERFORMANCE_HINT_NUM_REQUESTS") or 0)
        # One more than are computed at once is filled or read meanwhile.
        self.spare_bound = wanted or _number(compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", 1) + 1
        limits = [_number(compiled, name, 0) for name in ("NUM_STREAMS", "INFERENCE_NUM_THREADS")]
        self.drops_errors = limits == [1, 1] or device.startswith("HETERO")  # which does not tell
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Has the model imported again before it runs in this process, which has none of its threads."""
        self._lock = threading.Lock()
        self.running = []
        self._is_inherited = has_lost_threads()

    @property
    def compiled(self) -> openvino.CompiledModel:
        """The compiled model that runs in this process.

        Raises:
            OpenVINORunError: it was compiled before the process was forked, and its device exports none.
        """
        if self._is_inherited:
            with self._lock:
                if self._is_inherited:
                    self._import_inherited()
        return self._compiled

    def _import_inherited(self) -> None:
        try:
            if self._device.split(":")[0] not in ("CPU", "HETERO"):
                raise RuntimeError(f"what is compiled for {self._device} runs in one process")
            self._compiled = self._imported()
        except RuntimeError as error:
            raise OpenVINORunError(
                "the predictor was created before this process was forked, and OpenVINO's threads are not in it; "
                f"create_predictor makes one here ({error})"
            ) from error
        self._is_inherited, self._has_failed = False, False

    def unfit(self, shapes: Shapes) -> list[str]:
        """The inputs that do not take these shapes."""
        return [name for name, shape in shapes.items() if not self.inputs[name].takes(tuple(shape))]

    def succeeded(self, shapes: Iterable[Hashable]) -> None:
        """Notes that inputs of these shapes have run."""
        with self._lock:
            if len(self._shapes) > _REMEMBERED:
                self._shapes.clear()
            self._shapes.update(shapes)

    def after_failure(
        self, compiled: openvino.CompiledModel, shapes: Sequence[Hashable]
    ) -> openvino.CompiledModel | None:
        """What to repeat a run on that has failed on `compiled`; None where the failure is that of its inputs."""
        with self._lock:
            if compiled is not self._compiled:
                return self._compiled
            is_first = not self._has_failed and len(self.running) < 2
            if is_first or self._shapes.isdisjoint(shapes):
                self._has_failed = True
                return None
            try:
                self._compiled = self._imported()
            except RuntimeError:  # a device that exports nothing, a model that is gone from its cache directory
                return None
            self._has_failed = False
            # Known still where other runs may make the repeated one fail again.
            self._shapes = set(shapes) if len(self.running) > 1 else set()
            return self._compiled

    def _imported(self) -> openvino.CompiledModel:
        if self._exported is None:  # kept, as OpenVINO imports nothing that an imported model exports
            self._exported = export_model(self._compiled)
        if isinstance(self._exported, io.BytesIO):
            self._exported.seek(0)
        names = [port.get_names() for port in self._compiled.outputs]
        return import_model(self._exported, names, self._device, self._properties)


def _number(compiled: openvino.CompiledModel, name: str, default: int) -> int:
    """A property that is a number, which not every device has."""
    try:
        return int(compiled.get_property(name))
    except RuntimeError:
        return default
