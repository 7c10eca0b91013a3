"""Sphinx configuration; ``make docs`` builds with warnings as errors."""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

import labelfold

logger = logging.getLogger(__name__)

project = "labelfold"
author = "The labelfold developers"
copyright = author
release = labelfold.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
# Public names without the file that defines them.
add_module_names = False
# The class template lists the members, with their own docstrings.
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": "FileNameSortKey",
    # Reference pages show the examples that use a class.
    "backreferences_dir": "generated/used_in",
    "doc_module": ("labelfold",),
    # An unchanged example may still break when the library changes.
    "run_stale_examples": True,
    # Show what is printed, not the value of every last line.
    "capture_repr": (),
    "image_srcset": ["2x"],
    # Offer the Python file of a page only.
    "notebook_extensions": set(),
    "download_all_examples": False,
    # Times of the machine that built the pages mean little.
    "min_reported_time": float("inf"),
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "furo"
html_title = f"labelfold {release}"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
# Sphinx' default renderer loads a script from the network.
html_math_renderer = "mathml"


def as_mathml(node: nodes.math | nodes.math_block) -> str:
    """Return a formula as MathML, which browsers can draw."""
    formula = node.astext()
    try:
        return latex2mathml.tex2mathml(formula, as_block=isinstance(node, nodes.math_block))
    except MathError as error:
        logger.warning("formula %r: %s", formula, error, location=node)
        return ""


def visit_math(translator: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(as_mathml(node))
    raise nodes.SkipNode


def visit_displayed_math(translator: Any, node: nodes.math_block) -> None:
    """Write a displayed formula."""
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(as_mathml(node))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the renderer of formulas."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displayed_math, None))
