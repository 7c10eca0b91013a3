"""Data with known answers, and loaders for the public data sets of the papers.

The generators return the points, their classes and their true coordinates on the manifold.
The loaders read files that the user has, and check that they are the right ones.
"""

from labelfold.datasets.alphadigits import load_alphadigits
from labelfold.datasets.landsat import load_landsat
from labelfold.datasets.magic import load_magic
from labelfold.datasets.manifolds import (
    make_closed_curve,
    make_concentric_circles,
    make_intertwined_curves,
    make_swiss_roll,
)
from labelfold.datasets.mnist import load_mnist
from labelfold.datasets.newsgroups import load_newsgroups, load_newsgroups_vectorized

__all__ = [
    "load_alphadigits",
    "load_landsat",
    "load_magic",
    "load_mnist",
    "load_newsgroups",
    "load_newsgroups_vectorized",
    "make_closed_curve",
    "make_concentric_circles",
    "make_intertwined_curves",
    "make_swiss_roll",
]
