"""Converts and compiles the model that a configuration names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import openvino

from paddle2ov.compilation.compile import compile_cached, convert_and_compile
from paddle2ov.compilation.identity import ModelIdentity
from paddle2ov.errors import ConversionInputError, ModelReadError
from paddle2ov.inference.config import Config
from paddle2ov.inference.shared_model import Shapes, SharedModel
from paddle2ov.inference.variants import Variants

if TYPE_CHECKING:
    from paddle2ov.program.model import Program
    from paddle2ov.translation.sequence_lengths import SequenceCount


def variants_of(config: Config, predictors: int = 1) -> Variants:
    """What a configuration names, compiled for this many predictors that run at once."""
    if not isinstance(config, Config):
        raise ConversionInputError(f"create_predictor: a Config is expected, not {type(config).__name__}")
    compilation = _Compilation(config, predictors)
    return Variants(compilation.compiled({}), compilation.compiled_again)


class _Compilation:
    """What a predictor compiles, as its configuration was when it was made."""

    def __init__(self, config: Config, predictors: int) -> None:
        self._device, self._properties = config.openvino_device(), config.openvino_properties(predictors)
        self._buffers, self._files = config.model_buffers(), config.model_files()
        self._cache_dir, self._shapes = config.optim_cache_dir(), config.openvino_shapes()
        self._rewrite = config.ir_optim()
        if self._buffers is not None:
            self._files = None
        elif self._files is None:
            raise ConversionInputError("the Config names no model: Config(model_dir) or Config(program, params)")
        self._identity = None if self._files is None else ModelIdentity(*self._files)

    def compiled(self, others: Shapes, sequences: SequenceCount = "one") -> SharedModel:
        """The model, for this many sequences, with other shapes of some inputs than the program declares."""
        if self._files is None or self._cache_dir is None:
            made = convert_and_compile(lambda: self._converted(others, sequences), self._device, self._properties)
        else:
            options = {
                "for": "predictor",
                "input": self._shapes,
                "others": others,
                "sequences": sequences,
                "rewrite": self._rewrite,
            }
            made = compile_cached(
                *self._files,
                self._device,
                self._properties,
                self._cache_dir,
                options,
                lambda: self._converted(others, sequences),
            )
        return SharedModel(made, self._device, self._properties)

    def compiled_again(self, others: Shapes, sequences: SequenceCount) -> SharedModel:
        """As `compiled`, of the files that the first model was made of.

        Raises:
            ModelReadError: they have changed.
        """
        made = self.compiled(others, sequences) if self._is_unchanged() else None
        if made is None or not self._is_unchanged():
            raise ModelReadError(
                "the model's files have changed since the predictor was made, and its inputs have shapes that the "
                "program does not declare: name them before, with Config.set_openvino_shapes"
            )
        return made

    def _is_unchanged(self) -> bool:
        return self._identity is None or self._identity.is_unchanged()

    def _converted(self, others: Shapes, sequences: SequenceCount) -> openvino.Model:
        from paddle2ov.conversion import convert  # which a model from the cache does not need
        from paddle2ov.workarounds.target import Target

        program = self._read()
        for variable in [program.variables[name] for name in others] + program.inputs:
            if variable.name in others:
                shape = tuple(others[variable.name])
                variable.shape = shape[:-1] if variable.is_complex else shape
        shapes = {name: shape for name, shape in self._shapes.items() if name not in others}
        device = Target.of_device(self._device).device
        return convert(program, input=shapes, sequence_lengths=sequences, device=device, rewrite=self._rewrite)

    def _read(self) -> Program:
        from paddle2ov.program.reading import read_contents, read_program
        from paddle2ov.translation.registry import Registry

        signatures = Registry().signatures()
        if self._buffers is not None:
            return read_contents(*self._buffers, signatures)
        assert self._files is not None
        return read_program(*self._files, signatures, mapped=False)
