"""What a graph is made for: a device, and a release of OpenVINO."""

from __future__ import annotations

import re
from typing import TypeAlias

import openvino
from msgspec import Struct

from paddle2ov.errors import ConversionInputError
from paddle2ov.graph.core import check_device

DEVICES = ("CPU", "GPU", "NPU")

Version: TypeAlias = tuple[int, ...]


def version_of(text: str) -> Version:
    """The numbers of a release: "2026.4.1-22000-abc" -> (2026, 4, 1)."""
    return tuple(map(int, re.findall(r"\d+", text.partition("-")[0])))


INSTALLED = version_of(openvino.__version__)


class Target(Struct, frozen=True):
    """A device and a release of OpenVINO.

    Attributes:
        device: one of `DEVICES`; None for any, which keeps the faults of all of them out.
        openvino: the release that compiles the graph.
    """

    device: str | None = None
    openvino: Version = INSTALLED

    @classmethod
    def named(cls, device: str | None) -> Target:
        """The target of one of `DEVICES`, or of any.

        Raises:
            ConversionInputError: the device has another name.
        """
        if device is not None and not (isinstance(device, str) and device in DEVICES):
            raise ConversionInputError(f"device: {device!r} is none of {', '.join(DEVICES)}; None stands for any")
        return cls(device)

    @classmethod
    def of_device(cls, name: str) -> Target:
        """The target of a device as OpenVINO names it: "GPU.1" is a GPU; "AUTO" and "HETERO:GPU,CPU" are any.

        Raises:
            ConversionInputError: that is no name.
        """
        check_device(name)
        kind = name.partition(".")[0]
        return cls(kind if kind in DEVICES else None)

    def __str__(self) -> str:
        return f"{self.device or 'any device'} by OpenVINO {'.'.join(map(str, self.openvino))}"


HERE = Target()
"""Any device, by the installed OpenVINO."""
