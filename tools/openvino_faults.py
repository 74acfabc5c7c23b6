"""Write docs/openvino_faults.md, OpenVINO's faults that are worked around, and the workarounds of docs/rewrites.md.

    python -m tools.openvino_faults                  # write both
    python -m tools.openvino_faults --check          # exit with 1 if one is stale
    python -m tools.openvino_faults --script NAME    # print the script of one fault, as it may be sent upstream
    python -m tools.openvino_faults --run [NAME ...] # print which faults show here, in a table (make faults)

All of it comes from the register in `tools/faults`, from the table of workarounds, and from the places that carry
`works_around`.
"""

from __future__ import annotations

import inspect
import sys

from paddle2ov.workarounds.row import ANY, Workaround
from paddle2ov.workarounds.table import AFTER_CALIBRATION, WORKAROUNDS
from tools.faults import FAULTS, OpenVINOFault, places
from tools.faults.remarks import REASONS
from tools.faults.showing import table
from tools.written import ROOT, write_or_check

TARGET = ROOT / "docs" / "openvino_faults.md"
REWRITES = ROOT / "docs" / "rewrites.md"
SECTION = "## What OpenVINO computes wrongly\n"
RELEASE = "2026.4.1"
"""The release of OpenVINO that has all of them."""

HEAD = """# Faults of OpenVINO

Written by `python -m tools.openvino_faults` from `tools/faults`, the table of workarounds and the places that carry
`works_around`; CI fails when it is stale.

{count} faults of OpenVINO's CPU plugin and of its common transformations are worked around. Each has a graph in plain
OpenVINO. `make faults` runs all of them and prints which show with the installed OpenVINO, at each level of this
processor; what works around one can go once it shows nowhere. `python -m tools.openvino_faults --script NAME` prints
one as a script of its own, which needs OpenVINO and NumPy only, and ends with an error or crashes as long as the fault
is there. What OpenVINO computes otherwise and is not worked around, such as int64 beyond 32 bits, stands in
[limits](limits.md).
"""


WORKAROUNDS_HEAD = """
Written by `python -m tools.openvino_faults` from the table of workarounds (`paddle2ov/workarounds/table.py`). They are
kept out of a graph for a target: `convert(..., device="GPU")` runs the rows of any device, `device=None`, the default,
all of them. `convert(..., without=("post_ops.along_axis_1",))` leaves one out, by its name here or by a fault's.

After what changes a graph, run them again: `Model.reshape`, OpenVINO's `PrePostProcessor`, NNCF, `Core.read_model` of a
model that another release of paddle2ov wrote.

```python
from paddle2ov import convert, workarounds

model = convert("PP-OCRv5_mobile_det_infer")
model.reshape({"x": [1, 3, 224, 224]})
workarounds.apply(model)
```
"""


def main(arguments: list[str]) -> int:
    """Write or check the page, print scripts, or run some or all."""
    names = [argument for argument in arguments if not argument.startswith("--")]
    unknown = [name for name in names if name not in FAULTS]
    if unknown:
        print(f"error: tools/faults/ has no {', '.join(unknown)}", file=sys.stderr)
        return 2
    if "--run" in arguments:
        print(table(names or sorted(FAULTS)))
        return 0
    if "--script" in arguments:
        print("".join(FAULTS[name].script() for name in names), end="")
        return 0
    before = REWRITES.read_text(encoding="utf-8").partition(SECTION)[0]
    texts = {TARGET: page(), REWRITES: before + SECTION + workarounds()}
    return write_or_check("openvino_faults", texts, arguments)


def workarounds() -> str:
    """The section of docs/rewrites.md: what each row of the table says."""
    return WORKAROUNDS_HEAD + "".join(map(_workaround, (*WORKAROUNDS, *AFTER_CALIBRATION)))


def _workaround(row: Workaround) -> str:
    until = f" Right from OpenVINO {'.'.join(map(str, row.until))} on." if row.until else ""
    where = "any device" if row.where == ANY else ", ".join(sorted(row.where))
    faults = ", ".join(f"[{name}](openvino_faults.md#{name})" for name in row.faults)
    parts = [inspect.cleandoc(row.text).replace("Given:\n    ", "Given: ").replace("Result:\n    ", "Result: ")]
    if row.remedy:
        parts.append(f"Remedy: {inspect.cleandoc(row.remedy)}")
    text = "\n\n".join(parts).replace("\n    ", "\n")
    return f"\n### {row.name}\n\n{text}\n\nOn {where}: {faults}.{until}\n"


def page() -> str:
    """The page."""
    by_fault = places()
    entries = (_entry(FAULTS[name], by_fault.get(name, [])) for name in sorted(FAULTS))
    return HEAD.format(count=len(FAULTS)) + "".join(entries) + _reasons()


def _reasons() -> str:
    """What is said of OpenVINO elsewhere in the sources."""
    lines = []
    for reason in sorted(set(REASONS.values())):
        where = ", ".join(f"`{place}`" for place, text in REASONS.items() if text == reason)
        lines.append(f"- {reason} {where}\n")
    return f"\n## Remarks without a fault\n\n{''.join(lines)}"


def _entry(fault: OpenVINOFault, where: list[str]) -> str:
    needs = f", on a processor with {fault.processor}" if fault.processor else ""
    precision = "" if fault.precision == "f32" else ", in bfloat16"
    names = ", ".join(f"`{item}`" for item in where)
    return (
        f"\n## {fault.name}\n\n{fault.text}\n\nOpenVINO {RELEASE}{precision}{needs}. "
        f"Graph in `{fault.graph.__module__.replace('.', '/')}.py`; worked around in {names}.\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
