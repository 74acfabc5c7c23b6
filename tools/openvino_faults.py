"""Write docs/openvino_faults.md: the faults of OpenVINO that are worked around, each with a script that shows it.

    python -m tools.openvino_faults                  # write it
    python -m tools.openvino_faults --check          # exit with 1 if it is stale
    python -m tools.openvino_faults --script NAME    # print the script of one fault, as it may be sent upstream
    python -m tools.openvino_faults --run [NAME ...] # print which faults show here, in a table (make faults)

Everything on the page comes from the register in `tools/faults` and from the places that carry `works_around`.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from tools.faults import FAULTS, OpenVINOFault, places
from tools.faults import prelude as prelude_module
from tools.faults.remarks import REASONS
from tools.faults.showing import table

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "openvino_faults.md"

HEAD = """# Faults of OpenVINO

Written by `python -m tools.openvino_faults` from `tools/faults` and from the places that carry `works_around`; CI fails
when it is stale.

{count} faults of OpenVINO's CPU plugin and of its common transformations are worked around. Each has a graph in plain
OpenVINO. `make faults` runs all of them and prints which show with the installed OpenVINO, at each level of this
processor; what works around one can go once it shows nowhere. `python -m tools.openvino_faults --script NAME` prints
one as a script of its own, which needs OpenVINO and NumPy only, and ends with an error or crashes as long as the fault
is there.
What OpenVINO computes otherwise and is not worked around, such as int64 beyond 32 bits, stands in [limits](limits.md).
A script is what stands under its name below, after this, which all of them share:

```python
{prelude}
```
"""


def main(arguments: list[str]) -> int:
    """Write or check the page, print a script, or run all."""
    if "--run" in arguments:
        print(table([one for one in arguments if one != "--run"] or sorted(FAULTS)))
        return 0
    if "--script" in arguments:
        print(FAULTS[arguments[arguments.index("--script") + 1]].script(), end="")
        return 0
    text = page()
    if "--check" in arguments:
        if TARGET.exists() and TARGET.read_text() == text:
            return 0
        print(f"{TARGET.relative_to(ROOT)} is stale: run python -m tools.openvino_faults", file=sys.stderr)
        return 1
    TARGET.write_text(text)
    return 0


def page() -> str:
    """The page."""
    found = places()
    prelude = inspect.getsource(prelude_module).partition('"""\n\n')[2].strip()
    head = HEAD.format(count=len(FAULTS), prelude=prelude)
    return head + "".join(_entry(FAULTS[name], found.get(name, [])) for name in sorted(FAULTS)) + _reasons()


def _reasons() -> str:
    """What is said of OpenVINO elsewhere in the sources."""
    lines = []
    for reason in sorted(set(REASONS.values())):
        where = ", ".join(f"`{place}`" for place, given in REASONS.items() if given == reason)
        lines.append(f"- {reason} {where}\n")
    return f"\n## Remarks without a fault\n\n{''.join(lines)}"


def _entry(fault: OpenVINOFault, where: list[str]) -> str:
    needs = f", on a processor with {fault.processor}" if fault.processor else ""
    precision = "" if fault.precision == "f32" else ", in bfloat16"
    names = ", ".join(f"`{one}`" for one in where)
    return (
        f"\n## {fault.name}\n\n{fault.text}\n\nOpenVINO {', '.join(fault.versions)}{precision}{needs}. "
        f"Worked around in {names}.\n\n```python\n{fault.source}\n\n\n{fault.call}\n```\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
