"""Where OpenVINO computes what Paddle's results are compared with: on which device, in which precision."""

from __future__ import annotations

import openvino
from msgspec import Struct

from paddle2ov.compilation.running import compile_in
from paddle2ov.workarounds import Target


class Where(Struct, frozen=True):
    """A device and a precision.

    Attributes:
        device: OpenVINO's name of the device; None for the CPU, by a graph that is made for any device.
        precision: "f32", "bf16", "f16", or "default" for what the device takes.
    """

    device: str | None = None
    precision: str = "f32"

    @property
    def name(self) -> str:
        """OpenVINO's name of the device that computes."""
        return self.device or "CPU"

    @property
    def target(self) -> str | None:
        """The device that graphs are made for, as `convert` names it."""
        return None if self.device is None else Target.of_device(self.device).device

    def compile(self, model: openvino.Model) -> openvino.CompiledModel:
        """Compiles a model there, see `compile_in`."""
        return compile_in(model, self.name, self.precision)


ON_CPU = Where()
