"""Sphinx configuration; ``make docs`` builds with warnings as errors."""

import labelfold

project = "labelfold"
author = "The labelfold developers"
copyright = author
release = labelfold.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
# The public names say where they live, not in which file.
add_module_names = False
# The class template lists the members, with their own docstrings.
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"labelfold {release}"
