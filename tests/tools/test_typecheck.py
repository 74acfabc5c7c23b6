"""tools/typecheck.py and tools/opset_stub.py: what the type check of the tree refuses."""

import re

from tools import opset_stub, typecheck

HEAD = """
import numpy as np
from openvino import Node, Output

from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NodeContext


def convert(node: NodeContext) -> Node:
    x = node.get_input("x")
"""

ACCEPTED = """
    node.require(node.get_bool("flag", False) or node.get_str("mode", "") == "", "no")
    one = ops.reduce_sum(x, np.array([1]), keep_dims=True)
    return ops.concat([ops.add(one, np.float32(1)), ops.topk(one.output(0), 1, 0, "max", "value").output(0)], axis=0)
"""

REFUSED = {
    "operation": ("return ops.reduce_summ(x, np.array([1]))", '"Opset" has no attribute "reduce_summ"'),
    "keyword": ("return ops.reduce_sum(x, np.array([1]), keepdimz=True)", 'Unexpected keyword argument "keepdimz"'),
    "name": ('return ops.add(x, x, name="sum")', 'Unexpected keyword argument "name" for "add"'),
    "positional": ("return ops.add(left_node=x, right_node=x)", 'Unexpected keyword argument "left_node" for "add"'),
    "value": ("return ops.reduce_sum(x, np.array([1]), 'yes')", 'has incompatible type "str"; expected "bool"'),
    "list": ("return ops.multiply(x, [x, x])", 'Argument 2 to "multiply" of "Opset" has incompatible type "list'),
    "missing": ("return ops.transpose(x)", 'Missing positional argument "input_order"'),
    "getter": ('return ops.add(x, node.get_boool("flag"))', '"NodeContext" has no attribute "get_boool"'),
    "boolean": ('return ops.softmax(x, node.get_str("axis"))', 'has incompatible type "str"; expected "int"'),
    "method": ("return ops.add(x, x).get_outputs()", '"Node" has no attribute "get_outputs"'),
    "class": ("return ops.add(x, x.get_node().get_partial_shape())", '"Node" has no attribute "get_partial_shape"'),
}


def test_planted_mistakes(tmp_path):
    typecheck.stage(tmp_path)
    for name, (line, _) in REFUSED.items():
        (tmp_path / "staged" / f"{name}_planted.py").write_text(f"{HEAD}    {line}\n")
    (tmp_path / "staged" / "accepted.py").write_text(HEAD + ACCEPTED)
    planted = sorted(path.name for path in (tmp_path / "staged").glob("*.py"))
    found = typecheck.run_mypy(tmp_path, planted).stdout
    for name, (_, message) in REFUSED.items():
        assert re.search(rf"^{name}_planted\.py:\d+: error: .*{re.escape(message)}", found, re.MULTILINE), found
    assert "accepted.py" not in found, found


def test_what_windows_lacks(tmp_path):
    (tmp_path / "staged").mkdir()
    (tmp_path / "staged" / "planted.py").write_text("import os\n\nos.fork()\nos.getpid()\n")
    platform = list(typecheck.ELSEWHERE[:2])
    found = typecheck.run_mypy(tmp_path, [*platform, "planted.py"]).stdout
    assert [line.split(": error")[0] for line in found.splitlines()[:-1]] == ["planted.py:3"], found


def test_the_stub_of_the_opset_is_up_to_date(tmp_path, monkeypatch, capsys):
    assert opset_stub.main(["--check"]) == 0
    monkeypatch.setattr(opset_stub, "ROOT", tmp_path)
    monkeypatch.setattr(opset_stub, "TARGET", tmp_path / "opset_stub.pyi")
    assert opset_stub.main(["--check"]) == 1
    assert "opset_stub.pyi is stale" in capsys.readouterr().err


def test_messages_name_the_files_of_the_checkout():
    assert typecheck.in_checkout("paddle2ov/converters/fft.py:1: error: x") == "converters/fft.py:1: error: x"
    assert typecheck.in_checkout("paddle2ov/graph/opset.py:1: error: x") == "paddle2ov/graph/opset.py:1: error: x"
