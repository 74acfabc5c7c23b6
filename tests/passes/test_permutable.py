"""Every kind of node that may be permuted, with every form of every input, computes the same once transposes moved.

The cases are enumerated from the table of kinds: one that is added to it is here by itself. What a kind needs to be
made, attributes and inputs that have nothing to do with axes, stands below.
"""

from collections import Counter

import numpy as np
import pytest
from openvino import Model, PartialShape, Shape, Tensor, Type, opset16 as ops
from openvino.utils.node_factory import NodeFactory

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph.node_kinds import REDUCTIONS
from paddle2ov.graph.permutation import inverse
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.layout import permutable
from paddle2ov.passes.layout.move_transposes import move_transposes
from paddle2ov.passes.layout.permutable import HAVING_AXES, PERMUTABLE, Role
from tests.support.passes_checks import apply, check_close, random, transpose

PERMS = [(1, 0), (0, 2, 1), (2, 0, 1), (0, 2, 3, 1), (3, 0, 1, 2), (2, 1, 3, 0)]
SMALL = {2: (6, 4), 3: (2, 4, 6), 4: (2, 4, 3, 2)}
EQUAL = {2: (10, 10), 3: (4, 4, 4), 4: (4, 4, 4, 4)}
LARGE = {2: (10, 4), 3: (8, 4, 6), 4: (6, 4, 5, 3)}
"""Sizes of what is not transposed, by rank; along axis 1 they are even, nodes that name one axis name that."""
AROUND = ("alone", "read", "result")
"""What else is done with the data that a node reads and gives: nothing, another node reads them, they are results."""

_CONSTANT = {"small": SMALL, "large": LARGE, "of equal sizes": EQUAL, "shared": LARGE}
FORMS = {
    Role.DATA: {"input": LARGE, **_CONSTANT},
    Role.BROADCAST: {"input": LARGE, **_CONSTANT, "some axes": LARGE, "fewer axes": LARGE, "one number": SMALL},
    **{role: {"input": SMALL, "constant": SMALL} for role in set(Role) - HAVING_AXES},
}
"""The forms in which an input may come, with the sizes that the data have then."""

ATTRIBUTES: dict[str, list[dict]] = {
    "Clamp": [{"min": -1.0, "max": 1.0}],
    "Concat": [{"axis": 0}, {"axis": -1}],
    "Convert": [{"destination_type": "i32"}],
    "Elu": [{"alpha": 1.0}],
    "FakeQuantize": [{"levels": 16}],
    "LogSoftmax": [{"axis": 1}, {"axis": -1}],
    "Pad": [{"pad_mode": "constant"}, {"pad_mode": "edge"}],
    "Softmax": [{"axis": 1}, {"axis": -1}],
    "Split": [{"num_splits": 2}],
    **{kind: [{"keep_dims": True}, {"keep_dims": False}] for kind in REDUCTIONS},
}
"""All sets of attributes that a kind is made with."""
UNRELATED = {
    ("Slice", 1): [1, -1],  # starts, stops and steps of the axes in `AXES`
    ("Slice", 2): [3, -100],
    ("Slice", 3): [1, -1],
    ("VariadicSplit", 2): [2, -1],
}
ONE_AXIS = {"Split", "VariadicSplit"}
CONSTANT_ONLY = {("HardSigmoid", Role.SINGLE), ("Selu", Role.SINGLE)}
"""What OpenVINO wants to be constant."""
TYPES = {"bool": Type.boolean, "float32": Type.f32, "int64": Type.i64}
FACTORY = NodeFactory("opset16")


def inputs(kind):
    """The roles of a node's inputs, one that may be repeated twice."""
    return PERMUTABLE[kind].roles(len(PERMUTABLE[kind].inputs) + PERMUTABLE[kind].repeated)


