"""Folders of models: the networks and operators of `gen_models`, and what Paddle saves of a few lines."""

import contextlib
import shutil
from pathlib import Path

import numpy as np

import paddle2ov
from gen_models import all_networks, all_ops
from gen_models.harness.spec import paddle
from gen_models.harness.store import generated, generated_network, generated_together
from gen_models.networks.post_ops import CHAINS
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.program.framework_proto import ProgramDesc
from tests.support.formats import forms


def network(name, format="pir"):
    """A network that tests share."""
    return generated_network(all_networks()[name], format)


def operator(name, format="pir"):
    """The first case of an operator."""
    op = all_ops()[name]
    return generated(op, op.cases[0], format)


def chain(name):
    """A chain of a oneDNN primitive and what it computes besides."""
    (op,) = (op for op in CHAINS if op.name == name)
    return generated(op, op.cases[0], "pir")


def cases_together(op, format="pir", every_form=False):
    """One model of all cases of an operator that are checked in a format; None if there are none."""
    cases = [case for case, form in forms(op, every_form) if form.format == format and not case.xfail]
    return generated_together(op, cases, format) if cases else None


def _declared(inputs):
    """The (name, shape, type) of inputs that are given as a shape of float32, or (shape, type)."""
    for name, spec in inputs.items():
        shape, dtype = spec if isinstance(spec, tuple) else (spec, "float32")
        yield name, list(shape), dtype


def save_program(folder, build, legacy=False, **inputs):
    """Saves the static program that `build` makes of inputs, by their names; returns the folder."""
    folder = Path(folder)
    was_dynamic = paddle.in_dynamic_mode()
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard() if legacy else contextlib.nullcontext():
            main, startup, static = paddle.static.Program(), paddle.static.Program(), paddle.static
            scope = static.scope_guard(static.Scope())
            with scope, static.program_guard(main, startup), paddle.utils.unique_name.guard():
                fed = [static.data(*declared) for declared in _declared(inputs)]
                results = build(*fed)
                executor = static.Executor(paddle.CPUPlace())
                executor.run(startup)
                results = list(results) if isinstance(results, list | tuple) else [results]
                static.save_inference_model(str(folder / "inference"), fed, results, executor, program=main)
    finally:
        if was_dynamic:
            paddle.disable_static()
    return folder


def save_layer(folder, forward, **inputs):
    """Saves a layer or a function of tensors, its inputs as those of `save_program`; returns the folder."""
    paddle.disable_static()
    spec = [paddle.static.InputSpec(shape, dtype, name) for name, shape, dtype in _declared(inputs)]
    if not isinstance(forward, paddle.nn.Layer):
        forward = _layer_of(forward) if len(spec) == 1 else paddle.jit.to_static(forward, full_graph=True)
    if isinstance(forward, paddle.nn.Layer):
        forward.eval()
    paddle.jit.save(forward, str(Path(folder) / "inference"), input_spec=spec)
    return Path(folder)


def saved_request(folder, forward, precision="f32", **inputs):
    """A request of the converted model of `save_layer`."""
    model = paddle2ov.convert(save_layer(folder, forward, **inputs))
    return compile_on_cpu(model, precision).create_infer_request()


def check_beside_paddle(folder, forward, *runs, tolerance=0.0, precision="f32", **inputs):
    """The results of such a request are Paddle's, eagerly, for the arrays of each run: shapes, types and values."""
    request = saved_request(folder, forward, precision, **inputs)
    for arrays in runs:
        wanted = [item.numpy() for item in paddle.utils.flatten(forward(*map(paddle.to_tensor, arrays)))]
        for actual, desired in zip(request.infer(list(arrays)).values(), wanted, strict=True):
            assert (actual.shape, actual.dtype) == (desired.shape, desired.dtype)
            np.testing.assert_allclose(actual, desired, rtol=tolerance, atol=tolerance)


def _layer_of(function):
    """A layer of a function of one tensor, which may be a lambda: Paddle finds the source of no lambda."""

    class Layer(paddle.nn.Layer):
        def forward(self, x):
            return function(x)

    return Layer()


def files_of(folder):
    """The files of a model's program and parameters, of which the second may not be there."""
    program = next(path for path in Path(folder).glob("inference.*") if path.suffix in (".json", ".pdmodel"))
    return program, program.with_suffix(".pdiparams")


@contextlib.contextmanager
def edited(path):
    """The description of a legacy program, which is written back with what was changed of it."""
    desc = ProgramDesc.FromString(path.read_bytes())
    yield desc
    path.write_bytes(desc.SerializePartialToString())


def copied(name, format, folder):
    """The program of a network, with its parameters in a folder of their own."""
    folder.mkdir()
    for path in filter(Path.exists, files_of(network(name, format))):
        shutil.copy(path, folder)
    return files_of(folder)[0]


def separate(program_file):
    """Puts the parameters of a legacy model into a file each; returns the program with them."""
    program = paddle2ov.read_program(program_file)
    combined = program_file.with_name("inference.pdiparams").read_bytes()
    offset = 0
    for name in sorted(program.parameters):
        data = program.parameters[name].data
        end = combined.index(data.tobytes(), offset) + data.nbytes
        program_file.with_name(name).write_bytes(combined[offset:end])
        offset = end
    program_file.with_name("inference.pdiparams").unlink()
    return program
