"""What NNCF's settings give for the PP-OCRv4 models of the demo: agreement, errors and time of each, side by side.

    python -m benchmarks.int8_settings

Drawn lines and pages, as in `benchmarks.precision`, but others than those that the settings of `quantize` were chosen
with (`--seed`); every setting calibrates with the same ones, and is measured on the same others. What is not in int8 is
in bfloat16 where the processor has it, unless the name says otherwise. `paddle2ov.quantize` leaves the first four
layers in floating point. Times are processor time of one thread; ratios are medians over runs in turn.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from benchmarks.precision import MODELS, compared, drawn, exported, narrow_precision, rendered
from benchmarks.record import Record

if TYPE_CHECKING:
    from openvino import Model

    from paddle2ov.inputs.given_arrays import Inputs

NNCF = "NNCF's own"
OURS = "in floating point: the first four layers"


def main() -> None:
    """Draws, quantizes in each way, measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, action="append", help="may be repeated; all by default")
    parser.add_argument("--calibrate", type=int, default=100, help="pictures to calibrate; a tenth for the detector")
    parser.add_argument("--measure", type=int, default=300, help="pictures to measure with; a tenth for the detector")
    parser.add_argument("--runs", type=int, default=10, help="of each setting, for the times")
    parser.add_argument("--seed", type=int, default=11, help="of the pictures")
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    arguments = parser.parse_args()
    record = Record("int8_settings", "Settings of int8", __doc__)
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.model or MODELS:
            figures[name] = measured(name, Path(folder), arguments)
    text = rendered(figures, "setting")
    print(text)
    record.write(arguments.json, figures, text)


def settings(nncf: ModuleType, model: Model, is_transformer: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Arguments of `nncf.quantize` by what is said of them; each is the first with one thing changed."""
    common = {
        "preset": nncf.QuantizationPreset.MIXED,
        "model_type": nncf.ModelType.TRANSFORMER if is_transformer else None,
    }
    advanced = nncf.AdvancedQuantizationParameters
    estimators = nncf.quantization.range_estimator.RangeEstimatorParametersSet
    yield NNCF, common
    yield "symmetric (preset performance)", {**common, "preset": nncf.QuantizationPreset.PERFORMANCE}
    yield (
        "eight bits in the first layer",
        {**common, "advanced_parameters": advanced(overflow_fix=nncf.OverflowFix.DISABLE)},
    )
    percentiles = advanced(activations_range_estimator_params=estimators.MEAN_QUANTILE)
    yield "ranges by percentiles", {**common, "advanced_parameters": percentiles}
    for label, names in ignored(model).items():
        yield f"in floating point: {label}", {**common, "ignored_scope": nncf.IgnoredScope(names=names)}


def ignored(model: Model) -> dict[str, list[str]]:
    """Layers by what may be left in floating point."""
    layers = [node for node in model.get_ordered_ops() if "Convolution" in node.get_type_name()]
    products = [node for node in model.get_ordered_ops() if node.get_type_name() == "MatMul"]
    names = [node.get_friendly_name() for node in layers]
    return {
        "the first layer": names[:1],
        "the first two layers": names[:2],
        "the first four layers": names[:4],
        "the last layer": [node.get_friendly_name() for node in (products or layers)[-1:]],
    }


def measured(name: str, folder: Path, arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Agreement, errors and times of a model in each setting."""
    import paddle2ov
    from paddle2ov.inputs.pictures import Pictures

    model = exported(name, folder)
    tenth = 10 if name == "detector" else 1
    count = arguments.calibrate // tenth
    paths, texts = drawn(name, folder / name, count + arguments.measure // tenth, arguments.seed)
    pictures = Pictures(paddle2ov.read_program(model), model)
    ways = graphs(paddle2ov.convert(model, share_weights=False), [pictures.inputs(path) for path in paths[:count]])
    return compared(name, model, ways, paths[count:], texts[count:], arguments.runs)


def graphs(converted: Model, given: Sequence[Inputs]) -> dict[str, tuple[Model, str]]:
    """The model and its quantized copies, each with the precision of what is in floating point."""
    import nncf

    from paddle2ov.passes import run_rewrites
    from paddle2ov.quantization.nncf_calls import has_attention
    from paddle2ov.workarounds.table import AFTER_CALIBRATION, row

    rest = narrow_precision()
    made = {"float32": (converted, "f32")}
    if rest == "bf16":
        made["bfloat16"] = (converted, "bf16")
    for setting, options in settings(nncf, converted, has_attention(converted)):
        copy = nncf.quantize(converted.clone(), nncf.Dataset(given), subset_size=len(given), **options)
        run_rewrites(copy, (*AFTER_CALIBRATION, row("quantized.shared_convolution")))
        made[setting] = (copy, rest)
        if rest == "bf16" and setting in (NNCF, OURS):
            made[f"{setting}, the rest in float32"] = (copy, "f32")
    return made


if __name__ == "__main__":
    main()
