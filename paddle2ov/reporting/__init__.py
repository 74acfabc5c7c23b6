"""Reports on a model: what it is made of, what became of each operator, how long each takes, how exact each is.

    conversion = ConversionReport()
    model = convert("model", report=conversion)
    report = build_report(model, conversion)
    write_report(report, "report.html")

- `contents.py`: what a report holds;
- `build.py`: puts it together;
- `operators.py`: the operators of the program;
- `compiled.py`, `origins.py`, `primitives.py`: which of them ended in which primitive, and how long each takes;
- `modules.py`, `folding.py`, `drawings.py`: the graphs, folded by the modules of the network's source;
- `terminal.py`, `page.py`: tables for the terminal, the HTML page.
"""

from paddle2ov.reporting.build import build_report, refused_report
from paddle2ov.reporting.contents import CompiledReport, Primitive, Report, ReportedOperator
from paddle2ov.reporting.page import write_report
from paddle2ov.reporting.terminal import print_report

__all__ = [
    "CompiledReport",
    "Primitive",
    "Report",
    "ReportedOperator",
    "build_report",
    "print_report",
    "refused_report",
    "write_report",
]
