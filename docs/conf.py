"""Sphinx configuration of the documentation: MyST pages, API pages out of docstrings, generated references."""

from __future__ import annotations

import sys
from pathlib import Path

import paraloom

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Paraloom"
author = "the Paraloom developers"
copyright = f"2026, {author}"
release = version = paraloom.__version__

extensions = [
    "generated_reference",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_ext"]
root_doc = "index"

html_theme = "furo"
html_title = f"Paraloom {release}"
html_static_path = ["_static"]
html_css_files = ["custom.css"]

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
default_role = "code"  # `name` in docstrings, as in Markdown
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Reference", "notes_style"), ("Class attributes", "params_style")]

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist", "linkify"]
myst_heading_anchors = 3
smartquotes_action = "D"  # dashes only: quoted values stay as they are typed
copybutton_exclude = ".linenos, .gp, .go"

# Pages of this site and files of the repository are checked by the build (-W); nothing on the network is.
nitpicky = False
