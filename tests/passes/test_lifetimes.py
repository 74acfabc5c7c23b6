"""No node is asked for anything after it is gone, whenever Python collects garbage."""

from tests.support.command_line import python
from tests.support.models import network

COLLECTING = """
import gc
import sys

import openvino

import paddle2ov

gc.disable()
asked = openvino.Output.get_target_inputs


def get_target_inputs(output):
    found = asked(output)  # inputs, which do not keep their nodes
    if any(map(is_left, found)):
        gc.collect()
    return found


def is_left(port):
    node = port.get_node()
    return node.get_type_name() != "Result" and not any(map(asked, node.outputs()))


for folder in sys.argv[1:]:
    print(folder, flush=True)
    openvino.Output.get_target_inputs = get_target_inputs
    paddle2ov.convert(folder)
    openvino.Output.get_target_inputs = asked
    gc.collect()
    paddle2ov.convert(folder)
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(0)
    held = {type(one) for one in gc.garbage if any(isinstance(of, openvino.Node) for of in gc.get_referents(one))}
    gc.garbage.clear()
    if held:
        sys.exit(f"only a collection of garbage frees the nodes of {held}")
"""


def test_collections_of_garbage():
    """One where inputs are listed, as soon as nodes are left behind; and without any, nothing is."""
    names = ("ppyoloe", "ppyolo", "picodet", "assigned_in_loop", "swin_stage")
    python("-c", COLLECTING, *map(network, names), MALLOC_PERTURB_="165")  # what is freed is overwritten
