"""What a process imports until its first result, and that what OpenVINO defers for it is there when it is asked for."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import python
from tests.support.formats import NEEDS_PADDLE_2
from tests.support.models import network

STATE = """
def state():  # OpenVINO's telemetry imports in a thread of its own meanwhile
    names = [name for name in [*sys.modules] if name.split(".")[0] == "openvino" and "benchmark" not in name]
    return {name: sorted(set(dir(sys.modules[name])) - {"benchmark"}) for name in names}
"""

LOOKS = [
    "assert openvino.convert_model.__module__ == 'openvino.tools.ovc.convert'",
    "from openvino import convert_model",
    "from openvino import *; convert_model, tools.ovc.convert",
    "from openvino.tools.ovc import convert_model; assert openvino.convert_model is convert_model",
    "openvino.tools.ovc.convert_model",
    "import openvino.tools.benchmark.main; openvino.tools.ovc.utils",
    "openvino.frontend.tensorflow.ConversionExtension",
    "from openvino.frontend import tensorflow",
    "assert 'convert_model' in dir(openvino) and 'ovc' in dir(openvino.tools)",
    "assert hasattr(openvino, 'convert_model') and not hasattr(openvino, 'convert_models')",
    "assert 'convert_model' in dict(inspect.getmembers(openvino))",
    "importlib.reload(openvino); vars(openvino)['convert_model']",
    "importlib.reload(paddle2ov); importlib.reload(openvino.tools); openvino.tools.ovc",
    "assert pickle.loads(b'copenvino\\nconvert_model\\n.') is openvino.convert_model",
    "assert pickle.loads(b'copenvino.tools.ovc.error\\nError\\n.') is openvino.tools.ovc.error.Error",
    "seen = in_threads(8, lambda: openvino.convert_model); assert len(seen) == 8 and len(set(seen)) == 1",
    "with mock.patch('openvino.convert_model', 1): assert openvino.convert_model == 1",
    "openvino.convert_model = 1; openvino.tools.ovc; assert openvino.convert_model == 1",
]

LOOK = f"""
import importlib, inspect, json, os, pickle, sys, threading, traceback
from concurrent.futures import ThreadPoolExecutor
from unittest import mock
import paddle2ov, openvino
{STATE}
assert not any(name.startswith("openvino.tools.") for name in sys.modules)

def in_threads(count, look):
    barrier = threading.Barrier(count)
    with ThreadPoolExecutor(count) as threads:
        return [*threads.map(lambda _: (barrier.wait(), look())[1], range(count))]

for look in json.loads(sys.argv[1]):
    process = os.fork()
    if not process:
        try:
            exec(look, dict(globals()))
            print(json.dumps([look, state()]), flush=True)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.wait()
"""

COUNT = """
import json, sys
first = {*sys.modules}
import paddle2ov
counts = {"import": len({*sys.modules} - first)}
import numpy, openvino
before = {name for name in sys.modules if not name.startswith(("paddle2ov", "openvino.tools"))}
paddle2ov.compile_model(sys.argv[1], cache_dir=sys.argv[2] or None)
kinds = "paddle2ov", "openvino.tools", "google.protobuf", "msgspec", ""
for name in {*sys.modules} - before:
    kind = next(kind for kind in kinds if name.startswith(kind))
    counts[kind] = counts.get(kind, 0) + 1
print(json.dumps(counts))
"""

CEILINGS = {
    "pir": {"import": 20, "paddle2ov": 180, "openvino.tools": 1, "msgspec": 20, "": 20},
    "legacy": {"import": 20, "paddle2ov": 182, "openvino.tools": 1, "msgspec": 20, "": 40, "google.protobuf": 40},
    "from cache": {"import": 20, "paddle2ov": 20, "openvino.tools": 1, "": 15},
}
"""How many modules may be imported, of each package and of all others, beside OpenVINO and NumPy."""


def run(code: str, *arguments: str) -> str:
    """What a process of its own prints."""
    printed: str = python("-c", code, *arguments).stdout
    return printed


@NEEDS_PADDLE_2
def test_modules_until_the_first_result(tmp_path):
    """What most models do not need is imported where it is needed; a ceiling is raised knowingly."""
    pir, legacy = (str(network("squeezenet1_1", kind)) for kind in ("pir", "legacy"))
    runs = {"pir": (pir, ""), "legacy": (legacy, str(tmp_path)), "from cache": (legacy, str(tmp_path))}
    counts = {name: json.loads(run(COUNT, *arguments)) for name, arguments in runs.items()}
    over = {name: {kind: n for kind, n in counts[name].items() if n > CEILINGS[name].get(kind, 0)} for name in runs}
    assert not any(over.values()), over


@pytest.fixture(scope="module")
def plain() -> dict[str, list[str]]:
    """The names in OpenVINO's modules as its own import leaves them."""
    names: dict[str, list[str]] = json.loads(run(f"import json, sys, openvino\n{STATE}\nprint(json.dumps(state()))"))
    return names


