"""Remarks on OpenVINO in the sources that stand outside of what `works_around` marks, and why they have no fault."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence

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
    "paddle2ov.compilation.precision.computes_in": NO_FAULT,
    "paddle2ov.deployment.sizes": NO_FAULT,
    "paddle2ov.graph.core._release_idle": NO_GRAPH,
    "paddle2ov.graph.core.shared_core": NO_GRAPH,
    "paddle2ov.graph.core.with_error_reporting": NO_GRAPH,
    "paddle2ov.graph.guards.with_clamped_sizes": NOT_BUILT,
    "paddle2ov.graph.opaque_values.runtime_zero": NO_FAULT,
    "paddle2ov.graph.values.ConstantValue": NO_FAULT,
    "paddle2ov.inference.config": NO_FAULT,
    "paddle2ov.inference.shared_model.SharedModel": NO_GRAPH,
    "paddle2ov.passes.layout.absorb_transposes": NO_FAULT,
    "paddle2ov.quantization.nncf_calls._check_low_precision": IN_WHOLE_MODELS,
    "paddle2ov.reporting.drawings": NO_FAULT,
    "paddle2ov.reporting.contents.CompiledReport": NO_FAULT,
    "paddle2ov.reporting.contents.Primitive": NO_FAULT,
    "paddle2ov.translation.control_flow.block_values.as_condition": NO_FAULT,
    "paddle2ov.translation.control_flow.branches._copy_result": IN_WHOLE_MODELS,
    "paddle2ov.translation.empty": NO_ELEMENTS,
    "paddle2ov.translation.folding": NO_FAULT,
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
    if not _REMARK.search(" ".join(text.split()).replace("# ", "")):
        return
    tree = ast.parse(text)
    scopes = list(_scopes(tree, (), False))
    has_marks = any(is_marked for *_, is_marked in scopes)
    for line, remark in _texts(text, tree):
        if _REMARK.search(remark):
            around = [(names, is_marked) for first, last, names, is_marked in scopes if first <= line <= last]
            if not (any(is_marked for _, is_marked in around) if around else has_marks):
                yield ".".join([module, *(around[-1][0] if around else ())]).removesuffix(".__init__")


def _scopes(node: ast.AST, names: Sequence[str], is_marked: bool) -> Iterator[tuple[int, int, Sequence[str], bool]]:
    """First line, last line and name of each function and class, outer ones first, and whether it is marked."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            first = min([child.lineno, *(item.lineno for item in child.decorator_list)])
            marked, inner = is_marked or any(marks_of(child)), (*names, child.name)
            yield first, child.end_lineno or first, inner, marked
            yield from _scopes(child, inner, marked)
        else:
            yield from _scopes(child, names, is_marked)


def _texts(text: str, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Comments, those on consecutive lines as one, and strings that stand alone, with their first lines."""
    comments: list[tuple[int, int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, said = token.start[0], token.string.lstrip("# ")
            if comments and comments[-1][1] == line - 1:
                first, _, before = comments.pop()
                comments.append((first, line, f"{before} {said}"))
            else:
                comments.append((line, line, said))
    yield from ((first, said) for first, _, said in comments)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, " ".join(node.value.value.split())
