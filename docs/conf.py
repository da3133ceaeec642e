"""Sphinx: the site that `make docs` builds from what docs/site/stage.py puts together. Nothing is loaded from afar."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "site"))

project = "MONET"
extensions = ["myst_parser", "navigation", "source_links"]
root_doc = "index"
source_suffix = {".md": "markdown"}
nitpicky = True
highlight_language = "text"
myst_heading_anchors = 4

html_theme = "furo"
html_title = "MONET"
html_show_sphinx = False
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
