"""Features -> features whose distances mean something: ``AutoScaler``.

All methods stand on distances between rows, and the column with the largest numbers decides those.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn import preprocessing
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import check_is_fitted, validate_data

from labelfold.checks import check_choice, input_errors
from labelfold.methods import stored
from labelfold.tables.frames import refuse_huge

__all__ = ["METHODS", "SCALED", "AutoScaler", "choose_scaling"]

SCALED = {
    "none": "as they are",
    "unit": "scaled to rows of length 1",
    "power": "brought to one scale",
    "standard": "standardized",
    "quantile": "replaced by quantiles",
}
METHODS = ("auto", *SCALED)

MOSTLY = 2 / 3  # share of zeros
# In twelve data sets the widest column is at most 3.2 times as wide as the narrow ones (their tenth
# percentile) where columns share a unit, and at least 1,000 times where they do not.
ALIKE = 10.0
LONGEST = 3.0  # standard deviations
ENOUGH_ROWS = 10_000  # to fit a power or quantiles
MOST_QUANTILES = 1000


@stored
class AutoScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale features as their columns ask for, or as told.

    Parameters
    ----------
    method : str, default="auto"
        "auto" chooses one of the first three by the rule under Notes.

        - "none": as they are.
        - "unit": rows of length 1.
        - "power": columns of mean 0 and variance 1 with long tails shortened, cut off at 3.
        - "standard": columns of mean 0 and variance 1.
        - "quantile": every column as close to normally distributed as its ties allow.

    Attributes
    ----------
    method_ : str
        What was chosen.
    reason_ : str
        Why, in a few words.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    labelfold.tables.TablePreparation : Scales the numbers of a table of mixed columns.

    Notes
    -----
    The rule, on the columns of ``fit`` that are not constant:

    1. "unit" if no number is negative and more than two thirds are zero, and X is sparse, or all
       numbers are whole, or 2 holds.
    2. "none" if the widest range of a column, its largest number minus its smallest, is at most
       ten times the tenth percentile of all ranges.
    3. "power" otherwise. A sparse matrix, which this would make dense, gets "standard", without
       subtracting means.

    "power" subtracts the median, divides by the distance between the quartiles and applies the
    power transform of Yeo and Johnson (2000) with the likeliest exponent for each column, found on
    at most 10,000 rows. New numbers outside the range of fit count as its ends. Labels are not
    looked at; :doc:`the guide </guide/preparing>` compares the rule with its alternatives on data.

    Examples
    --------
    >>> from sklearn.datasets import load_digits, load_wine
    >>> from labelfold.tables import AutoScaler
    >>> AutoScaler().fit(load_wine().data).method_
    'power'
    >>> AutoScaler().fit(load_digits().data).reason_
    'columns share a unit'
    """

    def __init__(self, method: str = "auto") -> None:
        self.method = method

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the scaling and fit it to rows without missing numbers, dense or sparse."""
        check_choice("method", self.method, METHODS)
        X = self._check(X, reset=True)
        refuse_huge(X)
        self.method_, self.reason_ = self.method, "as asked"
        if self.method == "auto":
            self.method_, self.reason_ = choose_scaling(X)
        if self.method_ == "power":
            self._range = X.min(axis=0), X.max(axis=0)
            if X.shape[0] > ENOUGH_ROWS:
                draw = np.random.default_rng(0)
                X = X[draw.choice(X.shape[0], ENOUGH_ROWS, replace=False)]
        n_quantiles = min(MOST_QUANTILES, X.shape[0])
        self._scaler = {
            "none": preprocessing.FunctionTransformer(accept_sparse=True),
            "unit": preprocessing.Normalizer(),
            # A sparse matrix without its zeros would be dense.
            "standard": preprocessing.StandardScaler(with_mean=not sp.issparse(X)),
            "quantile": preprocessing.QuantileTransformer(
                n_quantiles=n_quantiles, output_distribution="normal", random_state=0
            ),
            # Standardized first, since the quartiles of a column may be equal; by quartiles next,
            # since the transform bends numbers above about 1, and outliers would keep all others
            # below.
            "power": make_pipeline(
                preprocessing.StandardScaler(),
                preprocessing.RobustScaler(),
                preprocessing.PowerTransformer(),
            ),
        }[self.method_].fit(X)
        return self

    def transform(self, X: Any) -> Any:
        """Return rows scaled, X itself if ``method_`` is "none"."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        if self.method_ != "power":
            return self._scaler.transform(X)
        inside = np.clip(X, *self._range)  # far outside, the powers would be out of range
        return np.clip(self._scaler.transform(inside), -LONGEST, LONGEST)

    def _check(self, X: Any, *, reset: bool) -> Any:
        with input_errors():
            dtypes = [np.float64, np.float32]
            return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=dtypes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def choose_scaling(X: Any) -> tuple[str, str]:
    """Return the method that the rule of :class:`AutoScaler` chooses for rows, and why."""
    sparse = sp.issparse(X)
    low, high = min_max_axis(X, axis=0) if sparse else (X.min(axis=0), X.max(axis=0))
    ranges = (high / 2 - low / 2)[high > low]  # halves, since a difference can be out of range
    if not len(ranges):
        return "none", "no column varies"
    alike = ranges.max() <= ALIKE * np.quantile(ranges, 0.1, method="lower")
    n_nonzero = X.count_nonzero() if sparse else np.count_nonzero(X)
    zeros = 1 - n_nonzero / (X.shape[0] * X.shape[1])
    empty = low.min() >= 0 and zeros > MOSTLY
    if empty and (sparse or alike or bool((np.floor(X) == X).all())):
        return "unit", f"{zeros:.0%} of the numbers are zero and none is negative"
    if alike:
        return "none", "columns share a unit"
    with np.errstate(over="ignore"):
        ratio = ranges.max() / ranges.min()
    times = f"{ratio:,.0f}" if ratio < 1e6 else f"{ratio:.0e}"
    return ("standard" if sparse else "power"), f"ranges of columns differ up to {times} times"
