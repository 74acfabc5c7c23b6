"""Which files make up a model: from a folder, a file, a path prefix or a (model, parameters) pair."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePath
from typing import NamedTuple

from paddle2ov.errors import ConversionInputError, ModelReadError, system_reason
from paddle2ov.program.paths import APPLE_DOUBLE, local_path, missing
from paddle2ov.program.sources import check_fetched, open_regular

PathLike = str | os.PathLike[str]

LEGACY_NAMES = ("__model__", "model", "inference")
LOOKED_FOR = "*.json in PIR format, *.pdmodel, __model__"
SNIFF_BYTES = 4096
_DEPLOYED = ("deploy.yaml", "deploy.yml")  # PaddleSeg; names the files of the model
_NO_PROGRAM = {
    ".pdiparams": "the weights of a model; pass its folder, or its program (.json or .pdmodel)",
    ".pdparams": "the weights of a training checkpoint, without a program; export the model first (paddle.jit.save, or "
    "the export_model tool of PaddleDetection, PaddleOCR, ...)",
    ".info": "the names of parameters, without a program; pass the model's folder, or its program (.json or .pdmodel)",
    ".pdopt": "the state of an optimizer; export the model first (paddle.jit.save)",
    ".nb": "a model of Paddle Lite, whose operators are optimized already; pass the model that it was made of",
    ".onnx": "an ONNX model, which openvino.convert_model takes",
    ".xml": "OpenVINO IR already, and a Paddle model is wanted; OpenVINO itself, `paddle2ov.compile_model` and "
    "`paddle2ov check` take an IR, and `nncf.quantize` quantizes it (docs/speed.md)",
    **dict.fromkeys((".yml", ".yaml"), "settings; pass the model's folder, or its program (.json or .pdmodel)"),
    **dict.fromkeys((".pb", ".tflite"), "a model of TensorFlow, which openvino.convert_model takes"),
    **dict.fromkeys((".pt", ".pth", ".safetensors"), "the weights of another framework, or a model of PyTorch"),
}
"""What people pass in place of a program, by its suffix, and what to pass instead."""


class ModelFiles(NamedTuple):
    """The files of one model.

    Attributes:
        program: the program's file.
        format: "pir" or "legacy".
        params: the file that holds all parameters, or None when there is none (then a parameter may lie in a file of
            its own beside the program, as Paddle 1.x wrote them).
        candidates: where a parameter file was looked for, for messages.
    """

    program: Path
    format: str
    params: Path | None
    candidates: tuple[Path, ...]


def parameter_file(params: object) -> PathLike | None:
    """The `params` of a model in files.

    Raises:
        ConversionInputError: they are not a path.
    """
    params = local_path(params)
    if params is None or isinstance(params, str | os.PathLike):
        return params
    raise ConversionInputError(f"params: the parameters of a model in files are a path, not {type(params).__name__}")


def model_path(model: object) -> Path:
    """The path of a model in files.

    Raises:
        ConversionInputError: it is not a path.
        ModelReadError: it is empty.
    """
    model = local_path(model)
    if not isinstance(model, str | os.PathLike):
        hint = "; the parameter file is `params`" if isinstance(model, tuple | list) else ""
        if type(model).__module__.startswith("openvino."):
            hint = ": `check` takes one that is converted, as does `verify`, as `converted=` beside the model's path"
        raise ConversionInputError(f"model: a model in files is given by its path, not {type(model).__name__}{hint}")
    if not os.fspath(model):
        raise ModelReadError("the path of the model is empty")
    return Path(model)


def is_read_by_openvino(model: object) -> bool:
    """Whether it is the path of a file that OpenVINO reads, such as an IR, by its suffix."""
    if not isinstance(model, str | os.PathLike) or Path(model).suffix not in (".xml", ".onnx", ".tflite", ".pb"):
        return False
    with suppress(OSError):  # a name that is too long is no folder's
        return not Path(model).is_dir()
    return True


def find_model(model: PathLike, params: PathLike | None = None) -> ModelFiles:
    """Finds the files of a model.

    Args:
        model: a folder that holds one model, or a `deploy.yaml` that names it; a program file (`.json`, `.pdmodel`,
            `__model__`, any name); or the prefix that Paddle's own functions take (`dir/inference` for
            `dir/inference.json`).
        params: the parameter file, if it is not beside the program under the usual name.

    Raises:
        ConversionInputError: that is no path.
        ModelReadError: nothing there, no model there, or more than one: the message lists the candidates.
    """
    path = model_path(model)
    params = parameter_file(params)
    try:
        if path.is_dir():
            program, named = _program_in(path)
            params = params if params is not None else named
        elif path.is_file():
            program = path
        else:
            program = _program_of_prefix(path)
        if program.suffix in _NO_PROGRAM:
            raise ModelReadError(f"{program}: {_NO_PROGRAM[program.suffix]}")
        kind = _sniff(program)
        if kind is None:
            _check_fetched(program)
            raise ModelReadError(f"{program}: {_no_program(program)}")
        return _with_params(program, kind, params)
    except (OSError, ValueError) as error:
        refused = getattr(error, "filename", None) or path
        raise ModelReadError(f"{refused}: cannot be opened: {system_reason(error)}") from error


def _program_in(folder: Path) -> tuple[Path, Path | None]:
    """The program, and the parameters where settings name them."""
    with os.scandir(folder) as entries:  # which knows files without asking for the status of each, but for links
        names = sorted(
            entry.name
            for entry in entries
            if (Path(entry).is_file() if entry.is_symlink() else entry.is_file())  # no error for a link in a circle
            and not entry.name.startswith(APPLE_DOUBLE)
        )
    programs = [name for name in names if _is_program(folder, name)]
    settings = next((name for name in names if name in _DEPLOYED), None)
    is_clear = len(programs) == 1 and f"{_stem(programs[0])}.pdiparams" in names
    if programs and not is_clear and settings is not None:
        from paddle2ov.program.settings import read_settings  # 30 ms, for the few folders that need it

        program, params = read_settings(folder / settings).model or ("", None)
        chosen = [name for name in programs if name == program] or programs
        if len(chosen) == 1:
            has_params = params is not None and chosen[0] == program and os.path.normpath(params) in names
            return folder / chosen[0], folder / params if has_params and params is not None else None
    if len(programs) == 1:
        return folder / programs[0], None
    if programs:
        raise ModelReadError(
            f"{folder}: holds {len(programs)} models ({', '.join(programs)}); pass the file that is meant"
        )
    for entry in (folder / name for name in names):
        if entry.suffix == ".json" or entry.name in LEGACY_NAMES:
            _check_fetched(entry)
        if is_named_as_program(entry):
            raise ModelReadError(f"{entry}: {_no_program(entry)}")
    if other := other_model(names):
        raise ModelReadError(f"{folder}: holds {other}{_below(folder)}")
    have = ", ".join(names[:20]) or "no files"
    raise ModelReadError(
        f"{folder}: no Paddle inference model here (looked for {LOOKED_FOR}); it holds: {have}{_below(folder)}"
    )


def _is_program(folder: Path, name: str) -> bool:
    """Whether a file of a folder is a program, by its name and its first bytes."""
    if name.endswith(".json"):
        return _sniff(folder / name) == "pir"
    return name.endswith(".pdmodel") or (name in LEGACY_NAMES and _sniff(folder / name) is not None)


def _stem(name: str) -> str:
    """The name of a program's file without the suffix of one."""
    return name.removesuffix(".json").removesuffix(".pdmodel")


