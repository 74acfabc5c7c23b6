"""An operator of one's own: a package brings its converter, and paddle2ov finds it where the package is installed.

1. writes a model that holds the operator `soft_clip`, which paddle2ov does not know, and shows the error,
2. installs the package `own_op/` in a folder of its own,
3. converts the same model by the same command, and compares with what the operator is defined to compute.

Paddle stores an operator that was compiled for it as `3.soft_clip`. So that no compiler is needed here, the program of
a network with `elu` is saved and the operator renamed in the file.

Run it with `python examples/own_op.py`; it needs the `test` extra (Paddle, hatchling).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import stages

HERE = Path(__file__).resolve().parent


def write_model(folder: Path) -> None:
    """A network whose activation is `soft_clip` with limit 0.5."""
    stages.quiet_paddle()
    import paddle

    paddle.seed(1)
    network = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ELU(0.5))
    network.eval()
    spec = paddle.static.InputSpec([None, 4], "float32", name="x")
    paddle.jit.save(network, str(folder / "inference"), input_spec=[spec])
    file = folder / "inference.json"
    program = json.loads(file.read_text())
    for operator in program["program"]["regions"][0]["blocks"][0]["ops"]:
        if operator["#"] == "1.elu":
            operator["#"] = "3.soft_clip"
            for attribute in operator["A"]:
                attribute["N"] = attribute["N"].replace("alpha", "limit")
    file.write_text(json.dumps(program))
    np.savez(folder / "weights.npz", *[weight.numpy() for weight in network.parameters()])


def convert(model: Path, target: Path, packages: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`paddle2ov MODEL -o TARGET`, with the packages of a folder installed beside paddle2ov's own."""
    paths = [str(packages)] if packages else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "paddle2ov", str(model), "-o", str(target)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def main() -> int:
    """Fail without the package, succeed with it."""
    import openvino

    with tempfile.TemporaryDirectory() as temporary:
        model, packages, target = (Path(temporary) / name for name in ("model", "packages", "model.xml"))
        model.mkdir()
        write_model(model)

        refused = convert(model, target)
        print(f"Without the package, exit status {refused.returncode}:\n{refused.stderr.strip()}\n")

        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
        subprocess.run([*install, "--target", str(packages), str(HERE / "own_op")], check=True)
        converted = convert(model, target, packages)
        print(
            f"With the package, exit status {converted.returncode}:\n{(converted.stdout + converted.stderr).strip()}\n"
        )
        if refused.returncode == 0 or converted.returncode != 0:
            return 1

        weights = list(np.load(model / "weights.npz").values())
        x = np.random.default_rng(1).normal(0, 2, (5, 4)).astype(np.float32)
        y = x @ weights[0] + weights[1]
        expected = np.where(np.abs(y) <= 0.5, y, np.sign(y) * (0.5 + np.log1p(np.abs(y) - 0.5)))
        computed = openvino.compile_model(target, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0]
        difference = float(np.abs(computed - expected).max())
        print(f"Largest difference from the definition: {difference:.1e}")
        return 0 if difference < 1e-2 else 1  # save_model stores weights in half precision


if __name__ == "__main__":
    sys.exit(main())
