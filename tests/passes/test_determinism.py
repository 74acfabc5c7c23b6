"""Converting a model twice gives the same graph, down to the names: no order is that of a set."""

import os
import subprocess
import sys

from openvino import Type

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


def test_consumers_are_in_the_order_of_their_nodes():
    """OpenVINO's bindings give a set, in the order of addresses in memory."""
    for count in range(2, 12):
        x = ops.parameter([4], Type.f32)
        nodes = [ops.add(x, x) if i % 3 == 0 else ops.relu(x) for i in range(count)]
        ports = [(node.get_name(), index) for node in nodes for index in range(node.get_input_size())]
        assert [(port.get_node().get_name(), port.get_index()) for port in consumers(x.output(0))] == ports
