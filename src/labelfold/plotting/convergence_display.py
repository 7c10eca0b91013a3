"""How a low-rank solve went, as a picture: distance error and objective, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_choice
from labelfold.exceptions import InputError
from labelfold.plotting.lines import check_shape, write_above
from labelfold.plotting.palette import NOTE_COLOR, OKABE_ITO, readable_on_white

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

AGAINST = {"steps": "steps of the solver", "seconds": "seconds"}
ERROR_COLOR, OBJECTIVE_COLOR, KEPT_COLOR = OKABE_ITO[0], OKABE_ITO[2], OKABE_ITO[5]
IN_REACH = 1.5  # times the last objective: what the picture shows of the bound and of first rounds
MANY = 60  # rounds, from which on markers would touch
# Room for the words about a rank, as a share of the width; the first has one word more.
FIRST_WORDS, WORDS = 0.16, 0.06

Array = NDArray[np.float64]


class ConvergenceDisplay:
    """Picture of a low-rank semidefinite solve.

    Above, the relative error of squared distances after every round, on a logarithmic scale, with
    the tolerance as a dashed line; below, the objective, with the bound of maps without error.
    Dotted lines stand where the rank of the Gram matrix changed. Diamonds are the map that was
    kept: the solver polishes the last round, or the best one, and mends its distances.

    It is recommended to use :meth:`from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    n_iter : array-like of shape (n_rounds,)
        Steps of the solver at the end of each round.

    error : array-like of shape (n_rounds,)
        Error of squared distances: the larger of root mean square and median, each relative.

    objective : array-like of shape (n_rounds,)
        What is made large.

    seconds : array-like of shape (n_rounds,), default=None
        Time since the start at the end of each round.

    rank : array-like of shape (n_rounds,), default=None
        Columns of the Gram matrix's factor.

    tol : float, default=None
        Error that was allowed.

    bound : float, default=None
        What no map exceeds that keeps all distances exactly.

    final_error, final_objective : float, default=None
        Those of the map that was kept.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the error.

    objective_ax_ : matplotlib Axes or None
        Axes with the objective.

    figure_ : matplotlib Figure
        Figure that holds them.

    error_, objective_ : matplotlib Line2D
        The two lines; `objective_` is None where it has no axes.

    tol_, bound_ : matplotlib Line2D or None
        Dashed lines; `bound_` is None too where the bound is more than 1.5 times the objective.

    final_ : list of matplotlib Line2D
        Diamonds of the map that was kept.

    ranks_ : list of matplotlib Line2D
        Lines where the rank changed, on the axes of the error.

    text_ : list of matplotlib Text
        What is written.

    See Also
    --------
    SpectrumDisplay : The eigenvalues that the solve ended with.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from labelfold.plotting import ConvergenceDisplay
    >>> display = ConvergenceDisplay([30, 60, 90], [1.0, 0.1, 0.005], [9.0, 7.0, 7.5], tol=0.01)
    >>> display.plot().objective_.get_xdata()
    array([30., 60., 90.])
    """

    def __init__(
        self,
        n_iter: ArrayLike,
        error: ArrayLike,
        objective: ArrayLike,
        *,
        seconds: ArrayLike | None = None,
        rank: ArrayLike | None = None,
        tol: float | None = None,
        bound: float | None = None,
        final_error: float | None = None,
        final_objective: float | None = None,
    ) -> None:
        self.n_iter = np.asarray(n_iter, dtype=float)
        if self.n_iter.ndim != 1 or not len(self.n_iter):
            raise InputError(
                f"n_iter has shape {self.n_iter.shape}: pass the steps of one round or more."
            )
        shape = self.n_iter.shape
        self.error = check_shape("error", error, shape, "round")
        self.objective = check_shape("objective", objective, shape, "round")
        self.seconds = None
        if seconds is not None:
            self.seconds = check_shape("seconds", seconds, shape, "round")
        self.rank = None if rank is None else check_shape("rank", rank, shape, "round")
        self.tol = tol
        self.bound = bound
        self.final_error = final_error
        self.final_objective = final_objective

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        against: str = "steps",
        ax: Axes | Sequence[Axes] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw how the solve of a fitted estimator went.

        Parameters
        ----------
        estimator : fitted estimator
            One with ``history_``: :class:`MaximumVarianceUnfolding`,
            :class:`FurthestNeighborUnfolding`, :class:`SupervisedSemidefiniteEmbedding` or
            :class:`IsometricSeparationMap`, fitted by the low-rank solver, or a
            :class:`ManifoldClassifier` on one of these.

        against : {"steps", "seconds"}, default="steps"
            What the horizontal axis shows.

        ax : matplotlib Axes or two of them, default=None
            As for :meth:`plot`.

        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ConvergenceDisplay
            The display, drawn.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from labelfold import MaximumVarianceUnfolding
        >>> from labelfold.datasets import make_swiss_roll
        >>> from labelfold.plotting import ConvergenceDisplay
        >>> X, _, _ = make_swiss_roll(100, random_state=0)
        >>> model = MaximumVarianceUnfolding(random_state=0).fit(X)
        >>> display = ConvergenceDisplay.from_estimator(model)
        >>> len(display.error_.get_xdata()) == len(model.history_["error"])
        True
        """
        check_is_fitted(estimator)
        source = getattr(estimator, "embedder_", estimator)
        history = getattr(source, "history_", None)
        if history is None:
            advice = (
                "ConvergenceDisplay shows MaximumVarianceUnfolding, FurthestNeighborUnfolding, "
                "SupervisedSemidefiniteEmbedding and IsometricSeparationMap."
            )
            if hasattr(source, "history_"):
                advice = "solver='conic' keeps none, fit with solver='lowrank'."
            raise InputError(f"{type(source).__name__} has no history of a solve: {advice}")
        certificate = source.certificate_
        return cls(
            **history,
            tol=certificate.tol,
            bound=certificate.bound,
            final_error=certificate.errors.decisive,
            final_objective=certificate.objective,
        ).plot(ax=ax, against=against, **kwargs)

    def plot(
        self,
        ax: Axes | Sequence[Axes] | None = None,
        *,
        against: str = "steps",
        **kwargs: Any,
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or two of them, default=None
            Axes for the error and the objective; one gets the error alone. By default a new figure
            with two.

        against : {"steps", "seconds"}, default="steps"
            What the horizontal axis shows. Seconds are those of the rounds: what comes after them
            is not counted, and the kept map stands at the last.

        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the two lines.

        Returns
        -------
        display : ConvergenceDisplay
            The display itself, with `ax_`, `objective_ax_`, `figure_` and the drawn artists.
        """
        places = self._places(against)
        self.ax_, self.objective_ax_ = _two_axes(ax)
        self.figure_ = self.ax_.figure
        self.final_: list[Line2D] = []
        self.text_: list[Text] = []
        self._draw_error(self.ax_, places, kwargs)
        self.objective_: Line2D | None = None
        self.bound_: Line2D | None = None
        if self.objective_ax_ is not None:
            self._draw_objective(self.objective_ax_, places, kwargs)
        self.ranks_: list[Line2D] = []
        if self.rank is not None:
            self._draw_ranks(places, self.rank)
        for one in (self.ax_, self.objective_ax_):
            if one is not None:
                one.spines[["top", "right"]].set_visible(False)
                one.set_xlabel(AGAINST[against])
        # Of two axes that stand on each other, the lower one has the label.
        if self.objective_ax_ is not None and np.isclose(
            self.ax_.get_position().x0, self.objective_ax_.get_position().x0
        ):
            self.ax_.set_xlabel("")
        return self

    def _places(self, against: str) -> Array:
        check_choice("against", against, tuple(AGAINST))
        if against == "steps":
            return self.n_iter
        if self.seconds is None:
            raise InputError("against='seconds' needs seconds: pass them, or use against='steps'.")
        return self.seconds

    def _draw_error(self, ax: Axes, places: Array, options: dict[str, Any]) -> None:
        (self.error_,) = ax.plot(places, self.error, **self._style(ERROR_COLOR, options))
        ax.set_yscale("log", nonpositive="mask")  # an error of 0 has no place
        ax.set_ylabel("error of squared distances")
        self.tol_: Line2D | None = None
        if self.tol is not None:
            self.tol_ = self._draw_level(ax, self.tol, f"tolerance {self.tol:g}", above=True)
        self._mark_kept(ax, places, self.final_error)

    def _draw_objective(self, ax: Axes, places: Array, options: dict[str, Any]) -> None:
        style = self._style(OBJECTIVE_COLOR, {"marker": "s", **options})
        (self.objective_,) = ax.plot(places, self.objective, **style)
        ax.set_ylabel("objective")
        self._mark_kept(ax, places, self.final_objective)
        last = float(self.objective[-1] if self.final_objective is None else self.final_objective)
        if self.bound is not None and 0 < self.bound <= IN_REACH * last:
            words = "no exact map exceeds this"
            self.bound_ = self._draw_level(ax, self.bound, words, above=False)
        # First rounds stretch the map far beyond its size: the rest would be a flat line.
        n_above = int(np.count_nonzero(self.objective > IN_REACH * last))
        if last > 0 and n_above:
            ax.set_ylim(0, IN_REACH * last)
            rounds = "1 round" if n_above == 1 else f"{n_above} rounds"
            note = f"{rounds} above, up to {self.objective.max():.2g}"
            corner: dict[str, Any] = {"transform": ax.transAxes, "ha": "right", "va": "top"}
            self.text_.append(ax.text(0.98, 0.96, note, color=NOTE_COLOR, **corner))

    def _draw_level(self, ax: Axes, height: float, words: str, *, above: bool) -> Line2D:
        """Draw a dashed line across, and write what it is on its left end."""
        text = ax.annotate(
            words,
            (0, height),
            xycoords=ax.get_yaxis_transform(),
            xytext=(3, 2 if above else -3),
            textcoords="offset points",
            va="bottom" if above else "top",
        )
        self.text_.append(text)
        return ax.axhline(height, color="black", linestyle="--", linewidth=1, zorder=1)

    def _mark_kept(self, ax: Axes, places: Array, height: float | None) -> None:
        """Draw a diamond at the kept map, with words to its right."""
        if height is None:
            return
        style: dict[str, Any] = {"color": KEPT_COLOR, "markeredgecolor": "black", "zorder": 4}
        self.final_ += ax.plot(places[-1:], [height], marker="D", linestyle="none", **style)
        text = ax.annotate(
            "kept map",
            (float(places[-1]), height),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            color=readable_on_white(KEPT_COLOR),
            annotation_clip=False,
        )
        self.text_.append(text)

    def _draw_ranks(self, places: Array, rank: Array) -> None:
        """Draw lines where the rank changed, and write the new one on top where there is room."""
        style: dict[str, Any] = {"color": NOTE_COLOR, "linestyle": ":", "linewidth": 1, "zorder": 0}
        after = np.flatnonzero(np.diff(rank))
        changes = (places[after] + places[after + 1]) / 2  # between two rounds
        self.ranks_ = [self.ax_.axvline(place, **style) for place in changes]
        if self.objective_ax_ is not None:
            for place in changes:
                self.objective_ax_.axvline(place, **style)
        first, width = float(places[0]), float(places[-1] - places[0])
        free_from = first + FIRST_WORDS * width
        words = [(first, f"rank {rank[0]:.0f}")]
        if len(changes) and changes[-1] < free_from:  # no room for any
            words = [(first, f"rank {rank[0]:.0f} to {rank[-1]:.0f}")]
        for place, now in zip(changes, rank[after + 1], strict=True):
            if place >= free_from:
                words.append((place, f"{now:.0f}"))
                free_from = place + WORDS * width
        for place, word in words:
            self.text_.append(write_above(self.ax_, place, word, ha="left", color=NOTE_COLOR))

    def _style(self, color: str, options: dict[str, Any]) -> dict[str, Any]:
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        defaults = {"color": color, "marker": "o", "markersize": 3.5, "linewidth": 1.3}
        if len(self.n_iter) > MANY:
            defaults["markersize"] = 0.0
        return defaults | normalize_kwargs(options, Line2D)


def _two_axes(ax: Any) -> tuple[Axes, Axes | None]:
    """Return axes for error and objective: new ones, the one given and none, or the two given.

    Two come in any form, as the table that ``subplots(2, 1, squeeze=False)`` returns.
    """
    if ax is None:
        from matplotlib import pyplot as plt

        _, (above, below) = plt.subplots(2, 1, sharex=True, layout="constrained")
        return above, below
    if hasattr(ax, "plot"):
        return ax, None
    axes = np.array(ax, dtype=object).ravel().tolist()
    if len(axes) != 2:
        raise InputError(
            f"ax holds {len(axes)} axes: pass one for the error, or two for error and objective."
        )
    return axes[0], axes[1]
