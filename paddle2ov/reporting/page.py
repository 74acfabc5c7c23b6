"""The report as one HTML file that works offline, and the base template that other pages share.

A model is untrusted data: names in it may be anything. Jinja escapes what it writes, the data is JSON whose "<" is
escaped, the scripts set text and never HTML, and the page's Content-Security-Policy lets a browser run these scripts
only and load nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from paddle2ov.deployment.saving import write_text
from paddle2ov.errors import ConversionInputError, install_command
from paddle2ov.report import shapes_text, size_text
from paddle2ov.reporting.contents import FATES, Report
from paddle2ov.reporting.drawings import draw_compiled, draw_program
from paddle2ov.reporting.meanings import meanings
from paddle2ov.reporting.modules import SOURCES

_HERE = Path(__file__).parent
_SUFFIXES = (".json", ".html")
CHARTS = "vendor/chart.umd.min.js"
GRAPHS = ("vendor/dagre.min.js", "vendor/cytoscape.min.js")
BATCH = ("dom.js", "tables.js", "batch.js")
"""The scripts of a batch's page."""
_SCRIPTS = (
    "dom.js",
    "charts.js",
    "tables.js",
    "folding.js",
    "layout.js",
    "graph.js",
    "search.js",
    "details.js",
    "report.js",
)


def check_target(path: Path) -> None:
    """Refuses a file that no report can be written to, before any work is done.

    Raises:
        ConversionInputError: its suffix is neither .json nor .html, it is a folder, or HTML needs a library that is not
            installed.
    """
    if path.is_dir():
        raise ConversionInputError(f"report: {path} is a folder")
    if path.suffix not in _SUFFIXES:
        raise ConversionInputError(f"report: {path} is neither a .json nor an .html file")
    if path.suffix == ".html" and find_spec("jinja2") is None:
        raise ConversionInputError(f"report: {path} needs Jinja2, which is not installed: {install_command('report')}")


def write_report(report: Report, path: str | Path) -> None:
    """Writes a report as JSON or as HTML, whichever the suffix of `path` asks for; the folder is made if need be.

    Raises:
        ConversionInputError: see `check_target`.
        OSError: the file cannot be written.
    """
    path = Path(path)
    check_target(path)
    text = report_page(report) if path.suffix == ".html" else json.dumps(report.to_dict(), indent=1, allow_nan=False)
    write_text(path, text + "\n")


def report_page(report: Report) -> str:
    """The HTML page of a report."""
    data = report.to_dict()
    if report.conversion is not None:
        del data["conversion"]["origins"]  # of each node, of which the page shows none
    graphs = [draw_program(report)]
    if report.compiled is not None:
        graphs.append(draw_compiled(report.compiled, report.operators))
        for primitive in data["compiled"]["primitives"]:  # of the nodes, which are many, only this is shown
            primitive["inferred"] = any(node["inferred"] for node in primitive.pop("nodes"))
    if report.verification is not None:  # the operators have theirs already
        data["verification"] = {**data["verification"], "operators": len(report.verification.operators)}
    # Without empty fields, which the scripts restore: a page may hold thousands of operators.
    data["operators"] = [
        {name: value for name, value in operator.items() if value is not None and value not in ([], {})}
        for operator in data["operators"]
    ]
    data["graphs"] = [graph.to_dict() for graph in graphs]
    data["fates"] = FATES
    data["folded"] = SOURCES[report.modules]
    own = {"shapes": shapes_text, "meanings": {} if report.conversion is None else meanings(report.conversion)}
    return render("report.html.jinja", data, (CHARTS, *GRAPHS, *_SCRIPTS), report=report, **own)


def render(template: str, data: Mapping[str, Any], scripts: Sequence[str], **values: Any) -> str:
    """Fills a template of `templates/` that extends `base.html.jinja`, and itself reads the values.

    The scripts of `assets/` run in their order, and find the data as `DATA`.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["size"] = size_text
    sources = [_asset(name) for name in ("data.js", *scripts)]
    hashes = [base64.b64encode(hashlib.sha256(source.encode()).digest()).decode() for source in sources]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    text = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"
    return environment.get_template(template).render(
        **values, json=text, scripts=sources, style=_asset("page.css"), policy=policy
    )


def _asset(name: str) -> str:
    text = (_HERE / "assets" / name).read_text(encoding="utf-8").strip()
    return re.sub(r"\n//# sourceMappingURL=.*$", "", text)  # a browser's tools would ask the network for it
