"""Loaders for the papers' public data sets: they read files that the user has, and check them.

`data_home` is the folder of the files, as the module `files` explains.
"""

from reproductions.data.alphadigits import load_alphadigits
from reproductions.data.landsat import load_landsat
from reproductions.data.magic import load_magic
from reproductions.data.mnist import load_mnist
from reproductions.data.newsgroups import load_newsgroups, load_newsgroups_vectorized

__all__ = [
    "load_alphadigits",
    "load_landsat",
    "load_magic",
    "load_mnist",
    "load_newsgroups",
    "load_newsgroups_vectorized",
]
