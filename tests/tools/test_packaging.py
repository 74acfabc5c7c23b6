"""The package in all its shapes (checkout, wheel, sdist to wheel): converters/ and op_table.py belong to paddle2ov."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".graft", "converters", "gen_models", "paddle2ov", "tests", "tools")
FILES = ("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "op_table.py", "pyproject.toml")

SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # early patch releases of Python 3.10 lack it

WHERE = """
import sys
sys.path[:] = [path for path in sys.path if path != {root!r}]  # not by way of an editable install
import paddle2ov, paddle2ov.converters, paddle2ov.op_table
print(paddle2ov.__file__, paddle2ov.op_table.__file__, *paddle2ov.converters.__path__, sep="\\n")
"""

SMALL_TEST = """
from pathlib import Path
import paddle2ov, paddle2ov.converters, paddle2ov.op_table

def test_everything_is_of_this_checkout():
    here = Path(__file__).resolve().parents[1]
    assert Path(paddle2ov.__file__) == here / "paddle2ov" / "__init__.py"
    assert Path(paddle2ov.op_table.__file__) == here / "op_table.py"
    assert list(map(Path, paddle2ov.converters.__path__)) == [here / "converters"]
"""


def run(*command, cwd, **environment):
    settings = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "PYTHONPATH"))}
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env={**settings, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copy_of_the_tree(target):
    """What a clone holds of the package and its tests."""
    target.mkdir(parents=True)
    for folder in FOLDERS:
        if (ROOT / folder).is_dir():  # an sdist has no links
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / folder, target / folder, symlinks=True, ignore=ignored)
    for file in FILES:
        shutil.copy2(ROOT / file, target)
    return target


def modules(tree):
    """The Python files of the framework and of what is grafted onto it, as they are named in a wheel."""
    inside = {
        f"paddle2ov/{path.relative_to(tree / 'paddle2ov').as_posix()}" for path in (tree / "paddle2ov").rglob("*.py")
    }
    grafted = {f"paddle2ov/{path.relative_to(tree).as_posix()}" for path in (tree / "converters").rglob("*.py")}
    return inside | grafted | {"paddle2ov/op_table.py"}


def build(tree, kind, target):
    pytest.importorskip("hatchling", reason="hatchling builds the wheel: pip install '.[test]'")
    run("-m", "hatchling", "build", "--target", kind, "--directory", target, cwd=tree)
    (built,) = target.iterdir()
    return built


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    tree = copy_of_the_tree(tmp_path_factory.mktemp("clone") / "paddle2ov-main")
    run("-m", "compileall", "-ql", "paddle2ov", "converters", cwd=tree)  # used, so there are __pycache__ folders
    return tree


@pytest.fixture(scope="module")
def wheel(checkout, tmp_path_factory):
    return build(checkout, "wheel", tmp_path_factory.mktemp("wheel"))


def names_in(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def test_wheel_puts_one_name_into_site_packages(wheel):
    top = {name.split("/")[0] for name in names_in(wheel)}
    assert {name for name in top if not name.endswith(".dist-info")} == {"paddle2ov"}


def test_wheel_holds_every_module_and_nothing_generated(wheel, checkout):
    package = {name for name in names_in(wheel) if name.startswith("paddle2ov/")}
    assert {name for name in package if name.endswith(".py")} == modules(checkout)
    assert not [name for name in package if "__pycache__" in name or name.endswith(".pyc")]


def test_wheel_holds_what_the_html_report_is_made_of(wheel):
    here = ROOT / "paddle2ov" / "reporting"
    parts = {path for folder in ("assets", "templates") for path in (here / folder).rglob("*") if path.is_file()}
    assert len(parts) > 10
    assert {path.relative_to(ROOT).as_posix() for path in parts} <= names_in(wheel)


def test_wheel_imports_without_the_checkout(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    printed = run("-c", WHERE.format(root=str(ROOT)), cwd=tmp_path, PYTHONPATH=str(tmp_path / "site"))
    package = tmp_path / "site" / "paddle2ov"
    assert printed.split() == [str(package / "__init__.py"), str(package / "op_table.py"), str(package / "converters")]


def test_sdist_builds_the_same_wheel(wheel, checkout, tmp_path):
    sdist = build(checkout, "sdist", tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", **SAFELY)
    (tree,) = (tmp_path / "unpacked").iterdir()
    assert names_in(build(tree, "wheel", tmp_path / "wheel")) == names_in(wheel)
    assert (tree / "tests" / "tools" / "test_packaging.py").is_file()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("folder", ["paddle2ov", "paddle2ov-main", "my_clone"])
def test_bare_clone_under_any_name(folder, tmp_path):
    tree = copy_of_the_tree(tmp_path / folder)
    small = tree / "tests" / "test_small.py"
    small.write_text(SMALL_TEST, encoding="utf-8")
    for mode in ("prepend", "importlib"):
        output = run("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--import-mode={mode}", small, cwd=tree)
        assert "1 passed" in output
