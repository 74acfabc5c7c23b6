"""The one place that names the OpenVINO opset that converters emit."""

from openvino import opset16 as ops

__all__ = ["ops"]