def cases():
    """Each kind with each form of each input; without `--every-form` one in nine for each form of a role."""
    places = Counter()
    for kind in sorted(PERMUTABLE):
        for i, role in enumerate(inputs(kind)):
            for shift, form in enumerate(FORMS[role]):
                if form != "input" or (kind, role) not in CONSTANT_ONLY:
                    place, places[role, form] = places[role, form], places[role, form] + 1
                    marks = [pytest.mark.every_form] if place and (place + shift) % 9 else []
                    yield pytest.param(kind, i, form, id=f"{kind}-{i}-{form}", marks=marks)


class Graphs:
    """Many small graphs in one model, with what they read."""

    def __init__(self, kind):
        self.kind = kind
        self.rng = np.random.default_rng(list(kind.encode()))
        self.parameters, self.arrays, self.results = [], [], []

    def array(self, shape, is_boolean=False):
        """Numbers whose sums are exact, none of them 0."""
        if is_boolean:
            return np.asarray(self.rng.random(shape) < 0.7)
        return np.asarray(self.rng.choice([-1, 1], shape) * self.rng.integers(1, 25, shape) / 8, np.float32)

    def parameter(self, array, is_known=True):
        dims = PartialShape(array.shape) if is_known else PartialShape([-1] * array.ndim)
        self.parameters.append(ops.parameter(dims, TYPES[array.dtype.name]))
        self.arrays.append(array)
        return self.parameters[-1].output(0)

    def constant(self, form, shape, is_boolean):
        if form == "one number":
            shape = ()
        elif form == "some axes":
            shape = (1, *shape[1:])
        elif form == "fewer axes":
            shape = shape[1:]
        return ops.constant(self.array(shape, is_boolean)).output(0)

    def add(self, perm, at, form, is_known, around, attributes):
        """A graph: the input `at` has this form, data that vary are transposed, and what is computed of them back."""
        back, sizes = inverse(perm), FORMS[inputs(self.kind)[at]][form][len(perm)]
        shape = [sizes[axis] for axis in perm]
        shared = None
        for _ in range(1 + (form == "shared")):
            operands = []
            for i, role in enumerate(inputs(self.kind)):
                is_boolean = "Logical" in self.kind or (self.kind, i) == ("Select", 0)
                if i == at and form != "input" and role in HAVING_AXES:
                    shared = shared or self.constant(form, shape, is_boolean)
                    operands.append(shared)
                elif role in HAVING_AXES:
                    x = self.parameter(self.array(sizes, is_boolean), is_known)
                    operands.append(ops.transpose(x, np.array(perm)).output(0))
                    self.surround(operands[-1], around)
                else:
                    value = np.asarray(self.other(i, role, back))
                    is_input = i == at and form == "input"
                    operands.append(self.parameter(value) if is_input else ops.constant(value).output(0))
            for output in FACTORY.create(self.kind, operands, attributes).outputs():
                same_rank = output.get_partial_shape().rank == len(perm)
                self.results.append(ops.transpose(output, np.array(back)).output(0) if same_rank else output)
                self.surround(output, around)
        if form == "shared":
            self.surround(shared, "read")

    def other(self, i, role, back):
        """An input that has no data."""
        axes = [back[1], back[0] - len(back)]
        match role:
            case Role.AXES:
                return axes[0] if self.kind in ONE_AXIS else axes
            case Role.PER_AXIS:
                return np.roll([0, 1, 2, 0][: len(back)], i)
            case Role.SINGLE:
                return np.float32(0.5)
        return UNRELATED[self.kind, i]

    def surround(self, tensor, around):
        if around == "read" and tensor.get_partial_shape().rank != 0:
            self.results.append(ops.gather(tensor, np.array([-1, 0]), np.array(0)).output(0))
        elif around == "result":
            self.results.append(tensor)

    def model(self):
        return Model(self.results, self.parameters)


def computed(model, arrays):
    """The results, of the model as a whole; of a compiled one where OpenVINO cannot evaluate a node."""
    tensors = [Tensor(port.get_element_type(), Shape([])) for port in model.outputs]
    try:
        model.evaluate(tensors, [Tensor(array) for array in arrays])
    except RuntimeError as error:
        if "Evaluation failed" not in str(error):
            raise
        return list(compile_on_cpu(model)(arrays).values())
    return [tensor.data for tensor in tensors]


