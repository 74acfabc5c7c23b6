"""Build the files of a release and try them: `make release` is the rehearsal, on any commit.

Builds the sdist and, from it, the wheel; checks their metadata; installs the wheel alone into an empty environment,
where it converts a recorded model and must compute what Paddle computed, and again with the oldest releases that it
allows of what it needs (for Python 3.10 or 3.11, which these have wheels for). `dist/` then holds both files,
`notes.md` (the changelog's section) and `sbom.json` (what the wheel brought with it, in CycloneDX's format). Nothing is
uploaded.

With `--tag v1.2.3`, the tag has to be that of the package's version, and the changelog has to have a section for it.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import paddle2ov

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "tests" / "data" / "paddle_1_8" / "interpolations"

TRIAL = """
import sys
import numpy as np
import openvino
import paddle2ov

folder, root = sys.argv[1:]
assert not paddle2ov.__file__.startswith(root + "/paddle2ov"), "the checkout, not the wheel"
recorded = np.load(folder + "/arrays.npz")
found = openvino.compile_model(paddle2ov.convert(folder), "CPU")({"x": recorded["input:x"]})
for index, values in enumerate(found.values()):
    np.testing.assert_allclose(values, recorded[f"output:{index}"], rtol=1e-5, atol=1e-6)
print(f"{len(found)} results of a model of Paddle 1.8 are as recorded")
"""


def notes(changelog: str, version: str, *, released: bool) -> str:
    """The section of a version; before its release, what is unreleased. Raises SystemExit where there is none."""
    sections: dict[str, str] = dict(re.findall(r"^## (\S+).*?\n(.*?)(?=^## |\Z)", changelog, flags=re.M | re.S))
    text = sections.get(version) or (None if released else sections.get("Unreleased"))
    if not text or not text.strip():
        raise SystemExit(f"CHANGELOG.md has no section '## {version} - <date>'")
    return text.strip() + "\n"


def check_tag(tag: str, version: str) -> None:
    if tag != f"v{version}":
        raise SystemExit(f"The tag is {tag}, but paddle2ov/__init__.py has version {version}: expected v{version}")


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


def build(target: Path) -> Path:
    """The wheel, which is built from the sdist beside it."""
    shutil.rmtree(target, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", target)
    run(sys.executable, "-m", "twine", "check", "--strict", *target.iterdir())
    (wheel,) = target.glob("*.whl")
    return wheel


def oldest(project: str) -> list[str]:
    """The oldest releases that the text of a pyproject.toml allows of what the package needs."""
    needed = re.findall(r"^dependencies = \[$(.*?)^\]$", project, flags=re.M | re.S)[0]
    return [f"{name}=={least}.*" for name, least in re.findall(r'"([\w-]+)>=([\d.]+)"', needed)]


def try_out(wheel: Path, environment: Path, *others: str) -> Path:
    """Install the wheel into an empty environment, with these others, and use it there. Returns its Python."""
    shutil.rmtree(environment, ignore_errors=True)
    venv.create(environment, with_pip=True)
    python = environment / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, *others)
    run(python, "-I", "-c", TRIAL, RECORDED, ROOT, cwd=environment)
    run(python, "-I", "-m", "paddle2ov", "--version", cwd=environment)
    return python


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", help="the tag of the release; without it, this is a rehearsal")
    tag = parser.parse_args().tag
    version = paddle2ov.__version__
    if tag is not None:
        check_tag(tag, version)
    text = notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version, released=tag is not None)

    dist = ROOT / "dist"
    wheel = build(dist)
    try_out(wheel, ROOT / "build" / "oldest", *oldest((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    python = try_out(wheel, ROOT / "build" / "release")
    (dist / "notes.md").write_text(text, encoding="utf-8")
    run(sys.executable, "-m", "cyclonedx_py", "environment", python, "--output-file", dist / "sbom.json")
    print(f"{version} is built and tried:", *sorted(path.name for path in dist.iterdir()), sep="\n  dist/")


if __name__ == "__main__":
    main()
