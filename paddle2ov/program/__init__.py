"""What a Paddle program is, and the readers that make one from either file format."""

from __future__ import annotations
