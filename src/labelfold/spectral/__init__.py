"""Embeddings and bases made of eigenvectors of a graph."""

from labelfold.spectral.ccdr import CCDR
from labelfold.spectral.laplacian_basis import LaplacianBasis
from labelfold.spectral.laplacian_eigenmaps import LaplacianEigenmaps
from labelfold.spectral.marginal_fisher import MarginalFisherAnalysis
from labelfold.spectral.supervised_lle import SupervisedLLE

__all__ = [
    "CCDR",
    "LaplacianBasis",
    "LaplacianEigenmaps",
    "MarginalFisherAnalysis",
    "SupervisedLLE",
]