def check(graphs):
    """Moves the transposes; what is computed must stay the same. Returns what was done."""
    model, same = graphs.model(), graphs.model().clone()
    counts = move_transposes(Graph(model))
    model.validate_nodes_and_infer_types()
    for port, other in zip(model.outputs, same.outputs, strict=True):
        assert port.get_partial_shape() == other.get_partial_shape()
        assert port.get_element_type() == other.get_element_type()
    if any(counts.values()):
        check_close(computed(model, graphs.arrays), computed(same, graphs.arrays), 1e-5)
    return counts


@pytest.mark.parametrize(("kind", "at", "form"), list(cases()))
def test_permuted(kind, at, form):
    """Known sizes or not, whoever else reads what is around; and the node is permuted, not just left alone."""
    for options in ATTRIBUTES.get(kind, [{}]):
        done = 0
        for is_known in (True, False):
            graphs = Graphs(kind)
            for perm in PERMS:
                for around in AROUND:
                    graphs.add(perm, at, form, is_known, around, options)
            done += check(graphs)["nodes"]
        roles = inputs(kind)
        if form == "input" and roles[at] in (Role.AXES, Role.PER_AXIS):
            assert not done
        elif options.get("keep_dims", True) or form == "input" or roles[at] not in HAVING_AXES:
            assert done


def added(x, value):
    """Data with channels last beside something else, with channels first in the end."""
    return transpose(ops.add(transpose(x, 0, 2, 3, 1), value), 0, 3, 1, 2)


def nodes_moved(build, *shape):
    """The model after its transposes moved, and how many nodes are permuted."""
    model, counts = apply(move_transposes, build, shape)
    return model, counts["nodes"]


def test_a_large_constant_stays(monkeypatch):
    """What reads it is computed as it was, and transposed for the sum."""
    constant = random(1, 4, 5, 3)
    for most, nodes in ((60, 2), (59, 1)):
        monkeypatch.setattr(permutable, "MAX_CONSTANT_ELEMENTS", most)
        assert nodes_moved(lambda x: added(x, ops.relu(ops.constant(constant))), 2, 3, 4, 5)[1] == nodes


@pytest.mark.parametrize("shape", [(3,), (1, 3, 1, 1), (1, 1, 1, 3)])
def test_slopes_of_an_axis_stay(shape):
    def build(x):
        return transpose(ops.prelu(transpose(x, 0, 2, 3, 1), random(*shape)), 0, 3, 1, 2)

    assert nodes_moved(build, 2, 3, 3, 3)[1] == 0


def test_a_shared_constant_is_permuted_once():
    """Two nodes read one constant then, as before, and a third one the original."""

    def build(x):
        constant = ops.constant(random(1, 5, 5, 3))
        bounds = [[np.array([number]) for number in numbers] for numbers in ((0, 4, 1, 1), (1, 5, 1, 1))]
        sums = [added(x, ops.slice(constant, *item)) for item in bounds]
        return [*sums, ops.cum_sum(constant, np.array(1))]

    model, done = nodes_moved(build, 1, 3, 4, 5)
    shapes = [node.output(0).shape for node in model.get_ops() if node.get_type_name() == "Constant"]
    assert done == 4
    assert sorted(list(shape) for shape in shapes if len(shape) == 4) == [[1, 3, 5, 5], [1, 5, 5, 3]]


@pytest.mark.parametrize(
    "kind", ["boolean", "i8", "u8", "i16", "i32", "i64", "u64", "f16", "bf16", "f64", "f8e4m3", "u4", "i4"]
)
def test_constants_of_every_type(kind):
    numbers = np.arange(60).reshape(1, 4, 5, 3) % 5 % (2 if kind == "boolean" else 8)

    def build(x):
        return added(x, ops.convert(ops.constant(numbers, getattr(Type, kind)), "f32"))

    # OpenVINO hands out two elements of four bits as one
    assert nodes_moved(build, 2, 3, 4, 5)[1] == (1 if kind in ("u4", "i4") else 2)