def test_openvino_is_complete_at_the_first_look(plain):
    printed = dict(map(json.loads, run(LOOK, json.dumps(LOOKS)).splitlines()))
    assert [look for look in LOOKS if printed.get(look) != plain] == []


@pytest.mark.parametrize(
    "steps",
    [
        "import openvino, paddle2ov",
        "import openvino.tools.ovc, paddle2ov.conversion",
        "import threading; t = threading.Thread(target=__import__, args=['openvino']); t.start();"
        "import paddle2ov.graph.opset; t.join()",
        "import paddle2ov, openvino.tools.ovc; openvino.convert_model",
        "import importlib.util, paddle2ov; importlib.util.find_spec('openvino.tools.ovc.convert'); import openvino",
    ],
)
def test_any_order_of_imports_ends_the_same(plain, steps):
    assert json.loads(run(f"import json, sys\n{STATE}\n{steps}\nprint(json.dumps(state()))")) == plain


FAILED_IMPORT = """
import sys, paddle2ov
sys.modules["openvino._ov_api"] = None
try:
    import openvino
except ImportError:
    del sys.modules["openvino._ov_api"]
import openvino
print("openvino.tools.ovc" in sys.modules, openvino.convert_model.__name__, "openvino.tools.ovc" in sys.modules)
"""


def test_a_failed_import_of_openvino_can_be_repeated():
    assert run(FAILED_IMPORT) == "False convert_model True\n"


BROKEN_TOOL = """
import sys, paddle2ov, openvino
sys.modules["openvino.tools.ovc"] = None
from openvino import *
print(hasattr(openvino, "convert_model"), "convert_model" in dir(openvino), "__getattr__" in dir(openvino))
"""


def test_a_tool_that_cannot_be_imported_is_missing_as_ever():
    assert run(BROKEN_TOOL) == "False False False\n"


@pytest.mark.parametrize(
    "source",
    [
        "from openvino.tools.ovc import convert_model\n",
        "__version__ = '1'\nfrom openvino.tools.ovc import convert_model as other\nfrom openvino.tools import ovc\n",
    ],
)
def test_an_openvino_that_ends_otherwise_is_left_alone(tmp_path, source):
    for package, text in {"": source, "frontend": "", "tools": "", "tools/ovc": "convert_model = 1\n"}.items():
        Path(tmp_path, "openvino", package).mkdir()
        Path(tmp_path, "openvino", package, "__init__.py").write_text(text)
    code = "import sys, paddle2ov; sys.path.insert(0, sys.argv[1]); import openvino.frontend, openvino.tools.ovc"
    names = run(f"{code}; print(*dir(openvino))", str(tmp_path))
    assert names == run(f"{code.replace(', paddle2ov', '')}; print(*dir(openvino))", str(tmp_path))


PROCESSES = """
import multiprocessing, sys
import paddle2ov, openvino

if __name__ == "__main__":
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(repr(pool.apply(openvino.tools.ovc.error.Error, ["x"])))
    print(len(openvino.convert_model(sys.argv[1]).inputs))
"""


@NEEDS_PADDLE_2
def test_processes_exchange_what_is_deferred(tmp_path):
    script = tmp_path / "processes.py"
    script.write_text(PROCESSES)
    model = network("squeezenet1_1", "legacy") / "inference.pdmodel"
    assert python(script, model).stdout == "Error('x')\nError('x')\n1\n"
