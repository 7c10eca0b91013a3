"""How a low-rank solve went, as a picture: distance error and objective, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from labelfold.exceptions import InputError
from labelfold.plotting.convergence_artists import (
    draw_level,
    draw_ranks,
    label_axes,
    mark_point,
    two_axes,
    write_in_corner,
)
from labelfold.plotting.palette import OKABE_ITO

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

__all__ = ["ConvergenceDisplay"]

AGAINST = {"steps": "steps of the solver", "seconds": "seconds"}
ERROR_COLOR, OBJECTIVE_COLOR = OKABE_ITO[0], OKABE_ITO[2]
IN_REACH = 1.5  # times the last objective: what the picture shows of the bound and of first rounds
MANY = 60  # rounds, from which on markers would touch

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

    ax_: Axes
    objective_ax_: Axes | None
    figure_: Figure | SubFigure
    error_: Line2D
    objective_: Line2D | None
    tol_: Line2D | None
    bound_: Line2D | None
    final_: list[Line2D]
    ranks_: list[Line2D]
    text_: list[Text]

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
        n_rounds = len(self.n_iter)
        self.error = _check_column(error, "error", n_rounds)
        self.objective = _check_column(objective, "objective", n_rounds)
        self.seconds = None if seconds is None else _check_column(seconds, "seconds", n_rounds)
        self.rank = None if rank is None else _check_column(rank, "rank", n_rounds)
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
            raise InputError(
                f"{type(source).__name__} has no history of a solve: {_way_out(source)}"
            )
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
        self.ax_, self.objective_ax_ = two_axes(ax)
        self.figure_ = self.ax_.figure
        self.final_, self.text_ = [], []
        self._draw_error(self.ax_, places, kwargs)
        self.objective_, self.bound_ = None, None
        if self.objective_ax_ is not None:
            self._draw_objective(self.objective_ax_, places, kwargs)
        self.ranks_ = []
        if self.rank is not None:
            self.ranks_, words = draw_ranks(self.ax_, self.objective_ax_, places, self.rank)
            self.text_ += words
        for one in (self.ax_, self.objective_ax_):
            if one is not None:
                one.spines[["top", "right"]].set_visible(False)
        label_axes(self.ax_, self.objective_ax_, AGAINST[against])
        return self

    def _places(self, against: str) -> Array:
        if against not in AGAINST:
            raise InputError(f"against={against!r} must be one of {', '.join(AGAINST)}.")
        if against == "steps":
            return self.n_iter
        if self.seconds is None:
            raise InputError("against='seconds' needs seconds: pass them, or use against='steps'.")
        return self.seconds

    def _draw_error(self, ax: Axes, places: Array, options: dict[str, Any]) -> None:
        (self.error_,) = ax.plot(places, self.error, **self._style(ERROR_COLOR, options))
        ax.set_yscale("log", nonpositive="mask")  # an error of 0 has no place
        ax.set_ylabel("error of squared distances")
        self.tol_ = None
        if self.tol is not None:
            self.tol_, words = draw_level(ax, self.tol, f"tolerance {self.tol:g}", above=True)
            self.text_.append(words)
        self._mark_kept(ax, places, self.final_error)

    def _draw_objective(self, ax: Axes, places: Array, options: dict[str, Any]) -> None:
        style = self._style(OBJECTIVE_COLOR, {"marker": "s", **options})
        (self.objective_,) = ax.plot(places, self.objective, **style)
        ax.set_ylabel("objective")
        self._mark_kept(ax, places, self.final_objective)
        last = float(self.objective[-1] if self.final_objective is None else self.final_objective)
        if self.bound is not None and 0 < self.bound <= IN_REACH * last:
            self.bound_, words = draw_level(
                ax, self.bound, "no exact map exceeds this", above=False
            )
            self.text_.append(words)
        # First rounds stretch the map far beyond its size: the rest would be a flat line.
        n_above = int(np.count_nonzero(self.objective > IN_REACH * last))
        if last > 0 and n_above:
            ax.set_ylim(0, IN_REACH * last)
            rounds = "1 round" if n_above == 1 else f"{n_above} rounds"
            note = f"{rounds} above, up to {self.objective.max():.2g}"
            self.text_.append(write_in_corner(ax, note))

    def _mark_kept(self, ax: Axes, places: Array, height: float | None) -> None:
        if height is not None:
            mark, words = mark_point(ax, float(places[-1]), height, "kept map")
            self.final_.append(mark)
            self.text_.append(words)

    def _style(self, color: str, options: dict[str, Any]) -> dict[str, Any]:
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        defaults = {"color": color, "marker": "o", "markersize": 3.5, "linewidth": 1.3}
        if len(self.n_iter) > MANY:
            defaults["markersize"] = 0.0
        return defaults | normalize_kwargs(options, Line2D)


def _way_out(source: Any) -> str:
    if hasattr(source, "history_"):
        return "solver='conic' keeps none, fit with solver='lowrank'."
    return (
        "ConvergenceDisplay shows MaximumVarianceUnfolding, FurthestNeighborUnfolding, "
        "SupervisedSemidefiniteEmbedding and IsometricSeparationMap."
    )


def _check_column(values: ArrayLike, name: str, n_rounds: int) -> Array:
    column = np.asarray(values, dtype=float)
    if column.shape != (n_rounds,):
        raise InputError(
            f"{name} has shape {column.shape} for {n_rounds} rounds: pass one entry a round."
        )
    return column
