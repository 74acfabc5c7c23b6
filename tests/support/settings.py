"""An `inference.yml` as PaddleDetection writes it, for tests that read one."""

import shutil
from contextlib import contextmanager

SETTINGS = """
Preprocess:
- interp: 2
  keep_ratio: false
  target_size: [64, 64]
  type: Resize
- is_scale: true
  mean: [0.485, 0.456, 0.406]
  std: [0.229, 0.224, 0.225]
  type: NormalizeImage
- type: Permute
"""


def with_settings(model, folder, text=SETTINGS):
    """A folder with the files of a model, and settings beside them."""
    shutil.copytree(model, folder, dirs_exist_ok=True)
    (folder / "inference.yml").write_text(text)
    return folder


@contextmanager
def beside(folder, text, file="inference.yml"):
    """The folder of a model, with settings in a file of it, which is taken away afterwards."""
    path = folder / file
    path.write_text(text)
    try:
        yield folder
    finally:
        path.unlink(missing_ok=True)
