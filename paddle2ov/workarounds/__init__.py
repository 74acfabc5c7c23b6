"""What OpenVINO computes wrongly is kept out of a graph, for a target.

`table.py` lists the workarounds, a row each: a finder, which knows where a transformation of OpenVINO goes wrong, and a
remedy. Finders are grouped by the transformation at fault, remedies stand in `remedies.py`.
"""

from paddle2ov.workarounds.applying import apply, made_for, mismatch, rewrites_for, stamp
from paddle2ov.workarounds.target import Target

__all__ = ["Target", "apply", "made_for", "mismatch", "rewrites_for", "stamp"]
