"""A spectrum as a picture: eigenvalues by number, those of the map, the widest gap, and doubts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_is_fitted

from labelfold.checks import check_choice, check_integer, input_errors
from labelfold.exceptions import InputError
from labelfold.plotting.lines import new_axes, write_above
from labelfold.plotting.palette import NOTE_COLOR, OKABE_ITO, readable_on_white
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
# Relative to the largest: what is less is rounding, or the errors of an unfolding's solve.
LEAST_SHOWN = {"eigenvalues": 1e-12, "variance": 1e-6}
HEADROOM = 1.15  # for words above marks
MANY = 60  # values, from which on stems would be a solid area
USED_COLOR, BAND_COLOR, FRAGILE_COLOR = OKABE_ITO[0], "#EFEFEF", OKABE_ITO[5]
FEW_DECADES = 2  # up to which a logarithmic axis of shares names more than powers of ten


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
        found = _read_spectrum(getattr(estimator, "embedder_", estimator))
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
        check_choice("scale", scale, SCALES)
        self.ax_ = ax = new_axes(ax)
        self.figure_ = ax.figure
        is_log = scale == "log" or (scale == "auto" and self.kind == "variance")
        unit = float(self.values.sum()) if self.kind == "variance" else 1.0
        heights = self.values / unit
        headroom = HEADROOM if self.fragile or self.unconverged else 1.0
        floor = _set_scale(ax, heights, headroom, LEAST_SHOWN[self.kind] if is_log else None)
        n_used = len(heights) if self.n_components is None else self.n_components
        self.used_, self.rest_, self.stems_, self.tiny_ = _draw_values(
            ax, heights, n_used, floor, kwargs, rest_kwargs or {}
        )
        self.text_: list[Text] = []
        cross = {"marker": "X", "markersize": 8, "markeredgecolor": "white", "color": FRAGILE_COLOR}
        square = {"marker": "s", "markersize": 11, "markerfacecolor": "none", "color": "#000000"}
        self.fragile_ = self._mark(ax, heights, self.fragile, "extends badly", 8, cross)
        self.unconverged_ = self._mark(ax, heights, self.unconverged, "not converged", 20, square)
        self._set_apart(ax, n_used)
        self._draw_gap(ax, row=0 if self.band_ is None else 1)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xlabel("number of the eigenvalue")
        if self.kind == "variance":
            _name_shares(ax)
        ax.set_ylabel("share of the variance" if self.kind == "variance" else "eigenvalue")
        return self

    def _mark(
        self,
        ax: Axes,
        heights: Array,
        places: Sequence[int],
        words: str,
        above: float,
        style: dict[str, Any],
    ) -> Line2D | None:
        """Mark values, and write what the mark means above the first of them."""
        if not places:
            return None
        if len(heights) > MANY:
            style = style | {"markersize": style["markersize"] / 2, "markeredgewidth": 0.5}
        (marks,) = ax.plot(
            np.array(places) + 1, heights[places], linestyle="none", zorder=5, **style
        )
        first = places[0]
        text = ax.annotate(
            words,
            (first + 1, heights[first]),
            xytext=(-4 if first else 4, above),
            textcoords="offset points",
            ha="right" if first else "left",
            color=readable_on_white(style["color"]),
        )
        self.text_.append(text)
        return marks

    def _set_apart(self, ax: Axes, n_used: int) -> None:
        """Draw the ground of the map's eigenvalues, unless that is all of them."""
        self.band_: Rectangle | None = None
        if n_used >= len(self.values):
            return
        left = ax.get_xlim()[0]
        band: Any = ax.axvspan(left, n_used + 0.5, color=BAND_COLOR, zorder=0)
        self.band_ = band
        words = f"{n_used} in the map"
        if self.kind == "variance":
            words += f": {self.values[:n_used].sum() / self.values.sum():.1%}"
        self.text_.append(write_above(ax, left, words, ha="left", color=USED_COLOR))

    def _draw_gap(self, ax: Axes, row: int) -> None:
        """Draw a line in the widest gap, with words above it in a row that is free."""
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
        raise InputError(f"values has shape {checked.shape}: pass eigenvalues, in one row.")
    if kind == "variance" and (checked.min() < 0 or checked.max() <= 0):
        raise InputError(
            f"values from {checked.min():g} to {checked.max():g} have no shares of a variance: "
            "pass nonnegative ones that are not all 0, or kind='eigenvalues'."
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


# ---- a fitted estimator


def _read_spectrum(source: Any) -> dict[str, Any]:
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
        # Null vectors come first and are missing in one of the two lists: a map leaves out the
        # constant, which its certificate has; a classifier has indicators of components, which its
        # certificate leaves out.
        missed = np.flatnonzero(certificate.residuals > certificate.tolerances)
        missed += len(values) - len(certificate.residuals)
        found["unconverged"] = missed[missed >= 0].tolist()
        found["fragile"] = certificate.fragile
    return found


# ---- artists, each drawn after the limits are set


def _set_scale(ax: Axes, heights: Array, headroom: float, least_shown: float | None) -> float:
    """Set limits and ticks; return the height at which stems begin.

    ``headroom`` is how much higher than the values the picture is. With ``least_shown``, a share of
    the largest height, the scale is logarithmic down to there.
    """
    from matplotlib.ticker import MaxNLocator

    n, top = len(heights), float(heights.max())
    beside = max(0.7, 0.02 * n)
    ax.set_xlim(1 - beside, n + beside)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if least_shown is None:
        low, high = 1.05 * min(0.0, float(heights.min())), 1.05 * headroom * max(0.0, top)
        ax.set_ylim(low, high if high > low else 1.0)
        return 0.0
    if top <= 0:
        raise InputError("No value is positive, and none has a place on a logarithmic scale.")
    floor = float(heights[heights > least_shown * top].min()) / 3
    ax.set_yscale("log")
    ax.set_ylim(floor, 2 * top)
    return floor


def _name_shares(ax: Axes) -> None:
    """Write the heights, which are shares, in percent."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.yaxis.set_major_formatter(_per_cent)
    if ax.get_yscale() == "log":
        low, high = ax.get_ylim()
        is_short = high < 10**FEW_DECADES * low
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if is_short else (1,)))
        ax.yaxis.set_minor_formatter(NullFormatter())


def _per_cent(share: float, _: float | None) -> str:
    # As a function with a name, the display can be pickled. There is room above 1, and no share.
    return f"{100 * share:.6g}%" if share <= 1 else ""


def _draw_values(
    ax: Axes,
    heights: Array,
    n_used: int,
    floor: float,
    given: Mapping[str, Any],
    given_rest: Mapping[str, Any],
) -> tuple[Line2D, Line2D | None, LineCollection | None, Line2D | None]:
    """Draw filled markers, hollow ones for the rest, stems, and triangles for what is too low."""
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
