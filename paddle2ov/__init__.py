"""paddle2ov: PaddlePaddle models on OpenVINO.

`convert(model)` turns a Paddle inference model of either format into an `openvino.Model`, without Paddle.
"""

from pathlib import Path as _Path
from typing import TYPE_CHECKING, Any

from paddle2ov.openvino_tools import defer as _defer_openvino_tools

__version__ = "0.1.0"

_defer_openvino_tools()

# In a checkout op_table.py and converters/ stand at the repository's root; there the root is part of the package too.
# An installed paddle2ov has both beside this file and needs no graft.
if not (_Path(__file__).parent / "op_table.py").exists():
    __path__.append(str(_Path(__file__).parents[1]))

if TYPE_CHECKING:
    from paddle2ov.checking.check import check as check
    from paddle2ov.checking.results import Check as Check
    from paddle2ov.compilation.cache import clear_cache as clear_cache
    from paddle2ov.compilation.compile import compile_model as compile_model
    from paddle2ov.conversion import convert as convert
    from paddle2ov.errors import (
        ConversionInputError as ConversionInputError,
        ConversionWarning as ConversionWarning,
        ModelReadError as ModelReadError,
        OpConversionError as OpConversionError,
        OpenVINORunError as OpenVINORunError,
        OpInputError as OpInputError,
        Paddle2OVError as Paddle2OVError,
        PaddleRunError as PaddleRunError,
        Place as Place,
        RewriteError as RewriteError,
        UnsupportedOpsError as UnsupportedOpsError,
    )
    from paddle2ov.inspection import Inspection as Inspection, inspect as inspect
    from paddle2ov.program.reading import read_program as read_program
    from paddle2ov.quantization.quantize import quantize as quantize
    from paddle2ov.quantization.results import Quantized as Quantized
    from paddle2ov.report import ConversionReport as ConversionReport
    from paddle2ov.translation.extension import (
        ConversionExtension as ConversionExtension,
        register_converter as register_converter,
    )
    from paddle2ov.translation.node_context import NamedOutputs as NamedOutputs, NodeContext as NodeContext
    from paddle2ov.verification.results import Verification as Verification
    from paddle2ov.verification.verify import verify as verify

# Importing the package must cost next to nothing beside OpenVINO: a module is loaded when its name is first used.
_MODULES = {
    "Check": "checking.results",
    "ConversionExtension": "translation.extension",
    "ConversionInputError": "errors",
    "ConversionReport": "report",
    "ConversionWarning": "errors",
    "Inspection": "inspection",
    "ModelReadError": "errors",
    "NamedOutputs": "translation.node_context",
    "NodeContext": "translation.node_context",
    "OpConversionError": "errors",
    "OpInputError": "errors",
    "OpenVINORunError": "errors",
    "Paddle2OVError": "errors",
    "PaddleRunError": "errors",
    "Place": "errors",
    "Quantized": "quantization.results",
    "RewriteError": "errors",
    "UnsupportedOpsError": "errors",
    "Verification": "verification.results",
    "check": "checking.check",
    "clear_cache": "compilation.cache",
    "compile_model": "compilation.compile",
    "convert": "conversion",
    "inspect": "inspection",
    "quantize": "quantization.quantize",
    "read_program": "program.reading",
    "register_converter": "translation.extension",
    "verify": "verification.verify",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
