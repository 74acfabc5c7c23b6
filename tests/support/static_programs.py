"""Models of a few operators, which Paddle saves from a static program."""

from pathlib import Path

from gen_models.harness.spec import paddle


def save_program(folder, build, **inputs):
    """Saves what `build` makes of inputs, by their names: a shape of float32, or (shape, type); returns the folder."""
    folder = Path(folder)
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            declared = {name: spec if isinstance(spec, tuple) else (spec, "float32") for name, spec in inputs.items()}
            fed = [paddle.static.data(name, list(shape), dtype) for name, (shape, dtype) in declared.items()]
            results = build(*fed)
            executor = paddle.static.Executor(paddle.CPUPlace())
            executor.run(startup)
            results = list(results) if isinstance(results, list | tuple) else [results]
            paddle.static.save_inference_model(str(folder / "inference"), fed, results, executor, program=main)
    finally:
        paddle.disable_static()
    return folder
