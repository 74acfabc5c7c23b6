"""An `inference.yml` as PaddleDetection writes it, for tests of commands that read one."""

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
