"""Remarks on OpenVINO in the sources that stand outside of what `works_around` marks, and why they have no fault."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from tools.faults.register import ROOT, SOURCES, marks_of

_REMARK = re.compile(r"OpenVINO(?:'s)?(?: CPU plugin)?,? ?\(?20\d\d\.\d|CPU plugin")
"""What is said of a version of OpenVINO, or of its CPU plugin."""

NO_FAULT = "A limit, a speed or an order of its own, no fault."
IN_WHOLE_MODELS = "Seen in whole models; OpenVINO 2026.4.1 computes the plain graphs right that were tried."
NO_ELEMENTS = "Tensors that are known to be empty fail in many ways; they are constants here, whatever reads them."
NO_GRAPH = "A fault of processes, of threads or of memory, which no graph shows."
NOT_BUILT = "OpenVINO refuses to make the node: there is no graph to show."

REASONS = {
    "converters.conv.normalize_geometry": NO_GRAPH,
    "converters.counting.unique": IN_WHOLE_MODELS,
    "converters.counting.unique_consecutive": NO_ELEMENTS,
    "converters.detection.matching._without_nan": NO_FAULT,
    "converters.detection.proposals.generate_proposals": IN_WHOLE_MODELS,
    "converters.detection.retinanet._decoded": IN_WHOLE_MODELS,
    "converters.detection.suppression": IN_WHOLE_MODELS,
    "converters.detection.suppression.GreedyNms._considered": IN_WHOLE_MODELS,
    "converters.diagonal._hidden_length": IN_WHOLE_MODELS,
    "converters.expansion._expanded_shape": IN_WHOLE_MODELS,
    "converters.fft._signal": NO_FAULT,
    "converters.graph.loops._enter": NO_FAULT,
    "converters.graph.slice_bounds.SliceBounds._start": IN_WHOLE_MODELS,
    "converters.graph.sorting": NO_FAULT,
    "converters.grid_sample._sample": IN_WHOLE_MODELS,
    "converters.lod.sequences.all_segment_ids": NO_FAULT,
    "converters.lod.sequences.continuations": NO_FAULT,
    "converters.lod.window._convolved": NO_GRAPH,
    "converters.rnn.rnn": NO_FAULT,
    "converters.rnn._with_static_dims": NO_FAULT,
    "converters.slicing._known_dims_slice": IN_WHOLE_MODELS,
    "converters.slicing._nothing": NO_ELEMENTS,
    "paddle2ov.comparison.tensors.copied": NO_ELEMENTS,
    "paddle2ov.compilation.compile.export_model": NO_GRAPH,
    "paddle2ov.compilation.precision": NO_FAULT,
    "paddle2ov.compilation.precision.computes_in": NO_FAULT,
    "paddle2ov.deployment.sizes": NO_FAULT,
    "paddle2ov.graph.core._release_idle": NO_GRAPH,
    "paddle2ov.graph.core.shared_core": NO_GRAPH,
    "paddle2ov.graph.core.with_error_reporting": NO_GRAPH,
    "paddle2ov.graph.guards.with_clamped_sizes": NOT_BUILT,
    "paddle2ov.graph.opaque_values.runtime_zero": NO_FAULT,
    "paddle2ov.graph.values.ConstantValue": NO_FAULT,
    "paddle2ov.inference.config": NO_FAULT,
    "paddle2ov.passes.layout.absorb_transposes": NO_FAULT,
    "paddle2ov.quantization.nncf_calls._check_low_precision": IN_WHOLE_MODELS,
    "paddle2ov.reporting.drawings": NO_FAULT,
    "paddle2ov.reporting.contents.CompiledReport": NO_FAULT,
    "paddle2ov.reporting.contents.Primitive": NO_FAULT,
    "paddle2ov.translation.control_flow.block_values.as_condition": NO_FAULT,
    "paddle2ov.translation.control_flow.branches._copy_result": IN_WHOLE_MODELS,
    "paddle2ov.translation.empty": NO_ELEMENTS,
    "paddle2ov.translation.folding": NO_FAULT,
    "paddle2ov.verification.faults": NO_FAULT,
    "paddle2ov.verification.runs": NO_FAULT,
}
"""Place of a remark, as `module.function`, or the module -> why no fault is registered for it."""


def unmarked() -> set[str]:
    """The places of remarks that nothing marks; in a module with marks, the remarks of the module are about them.

    Those of workarounds belong to rows of the table, which name faults.
    """
    return {
        place
        for folder in SOURCES
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.parent != ROOT / "paddle2ov" / "workarounds"
        for place in unmarked_in(path.read_text(), ".".join(path.relative_to(ROOT).with_suffix("").parts))
    }


def unmarked_in(text: str, module: str) -> Iterator[str]:
    """The places of such remarks in the text of a module."""
    scopes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    has_marks, lines = any(any(marks_of(scope)) for scope in scopes), text.splitlines()
    around = dict.fromkeys(range(1, len(lines) + 1), (module, False))
    for scope in scopes:  # outer ones first
        first = min([scope.lineno, *(item.lineno for item in scope.decorator_list)])
        outer, is_marked = around[first]
        inner = f"{outer}.{scope.name}", is_marked or any(marks_of(scope))
        around |= dict.fromkeys(range(first, (scope.end_lineno or first) + 1), inner)
    said: dict[tuple[str, bool], str] = defaultdict(str)
    for number, line in enumerate(lines, 1):
        said[around[number]] += line.strip().removeprefix("#") + " "
    for (place, is_marked), remarks in said.items():
        if _REMARK.search(" ".join(remarks.split())) and not (is_marked or (place == module and has_marks)):
            yield place.removesuffix(".__init__")
