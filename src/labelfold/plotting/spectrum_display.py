"""A spectrum as a picture: eigenvalues by number, those of the map, the widest gap, and doubts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_is_fitted

from labelfold.exceptions import InputError
from labelfold.plotting.spectrum_artists import (
    FRAGILE,
    UNCONVERGED,
    draw_band,
    draw_gap,
    draw_residuals,
    draw_values,
    mark_values,
    name_shares,
    set_scale,
)
from labelfold.plotting.spectrum_source import read_spectrum
from labelfold.semidefinite.unfolder import gap_dimension
from labelfold.spectral.laplacian_basis import LaplacianBasis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
    from matplotlib.text import Text

__all__ = ["SpectrumDisplay"]

KINDS = ("eigenvalues", "variance")
SCALES = ("auto", "linear", "log")
# Relative to the largest: what is less is rounding, or the errors of an unfolding's solve.
LEAST_SHOWN = {"eigenvalues": 1e-12, "variance": 1e-6}
HEADROOM = 1.15  # for words above marks


class SpectrumDisplay:
    """Picture of the eigenvalues behind a map.

    Filled markers on a grey band are the eigenvalues of the map's coordinates, hollow ones the
    rest. A dotted line stands in the widest gap. Crosses mark coordinates that extend badly to new
    points, squares those that the solver did not bring within its tolerance.

    It is recommended to use :meth:`from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        Eigenvalues, in the order of the coordinates.

    kind : {"eigenvalues", "variance"}, default="eigenvalues"
        "eigenvalues" draws them as they are, as those of a Laplacian. "variance" takes them for
        those of a Gram matrix, and draws their shares of the sum in descending order; what is
        said of them below goes with them.

    n_components : int, default=None
        How many of them, from the first on, the map has as coordinates; None sets none apart.

    residuals : array-like of shape (n_values,), default=None
        How far from a true eigenvalue each may be, in the same units.

    unconverged : sequence of int, default=()
        Numbers, from 0 on, of those that missed the solver's tolerance.

    fragile : sequence of int, default=()
        Numbers, from 0 on, of coordinates that extend badly to new points.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.

    figure_ : matplotlib Figure
        Figure that holds it.

    used_ : matplotlib Line2D
        Markers of the eigenvalues of the map, or of all where none are set apart.

    rest_ : matplotlib Line2D or None
        Markers of the others.

    stems_ : matplotlib LineCollection or None
        Strokes down from the markers; None for more than 60 values.

    tiny_ : matplotlib Line2D or None
        Triangles on the lower edge, for what a logarithmic scale does not reach.

    band_ : matplotlib Rectangle or None
        Ground of the eigenvalues of the map.

    gap_ : matplotlib Line2D or None
        Line in the widest gap.

    residuals_ : matplotlib ErrorbarContainer or None
        Bars of those residuals that are large enough to be seen, on a linear scale.

    fragile_, unconverged_ : matplotlib Line2D or None
        Crosses and squares.

    text_ : list of matplotlib Text
        What is written about them.

    See Also
    --------
    EmbeddingDisplay : The map itself.

    Notes
    -----
    The widest gap of a Gram spectrum is where ``n_components="auto"`` of the unfoldings cuts: at
    the largest ratio of one eigenvalue to the next, among numbers of dimensions that hold 99 % of
    the variance. Elsewhere it is the largest difference, the eigengap that tells how many clusters
    a graph has, among the eigenvalues that there are: fit more components than the map is to have.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from labelfold.plotting import SpectrumDisplay
    >>> display = SpectrumDisplay([9.0, 0.99, 0.005, 0.005], kind="variance").plot()
    >>> display.gap
    2
    >>> display.ax_.get_ylabel()
    'share of the variance'
    """

    ax_: Axes
    figure_: Figure | SubFigure
    used_: Line2D
    rest_: Line2D | None
    stems_: LineCollection | None
    tiny_: Line2D | None
    band_: Rectangle | None
    gap_: Line2D | None
    residuals_: ErrorbarContainer | None
    fragile_: Line2D | None
    unconverged_: Line2D | None
    text_: list[Text]

    def __init__(
        self,
        values: ArrayLike,
        *,
        kind: str = "eigenvalues",
        n_components: int | None = None,
        residuals: ArrayLike | None = None,
        unconverged: Sequence[int] = (),
        fragile: Sequence[int] = (),
    ) -> None:
        if kind not in KINDS:
            raise InputError(f"kind={kind!r} must be one of {', '.join(KINDS)}.")
        self.kind = kind
        checked = _check_values(values, kind)
        n_values = len(checked)
        order = np.arange(n_values)
        if kind == "variance":
            order = np.argsort(-checked, kind="stable")
        self.values = checked[order]
        self.n_components = _check_n_components(n_components)
        self.residuals = _check_residuals(residuals, n_values)
        if self.residuals is not None:
            self.residuals = self.residuals[order]
        self.unconverged = _check_numbers(unconverged, "unconverged", order)
        self.fragile = _check_numbers(fragile, "fragile", order)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        n_components: int | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the spectrum of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator, or LaplacianBasis
            One with ``spectrum_``, as the unfoldings have, or with ``eigenvalues_``, as the
            spectral maps, :class:`MarginalFisherAnalysis` and :class:`LaplacianClassifier` have;
            or a :class:`ManifoldClassifier` on one of these.

        n_components : int, default=None
            How many eigenvalues to set apart. By default those of the estimator's coordinates. A
            separation map's coordinates are not along the axes of its spectrum: none are.

        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.

        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : SpectrumDisplay
            The display, drawn.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from labelfold import LaplacianEigenmaps
        >>> from labelfold.datasets import make_swiss_roll
        >>> from labelfold.plotting import SpectrumDisplay
        >>> X, _, _ = make_swiss_roll(300, random_state=0)
        >>> model = LaplacianEigenmaps(n_components=8).fit(X)
        >>> display = SpectrumDisplay.from_estimator(model, n_components=2)
        >>> len(display.used_.get_xdata()), len(display.rest_.get_xdata())
        (2, 6)
        """
        if not isinstance(estimator, LaplacianBasis):
            check_is_fitted(estimator)
        found = read_spectrum(getattr(estimator, "embedder_", estimator))
        if n_components is not None:
            found["n_components"] = n_components
        return cls(**found).plot(ax=ax, **kwargs)

    @property
    def gap(self) -> int | None:
        """Number of eigenvalues before the widest gap; None where none can be told."""
        if self.kind == "variance":
            before = gap_dimension(self.values)
            return before if before < len(self.values) else None
        widths = np.abs(np.diff(self.values))
        # Of two eigenvalues the only gap is the widest, which says nothing.
        return int(widths.argmax()) + 1 if len(widths) > 1 and widths.any() else None

    def plot(
        self,
        ax: Axes | None = None,
        *,
        scale: str = "auto",
        rest_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.

        scale : {"auto", "linear", "log"}, default="auto"
            Scale of the eigenvalues. "auto" is logarithmic for ``kind="variance"``, where gaps are
            ratios, and linear otherwise, where they are differences.

        rest_kwargs : dict, default=None
            Passed to `matplotlib.axes.Axes.plot` for the eigenvalues that are not the map's.

        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for those of the map.

        Returns
        -------
        display : SpectrumDisplay
            The display itself, with `ax_`, `figure_` and the drawn artists.
        """
        if scale not in SCALES:
            raise InputError(f"scale={scale!r} must be one of {', '.join(SCALES)}.")
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        is_log = scale == "log" or (scale == "auto" and self.kind == "variance")
        unit = float(self.values.sum()) if self.kind == "variance" else 1.0
        heights = self.values / unit
        residuals = None if self.residuals is None else self.residuals / unit
        self.ax_, self.figure_ = ax, ax.figure
        reach = heights if residuals is None else heights + residuals
        if self.fragile or self.unconverged:
            reach = HEADROOM * reach
        floor = set_scale(ax, heights, reach, LEAST_SHOWN[self.kind] if is_log else None)
        n_used = len(heights) if self.n_components is None else self.n_components
        self.used_, self.rest_, self.stems_, self.tiny_ = draw_values(
            ax, heights, n_used, floor, kwargs, rest_kwargs or {}
        )
        self.residuals_ = draw_residuals(ax, heights, residuals)
        self.fragile_, found = mark_values(ax, heights, self.fragile, FRAGILE)
        self.unconverged_, more = mark_values(ax, heights, self.unconverged, UNCONVERGED)
        self.band_, on_band = draw_band(ax, self._band_words(), n_used, len(heights))
        self.gap_, on_gap = draw_gap(ax, self.gap, len(heights), row=len(on_band))
        self.text_ = [*found, *more, *on_band, *on_gap]
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xlabel("number of the eigenvalue")
        if self.kind == "variance":
            name_shares(ax)
        ax.set_ylabel("share of the variance" if self.kind == "variance" else "eigenvalue")
        return self

    def _band_words(self) -> str:
        words = f"{self.n_components} in the map"
        if self.kind == "variance":
            words += f": {self.values[: self.n_components].sum() / self.values.sum():.1%}"
        return words


def _check_values(values: ArrayLike, kind: str) -> NDArray[np.float64]:
    checked: NDArray[np.float64] = check_array(
        values, ensure_2d=False, dtype=np.float64, input_name="values"
    )
    if checked.ndim != 1:
        raise InputError(f"values has shape {checked.shape}: pass eigenvalues, in one row.")
    if kind == "variance" and (checked.min() < 0 or checked.max() <= 0):
        raise InputError(
            f"values from {checked.min():g} to {checked.max():g} have no shares of a variance: "
            "pass nonnegative ones that are not all 0, or kind='eigenvalues'."
        )
    return checked


def _check_n_components(n_components: int | None) -> int | None:
    if n_components is None:
        return None
    if not isinstance(n_components, int | np.integer) or n_components < 1:
        raise InputError(f"n_components={n_components!r} must be an integer of at least 1.")
    return int(n_components)


def _check_residuals(residuals: ArrayLike | None, n_values: int) -> NDArray[np.float64] | None:
    if residuals is None:
        return None
    checked = np.asarray(residuals, dtype=float)
    if checked.shape != (n_values,) or not np.all(checked >= 0):
        raise InputError(
            f"residuals of shape {checked.shape} must be {n_values} numbers of at least 0, one for "
            "each of values."
        )
    return checked


def _check_numbers(numbers: Sequence[int], name: str, order: NDArray[np.intp]) -> list[int]:
    """Return the places of numbered values in an order of theirs."""
    checked = sorted(int(number) for number in numbers)
    if checked and not 0 <= checked[0] <= checked[-1] < len(order):
        raise InputError(
            f"{name}={checked} is out of range for {len(order)} values: they are counted from 0 to "
            f"{len(order) - 1}."
        )
    return [int(place) for place in np.flatnonzero(np.isin(order, checked))]
