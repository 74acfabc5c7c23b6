"""The folder for model servers: what OpenVINO Model Server and Triton's OpenVINO backend read."""

import json
from pathlib import Path

import numpy as np
import openvino
import pytest
from google.protobuf import text_format

from paddle2ov.deployment.serving import triton_config, write_layout
from paddle2ov.errors import ConversionInputError
from paddle2ov.graph.opset import ops
from tests.support.command_line import call
from tests.support.models import operator


def model(name="x", kind=np.float32, shape=(-1, 3)):
    x = ops.parameter(list(shape), kind, name=name)
    x.output(0).set_names({name})
    total = ops.reduce_sum(x, np.arange(len(shape)), keep_dims=False)
    total.output(0).set_names({"total"})
    return openvino.Model([total], [x], "m")


def save(model, path):
    openvino.save_model(model, path)


def parsed(text):
    """config.pbtxt as Triton's own message."""
    messages = pytest.importorskip("tritonclient.grpc.model_config_pb2", reason="pip install 'tritonclient[grpc]'")
    return messages, text_format.Parse(text, messages.ModelConfig())


def test_triton():
    text = triton_config(model('strange "name"\n\\', np.uint8, (-1, 3, 8)), "m")
    messages, config = parsed(text)
    assert (config.name, config.backend, config.max_batch_size) == ("m", "openvino", 0)
    assert config.default_model_filename == "model.xml"
    (port,) = config.input
    assert (port.name, port.data_type, list(port.dims)) == ('strange "name"\n\\', messages.TYPE_UINT8, [-1, 3, 8])
    (result,) = config.output
    assert (result.name, result.data_type, list(result.dims)) == ("total", messages.TYPE_UINT8, [1])
    assert result.HasField("reshape")
    assert list(result.reshape.shape) == []