def other_model(names: Iterable[str]) -> str:
    """What else a folder of these files is a model of, and what to do about it; "" if nothing."""
    suffixes = {Path(name).suffix for name in names}
    return next((_NO_PROGRAM[suffix] for suffix in (".pdparams", ".onnx", ".nb") if suffix in suffixes), "")


def is_named_as_program(path: PurePath, is_file: Callable[[PurePath], bool] = os.path.isfile) -> bool:
    """Whether a file is called as only programs are, whatever it holds."""
    return (
        path.suffix == ".pdmodel"
        or path.name in ("__model__", "inference.json")
        or (path.suffix == ".json" and is_file(path.with_suffix(".pdiparams")))
    )


def _no_program(path: Path) -> str:
    return "empty" if not path.stat().st_size else "neither a PIR program (JSON) nor a legacy one (protobuf)"


def _below(folder: Path) -> str:
    """What a folder of models' folders holds, and the command for it."""
    programs = ("inference.json", "inference.pdmodel", "__model__")
    folders = sorted(path.parent.name for name in programs for path in folder.glob(f"*/{name}"))
    if not folders:
        return ""
    shown = ", ".join(dict.fromkeys(folders[:5])) + (", ..." if len(folders) > 5 else "")
    batch = f"`paddle2ov batch {folder} -o OUT`"
    return f"; models are in the folders below it ({shown}): pass one, or convert all with {batch}"


def _program_of_prefix(prefix: Path) -> Path:
    suffixes = (".json", ".pdmodel")
    files = [path for suffix in suffixes if (path := prefix.with_name(prefix.name + suffix)).is_file()]
    if len(files) == 1:
        return files[0]
    if files:
        raise ModelReadError(f"{prefix}: both {files[0].name} and {files[1].name} exist; pass the file that is meant")
    weights = prefix.with_name(f"{prefix.name}.pdparams")
    if weights.is_file():
        raise ModelReadError(f"{weights}: {_NO_PROGRAM['.pdparams']}")
    for suffix in suffixes if prefix.suffix in suffixes else ():  # as another Paddle would have called it
        if (other := prefix.with_suffix(suffix)).is_file():
            raise ModelReadError(f"{prefix}: no such file; {other.name} is there: pass that")
    raise ModelReadError(f"{prefix}: {missing(prefix, 'file or folder')}")


def _check_fetched(path: Path) -> None:
    with open_regular(path) as file:
        check_fetched(file, path)


def _sniff(path: Path) -> str | None:
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if not size:  # also of what a kernel shows as files, which may never end or never begin
            return None
        return format_of(file.read(min(size, SNIFF_BYTES)) or b"", path)


def format_of(head: bytes, path: Path) -> str | None:
    """The format of a program by its first bytes: "pir", "legacy", or None where it is none."""
    text = head.removeprefix(BOM_UTF8).lstrip()
    if text.startswith((b"{", b"[")):
        # A PIR file starts with its "base_code"; other JSON files (configurations, vocabularies) do not.
        return "pir" if b'"base_code"' in text or b'"program"' in text else None
    if path.suffix == ".json":
        return None
    return "legacy"


def _with_params(program: Path, kind: str, params: PathLike | None) -> ModelFiles:
    if params is not None:
        path = Path(params)
        if not path.is_file():
            raise ModelReadError(f"{path}: {missing(path, 'parameter file')}")
        return ModelFiles(program, kind, path, (path,))
    names = [f"{_stem(program.name)}.pdiparams"]
    if program.suffix not in (".json", ".pdmodel"):
        names += ["__params__", "params", f"{program.name}.params", "model.pdiparams"]
    elif kind == "legacy":
        names += ["__params__", "params"]
    candidates = tuple(program.with_name(name) for name in dict.fromkeys(names))
    params_file = next((candidate for candidate in candidates if candidate.is_file()), None)
    return ModelFiles(program, kind, params_file, candidates)
