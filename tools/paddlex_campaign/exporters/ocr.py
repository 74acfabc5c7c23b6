"""Text, tables and formulas, of PaddleOCR."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tools.paddlex_campaign.exporters.types import Exported, Shape, yaml_of


def export_ocr(folder: Path, path: Path, changes: Mapping[str, Any]) -> Exported:
    """With statistics of batch norms that are those of the input, as depth would amplify rounding otherwise."""
    import paddle

    from gen_models.harness.network import condition
    from tools.paddlex_campaign.sources import import_without_init

    import_without_init(folder, "ppocr")
    import_without_init(folder, "ppocr.utils")
    from ppocr.modeling.architectures import build_model

    config = yaml_of(path)
    architecture = config["Architecture"]
    described = architecture["Head"]
    if "character_dict_path" in config["Global"]:
        listed = (folder / config["Global"]["character_dict_path"]).read_text(encoding="utf-8")
        characters = listed.count("\n") + 1 + bool(config["Global"].get("use_space_char"))
        decoders = {"CTCLabelDecode": 0, "SARLabelDecode": 2, "NRTRLabelDecode": 3}  # what each adds to the characters
        described["out_channels"] = characters
        described["out_channels_list"] = {name: characters + added for name, added in decoders.items()}
    is_formula = architecture["algorithm"] in FORMULAS
    if is_formula:
        described["is_export"] = True
        if architecture["algorithm"] in ("LaTeXOCR", "UniMERNet"):
            architecture["Backbone"]["is_export"] = True
        if architecture["algorithm"] == "LaTeXOCR":
            architecture["Backbone"]["is_predict"] = True
            paddle.multinomial = _most_probable
    model = build_model(architecture)
    model.eval()
    shape, declared = _text_shapes(architecture)
    if is_formula:  # what follows the first tokens is more of the same
        model.head.max_seq_len = FORMULA_TOKENS
    condition(
        model.backbone if is_formula else model,
        [paddle.to_tensor(np.random.default_rng(0).standard_normal((1, *shape), np.float32))],
    )
    for sublayer in model.sublayers():  # once their statistics are set, as these become weights
        if hasattr(sublayer, "rep") and not getattr(sublayer, "is_repped", False):
            sublayer.rep()
    return Exported(model, [paddle.static.InputSpec([None, *declared], "float32", "x")], {"x": (1, *shape)})


FORMULAS: dict[str, Shape] = {
    "LaTeXOCR": (1, 64, 448),
    "UniMERNet": (1, 192, 672),
    "PP-FormulaNet-S": (1, 384, 384),
    "PP-FormulaNet_plus-S": (1, 384, 384),
    "PP-FormulaNet_plus-M": (1, 384, 384),
    "PP-FormulaNet-L": (1, 768, 768),
    "PP-FormulaNet_plus-L": (1, 768, 768),
}
FORMULA_TOKENS = 12


def _most_probable(probabilities: Any, count: int) -> Any:
    """In the place of a token that is drawn, which is another in each run."""
    return probabilities.argmax(axis=-1, keepdim=True)


def _text_shapes(architecture: Mapping[str, Any]) -> tuple[Shape, tuple[int | None, ...]]:
    """The size to run a text model at, and the one that the repository declares at its export."""
    algorithm = architecture["algorithm"]
    if algorithm in FORMULAS:
        return FORMULAS[algorithm], (1, None, None) if algorithm == "LaTeXOCR" else FORMULAS[algorithm]
    if architecture["model_type"] == "rec":
        return (3, 48, 320), (3, 48, None)
    if algorithm == "SLANeXt":
        return (3, 512, 512), (3, 512, 512)
    return (3, 320, 320), (3, None, None)
