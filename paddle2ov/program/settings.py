"""Reads the settings that are exported with a model: `inference.yml`, `infer_cfg.yml` or `deploy.yaml`.

PaddleX, PaddleOCR 3 and PaddleClas write `PreProcess.transform_ops` (a list of one-key mappings) and
`Hpi.backend_configs` with [min, opt, max] shapes of the inputs; PaddleDetection writes a list `Preprocess` (mappings
with a `type`) and, before 2.4, `image_shape`; PaddleSeg writes `Deploy` with such a list and the `input_shape`. The
options of a transform are read where it is used; everything else of the file is ignored.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import yaml

from paddle2ov.errors import ModelReadError, system_reason
from paddle2ov.program.paths import find_settings
from paddle2ov.program.sources import open_regular

_MAX_BYTES = 16_000_000  # the largest known (a recogniser's 18,708 characters) has 0.2 MB
_MAX_DEPTH = 50
_MAX_NAME = 80
_MAX_NODES = 1_000_000
_MAX_TRANSFORMS = 100  # the most known have a dozen
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times faster

Size = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
Shape = list[Size]


@dataclass(frozen=True, slots=True)
class Transform:
    """One step of the preprocessing: its name and its options."""

    name: str
    options: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """What is known of a model's inputs.

    Attributes:
        path: the file.
        shapes: (smallest, largest) shape by the input's name.
        usual: the shape that the model is used with most, by the input's name.
        toolkit: "detection" for PaddleDetection's list, "segmentation" for PaddleSeg's, "common" for the others'; it
            decides the defaults.
        transforms: the preprocessing, in its order; names are cut at 80 characters; None if the file has none.
        floats: whether images are floats before their first transform, as in PaddleSeg's own deployment
            (`deploy.yaml`; an `inference.yml` is for PaddleX, where they are bytes).
        image_shape: the declared shape of the image, -1 where it is open; None if the file has none.
        model: the names of the program and of the parameters, where the file has them.
        postprocess: the name of what is made of the results, such as "CTCLabelDecode"; None if the file has none.
    """

    path: Path
    shapes: dict[str, tuple[Shape, Shape]] = field(default_factory=dict)
    toolkit: str = "common"
    transforms: list[Transform] | None = None
    floats: bool = False
    image_shape: tuple[int, int, int, int] | None = None
    model: tuple[str, str | None] | None = None
    usual: dict[str, Shape] = field(default_factory=dict)
    postprocess: str | None = None

    @property
    def channels_first(self) -> bool:
        """Whether the result is transposed to channels first without a transform that says so."""
        return self.toolkit == "segmentation"


class _Backend(msgspec.Struct):
    trt_dynamic_shapes: dict[str, list[Shape]] | None = None
    dynamic_shapes: dict[str, list[Shape]] | None = None


class _Hpi(msgspec.Struct):
    backend_configs: dict[str, _Backend | None] | None = None
    backend_config: dict[str, _Backend | None] | None = None  # PaddleDetection and PaddleSeg write it so


class _PreProcess(msgspec.Struct):
    transform_ops: list[dict[str, dict[str, Any] | None]] | None = None


class _Deploy(msgspec.Struct):
    transforms: list[dict[str, Any]] | None = None
    input_shape: list[int | None] | None = None
    model: str | None = None
    params: str | None = None


class _File(msgspec.Struct):
    Hpi: _Hpi | None = None
    PreProcess: _PreProcess | None = None
    PostProcess: dict[str, Any] | None = None
    Preprocess: list[dict[str, Any]] | None = None
    Deploy: _Deploy | None = None
    image_shape: list[int | None] | None = None


def settings_in(folder: Path) -> Settings | None:
    """The settings in a model's folder; None if there are none.

    Raises:
        ModelReadError: as `read_settings`.
    """
    path = find_settings(folder)
    return None if path is None else read_settings(path)


def read_settings(path: Path) -> Settings:
    """Reads the file.

    Raises:
        ModelReadError: it cannot be read, is not YAML, has an unknown structure, or contradicts itself.
    """
    try:
        plain = _load(path)
        file = msgspec.convert(plain if plain is not None else {}, _File)
        shapes, usual = _shapes(file.Hpi)
        toolkit, transforms = _transforms(file)
        if len(transforms or ()) > _MAX_TRANSFORMS:
            raise ValueError(f"has more than {_MAX_TRANSFORMS} transforms, which no settings have")
        image_shape = _image_shape(file)
    except (OSError, ValueError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise ModelReadError(f"{path}: {system_reason(error)}") from error
    model = (file.Deploy.model, file.Deploy.params) if file.Deploy is not None and file.Deploy.model else None
    floats = toolkit == "segmentation" and path.stem != "inference"
    return Settings(path, shapes, toolkit, transforms, floats, image_shape, model, usual, _postprocess(file))


def _postprocess(found: _File) -> str | None:
    """PaddleOCR writes the name under `name`, PaddleClas as the one key."""
    section = found.PostProcess or {}
    name = section.get("name", next(iter(section), None))
    return name[:_MAX_NAME] if isinstance(name, str) else None


def _load(path: Path) -> Any:
    """The file as plain data. Aliases are shared, not copied: what they amount to is counted before it is built."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > _MAX_BYTES:
            raise ValueError(f"is larger than {_MAX_BYTES // 1_000_000} MB, which no settings are")
        text = (file.read(os.fstat(file.fileno()).st_size) or b"").decode("utf-8-sig")
    depth = 0
    for event in yaml.parse(text, _LOADER):  # does not recurse, unlike what follows
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise ValueError(f"is nested more than {_MAX_DEPTH} deep")
    loader = _LOADER(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _count(node, {})
        try:
            return loader.construct_document(node)
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:  # PyYAML trusts its tags
            raise ValueError(f"a value is not what its tag says: {error}") from error
    finally:
        loader.dispose()


def _count(node: yaml.Node, known: dict[int, int]) -> int:
    """The number of nodes below a node; those behind aliases count each time."""
    if id(node) in known:
        if known[id(node)] < 0:
            raise ValueError("contains itself")
        return known[id(node)]
    known[id(node)] = -1
    total = 1
    if isinstance(node, yaml.MappingNode):
        total += sum(_count(key, known) + _count(value, known) for key, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        total += sum(_count(item, known) for item in node.value)
    if total > _MAX_NODES:
        raise ValueError(f"its aliases amount to more than {_MAX_NODES} values")
    known[id(node)] = total
    return total


def _shapes(hpi: _Hpi | None) -> tuple[dict[str, tuple[Shape, Shape]], dict[str, Shape]]:
    """(Smallest, largest) of each input over all backends, and the usual one of the first."""
    ranges: dict[str, tuple[Shape, Shape]] = {}
    usual: dict[str, Shape] = {}
    backends = {**(hpi.backend_configs or {}), **(hpi.backend_config or {})} if hpi is not None else {}
    for backend, settings in backends.items():
        shape_maps = (settings.trt_dynamic_shapes, settings.dynamic_shapes) if settings is not None else ()
        for name, shapes in (item for value in shape_maps if value is not None for item in value.items()):
            where = f"Hpi.backend_configs.{backend}: the shapes of '{name}'"
            if len(shapes) != 3:
                raise ValueError(f"{where} are not [min, opt, max]: {str(shapes)[:80]}")
            low, best, high = shapes
            if not len(low) == len(best) == len(high):
                raise ValueError(f"{where} have different ranks: {str(shapes)[:80]}")
            if not all(a <= b <= c for a, b, c in zip(low, best, high, strict=True)):
                raise ValueError(f"{where} do not grow from min to opt to max: {str(shapes)[:80]}")
            if name in ranges:
                if len(ranges[name][0]) != len(low):
                    raise ValueError(f"{where} have another rank than those of another backend")
                low = [min(pair) for pair in zip(ranges[name][0], low, strict=True)]
                high = [max(pair) for pair in zip(ranges[name][1], high, strict=True)]
            ranges[name] = low, high
            usual.setdefault(name, best)
    return ranges, usual


def _image_shape(found: _File) -> tuple[int, int, int, int] | None:
    declared = found.image_shape if found.Deploy is None else found.Deploy.input_shape
    if declared is None:
        return None
    shape = [-1 if item is None else item for item in declared]
    shape = [-1, *shape] if len(shape) == 3 else shape
    if len(shape) != 4 or not all(item == -1 or 1 <= item < 2**31 for item in shape):
        raise ValueError(f"the shape of the image is not [N, 3, H, W]: {str(declared)[:100]}")
    return shape[0], shape[1], shape[2], shape[3]


def _typed(where: str, items: list[dict[str, Any]]) -> list[Transform]:
    steps = []
    for item in items:
        options = dict(item)
        name = options.pop("type", None)
        if not isinstance(name, str):
            raise ValueError(f"{where}: a transform has no type: {str(item)[:100]}")
        steps.append(Transform(name[:_MAX_NAME], options))
    return steps


def _transforms(found: _File) -> tuple[str, list[Transform] | None]:
    if found.Preprocess is not None:
        return "detection", _typed("Preprocess", found.Preprocess)
    if found.Deploy is not None:
        transforms = found.Deploy.transforms
        return "segmentation", None if transforms is None else _typed("Deploy.transforms", transforms)
    if found.PreProcess is None or found.PreProcess.transform_ops is None:
        return "common", None
    steps = []
    for step in found.PreProcess.transform_ops:
        if len(step) != 1:
            raise ValueError(f"PreProcess.transform_ops: a transform has one name, not {len(step)}: {str(step)[:100]}")
        ((name, options),) = step.items()
        steps.append(Transform(name[:_MAX_NAME], options or {}))
    return "common", steps
