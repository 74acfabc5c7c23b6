"""tools/typecheck.py and tools/opset_stub.py: what the type check of the checkout refuses."""

import re
from pathlib import Path

import paddle2ov
from paddle2ov import converters, op_table
from tools import typecheck

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
    typecheck.write_stubs()
    planted = {name: f"{HEAD}    {line}\n" for name, (line, _) in REFUSED.items()}
    planted |= {"accepted": HEAD + ACCEPTED, "of_unix": "import os\n\nos.fork()\nos.getpid()\n"}
    files = [tmp_path / f"planted_{name}.py" for name in planted]
    for file, text in zip(files, planted.values(), strict=True):
        file.write_text(text)
    *windows, _ = typecheck.ELSEWHERE  # and with what `make lint` has found of the tree
    output = typecheck.run_mypy(*windows, *map(str, files)).stdout
    for name, (_, message) in REFUSED.items():
        assert re.search(rf"planted_{name}\.py:\d+: error: .*{re.escape(message)}", output), output
    assert "planted_accepted" not in output, output
    assert re.findall(r"planted_of_unix\.py:(\d+): error", output) == ["3"], output


def test_the_links_for_editors_lead_to_what_python_imports():
    links = {link.name: link.resolve() for link in (typecheck.ROOT / typecheck.GRAFT).iterdir()}
    places = [Path(module.__file__) for module in (paddle2ov, converters, op_table)]
    assert links == {"__init__.py": places[0], "converters": places[1].parent, "op_table.py": places[2]}
