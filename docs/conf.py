"""The documentation's settings: `make docs` builds it into build/docs."""

import re
import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx

import paddle2ov

HERE = Path(__file__).resolve().parent

# Drawn anew with every build, so that they show what the rewrites do today.
subprocess.run([sys.executable, "-m", "tools.pass_pictures", str(HERE / "pictures")], cwd=HERE.parent, check=True)

project = "paddle2ov"
author = "The paddle2ov contributors"
copyright = author
release = version = paddle2ov.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "sphinx_copybutton"]
default_role = "code"  # docstrings set code in single backticks
html_theme = "furo"
html_title = "paddle2ov"
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["lines.css"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True

OWN_PAGE = {"CONTRIBUTING": "adding_an_operator", "CHANGELOG": "changelog"}
"""Files at the top of the repository -> the pages that include them. Links name the files, which readers of the
repository can open."""


def link_to_pages(_app: Sphinx, _docname: str, source: list[str]) -> None:
    """Makes links to these files links to their pages."""
    source[0] = re.sub(r"\]\(\.\./(\w+)\.md(?=[#)])", lambda match: f"]({OWN_PAGE[match[1]]}.md", source[0])


def setup(app: Sphinx) -> None:
    """Adds what Sphinx calls when it has read a page."""
    app.connect("source-read", link_to_pages)