@pytest.mark.parametrize("kind", ["f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "boolean"])
def test_types(kind):
    x = ops.parameter([2], getattr(openvino.Type, kind), name="x")
    x.output(0).set_names({"x"})
    messages, config = parsed(triton_config(openvino.Model([x], [x], "m"), "m"))
    word = {"f": "FP", "i": "INT", "u": "UINT", "b": "BOOL"}[kind[0]] + ("" if kind == "boolean" else kind[1:])
    assert config.input[0].data_type == getattr(messages, f"TYPE_{word}")


def test_layout(tmp_path):
    folder = tmp_path / "served"
    written = write_layout(model(), folder, "one", save)
    assert written == folder / "one" / "1" / "model.xml"
    write_layout(model(shape=(2, 2)), folder, "two", save)
    write_layout(model(shape=(4, 4)), folder, "one", save)  # replaced
    write_layout(model(), folder, "one", save, version=2)
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        "config.json",
        "one/1/model.bin",
        "one/1/model.xml",
        "one/2/model.bin",
        "one/2/model.xml",
        "one/config.pbtxt",
        "two/1/model.bin",
        "two/1/model.xml",
        "two/config.pbtxt",
    ]
    served = json.loads((folder / "config.json").read_text())["model_config_list"]
    assert {item["config"]["name"]: item["config"]["base_path"] for item in served} == {
        "one": "one",  # OpenVINO Model Server takes it from config.json's own folder
        "two": "two",
    }
    assert openvino.Core().read_model(folder / "one" / "1" / "model.xml").inputs[0].get_shape() == [4, 4]


def test_what_is_not_ours_in_config_json_stays(tmp_path):
    mine = {
        "model_config_list": [
            {"config": {"name": "m", "base_path": "elsewhere", "nireq": 4, "plugin_config": {"NUM_STREAMS": "2"}}},
            {"config": {"name": "other", "base_path": "s3://bucket/other", "target_device": "GPU"}},
        ],
        "mediapipe_config_list": [{"name": "pipeline", "base_path": "pipeline/"}],
        "monitoring": {"metrics": {"enable": True}},
    }
    path = tmp_path / "config.json"
    path.write_text(json.dumps(mine))
    write_layout(model(), tmp_path, "m", save)
    config = json.loads(path.read_text())
    mine["model_config_list"][0]["config"]["base_path"] = "m"
    assert config == mine
    path.write_text(json.dumps({"mediapipe_config_list": []}))
    write_layout(model(), tmp_path, "m", save)
    assert json.loads(path.read_text()) == {
        "mediapipe_config_list": [],
        "model_config_list": [{"config": {"name": "m", "base_path": "m"}}],
    }


MINE = """
# four at a time
instance_group [ { count: 4, kind: KIND_CPU } ] # on two sockets
parameters: { key: "NUM_STREAMS" value: { string_value: "a } # b" } }
version_policy { all { } }
"""


def test_what_is_not_ours_in_config_pbtxt_stays(tmp_path):
    write_layout(model(), tmp_path, "m", save)
    path = tmp_path / "m" / "config.pbtxt"
    plain = path.read_text()
    path.write_text(plain.replace("output {", 'output {\n  label_filename: "labels.txt"') + MINE)
    for shape in ((-1, 3), (2, 2), (-1, 3)):
        write_layout(model(shape=shape), tmp_path, "m", save)
    text = path.read_text()
    for line in ("# four at a time", "# on two sockets", *MINE.strip().splitlines()[2:]):
        assert text.count(line) == 1
    messages, config = parsed(text)
    assert [(item.count, item.kind) for item in config.instance_group] == [(4, messages.ModelInstanceGroup.KIND_CPU)]
    assert config.parameters["NUM_STREAMS"].string_value == "a } # b"
    assert [(item.name, item.label_filename) for item in config.output] == [("total", "labels.txt")]
    assert [list(item.dims) for item in config.input] == [[-1, 3]]


@pytest.mark.parametrize("text", ["name: {", 'name: "m', "3: 4", "name:", "input { 3 }", "input [ { ] }", "a { ] }"])
def test_a_config_pbtxt_of_another_kind(tmp_path, text):
    (tmp_path / "m").mkdir()
    path = tmp_path / "m" / "config.pbtxt"
    path.write_text(text)
    with pytest.raises(ConversionInputError, match="is there already, and not a configuration of Triton"):
        write_layout(model(), tmp_path, "m", save)
    assert path.read_text() == text
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["config.pbtxt"]


def test_what_cannot_be_served(tmp_path):
    for name in ("", "..", "a/b", "a b"):
        with pytest.raises(ConversionInputError, match="is called by"):
            write_layout(model(), tmp_path, name, save)
    with pytest.raises(ConversionInputError, match="a version is 1 or more"):
        write_layout(model(), tmp_path, "m", save, version=0)
    x = ops.parameter(openvino.PartialShape.dynamic(), np.float32, name="x")
    x.output(0).set_names({"x"})
    with pytest.raises(ConversionInputError, match="the rank of 'x' is not known"):
        write_layout(openvino.Model([x], [x], "m"), tmp_path, "m", save)
    for text in ("[]", "{", "", '{"a": 1}', '{"model_config_list": 3}', '{"model_config_list": [3]}'):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(ConversionInputError, match="is there already"):
            write_layout(model(), tmp_path, "m", save)
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]  # nothing else was written


def test_a_failure_leaves_the_version_that_was_there(tmp_path):
    write_layout(model(), tmp_path, "m", save)

    def fails(model, path):
        path.write_text("half")
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        write_layout(model(), tmp_path, "m", fails)
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == ["1", "config.pbtxt"]
    openvino.Core().read_model(tmp_path / "m" / "1" / "model.xml")


def test_command_line(tmp_path, monkeypatch):
    source = operator("relu")
    monkeypatch.chdir(tmp_path)
    for name in ("relu.xml", "other"):
        result = call(source, "-o", name, "--serve-layout", "served")
        assert result.exit_code == 0, result.output
    assert result.output == f"{Path('served/other/1/model.xml')}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["served"]  # and no second copy
    assert (tmp_path / "served" / "relu" / "1" / "model.xml").is_file()
    result = call(source, "-o", "elsewhere/relu.xml", "--serve-layout", "served")
    assert result.exit_code == 2
    assert "with --serve-layout, -o is the model's name there, such as relu" in result.output
    result = call(source, "--bounded", "-o", tmp_path / "bounded.xml")
    assert result.exit_code == 2
    assert "holds no settings of the model" in result.output
