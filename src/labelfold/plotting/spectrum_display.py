"""A spectrum as a picture: eigenvalues of an embedding, the widest gap, and doubtful values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_is_fitted

from labelfold.checks import check_choice, check_integer, input_errors
from labelfold.exceptions import InputError
from labelfold.plotting.lines import get_axes, write_above
from labelfold.plotting.palette import NOTE_COLOR, OKABE_ITO
from labelfold.semidefinite.unfolder import gap_dimension
from labelfold.spectral.laplacian_basis import LaplacianBasis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
    from matplotlib.text import Text

Array = NDArray[np.float64]

KINDS = ("eigenvalues", "variance")
SCALES = ("auto", "linear", "log")
# Relative to the largest: smaller values are rounding, or errors of an unfolding's solve.
LEAST_SHOWN = {"eigenvalues": 1e-12, "variance": 1e-6}
MANY = 60  # values, above which stems would be a solid area
USED_COLOR, BAND_COLOR, FRAGILE_COLOR = OKABE_ITO[0], "#EFEFEF", OKABE_ITO[5]
FEW_DECADES = 2  # up to which a logarithmic axis of shares has ticks between powers of ten


class SpectrumDisplay:
    """Picture of the eigenvalues of an embedding.

    Filled markers on a gray band are the eigenvalues of the embedding's coordinates, hollow ones
    the rest. A dotted line marks the widest gap. Crosses mark coordinates that extend badly to new
    rows, squares eigenvalues that missed the solver's tolerance.

    Use :meth:`from_estimator` for a fitted estimator. All parameters are stored as attributes.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        Eigenvalues, in the order of the coordinates.

    kind : {"eigenvalues", "variance"}, default="eigenvalues"
        "eigenvalues" draws them unchanged, as for a Laplacian. "variance" is for a Gram matrix: it
        draws their shares of the sum, in descending order, and the indices below move with them.

    n_components : int, default=None
        How many of them, from the first, are coordinates of the embedding. None marks all alike.

    unconverged : sequence of int, default=()
        Indices of eigenvalues that missed the solver's tolerance.

    fragile : sequence of int, default=()
        Indices of coordinates that extend badly to new rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.

    figure_ : matplotlib Figure
        Figure that holds it.

    used_ : matplotlib Line2D
        Markers of the embedding's eigenvalues.

    rest_ : matplotlib Line2D or None
        Markers of the others.

    stems_ : matplotlib LineCollection or None
        Strokes down from the markers; None for more than 60 values.

    tiny_ : matplotlib Line2D or None
        Triangles on the lower edge, for values too small for the logarithmic scale.

    band_ : matplotlib Rectangle or None
        Background of the embedding's eigenvalues.

    gap_ : matplotlib Line2D or None
        Line in the widest gap.

    fragile_, unconverged_ : matplotlib Line2D or None
        Crosses and squares.

    legend_ : matplotlib Legend or None
        What crosses and squares mean, if there are any.

    text_ : list of matplotlib Text
        Names of band and gap.

    See Also
    --------
    EmbeddingDisplay : Map of the embedding.

    Notes
    -----
    The widest gap of a Gram spectrum is where ``n_components="auto"`` of the unfoldings cuts: at
    the largest ratio of one eigenvalue to the next, among dimensions that explain 99 % of the
    variance. Otherwise it is the largest difference, the eigengap that shows how many clusters a
    graph has. Only computed eigenvalues count: fit more components than you need.

    Examples
    --------
    >>> from labelfold.plotting import SpectrumDisplay
    >>> display = SpectrumDisplay([9.0, 0.99, 0.005, 0.005], kind="variance").plot()
    >>> display.gap
    2
    >>> display.ax_.get_ylabel()
    'share of the variance'
    """

    def __init__(
        self,
        values: ArrayLike,
        *,
        kind: str = "eigenvalues",
        n_components: int | None = None,
        unconverged: Sequence[int] = (),
        fragile: Sequence[int] = (),
    ) -> None:
        check_choice("kind", kind, KINDS)
        self.kind = kind
        checked = _check_values(values, kind)
        order = np.arange(len(checked))
        if kind == "variance":
            order = np.argsort(-checked, kind="stable")
        self.values = checked[order]
        if n_components is not None:
            check_integer("n_components", n_components, least=1, hint=", or None")
        self.n_components = n_components
        self.unconverged = _check_indices(unconverged, "unconverged", order)
        self.fragile = _check_indices(fragile, "fragile", order)

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
            How many eigenvalues to mark as coordinates. By default those of the estimator; all
            alike for :class:`IsometricSeparationMap`, whose coordinates are not eigenvectors.

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
        inputs = _read_spectrum(getattr(estimator, "embedder_", estimator))
        if n_components is not None:
            inputs["n_components"] = n_components
        return cls(**inputs).plot(ax=ax, **kwargs)

    @property
    def gap(self) -> int | None:
        """Number of eigenvalues before the widest gap; None if there is no clear one."""
        if self.kind == "variance":
            before = gap_dimension(self.values)
            return before if before < len(self.values) else None
        widths = np.abs(np.diff(self.values))
        # The only gap between two eigenvalues means nothing.
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
            Passed to `matplotlib.axes.Axes.plot` for the other eigenvalues.

        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the embedding's eigenvalues.

        Returns
        -------
        display : SpectrumDisplay
            The display itself, with `ax_`, `figure_` and the drawn artists.
        """
        check_choice("scale", scale, SCALES)
        self.ax_ = ax = get_axes(ax)
        self.figure_ = ax.figure
        is_variance = self.kind == "variance"
        is_log = scale == "log" or (scale == "auto" and is_variance)
        heights = self.values / self.values.sum() if is_variance else self.values
        floor = _set_scale(ax, heights, LEAST_SHOWN[self.kind] if is_log else None)
        n_used = len(heights) if self.n_components is None else self.n_components
        self.used_, self.rest_, self.stems_, self.tiny_ = _draw_values(
            ax, heights, n_used, floor, kwargs, rest_kwargs or {}
        )
        cross = {"marker": "X", "markersize": 8, "markeredgecolor": "white", "color": FRAGILE_COLOR}
        square = {"marker": "s", "markersize": 11, "markerfacecolor": "none", "color": "black"}
        self.fragile_ = _mark(ax, heights, self.fragile, "extends badly", cross)
        self.unconverged_ = _mark(ax, heights, self.unconverged, "not converged", square)
        marks = [one for one in (self.fragile_, self.unconverged_) if one is not None]
        self.legend_ = ax.legend(handles=marks) if marks else None
        self.text_: list[Text] = []
        self._draw_band(ax, n_used)
        self._draw_gap(ax, row=0 if self.band_ is None else 1)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xlabel("number of the eigenvalue")
        ax.set_ylabel("share of the variance" if is_variance else "eigenvalue")
        if is_variance:
            _write_percent(ax)
        return self

    def _draw_band(self, ax: Axes, n_used: int) -> None:
        """Draw a band behind the embedding's eigenvalues, unless these are all."""
        self.band_: Rectangle | None = None
        if n_used >= len(self.values):
            return
        left = ax.get_xlim()[0]
        band: Any = ax.axvspan(left, n_used + 0.5, color=BAND_COLOR, zorder=0)
        self.band_ = band
        words = f"{n_used} in the embedding"
        if self.kind == "variance":
            words += f": {self.values[:n_used].sum() / self.values.sum():.1%}"
        self.text_.append(write_above(ax, left, words, ha="left", color=USED_COLOR))

    def _draw_gap(self, ax: Axes, row: int) -> None:
        """Draw a line in the widest gap, with words above it in a free row."""
        gap = self.gap
        self.gap_: Line2D | None = None
        if gap is None:
            return
        self.gap_ = ax.axvline(gap + 0.5, color="black", linestyle=":", linewidth=1.2, zorder=1)
        side = "left" if gap < len(self.values) / 2 else "right"
        words = f"widest gap, after {gap}"
        self.text_.append(write_above(ax, gap + 0.5, words, ha=side, row=row))


