"""Short Fourier transforms become products of the frequencies that are used, and stay where that would take longer."""

import numpy as np
import pytest
from openvino import Type, opset16 as ops

from paddle2ov import convert
from paddle2ov.passes import Graph
from paddle2ov.passes.fourier.transforms_to_products import transforms_to_products
from paddle2ov.program.budget import COPIES, LIMITS, Budget, Limit, charging
from tests.support.models import network
from tests.support.passes_checks import apply, compare, kinds, model_of

FFTS = ("RDFT", "IRDFT", "DFT", "IDFT")
ONE = {"transforms": 1}


def part(x, i):
    return ops.gather(x, np.array(i), np.array(-1))


def pairs(real, imaginary):
    return ops.concat([ops.unsqueeze(half, np.array([-1])) for half in (real, imaginary)], -1)


def cut(x, start, stop, axes, step=1):
    return ops.slice(x, *(np.array([item] * len(axes)) for item in (start, stop, step)), np.array(axes))


def transform(kind, axes, *size):
    """A transform that uses all frequencies."""
    return lambda x: ops.relu(getattr(ops, kind)(x, np.array(axes), *map(np.array, size)))


def part_of_transform(kind, axes, *size):
    """All but the first elements along the first axis; one back to real numbers, of a spectrum that ends in 0."""

    def build(x):
        rank = len(x.get_output_partial_shape(0)) - (kind != "rdft")
        axis = axes[0] % rank
        if kind == "irdft":
            end = np.array([int(i == axis) for i in range(rank)])
            x = pairs(*(ops.pad(part(x, i), 0 * end, end, "constant") for i in (0, 1)))
            return transform(kind, axes, *size)(x)
        return ops.relu(cut(getattr(ops, kind)(x, np.array(axes), *map(np.array, size)), 1, 2**31 - 1, [axis]))

    return build


@pytest.mark.parametrize(
    ("kind", "dims", "axes"),
    [
        ("rdft", [3, 8], [1]),
        ("rdft", [8], [0]),
        ("rdft", [2, 9, 3], [-2]),
        ("rdft", [2, 2], [1]),
        ("rdft", [2, 5, 8], [1, 2]),
        ("rdft", [2, 4, 5, 6, 3], [1, 2, 3]),
        ("rdft", [2, 3, 4, 5], [2, 1, 3]),  # the last one of them is that of real numbers
        ("rdft", [-1, -1, 4, 6], [2, 3]),
        ("dft", [3, 8, 2], [1]),
        ("dft", [2, 5, 4, 2], [2, 1]),
        ("dft", [-1, 3, 4, 5, 2], [1, 2]),
        ("idft", [3, 7, 2], [-1]),
        ("idft", [2, 3, 4, 5, 2], [1, 2, 3]),
        ("irdft", [3, 5, 2], [1]),
        ("irdft", [2, 4, 5, 2], [1, 2]),
        ("irdft", [-1, 3, 4, 5, 3, 2], [1, 2, 3]),
    ],
)
def test_transforms(kind, dims, axes):
    model = compare(transforms_to_products, part_of_transform(kind, axes), dims, sites=ONE)
    left = kinds(model)
    assert not [name for name in FFTS if left[name]]
    assert left["MatMul"] == len(axes)
    assert left["Transpose"] <= (2 if kind in ("dft", "idft") else 1)


@pytest.mark.parametrize(
    ("kind", "dims", "axes"), [("rdft", [3, 8], [0, 1]), ("dft", [3, 8, 2], [1]), ("irdft", [3, 5, 2], [1])]
)
def test_a_whole_spectrum_stays(kind, dims, axes):
    """In bfloat16, products would round what is made of a signal, as the small frequencies of speech."""
    graph = Graph(model_of(transform(kind, axes), dims))
    assert transforms_to_products(graph) == {"transforms": 0}
    assert graph.match_failures == {"transforms_to_products": {"all frequencies are used": 1}}


