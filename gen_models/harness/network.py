"""Whole networks as test cases: a layer, the shapes it is exported with, and several sets of inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gen_models.harness.building import layer_of
from gen_models.harness.generate import SEED, GenerationError, check_format, dtype_name, run_saved, writing
from gen_models.harness.spec import FORMATS, Array, Case, TensorSpec, import_paddle


@dataclass(frozen=True)
class Network:
    """A network under test.

    `build()` returns a `paddle.nn.Layer`; `inputs` are its arguments in order, declared with their `dims`; `more` holds
    further sets of inputs (other batch sizes, widths) for the same model. Results are compared within `tolerance`,
    relative to the largest value of each result. `finish(folder)` changes the exported model before Paddle runs it.
    """

    name: str
    build: Callable[[], Any]
    inputs: Mapping[str, TensorSpec]
    more: Sequence[Mapping[str, TensorSpec]] = ()
    tolerance: float = 1e-4
    formats: tuple[str, ...] = FORMATS
    why: str = ""
    finish: Callable[[Path], None] | None = None

    @property
    def module(self) -> str:
        """The name of the module that defines the network."""
        return self.build.__module__

    def data(self) -> list[dict[str, Array]]:
        """The sets of inputs."""
        sets = [self.inputs, *self.more]
        return [Case(dict(item)).data(f"{self.name}_{i}") for i, item in enumerate(sets)]


def network_of(
    forward: Callable[..., Any],
    inputs: Mapping[str, TensorSpec],
    *more: Mapping[str, TensorSpec],
    parts: Callable[[], dict[str, Any]] = dict,
    **options: Any,
) -> Network:
    """The network of a layer with that `forward` and these parts (`layer_of`), by the name of the function."""
    return Network(forward.__name__.strip("_"), layer_of(forward, parts), inputs, more, **options)


def generate_network(network: Network, format: str, folder: Path) -> Path:
    """Writes the model of a network with its inputs and Paddle's outputs (`inputs_0.npz`, `outputs_0.npz`, ...).

    Raises:
        GenerationError: Paddle cannot export it.
    """
    paddle = import_paddle()
    check_format(format)
    sets = network.data()
    static = not paddle.in_dynamic_mode()
    try:
        if static:
            paddle.disable_static()
        with writing(folder) as temporary:
            _export(network, sets[0], temporary)
            paddle.enable_static()
            if network.finish is not None:
                network.finish(temporary)
            for i, feeds in enumerate(sets):
                executor = paddle.static.Executor(paddle.CPUPlace())
                with paddle.static.scope_guard(paddle.static.Scope()):
                    outputs, names = run_saved(executor, str(temporary / "inference"), feeds)
                np.savez(temporary / f"inputs_{i}.npz", **feeds)
                np.savez(temporary / f"outputs_{i}.npz", **{str(k): np.asarray(out) for k, out in enumerate(outputs)})
            record = {
                "network": network.name,
                "format": format,
                "paddle": paddle.__version__,
                "sets": len(sets),
                "tolerance": network.tolerance,
                "outputs": [{"name": name, "dtype": dtype_name(out)} for name, out in zip(names, outputs, strict=True)],
            }
            (temporary / "case.json").write_text(json.dumps(record, indent=1))
    finally:
        (paddle.enable_static if static else paddle.disable_static)()
    return folder


def _export(network: Network, inputs: dict[str, Array], folder: Path) -> None:
    """Saves the network as `inference.*`, with statistics of its batch norms by these inputs."""
    paddle = import_paddle()
    paddle.seed(SEED)
    with paddle.utils.unique_name.guard():
        layer = network.build()
        layer.eval()
        condition(layer, [paddle.to_tensor(array) for array in inputs.values()])
        spec = [paddle.static.InputSpec(list(item.declared), item.dtype, name) for name, item in network.inputs.items()]
        try:
            paddle.jit.save(layer, str(folder / "inference"), input_spec=spec)
        except Exception as error:
            raise GenerationError(f"cannot export {network.name}: {error}") from error


def condition(layer: Any, inputs: Sequence[Any]) -> None:
    """Sets the statistics of batch norms to those of the inputs, so that depth does not amplify rounding.

    With default statistics a deep random network turns 1e-5 of noise at its input into 1e-2 at its output.
    """
    paddle = import_paddle()
    norms = [
        sublayer for sublayer in layer.sublayers() if type(sublayer).__name__.startswith(("BatchNorm", "SyncBatchNorm"))
    ]
    if not norms:
        return
    rng = np.random.default_rng(SEED)
    for norm in norms:
        if getattr(norm, "weight", None) is not None:
            norm.weight.set_value(rng.uniform(0.4, 0.6, norm.weight.shape).astype("float32"))
        if getattr(norm, "bias", None) is not None:
            norm.bias.set_value(rng.uniform(0.7, 1.3, norm.bias.shape).astype("float32"))
        norm._momentum = 0.0  # the statistics become those of the one batch that follows
        norm.train()
    with paddle.no_grad():
        layer(*inputs)
    layer.eval()
