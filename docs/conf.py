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
# The public names say where they live, not in which file.
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
    # An example that did not change may still break when the library does.
    "run_stale_examples": True,
    # What is printed is shown, and not the value of every last line.
    "capture_repr": (),
    "image_srcset": ["2x"],
    # A page's Python file is offered, and nothing made of it.
    "notebook_extensions": set(),
    "download_all_examples": False,
    # Seconds of the machine that built the pages say little.
    "min_reported_time": float("inf"),
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "furo"
html_title = f"labelfold {release}"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
# Sphinx' default renderer is a script from the network, which readers may not have.
html_math_renderer = "mathml"


def as_mathml(node: nodes.math | nodes.math_block) -> str:
    """Return a formula as MathML, which browsers draw by themselves."""
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
    """Write a formula that has lines of its own."""
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(as_mathml(node))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the renderer of formulas."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displayed_math, None))