@pytest.mark.parametrize("size", [7, 8])
def test_a_spectrum_of_odd_and_even_sizes(size):
    """The element that stands for n / 2 is there for even sizes only."""
    build = part_of_transform("irdft", [0, 1], [5, size])
    compare(transforms_to_products, build, [4, size // 2 + 1, 2], sites=ONE)


def test_what_is_real_stays_real():
    """Sines of half turns are exactly 0: so are the parts of a spectrum that are 0 for any signal."""
    model = model_of(part_of_transform("rdft", [0]), [8])
    assert transforms_to_products(Graph(model)) == ONE
    (matrix,) = (node.get_data() for node in model.get_ops() if list(node.get_output_shape(0)) == [8, 8])
    assert [bool(row.any()) for row in matrix] == [True] * 7 + [False]  # four real parts, and the imaginary ones


def chosen(x):
    """What a neural operator reads: the zero frequency in the middle, some around it, and both parts."""
    spectrum = ops.multiply(ops.rdft(x, np.array([2, 3])), np.float32(0.25))
    halves = [ops.roll(part(spectrum, i), np.array([4]), np.array([2])) for i in (0, 1)]
    return [ops.relu(cut(half, 2, 6, [2, 3])) for half in halves]


def corners(x):
    """What another one reads: two corners of the spectrum."""
    spectrum = ops.rdft(x, np.array([2, 3]))
    halves = [part(spectrum, i) for i in (0, 1)]
    low = [ops.relu(cut(cut(half, 0, 3, [2]), 0, 4, [3])) for half in halves]
    return [*low, *(ops.relu(cut(cut(half, -2, 9, [2]), 0, 4, [3])) for half in halves)]


@pytest.mark.parametrize(
    ("build", "matrices"),
    [(chosen, {(8, 12), (8, 16)}), (corners, {(8, 12), (10, 16)})],
)
@pytest.mark.parametrize("batch", [2, -1])
def test_only_frequencies_that_are_read(build, matrices, batch):
    model, counts = apply(transforms_to_products, build, [batch, 3, 8, 12])
    assert counts == ONE
    shapes = [
        node.input_value(i).get_partial_shape()
        for node in model.get_ops()
        if node.get_type_name() == "MatMul"
        for i in (0, 1)
    ]
    assert {tuple(shape.to_shape()) for shape in shapes if shape.is_static and len(shape) == 2} == matrices
    assert not {"Roll", "Transpose", "Multiply"} & {*kinds(model)}


@pytest.mark.parametrize("step", [1, 2, -1])
def test_slices_in_steps(step):
    bounds = (1, 6) if step > 0 else (5, -9)

    def build(x):
        return ops.relu(cut(part(ops.rdft(x, np.array([1])), 1), *bounds, [1], step))

    assert apply(transforms_to_products, build, [3, 14])[1] == ONE


def test_a_spectrum_that_something_else_reads_too():
    def build(x):
        spectrum = cut(ops.dft(x, np.array([1])), 1, 5, [1])
        return [ops.relu(spectrum), ops.relu(cut(part(spectrum, 0), 0, 2, [1])), part(spectrum, 1)]

    model, counts = apply(transforms_to_products, build, [3, 6, 2])
    assert counts == ONE
    assert kinds(model)["DFT"] == 0


def zeros(*shape):
    return ops.broadcast(np.float32(0), np.array(shape))


def scattered(x, y):
    """The parts are put in the middle of zeros, and rolled."""
    bounds = [np.array(item) for item in ([2, 0], [-2, 3], [1, 1], [2, 3])]
    nothing = zeros(2, 3, 8, 7)
    halves = [
        ops.roll(ops.slice_scatter(target, half, *bounds), np.array([4]), np.array([2]))
        for target, half in ((nothing, x), (ops.multiply(nothing, np.float32(0)), y))
    ]
    return ops.multiply(ops.irdft(pairs(*halves), np.array([2, 3]), np.array([8, 12])), np.float32(3))


def joined(x, y):
    """The parts are joined with zeros on both axes."""

    def whole(half):
        rows = ops.concat([cut(half, 0, 2, [2]), zeros(2, 3, 4, 3), cut(half, 2, 4, [2])], 2)
        return ops.concat([rows, zeros(2, 3, 8, 4)], 3)

    return ops.irdft(pairs(whole(x), whole(y)), np.array([2, 3]), np.array([8, 12]))


def broadcast(x, y):
    """Complex numbers are made of the parts, each of the shape of both, and rolled."""
    padded = [ops.pad(half, np.array([0, 0, 2, 0]), np.array([0, 0, 2, 4]), "constant") for half in (x, y)]
    whole = [
        ops.broadcast(half, ops.shape_of(other), broadcast_spec="BIDIRECTIONAL")
        for half, other in (padded, padded[::-1])
    ]
    halves = [ops.roll(half, np.array([4]), np.array([2])) for half in whole]
    return ops.irdft(pairs(*halves), np.array([2, 3]), np.array([8, 12]))


@pytest.mark.parametrize("build", [scattered, joined, broadcast])
def test_only_frequencies_that_are_not_zero(build):
    model, counts = apply(transforms_to_products, build, [2, 3, 4, 3], [2, 3, 4, 3])
    assert counts == ONE
    left = kinds(model)
    assert not {"Roll", "SliceScatter", "Pad", "Transpose"} & {*left}
    assert left["Broadcast"] == (2 if build is broadcast else 0)
    matrices = [node for node in model.get_ops() if node.get_type_name() == "Constant" and node.get_byte_size() > 100]
    assert {tuple(node.get_output_shape(0)) for node in matrices} == {(16, 8), (12, 6)}
    assert left["MatMul"] == 2


def test_parts_of_different_frequencies():
    """One part has fewer elements than the other: both are whole."""

    def build(x, y):
        halves = pairs(ops.concat([x, zeros(2, 3)], 1), ops.concat([zeros(2, 3), y], 1))
        return cut(ops.idft(halves, np.array([1])), 0, 5, [1])

    model, counts = apply(transforms_to_products, build, [2, 3], [2, 3])
    assert counts == ONE
    assert kinds(model)["Broadcast"] == 2


def test_no_zeros():
    """NaN is no number that makes zeros of zeros, and ones are none."""

    def build(x, y):
        halves = [
            ops.concat([half, ops.multiply(zeros(2, 3), np.float32(factor))], 1)
            for half, factor in ((x, np.nan), (y, 1))
        ]
        ones = ops.concat([x, ops.broadcast(np.float32(1), np.array([2, 3]))], 1)
        spectra = pairs(*halves), pairs(ones, ones)
        return [cut(ops.idft(spectrum, np.array([1])), 0, 5, [1]) for spectrum in spectra]

    model, counts = apply(transforms_to_products, build, [2, 3], [2, 3])
    assert counts == {"transforms": 2}
    assert kinds(model)["Concat"] >= 4


@pytest.mark.parametrize(
    ("build", "dims", "reason"),
    [
        (transform("rdft", [1]), [3, -1], "a size is 0, or not known"),
        (transform("rdft", [1]), [3, 8, -1], "a size is 0, or not known"),
        (part_of_transform("rdft", [1]), [3, 8, 0], "a size is 0, or not known"),
        (transform("rdft", [0, 2]), [4, 3, 8], "the axes are not in a row"),
        (transform("rdft", [2, 1]), [4, 3, 8], "the axis of real numbers is not the last one"),
        (transform("rdft", [1], [6]), [3, 8], "the signal is cut or padded"),
        (transform("rdft", [1], [9]), [3, 8], "the signal is cut or padded"),
        (transform("irdft", [1], [14]), [3, 5, 2], "the signal is cut or padded"),
        (part_of_transform("rdft", [1]), [3, 512], "there are many frequencies, of a power of two"),
        (part_of_transform("dft", [1]), [3, 256, 2], "there are many frequencies, of a power of two"),
        (part_of_transform("rdft", [1]), [3, 1000], "the matrix would be large"),
        (transform("rdft", [1]), [3, 2**30], "the matrix would be large"),
    ],
)
def test_what_stays(build, dims, reason):
    graph = Graph(model_of(build, dims))
    assert transforms_to_products(graph) == {"transforms": 0}
    assert graph.match_failures == {"transforms_to_products": {reason: 1}}


def test_an_infinite_factor_stays():
    """In a matrix it would make NaN of its zeros."""

    def build(x):
        return ops.relu(cut(ops.multiply(ops.rdft(x, np.array([1])), np.float32(np.inf)), 1, 3, [1]))

    assert apply(transforms_to_products, build, [3, 8])[1] == {"transforms": 0}


def padded(x):
    """Nothing is rolled, and put among zeros."""
    half = ops.pad(ops.roll(x, np.array([1]), np.array([1])), np.array([0, 2]), np.array([0, 3]), "constant")
    return cut(ops.idft(pairs(half, half), np.array([1])), 0, 4, [1])


def test_a_spectrum_of_no_elements_that_are_not_zero():
    assert apply(transforms_to_products, padded, [3, 0])[1] == ONE


def test_a_part_of_unknown_sizes_stays_among_its_zeros():
    def build(x):
        bounds = [np.array(item) for item in ([2, 0], [-2, 3], [1, 1], [1, 2])]
        half = ops.slice_scatter(zeros(3, 8, 5), x, *bounds)
        return ops.irdft(pairs(half, half), np.array([1, 2]), np.array([8, 8]))

    assert apply(transforms_to_products, build, [-1, -1, -1], shapes=[[3, 4, 3]])[1] == {"transforms": 0}


def test_zeros_that_are_multiplied_by_themselves():
    """Each product reads the one before twice."""

    def build(x, y):
        for _ in range(60):
            y = ops.multiply(y, y)
        half = ops.concat([x, y], 1)
        return cut(ops.idft(pairs(half, half), np.array([1])), 0, 5, [1])

    assert transforms_to_products(Graph(model_of(build, [2, 3], [2, 3]))) == ONE


def test_many_rolls():
    """They are no deeper a recursion for it."""

    def build(x):
        half = x
        for _ in range(2000):
            half = ops.roll(half, np.array([1]), np.array([1]))
        return cut(ops.idft(pairs(half, half), np.array([1])), 0, 5, [1])

    assert transforms_to_products(Graph(model_of(build, [2, 6]))) == ONE


def test_a_spectrum_of_which_many_parts_are_read():
    """What they hold is not listed."""

    def build(x):
        spectrum = cut(ops.dft(x, np.array([1])), 0, 5, [1])
        return [ops.relu(cut(spectrum, i % 5, 5, [1])) for i in range(100)]

    assert transforms_to_products(Graph(model_of(build, [2, 6, 2]))) == {"transforms": 0}


def test_matrices_take_no_more_memory_than_a_program_may(monkeypatch):
    model = model_of(lambda x: [part_of_transform("rdft", [1])(x) for _ in range(3)], [2, 500])
    monkeypatch.setitem(LIMITS, COPIES, Limit(5 << 20, 0, "operators"))
    graph = Graph(model)
    with charging(Budget()):
        assert transforms_to_products(graph) == {"transforms": 2}
    reason = "the matrices of all transforms would take too much memory"
    assert graph.match_failures == {"transforms_to_products": {reason: 1}}


@pytest.mark.parametrize("size", [256, 500])
def test_the_longest(size):
    assert apply(transforms_to_products, part_of_transform("rdft", [1]), [2, size], tolerance=1e-4)[1] == ONE


def test_few_of_many_frequencies():
    """A matrix of few frequencies is small, whatever the size."""

    def build(x):
        return ops.relu(cut(part(ops.rdft(x, np.array([1])), 0), 0, 9, [1]))

    model, counts = apply(transforms_to_products, build, [2, 2048], tolerance=1e-3)
    assert counts == ONE
    assert kinds(model)["RDFT"] == 0


def test_other_types_stay():
    model = model_of(part_of_transform("rdft", [1]), [2, 8], types=[Type.f16])
    assert transforms_to_products(Graph(model)) == {"transforms": 0}


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("fourier_neural_operator", "pir"),
        ("tensorized_fourier_operator", "pir"),
        ("tensorized_fourier_operator", "legacy"),
    ],
)
def test_networks_that_multiply_spectra(name, format):
    """Their results are those of Paddle (`tests/translation/test_networks.py`); no frequency is computed in vain."""
    left = kinds(convert(network(name, format)))
    assert not [kind for kind in (*FFTS, "Roll", "SliceScatter", "Pad") if left[kind]]
