"""The tables of docs/serving.md are what Paddle and the drop-in do, and neither computes another result."""

import re

import numpy as np
import paddle
import pytest

import paddle2ov.inference
from paddle2ov import Paddle2OVError
from tests.inference import beside_paddle
from tests.inference.small_models import doubled, ours, saved, theirs

CALLS = """
p.get_input_names()
p.get_input_handle("nope")
p.get_output_handle(None)
h.reshape([2, 3])
h.reshape([2, 3]); h.shape()
h.reshape(2)
h.reshape([-1, 3]); h.copy_from_cpu(A); p.run(); o.copy_to_cpu()
h.reshape([3, 2]); h.copy_from_cpu(A); h.shape()
h.copy_to_cpu()
o.copy_to_cpu()
o.type()
o.lod()
h.type()
h.copy_from_cpu(A)
h.copy_from_cpu(A); h.copy_to_cpu()
h.copy_from_cpu(None)
h.copy_from_cpu(A); p.run()
h.copy_from_cpu(A); p.run(); p.run(); o.copy_to_cpu()
h.copy_from_cpu(A); A.fill(7); p.run(); o.copy_to_cpu()
h.copy_from_cpu(A); p.run(); h.copy_from_cpu(A + 1); o.copy_to_cpu()
h.copy_from_cpu(A); p.run(); a = o.copy_to_cpu(); h.copy_from_cpu(A + 1); p.run(); a
h.copy_from_cpu(A); p.run(); o.shape()
h.copy_from_cpu(A); p.run(); o.copy_from_cpu(A)
h.copy_from_cpu(A); p.run(); o.reshape([6])
h.copy_from_cpu(A); h.reshape([3, 2]); p.run(); o.copy_to_cpu()
h.copy_from_cpu(A); h.reshape([3, 3]); p.run()
h.copy_from_cpu(A); h.reshape([3, 3]); h.copy_to_cpu()
h.copy_from_cpu(A); h.reshape([3, 3]); h.shape()
h.copy_from_cpu(A[:, ::-1]); p.run(); o.copy_to_cpu()
h.set_lod([[0, 2]]); h.lod()
h.copy_from_cpu(A); h.set_lod([[0, 2]]); p.run(); o.copy_to_cpu()
h.set_lod(None)
h.share_external_data(T)
h.share_external_data(None)
h.share_external_data_by_ptr_name("x", [2, 3], 1, 0)
p.run([])
p.run([T])[0].numpy()
p.run((T,))[0].numpy()
p.run(inputs=[T])[0].numpy()
p.run([T, T])
p.run([None])
p.run(T)
p.run([T]); o.copy_to_cpu()
p.run([T]); p.run(); o.copy_to_cpu()
p.clone().run([T])[0].numpy()
p.clone().clone().get_input_names()
h.copy_from_cpu(A); c = p.clone(); c.get_input_handle("x").copy_from_cpu(A + 1); c.run(); p.run(); o.copy_to_cpu()
p.clear_intermediate_tensor()
h.copy_from_cpu(A); p.run(); p.clear_intermediate_tensor(); p.run(); o.copy_to_cpu()
h.copy_from_cpu(A); p.run(); p.try_shrink_memory(); o.copy_to_cpu()
p.foo
M.Predictor(config()).get_input_names()
M.create_predictor()
M.create_predictor(None)
M.PredictorPool(config(), 0)
q = M.PredictorPool(config(), 2); q.retrieve(1).run([T])[0].numpy()
q = M.PredictorPool(config(), 2); q.retrieve(2)
M.get_num_bytes_of_data_type(M.DataType.INT64)
M.get_trt_compile_version()
int(M.PrecisionType.Half)
M.PrecisionType(2) == M.PrecisionType.Half
M.PrecisionType.Half == 2
M.PlaceType(1).name
M.DataType.INT32.value
[str(one) for one in (M.PrecisionType.Half, M.PlaceType.GPU, M.DataType.INT64)]
[repr(one) for one in (M.PrecisionType.Half, M.PlaceType.GPU, M.DataType.INT64)]
{name: getattr(M.XpuConfig(), name) for name in dir(M.XpuConfig()) if name[0] != "_"}
x = M.XpuConfig(); x.device_id = 3; x.device_id
c = M.Config(); c.set_prog_file("z"); (c.model_dir(), c.prog_file(), c.params_file())
c = M.Config(); c.set_model("a", "b"); (c.model_dir(), c.prog_file(), c.params_file())
c = M.Config(); c.set_model("a", ""); (c.model_dir(), c.prog_file(), c.params_file())
c = M.Config("a"); (c.model_dir(), c.prog_file(), c.params_file())
c = config(); c.set_cpu_math_library_num_threads(-1); c.cpu_math_library_num_threads()
c = config(); c.threads
c = config(); type(c.pass_builder().debug_string()).__name__
""".strip().splitlines()
ERRORS = (*beside_paddle.PADDLE_ERRORS, Paddle2OVError, AttributeError)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("declared", beside_paddle.DECLARED)
def test_types(declared):
    line = beside_paddle.types_line(declared)
    assert line in beside_paddle.written("types").splitlines()
    assert not re.search("stricter|other", line)


def test_shapes():
    table = beside_paddle.shapes_table()
    assert table == beside_paddle.written("shapes")
    assert not re.search(r"another result|computes \| refuses", table)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("doubled"), doubled, "float32")


@pytest.fixture(scope="module")
def predictors(folder):
    """One of each module, whose clones know nothing of each other."""
    return {paddle2ov.inference: ours(folder), paddle.inference: theirs(folder)}


@pytest.mark.parametrize("line", CALLS)
def test_calls(line, folder, predictors):
    """They answer the same, in this order, or are refused by both."""

    def answer(module):
        def config():
            settings = module.Config(str(folder / "inference.json"), "")
            settings.disable_glog_info()
            return settings

        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        names = {"M": module, "config": config, "A": array, "T": paddle.to_tensor(array)}
        if line[:2] in ("p.", "h.", "o."):
            names["p"] = predictor = predictors[module].clone()
            names["h"] = predictor.get_input_handle("x")
            names["o"] = predictor.get_output_handle(predictor.get_output_names()[0])
        *before, last = line.split("; ")
        try:
            for item in before:
                exec(item, names)
            value = eval(last, names)
        except ERRORS:
            return "refused"
        if isinstance(value, np.ndarray):
            return str(value.dtype), value.tolist()
        return getattr(value, "name", None) or value

    assert answer(paddle2ov.inference) == answer(paddle.inference)