def _check_values(values: ArrayLike, kind: str) -> Array:
    with input_errors():
        checked: Array = check_array(values, ensure_2d=False, dtype=np.float64, input_name="values")
    if checked.ndim != 1:
        raise InputError(f"values has shape {checked.shape}: pass a list of eigenvalues.")
    if kind == "variance" and (checked.min() < 0 or checked.max() <= 0):
        raise InputError(
            f"kind='variance' needs nonnegative values that are not all 0, got "
            f"{checked.min():g} to {checked.max():g}: pass others, or kind='eigenvalues'."
        )
    return checked


def _check_indices(indices: Sequence[int], name: str, order: NDArray[np.intp]) -> list[int]:
    """Return the indices of the same values after they are put in an order."""
    checked = sorted(int(index) for index in indices)
    if checked and not 0 <= checked[0] <= checked[-1] < len(order):
        raise InputError(
            f"{name}={checked} is out of range for {len(order)} values: pass indices from 0 to "
            f"{len(order) - 1}."
        )
    return [int(index) for index in np.flatnonzero(np.isin(order, checked))]


def _read_spectrum(source: Any) -> dict[str, Any]:
    """Return the arguments of a display from the attributes of an estimator."""
    if hasattr(source, "spectrum_"):
        # The coordinates of a separation map are not eigenvectors.
        used = None if hasattr(source, "normals_") else source.n_components_
        return {"values": source.spectrum_, "kind": "variance", "n_components": used}
    values = getattr(source, "eigenvalues_", getattr(source, "eigenvalues", None))
    if values is None and hasattr(source, "steps"):
        raise InputError(
            f"{type(source).__name__} keeps no spectrum: pass its last step, pipe[-1], a "
            f"{type(source[-1]).__name__}."
        )
    if values is None:
        raise InputError(
            f"{type(source).__name__} keeps neither spectrum_ nor eigenvalues_: pass an unfolding, "
            "a spectral method or LaplacianClassifier, or eigenvalues to SpectrumDisplay(values)."
        )
    inputs: dict[str, Any] = {"values": values}
    certificate = getattr(source, "certificate_", getattr(source, "certificate", None))
    certificate = getattr(certificate, "eigen", certificate)
    if certificate is not None:
        # Null vectors come first, and one of the two lists lacks them: an embedding leaves out the
        # constant, which its certificate has; a classifier has indicators of components, which its
        # certificate leaves out.
        missed = np.flatnonzero(certificate.residuals > certificate.tolerances)
        missed += len(values) - len(certificate.residuals)
        inputs["unconverged"] = missed[missed >= 0].tolist()
        inputs["fragile"] = certificate.fragile
    return inputs


