"""What rewrites and workarounds are for, in the words of their docstrings."""

from __future__ import annotations

from paddle2ov.passes import REWRITES
from paddle2ov.report import ConversionReport
from paddle2ov.workarounds.table import AFTER_CALIBRATION, WORKAROUNDS


def meanings(conversion: ConversionReport) -> dict[str, str]:
    """The first line on each rewrite that did something, or looked at what it left alone."""
    texts = {rewrite.__name__: rewrite.__doc__ or "" for rewrite in REWRITES}
    texts |= {row.name: row.text for row in (*WORKAROUNDS, *AFTER_CALIBRATION)}
    done = [name for name, counts in conversion.rewrites.items() if any(counts.values())]
    names = dict.fromkeys([*done, *conversion.match_failures])
    return {name: texts.get(name, "").strip().partition("\n")[0] for name in names}
