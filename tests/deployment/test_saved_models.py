"""What others do with a model that `paddle2ov` has saved: benchmark_app starts from its .xml."""

from importlib.metadata import entry_points

from tests.support.command_line import call, python
from tests.support.models import network


def test_benchmark_app(tmp_path):
    saved = tmp_path / "net.xml"
    done = call(network("squeezenet1_1"), "-o", saved, "--input", "x[1,3,32,32]")
    assert done.exit_code == 0, done.output
    (tool,) = entry_points(group="console_scripts", name="benchmark_app")
    module, _, function = tool.value.partition(":")
    options = ("-niter", 2, "-nireq", 1, "-hint", "none")
    done = python("-c", f"from {module} import {function}; {function}()", "-m", saved, *options)
    assert "x (node: x) : f32 / [...] / [1,3,32,32]" in done.stdout
    assert "Count:" in done.stdout
