"""A layer with random weights, ready for export, and what it is given: one module for each repository.

Each does what the export of the repository does, and takes the architecture from PaddleX's configuration.
"""

from tools.paddlex_campaign.exporters.clas import export_clas
from tools.paddlex_campaign.exporters.detection import export_detection
from tools.paddlex_campaign.exporters.ocr import export_ocr
from tools.paddlex_campaign.exporters.seg import export_seg
from tools.paddlex_campaign.exporters.ts import export_ts
from tools.paddlex_campaign.exporters.types import Exporter

EXPORTERS: dict[str, Exporter] = {
    "PaddleClas": export_clas,
    "PaddleDetection": export_detection,
    "PaddleOCR": export_ocr,
    "PaddleSeg": export_seg,
    "PaddleTS": export_ts,
}
