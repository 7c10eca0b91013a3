"""What --scale does to the columns before a method sees them."""

from __future__ import annotations

from typing import Any

from labelfold.exceptions import InputError

SCALES = ("none", "standard", "quantile")
MOST_QUANTILES = 1000


def check_scale(name: str) -> None:
    """Refuse an unknown scale."""
    if name not in SCALES:
        raise InputError(f"--scale {name} is unknown: use one of {', '.join(SCALES)}.")


def make_scaler(name: str, X: Any, seed: int) -> Any | None:
    """Return an unfitted transformer of scikit-learn for these rows, or None for "none"."""
    import scipy.sparse as sp
    from sklearn.preprocessing import QuantileTransformer, StandardScaler

    if name == "standard":
        # A sparse matrix without its zeros would be dense.
        return StandardScaler(with_mean=not sp.issparse(X))
    if name == "quantile":
        return QuantileTransformer(
            n_quantiles=min(MOST_QUANTILES, X.shape[0]),
            output_distribution="normal",
            random_state=seed,
        )
    return None


def with_scaler(scaler: Any | None, estimator: Any) -> Any:
    """Return a fitted estimator behind the fitted scaler, as one model."""
    if scaler is None:
        return estimator
    from sklearn.pipeline import make_pipeline

    return make_pipeline(scaler, estimator)