# ---- artists, each drawn after the limits are set


def _set_scale(ax: Axes, heights: Array, least_shown: float | None) -> float:
    """Set limits and ticks; return the height at which stems begin.

    With ``least_shown``, the scale is logarithmic down to this share of the largest height.
    """
    from matplotlib.ticker import MaxNLocator

    n, top = len(heights), float(heights.max())
    beside = max(0.7, 0.02 * n)
    ax.set_xlim(1 - beside, n + beside)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if least_shown is None:
        low, high = 1.05 * min(0.0, float(heights.min())), 1.05 * max(0.0, top)
        ax.set_ylim(low, high if high > low else 1.0)
        return 0.0
    if top <= 0:
        raise InputError("scale='log' needs a positive value: use scale='linear'.")
    floor = float(heights[heights > least_shown * top].min()) / 3
    ax.set_yscale("log")
    ax.set_ylim(floor, 2 * top)
    return floor


def _write_percent(ax: Axes) -> None:
    """Write shares in percent."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.yaxis.set_major_formatter(_format_share)
    if ax.get_yscale() == "log":
        low, high = ax.get_ylim()
        is_short = high < 10**FEW_DECADES * low
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if is_short else (1,)))
        ax.yaxis.set_minor_formatter(NullFormatter())


def _format_share(share: float, _: float | None) -> str:
    # Not a lambda, which cannot be pickled. The axis extends above 1, but no share does.
    return f"{100 * share:.6g}%" if share <= 1 else ""


def _draw_values(
    ax: Axes,
    heights: Array,
    n_used: int,
    floor: float,
    given: Mapping[str, Any],
    given_rest: Mapping[str, Any],
) -> tuple[Line2D, Line2D | None, LineCollection | None, Line2D | None]:
    """Draw filled markers, hollow ones for the rest, stems, and triangles for values too small."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    n = len(heights)
    numbers = np.arange(1, n + 1)
    is_used = numbers <= n_used
    shown = heights > floor if ax.get_yscale() == "log" else np.ones(n, dtype=bool)
    common: dict[str, Any] = {
        "linestyle": "none",
        "marker": "o",
        "markersize": float(np.clip(250 / n, 2.5, 7.0)),
        "zorder": 3.0,
    }
    filled = common | {"color": USED_COLOR} | normalize_kwargs(dict(given), Line2D)
    hollow = common | {"color": NOTE_COLOR, "markerfacecolor": "white"}
    hollow |= normalize_kwargs(dict(given_rest), Line2D)
    stems, rest, tiny = None, None, None
    if n <= MANY:
        colors = [filled["color"] if used else hollow["color"] for used in is_used[shown]]
        stems = ax.vlines(numbers[shown], floor, heights[shown], colors=colors, linewidth=1.2)
    (used,) = ax.plot(numbers[is_used & shown], heights[is_used & shown], **filled)
    if not is_used.all():
        (rest,) = ax.plot(numbers[~is_used & shown], heights[~is_used & shown], **hollow)
    if not shown.all():
        low = np.full(np.count_nonzero(~shown), floor)
        style = common | {"color": NOTE_COLOR, "marker": "v"}
        (tiny,) = ax.plot(numbers[~shown], low, clip_on=False, **style)
    return used, rest, stems, tiny


def _mark(
    ax: Axes, heights: Array, indices: Sequence[int], name: str, style: dict[str, Any]
) -> Line2D | None:
    """Mark values that are in doubt."""
    if not indices:
        return None
    style = style | {"linestyle": "none", "zorder": 5, "label": name}
    (marks,) = ax.plot(np.array(indices) + 1, heights[indices], **style)
    return marks
