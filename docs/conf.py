"""The documentation's settings: `make docs` builds it into build/docs."""

import subprocess
import sys
from pathlib import Path

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

linkcheck_anchors = False
linkcheck_timeout = 20
