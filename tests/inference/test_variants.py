"""Arrays of other shapes than the program declares: it is compiled for them, and a few such models are kept."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import paddle
import pytest

from paddle2ov import ConversionInputError, ModelReadError
from paddle2ov.inference import Config, create_predictor, variants
from tests.inference.small_models import doubled, saved


class Heights(paddle.nn.Layer):
    """As a recogniser: nothing needs the height that it declares."""

    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(3, 2)

    def forward(self, x):
        return self.linear(x.mean(2).transpose([0, 2, 1])) + paddle.shape(x)[2].astype("float32")


@pytest.fixture(scope="module")
def layer():
    paddle.disable_static()
    return Heights()


@pytest.fixture
def folder(layer, tmp_path):
    return saved(tmp_path, layer, "float32", [-1, 3, 48, -1])


def picture(*shape):
    return np.random.default_rng(0).random(shape, np.float32)


def expected(layer, x):
    return layer(paddle.to_tensor(x)).numpy()


@pytest.fixture
def made(monkeypatch):
    """The shapes that a program was compiled for."""
    made = []
    kept_or_made = variants.Variants._kept_or_made

    def noting(self, key, shapes, expected):
        made.extend([shapes] if key not in self._kept else [])
        return kept_or_made(self, key, shapes, expected)

    monkeypatch.setattr(variants.Variants, "_kept_or_made", noting)
    return made


def test_sizes_that_the_program_does_not_declare(folder, layer, made):
    predictor = create_predictor(Config(folder))
    x, result = predictor.get_input_handle("x"), predictor.get_output_handle(predictor.get_output_names()[0])
    for height, width in ((32, 8), (32, 16), (48, 8), (32, 8), (24, 8), (16, 8), (48, 16)):
        array = picture(1, 3, height, width)
        x.copy_from_cpu(array)
        assert predictor.run() is None
        np.testing.assert_allclose(result.copy_to_cpu(), expected(layer, array), rtol=1e-5)
        np.testing.assert_allclose(predictor.clone().run([array])[0], expected(layer, array), rtol=1e-5)
    assert made == [{"x": [-1, 3, 32, -1]}, {"x": [-1, 3, -1, -1]}]  # two heights, then any
    assert predictor.get_input_tensor_shape() == {"x": [-1, 3, 48, -1]}


def test_what_cannot_be_computed_is_refused_once(folder, layer, made):
    predictor = create_predictor(Config(folder))
    for array in (picture(1, 4, 32, 8), picture(1, 4, 32, 8), picture(3, 48, 8)):
        message = r"'x' takes \[\?,3,48,\?\], the array is \[.*\], with which the program cannot be computed: "
        with pytest.raises(ConversionInputError, match=message):
            predictor.run([array])
        with pytest.raises(ConversionInputError, match="no run, or the last one failed"):
            predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    array = picture(1, 3, 48, 8)
    np.testing.assert_allclose(predictor.run([array])[0], expected(layer, array), rtol=1e-5)
    assert len(predictor._variants._refused) == 2


def test_few_models_are_kept(made, tmp_path, monkeypatch):
    monkeypatch.setattr(variants, "MAX_VARIANTS", 2)
    predictor = create_predictor(Config(saved(tmp_path, doubled, "float32")))
    for rank in (1, 3, 4, 3, 1):
        x = picture(*[2] * rank)
        np.testing.assert_array_equal(predictor.run([x])[0], x + x)
    assert len(predictor._variants._kept) == 2
    assert [len(shapes["x"]) for shapes in made] == [1, 3, 4, 1]


def test_threads_share_a_model_for_other_sizes(folder, layer, made):
    predictor = create_predictor(Config(folder))
    arrays = [picture(1, 3, 48 if i % 3 else 32, 8 + i % 4) for i in range(24)]
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda array: predictor.run([array])[0], arrays))
    for array, result in zip(arrays, results, strict=True):
        np.testing.assert_allclose(result, expected(layer, array), rtol=1e-5)
    assert made == [{"x": [-1, 3, 32, -1]}]


def test_shapes_are_set_before(folder, layer, made, tmp_path):
    config = Config(folder)
    config.set_optim_cache_dir(tmp_path / "cache")
    config.set_openvino_shapes({"x": [1, 3, -1, 8]})
    for predictor in (create_predictor(config), create_predictor(Config(config))):
        assert predictor.get_input_tensor_shape() == {"x": [1, 3, -1, 8]}
        for shape in ((1, 3, 32, 8), (1, 3, 40, 8)):
            array = picture(*shape)
            np.testing.assert_allclose(predictor.run([array])[0], expected(layer, array), rtol=1e-5)
    assert made == []
    array = picture(2, 3, 32, 8)
    np.testing.assert_allclose(predictor.run([array])[0], expected(layer, array), rtol=1e-5)
    for wrong in (5, [1, 3], {1: [1]}, {"x": "a"}):
        with pytest.raises(ConversionInputError):
            config.set_openvino_shapes(wrong)
    config.set_openvino_shapes({"y": [1]})
    with pytest.raises(ConversionInputError, match="the program has no 'y'"):
        create_predictor(config)


def test_files_that_have_changed_are_not_mixed(folder, layer):
    predictor = create_predictor(Config(folder))
    in_memory = Config()
    contents = [(folder / f"inference.{suffix}").read_bytes() for suffix in ("json", "pdiparams")]
    in_memory.set_model_buffer(contents[0], len(contents[0]), contents[1], len(contents[1]))
    kept = create_predictor(in_memory)
    (folder / "inference.pdiparams").write_bytes(contents[1])
    array = picture(1, 3, 48, 8)
    np.testing.assert_allclose(predictor.run([array])[0], expected(layer, array), rtol=1e-5)
    array = picture(1, 3, 32, 8)
    with pytest.raises(ModelReadError, match=r"have changed since the predictor was made.*set_openvino_shapes"):
        predictor.run([array])
    np.testing.assert_allclose(kept.run([array])[0], expected(layer, array), rtol=1e-5)
