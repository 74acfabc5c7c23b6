"""Reports on a model: what it is made of, what became of each operator, how long each takes, how exact each is.

conversion = ConversionReport()
model = convert("model", report=conversion)
report = build_report(model, conversion)
write_report(report, "report.html")
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
