"""Convergence of a low-rank solve as a picture: distance error and objective, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_choice
from labelfold.exceptions import InputError
from labelfold.plotting.lines import check_shape, draw_level, write_above
from labelfold.plotting.palette import NOTE_COLOR, OKABE_ITO, readable_on_white

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

AGAINST = {"steps": "steps of the solver", "seconds": "seconds"}
ERROR_COLOR, OBJECTIVE_COLOR, SOLUTION_COLOR = OKABE_ITO[0], OKABE_ITO[2], OKABE_ITO[5]
VISIBLE_RATIO = 1.5  # of the bound and the first rounds to the last objective, to be shown
MANY = 60  # rounds, above which markers would touch

Array = NDArray[np.float64]


class ConvergenceDisplay:
    """Picture of a low-rank semidefinite solve.

    The upper axes show the relative error of squared distances after each round, on a logarithmic
    scale, with the tolerance as a dashed line. The lower axes show the objective, with the bound on
    embeddings without error. Dotted lines are changes of the Gram matrix's rank. Diamonds are the
    returned solution: the solver refines the last or the best round and corrects its distances.

    Use :meth:`from_estimator` for a fitted estimator. All parameters are stored as attributes.

    Parameters
    ----------
    n_iter : array-like of shape (n_rounds,)
        Steps of the solver until the end of each round.

    error : array-like of shape (n_rounds,)
        Error of squared distances: the larger of root mean square and median, each relative.

    objective : array-like of shape (n_rounds,)
        The objective, which is maximized.

    seconds : array-like of shape (n_rounds,), default=None
        Seconds from the start to the end of each round.

    rank : array-like of shape (n_rounds,), default=None
        Columns of the Gram matrix's factor.

    tol : float, default=None
        Tolerance of the error.

    bound : float, default=None
        Upper bound on the objective of embeddings that keep all distances exactly.

    final_error, final_objective : float, default=None
        Error and objective of the returned solution.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the error.

    objective_ax_ : matplotlib Axes or None
        Axes with the objective.

    figure_ : matplotlib Figure
        Figure that holds them.

    error_, objective_ : matplotlib Line2D
        The two lines; `objective_` is None if it has no axes.

    tol_, bound_ : matplotlib Line2D or None
        Dashed lines; `bound_` is also None if the bound is more than 1.5 times the objective.

    final_ : list of matplotlib Line2D
        Diamonds of the returned solution.

    ranks_ : list of matplotlib Line2D
        Lines at changes of the rank, on the axes of the error.

    text_ : list of matplotlib Text
        Names of the lines and diamonds, and notes.

    See Also
    --------
    SpectrumDisplay : The eigenvalues of the solution.

    Examples
    --------
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
        self.seconds = None if seconds is None else check_shape("seconds", seconds, shape, "round")
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
        """Draw the convergence of a fitted estimator's solve.

        Parameters
        ----------
        estimator : fitted estimator
            One with ``history_``: :class:`MaximumVarianceUnfolding`,
            :class:`FurthestNeighborUnfolding`, :class:`SupervisedSemidefiniteEmbedding` or
            :class:`IsometricSeparationMap`, fitted by the low-rank solver, or a
            :class:`ManifoldClassifier` on one of these.

        against : {"steps", "seconds"}, default="steps"
            The horizontal axis.

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
                advice = "solver='conic' keeps none; fit with solver='lowrank'."
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
            Axes for the error and the objective; a single one shows only the error. By default a
            new figure with two.

        against : {"steps", "seconds"}, default="steps"
            The horizontal axis. Seconds count the rounds only: the solution is drawn at the last
            round, though it took a little longer.

        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the two lines.

        Returns
        -------
        display : ConvergenceDisplay
            The display itself, with `ax_`, `objective_ax_`, `figure_` and the drawn artists.
        """
        check_choice("against", against, tuple(AGAINST))
        places = self.n_iter if against == "steps" else self.seconds
        if places is None:
            raise InputError("against='seconds' needs seconds: pass them, or use against='steps'.")
        self.ax_, self.objective_ax_ = _get_axes(ax)
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
        # If one is above the other, only the lower has a label.
        if self.objective_ax_ is not None and np.isclose(
            self.ax_.get_position().x0, self.objective_ax_.get_position().x0
        ):
            self.ax_.set_xlabel("")
        return self

    def _draw_error(self, ax: Axes, places: Array, options: dict[str, Any]) -> None:
        (self.error_,) = ax.plot(places, self.error, **self._style(ERROR_COLOR, options))
        ax.set_yscale("log", nonpositive="mask")  # which has no error of 0
        ax.set_ylabel("error of squared distances")
        self.tol_: Line2D | None = None
        if self.tol is not None:
            words = f"tolerance {self.tol:g}"
            self.tol_, text = draw_level(ax, self.tol, words, color="black")
            self.text_.append(text)
        self._mark_solution(ax, places, self.final_error)

    def _draw_objective(self, ax: Axes, places: Array, options: dict[str, Any]) -> None:
        style = self._style(OBJECTIVE_COLOR, {"marker": "s", **options})
        (self.objective_,) = ax.plot(places, self.objective, **style)
        ax.set_ylabel("objective")
        self._mark_solution(ax, places, self.final_objective)
        last = float(self.objective[-1] if self.final_objective is None else self.final_objective)
        top = VISIBLE_RATIO * last
        if self.bound is not None and 0 < self.bound <= top:
            words = "bound if all distances are exact"
            self.bound_, text = draw_level(ax, self.bound, words, color="black", above=False)
            self.text_.append(text)
        # First rounds may be far above, and would make the rest a flat line.
        n_above = int(np.count_nonzero(self.objective > top))
        if last > 0 and n_above:
            ax.set_ylim(0, top)
            rounds = "1 round" if n_above == 1 else f"{n_above} rounds"
            note = f"{rounds} above, up to {self.objective.max():.2g}"
            corner: dict[str, Any] = {"transform": ax.transAxes, "ha": "right", "va": "top"}
            self.text_.append(ax.text(0.98, 0.96, note, color=NOTE_COLOR, **corner))

    def _mark_solution(self, ax: Axes, places: Array, height: float | None) -> None:
        """Draw a diamond at the solution, with its name to the right."""
        if height is None:
            return
        style: dict[str, Any] = {"color": SOLUTION_COLOR, "markeredgecolor": "black", "zorder": 4}
        self.final_ += ax.plot(places[-1:], [height], marker="D", linestyle="none", **style)
        text = ax.annotate(
            "solution",
            (float(places[-1]), height),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            color=readable_on_white(SOLUTION_COLOR),
            annotation_clip=False,
        )
        self.text_.append(text)

    def _draw_ranks(self, places: Array, rank: Array) -> None:
        """Draw lines where the rank changes, and write all ranks above, in their order."""
        style: dict[str, Any] = {"color": NOTE_COLOR, "linestyle": ":", "linewidth": 1, "zorder": 0}
        before = np.flatnonzero(np.diff(rank))
        changes = (places[before] + places[before + 1]) / 2  # between two rounds
        self.ranks_ = [self.ax_.axvline(place, **style) for place in changes]
        if self.objective_ax_ is not None:
            for place in changes:
                self.objective_ax_.axvline(place, **style)
        ranks = " → ".join(f"{one:.0f}" for one in [rank[0], *rank[before + 1]])
        words = f"rank {ranks}"
        self.text_.append(write_above(self.ax_, places[0], words, ha="left", color=NOTE_COLOR))

    def _style(self, color: str, options: dict[str, Any]) -> dict[str, Any]:
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        defaults = {"color": color, "marker": "o", "markersize": 3.5, "linewidth": 1.3}
        if len(self.n_iter) > MANY:
            defaults["markersize"] = 0.0
        return defaults | normalize_kwargs(options, Line2D)


def _get_axes(ax: Any) -> tuple[Axes, Axes | None]:
    """Return axes for error and objective: the given one and None, the given two, or new ones.

    Two may be any sequence, or the array that ``subplots(2, 1, squeeze=False)`` returns.
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
