"""`compile_model`: from a model folder to a compiled model, or from a cache, where it has been compiled before."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

import openvino

from paddle2ov.compilation.precision import check_compilable, with_precision
from paddle2ov.compilation.precision_names import PrecisionName
from paddle2ov.compilation.properties import checked_properties
from paddle2ov.errors import ConversionInputError, OpenVINORunError, described
from paddle2ov.graph.core import check_device, compile_on, import_on, with_error_reporting, with_exact_integers
from paddle2ov.program.files import PathLike, is_read_by_openvino, parameter_file
from paddle2ov.program.paths import local_path

if TYPE_CHECKING:
    from paddle2ov.compilation.cache import CompiledCache
    from paddle2ov.translation.model_argument import ModelArgument, ParamsArgument

log = logging.getLogger("paddle2ov")

Build: TypeAlias = Callable[[], openvino.Model]

_kept: WeakKeyDictionary[openvino.CompiledModel, tuple[CompiledCache, str]] = WeakKeyDictionary()
"""Where compiled models came from that were in a cache."""


def compile_model(
    model: ModelArgument | openvino.Model,
    device: str = "CPU",
    config: Mapping[str, Any] | None = None,
    *,
    params: ParamsArgument = None,
    precision: PrecisionName = "default",
    cache_dir: PathLike | None = None,
    **options: Any,
) -> openvino.CompiledModel:
    """Converts a Paddle inference model and compiles it; compiles an `openvino.Model` or an IR in the same way.

    The compiled model of a Paddle model holds its own weights: whatever becomes of the files, it stays as it is.

    Args:
        model: what `convert` takes; or an `openvino.Model`, an IR (`.xml`) or another file that OpenVINO reads, which
            no other argument but `device`, `config` and `precision` is for.
        device: the device to compile for, such as "CPU", "GPU", "AUTO".
        config: OpenVINO's properties, by their names.
        params: the parameter file, where it does not lie beside the program under the usual name.
        precision: what the device computes floats in (INFERENCE_PRECISION_HINT): "f32" as Paddle, "bf16" or "f16" where
            it has hardware for it, or "default" for what it takes unless told otherwise, which is bfloat16 on
            processors that have it. For int8 there is `quantize`.
        cache_dir: a folder to keep compiled models in. Where this model is there, it is neither read nor converted nor
            compiled, until one of its files, an option, a property, paddle2ov, OpenVINO or the processor is another
            one. Many processes may use the folder at a time; `clear_cache` empties it. Whoever can write to it decides
            what is run. A folder that cannot be made or written is a warning, and nothing is kept.
        options: other arguments of `convert`. Nothing is kept of a model in memory, nor where there are converters of
            your own (`extension`, `register_converter`, installed packages).

    Raises:
        ModelReadError: the model cannot be found or read, or its files change while they are read.
        UnsupportedOpsError, OpConversionError: it cannot be converted.
        ConversionInputError: an argument does not fit the model, the device has no hardware for the precision, or the
            config names another, or has a value that OpenVINO would ignore.
        OpenVINORunError: OpenVINO cannot compile the model, or knows no such device, property or value.
    """
    check_device(device)
    config = with_precision(checked_properties({} if config is None else config), precision, device)
    config = with_error_reporting(config, device, any_hint=True)
    config = with_exact_integers(config, device)

    def build() -> openvino.Model:
        from paddle2ov.conversion import convert  # which imports all converters
        from paddle2ov.workarounds.target import Target

        _check_options(options)
        return convert(model, params, **{"share_weights": False, "device": Target.of_device(device).device, **options})

    program: object = local_path(model)
    if isinstance(program, openvino.Model) or is_read_by_openvino(program):
        from paddle2ov.compilation.graphs import graph_of
        from paddle2ov.program.sources import check_mapped

        _check_options(options)
        for name, value in {"params": params, "cache_dir": cache_dir, **options}.items():
            if value is not None:
                instead = "; in config, OpenVINO's CACHE_DIR keeps compiled models" if name == "cache_dir" else ""
                raise ConversionInputError(
                    f"{name}: it is for Paddle models; an openvino.Model or an IR is compiled as it is{instead}"
                )
        graph = graph_of(program)
        check_mapped(graph)
        return convert_and_compile(lambda: graph, device, config)
    weights: object = params
    if isinstance(model, tuple | list) and len(model) == 2 and params is None:
        program, weights = local_path(model[0]), model[1]
    if cache_dir is None or not isinstance(program, str | os.PathLike):
        return convert_and_compile(build, device, config)
    return compile_cached(program, parameter_file(weights), device, config, cache_dir, options, build)


def _check_options(options: Mapping[str, object]) -> None:
    if not options:
        return
    from paddle2ov.arguments import check_options
    from paddle2ov.conversion import convert

    check_options("compile_model", convert, options, hint="config", properties="config")


def compile_cached(
    model: PathLike,
    params: PathLike | None,
    device: str,
    config: Mapping[str, Any],
    cache_dir: PathLike,
    options: Mapping[str, Any],
    build: Build,
) -> openvino.CompiledModel:
    """The compiled model: from the cache, or compiled from what `build` returns, which depends on `options`."""
    from paddle2ov.compilation.cache import CompiledCache
    from paddle2ov.compilation.identity import ModelIdentity, settings_digest

    if "CACHE_DIR" in config:
        raise ConversionInputError("compile_model: OpenVINO's CACHE_DIR is given beside cache_dir")
    setting = settings_digest(device, config, options)
    extension = sys.modules.get("paddle2ov.translation.extension")
    if setting is None or (extension is not None and extension.script_extensions()):
        log.info("nothing is kept in %s: an option, or a converter, is not known by its text", cache_dir)
        return convert_and_compile(build, device, config)
    cache = CompiledCache(cache_dir)
    identity = ModelIdentity(model, params)
    stamps = identity.stamp_digest()
    content = cache.content_of(stamps)
    is_noted = content is not None
    if content is None:
        content = identity.content_digest()
    name = f"{content[:32]}-{setting[:32]}"
    imported = None
    if (stored := cache.load(name)) is not None:
        try:
            imported = import_model(stored.blob, stored.names, device, config)
            _kept[imported] = cache, name
        except RuntimeError as error:
            log.info("a kept model is compiled again: %s", error)
            cache.remove(name)
    result = imported if imported is not None else convert_and_compile(build, device, config)
    if identity.is_unchanged():  # what was converted may be newer than what was hashed
        if imported is None:
            from paddle2ov.translation.registry import Registry  # which the conversion has imported

            if not Registry().has_extensions():  # the code of converters of others may change
                cache.store(name, result)
        if not is_noted:
            cache.note_content(stamps, content)
    return result


def export_model(compiled: openvino.CompiledModel) -> io.BytesIO | openvino.Tensor:
    """A compiled model in the form that `Core.import_model` reads.

    OpenVINO 2026.4 imports nothing that an imported model exports: one that came from a cache is read from there again.

    Raises:
        RuntimeError: the device exports nothing, or the model is not in the cache any more.
    """
    if compiled in _kept:
        cache, name = _kept[compiled]
        stored = cache.load(name)
        if stored is None:
            raise RuntimeError("the model is not in the cache any more")
        return stored.blob
    exported = io.BytesIO()
    compiled.export_model(exported)
    exported.seek(0)
    return exported


def convert_and_compile(build: Build, device: str, config: Mapping[str, Any]) -> openvino.CompiledModel:
    """What `build` converts, compiled.

    Raises:
        ConversionInputError: OpenVINO would never end compiling it in float16.
        OpenVINORunError: OpenVINO cannot compile the model, or knows no such device, property or value.
    """
    model = build()
    check_compilable(model, device, config)
    try:
        return compile_on(device, model, config)
    except RuntimeError as error:
        raise OpenVINORunError(f"OpenVINO does not compile the model: {described(error)}") from error


def import_model(
    blob: io.BytesIO | openvino.Tensor, names: Sequence[Set[str]], device: str, config: Mapping[str, Any]
) -> openvino.CompiledModel:
    """A model that was exported, with the names of its results: an import names one that is an input otherwise.

    Raises:
        RuntimeError: OpenVINO does not take it any more, or it has other results.
    """
    imported = import_on(device, blob, config)
    if len(imported.outputs) != len(names):
        raise RuntimeError(f"the imported model has {len(imported.outputs)} results, not {len(names)}")
    for port, known in zip(imported.outputs, names, strict=True):
        if port.get_names() != known:
            port.get_tensor().set_names(set(known))
    return imported
