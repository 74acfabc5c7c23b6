"""A model gives the same graph each time, in each process, down to the names: no order is that of a set."""

import os
import re
import subprocess
import sys

from openvino import Type

from paddle2ov import convert
from paddle2ov.converters.graph import loops
from paddle2ov.graph.bodies import walk
from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.opset import ops
from tests.support.models import network

CONVERTING = """
import hashlib
import sys

import openvino

import paddle2ov

for folder in sys.argv[1:]:
    model = paddle2ov.convert(folder)
    nodes = [f"{node} {node.get_attributes()}" for node in model.get_ordered_ops()]
    print(folder, hashlib.sha256("".join(nodes).encode()).hexdigest())
"""


def test_hashes_do_not_matter():
    folders = [str(network(name)) for name in ("csp_channels_last", "gfl", "yolov3", "assigned_in_loop")]
    command = [sys.executable, "-c", CONVERTING, *folders]
    graphs = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        graphs.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert graphs[0] == graphs[1]


def test_a_conversion_that_follows_another(monkeypatch):
    """Bodies of loops are kept for it."""
    monkeypatch.setattr(loops, "_templates", loops._Templates())
    models = [convert(network("gfl")) for _ in range(2)]
    first, second = ([(str(node.get_type_info()), names(node)) for node in walk(model)] for model in models)
    assert first == second


def names(node):
    return [[re.sub(r"_\d+$", "", name) for name in sorted(output.get_names())] for output in node.outputs()]


def test_consumers_are_in_the_order_of_their_nodes():
    """OpenVINO's bindings give a set, in the order of addresses in memory."""
    for count in range(2, 12):
        x = ops.parameter([4], Type.f32)
        nodes = [ops.add(x, x) if i % 3 == 0 else ops.relu(x) for i in range(count)]
        ports = [(node.get_name(), index) for node in nodes for index in range(node.get_input_size())]
        assert [(port.get_node().get_name(), port.get_index()) for port in consumers(x.output(0))] == ports
