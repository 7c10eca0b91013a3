"""What a fitted estimator keeps of its spectrum, as the parameters of a display."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError

__all__ = ["read_spectrum"]


def read_spectrum(source: Any) -> dict[str, Any]:
    """Return the parameters of a display from what an estimator keeps."""
    if hasattr(source, "spectrum_"):
        # Coordinates of a separation map are its normals' first.
        used = None if hasattr(source, "normals_") else source.n_components_
        return {"values": source.spectrum_, "kind": "variance", "n_components": used}
    values = getattr(source, "eigenvalues_", getattr(source, "eigenvalues", None))
    if values is None and hasattr(source, "steps"):
        raise InputError(
            f"{type(source).__name__} keeps no spectrum, its last step may: pass pipe[-1], which "
            f"is a {type(source[-1]).__name__}."
        )
    if values is None:
        raise InputError(
            f"{type(source).__name__} keeps neither spectrum_ nor eigenvalues_: SpectrumDisplay "
            "shows unfoldings, spectral maps and LaplacianClassifier; pass other values to "
            "SpectrumDisplay itself."
        )
    found: dict[str, Any] = {"values": values}
    certificate = getattr(source, "certificate_", getattr(source, "certificate", None))
    certificate = getattr(certificate, "eigen", certificate)
    if certificate is not None:
        residuals = _aligned(certificate.residuals, len(values))
        missed = _aligned(certificate.residuals > certificate.tolerances, len(values))
        found["unconverged"] = np.flatnonzero(missed).tolist()
        found["fragile"] = certificate.fragile
        unit = _unit_of_residuals(source)
        if unit is not None:
            found["residuals"] = unit * residuals
    return found


def _aligned(of_pairs: NDArray[Any], n_values: int) -> NDArray[Any]:
    """Return an entry an eigenvalue: null vectors are known, some in one list, some in the other.

    A map leaves out the constant, which its certificate has; a classifier has indicators of
    components, which its certificate leaves out.
    """
    aligned = np.zeros(n_values, dtype=of_pairs.dtype)
    n_shared = min(n_values, len(of_pairs))
    aligned[n_values - n_shared :] = of_pairs[len(of_pairs) - n_shared :]
    return aligned


def _unit_of_residuals(source: Any) -> float | None:
    """Return what a residual of 1 is in units of the eigenvalues; None where that is not known.

    Laplacians are solved as D^-1/2 L D^-1/2, or as L over the largest degree, which a model from a
    compact file has not kept.
    """
    graph = getattr(source, "graph_", getattr(source, "graph", None))
    weights = getattr(graph, "weights", None)
    has_class_nodes = hasattr(source, "class_centers_")
    normalization = getattr(source, "normalization", "degree" if has_class_nodes else None)
    if normalization == "none" and weights is not None:
        return float(weights.sum(axis=1).max())
    return 1.0 if normalization == "degree" else None
