"""Any set of embedders on the same points, labels and splits, in one table.

For every method, dimension and split the labels of one fold are hidden, the points are embedded, a
head is fitted on the labels that are left, and its answers for the fold are scored: one record for
each fit, one summary for each method and dimension. What a method cannot do stands in the table
with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from numbers import Integral
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.metaestimators import _safe_split

from labelfold.classify import ManifoldClassifier
from labelfold.classify.heads import make_head
from labelfold.classify.manifold_classifier import as_array, embed
from labelfold.evaluate.splits import LabeledKFold, hold_out
from labelfold.exceptions import InputError
from labelfold.intervals import LEVEL, student_interval, wilson_interval
from labelfold.labels import PartialLabels, hide_labels
from labelfold.methods import known_methods
from labelfold.progress import show_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from labelfold.plotting.comparison_display import ComparisonDisplay

__all__ = ["Comparison", "FitRecord", "MethodSummary", "compare"]

PROTOCOLS = ("transductive", "inductive")


def compare(
    X: Any,
    y: ArrayLike,
    methods: Mapping[str, Any] | None = None,
    *,
    head: Any = "knn",
    dims: Sequence[int] = (2,),
    protocol: str = "transductive",
    cv: Any = 5,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Compare embedders by the error of one head on hidden labels, all on the same splits.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points.
    y : array-like of shape (n_samples,)
        Labels; -1, None, NaN and pandas.NA are unlabelled. Rows without a label are embedded and
        never scored.
    methods : dict of str to transformer, default=None
        Names and embedders, of this library or scikit-learn's, also pipelines; ``n_components``,
        in a pipeline that of the last step, is set to each of ``dims``. None takes every
        declared embedder that is quick (see :mod:`labelfold.methods`) and scikit-learn's PCA, LDA,
        Isomap and LLE, the last two with 12 neighbors.
    head : {"linear", "knn"} or classifier, default="knn"
        What names classes in every map, as for :class:`ManifoldClassifier`.
    dims : sequence of int, default=(2,)
        Dimensions of the maps.
    protocol : {"transductive", "inductive"}, default="transductive"
        "transductive" embeds all rows, with the labels of one fold hidden. "inductive" fits on the
        other rows alone and maps the fold by ``transform``.
    cv : int, splitter or iterable of (train, test), default=5
        Number of folds of :class:`LabeledKFold`, shuffled, or any splits: the labels of test rows
        are hidden, and all other rows are trained on.
    random_state : int, RandomState instance or None, default=None
        Fixes the folds, and every ``random_state`` of methods and head that is None.
    n_jobs : int, default=None
        Number of processes; results do not depend on it, times do.
    verbose : int, default=0
        1 shows progress on stderr.

    Returns
    -------
    Comparison
        A row for each method, dimension and split, a summary, a table by ``print``, a picture by
        ``plot()``.

    See Also
    --------
    TransductiveSearchCV : Chooses parameters of one method.
    permuted_label_baseline : Tells whether there is anything to learn.

    Notes
    -----
    Labels reach a method as in :class:`ManifoldClassifier`: those that take partial labels get
    them; those that need a complete y, such as ``LinearDiscriminantAnalysis``, are fitted on the
    labelled rows and map the rest by ``transform``; all others see none. In the transductive
    protocol a method needs no ``transform`` of its own, as scikit-learn's ``MDS`` and ``TSNE``.

    Nothing that a method cannot do is raised: a fit that fails, a dimension that it does not
    have, a protocol that needs what it lacks are records with a reason. Wrong arguments are.

    Folds share training rows, so the intervals are a guide and not a test. Parameters of methods
    are taken as they are: a comparison of tuned methods wants each tuned without the labels that
    are scored here.

    Every map is fitted anew for every split and dimension: the cost is that of all the fits.

    Times are those of the embedding, without the head. For times to compare use one process.

    Examples
    --------
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from labelfold import CCDR, hide_labels
    >>> from labelfold.datasets import make_swiss_roll
    >>> from labelfold.evaluate import compare
    >>> X, y, _ = make_swiss_roll(400, random_state=0)
    >>> y_partial = hide_labels(y, keep=range(100))
    >>> methods = {"CCDR": CCDR(), "LDA": LinearDiscriminantAnalysis()}
    >>> result = compare(X, y_partial, methods, dims=(2, 3), random_state=0)
    >>> for row in result.summary():
    ...     print(row.method, row.dimension, row.status)
    CCDR 2 ok
    CCDR 3 ok
    LDA 2 failed
    LDA 3 failed
    >>> result.records[-1].reason
    'ValueError: n_components cannot be larger than min(n_features, n_classes - 1).'
    """
    labels = PartialLabels.some_from_y(y)
    check_consistent_length(X, y)
    methods = _default_methods() if methods is None else _check_methods(methods)
    dims = _check_dims(dims)
    if protocol not in PROTOCOLS:
        raise InputError(f"protocol={protocol!r} is unknown: use one of {PROTOCOLS}.")
    make_head(head, labels.n_labeled)  # a wrong one is refused before the work begins
    seed = None
    if random_state is not None:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
    if cv is None or isinstance(cv, Integral):
        cv = LabeledKFold(5 if cv is None else int(cv), shuffle=True, random_state=seed)
    folds = _check_folds(hold_out(cv, X, y))
    trials = list(product(methods, dims, range(len(folds))))
    work = (
        delayed(_try)(
            (name, dimension, split),
            _prepared(methods[name], seed),
            head if isinstance(head, str) else _prepared(head, seed),
            X,
            y,
            folds[split],
            protocol,
        )
        for name, dimension, split in trials
    )
    records = []
    with show_progress(verbose) as progress:
        results = Parallel(n_jobs=n_jobs, return_as="generator")(work)
        for done, record in enumerate(results, start=1):
            records.append(record)
            note = f"{record.method}, {record.dimension} dimensions"
            progress("fits", done, len(trials), note=note)
    return Comparison(
        tuple(records),
        protocol,
        head if isinstance(head, str) else type(head).__name__,
        chance=1 - float(np.bincount(labels.codes[labels.mask]).max() / labels.n_labeled),
    )


@dataclass(frozen=True)
class FitRecord:
    """One method with one dimension on one split.

    Parameters
    ----------
    method : str
        Name of the method.
    dimension : int
        Dimension of the map.
    split : int
        Number of the split.
    status : {"ok", "unsuitable", "failed"}
        Whether there is a result; "unsuitable" where the method cannot do what was asked, "failed"
        where an exception was raised.
    error : float
        Share of the rows with hidden labels that got another class; NaN without a result.
    n_scored : int
        Number of these rows.
    seconds : float
        Time of the embedding, without the head; NaN without a result.
    reason : str
        Why there is no result: a sentence, or type and first line of the exception.
    """

    method: str
    dimension: int
    split: int
    status: str
    error: float
    n_scored: int
    seconds: float
    reason: str = ""


@dataclass(frozen=True)
class MethodSummary:
    """One method with one dimension over all splits.

    Parameters
    ----------
    method : str
        Name of the method.
    dimension : int
        Dimension of the map.
    status : {"ok", "partly", "unsuitable", "failed"}
        "partly" where some splits have a result and some have none.
    error : float
        Mean error over the splits that have a result; NaN where none has.
    low, high : float
        Ends of the 80 % interval, within 0 and 1; NaN without a result.
    n_splits : int
        Number of splits with a result.
    seconds : float
        Median over these splits, so that a library loaded in the first fit does not count.
    reason : str
        Why splits have no result, for the first of them.
    """

    method: str
    dimension: int
    status: str
    error: float
    low: float
    high: float
    n_splits: int
    seconds: float
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of :func:`compare`; ``print`` shows them as a table.

    Parameters
    ----------
    records : tuple of FitRecord
        One row for each method, dimension and split, in this order.
    protocol : {"transductive", "inductive"}
        Whether the scored rows were in the fit, without their labels.
    head : str
        Name of the head.
    chance : float
        Error of always naming the largest class.
    """

    records: tuple[FitRecord, ...] = field(repr=False)
    protocol: str
    head: str
    chance: float

    def summary(self) -> list[MethodSummary]:
        """Return one row for each method and dimension, in the order in which they were given.

        Returns
        -------
        list of MethodSummary
            With several splits the interval is Student's for the mean over splits, with one it is
            Wilson's for the rows that were scored. ``pandas.DataFrame`` takes the list as it is.
        """
        groups: dict[tuple[str, int], list[FitRecord]] = {}
        for record in self.records:
            groups.setdefault((record.method, record.dimension), []).append(record)
        return [_summarize(group) for group in groups.values()]

    def to_frame(self) -> Any:
        """Return the records as a table of pandas.

        Returns
        -------
        pandas.DataFrame
            One row for each record, one column for each of its fields.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install 'labelfold[io]', or use records as they are."
            ) from error
        return pd.DataFrame([asdict(record) for record in self.records])

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> ComparisonDisplay:
        """Draw errors against the dimension, one line per method; bars for a single dimension.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.errorbar`.

        Returns
        -------
        ComparisonDisplay
            The display, drawn, with `ax_` and `figure_`. Upright strokes, or those on bars, are
            80 % intervals; the dashed line, where in reach, is the error of always naming the
            largest class.
        """
        from labelfold.plotting.comparison_display import ComparisonDisplay

        return ComparisonDisplay.from_comparison(self, ax=ax, **kwargs)

    def __str__(self) -> str:
        rows = self.summary()
        width = max(len("method"), *(len(row.method) for row in rows))
        lines = [
            f"Error on hidden labels ({self.protocol}, head {self.head}), mean over "
            f"{len({record.split for record in self.records})} splits with {LEVEL:.0%} intervals; "
            f"by guessing {self.chance:.1%}",
            f"{'method':<{width}}  dim   error      interval   seconds",
        ]
        for row in rows:
            start = f"{row.method:<{width}}  {row.dimension:>3}"
            if row.n_splits == 0:
                lines.append(f"{start}  {row.status}: {row.reason}")
                continue
            interval = f"{100 * row.low:.1f} - {100 * row.high:.1f}"
            line = f"{start}  {row.error:>6.1%}  {interval:>12}  {row.seconds:>8.3g}"
            if row.status == "partly":
                line += f"  {row.n_splits} splits only: {row.reason}"
            lines.append(line)
        return "\n".join(lines)


class _UnsuitableError(Exception):
    """What a method cannot do by its nature, with the reason."""


def _default_methods() -> dict[str, Any]:
    return {
        name: method.make()
        for name, method in known_methods().items()
        if method.declaration.embeds
        and method.declaration.quick
        and "n_components" in method.parameters
    }


def _check_methods(methods: Any) -> dict[str, Any]:
    if not isinstance(methods, Mapping) or not methods:
        raise TypeError(
            f"methods={methods!r} must be a dict of names and embedders, such as "
            "{'PCA': PCA(), 'CCDR': CCDR()}."
        )
    for name, method in methods.items():
        if not isinstance(name, str):
            raise TypeError(f"The name {name!r} of a method must be text.")
        is_estimator = hasattr(method, "get_params") and hasattr(method, "fit_transform")
        if isinstance(method, type) or not is_estimator:
            raise TypeError(
                f"Method {name!r} is no embedder: give an estimator with fit_transform, such as "
                f"PCA(), got {method!r}."
            )
    return dict(methods)


def _check_dims(dims: Any) -> tuple[int, ...]:
    values = tuple(dims) if isinstance(dims, Iterable) and not isinstance(dims, str) else ()
    whole = all(isinstance(d, int | np.integer) and not isinstance(d, bool) for d in values)
    if not values or not whole or min(values) < 1:
        raise InputError(f"dims={dims!r} must be positive integers, such as (2, 5, 10).")
    return tuple(dict.fromkeys(int(d) for d in values))


def _check_folds(folds: list[NDArray[np.intp]]) -> list[NDArray[np.intp]]:
    if not folds or not all(len(rows) for rows in folds):
        raise InputError(
            "cv gives no split, or one that holds out no row: there is nothing to score."
        )
    return folds


def _prepared(estimator: Any, seed: int | None) -> Any:
    """Return an unfitted copy, with a seed in every random state that has none."""
    copy = clone(estimator)
    if seed is None:
        return copy
    unset = [
        name
        for name, value in copy.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    ]
    return copy.set_params(**dict.fromkeys(unset, seed))


def _try(
    trial: tuple[str, int, int],
    method: Any,
    head: Any,
    X: Any,
    y: ArrayLike,
    rows: NDArray[np.intp],
    protocol: str,
) -> FitRecord:
    """Return the record of one fit, whatever becomes of it."""
    status, error, seconds, reason = "ok", np.nan, np.nan, ""
    try:
        embedder = _with_dimension(method, trial[1])
        model = ManifoldClassifier(embedder, head=head)
        answer = _answer_new if protocol == "inductive" else _answer_all
        answers, seconds = answer(model, trial[1], X, y, rows)
        error = float(np.mean(answers != PartialLabels.from_y(y).at(rows)))
    except _UnsuitableError as unsuitable:
        status, reason = "unsuitable", str(unsuitable)
    except Exception as failure:  # a method may fail in any way, and the others are to go on
        message = (str(failure).strip() or "no message").splitlines()[0]
        status, reason = "failed", f"{type(failure).__name__}: {message}"
    if status != "ok":
        seconds = np.nan
    return FitRecord(*trial, status, error, len(rows), seconds, reason)


def _with_dimension(method: Any, dimension: int) -> Any:
    name = "n_components"
    if isinstance(method, Pipeline):
        name = f"{method.steps[-1][0]}__{name}"
    if name not in method.get_params():
        raise _UnsuitableError(f"{type(method).__name__} has no {name} to set the dimension by.")
    return method.set_params(**{name: dimension})


def _answer_all(
    model: ManifoldClassifier, dimension: int, X: Any, y: ArrayLike, rows: NDArray[np.intp]
) -> tuple[NDArray[Any], float]:
    """Embed all rows, with some labels hidden; return what the head says of these, and the time."""
    y = _without(y, rows)
    embedder, embedding, seconds = _embed(model, dimension, X, y)
    return model.fit_head(embedder, embedding, y).transduction_[rows], seconds


def _answer_new(
    model: ManifoldClassifier, dimension: int, X: Any, y: ArrayLike, rows: NDArray[np.intp]
) -> tuple[NDArray[Any], float]:
    """Embed the other rows alone; return what the head says of some as new points, and the time."""
    if not hasattr(model.embedder, "transform"):
        raise _UnsuitableError(
            f"{type(model.embedder).__name__} has no transform for new points: use "
            "protocol='transductive'."
        )
    y = _without(y, rows)
    others = np.setdiff1d(np.arange(len(y)), rows)
    X_fit, y_fit = _safe_split(model, X, y, others)
    X_new, _ = _safe_split(model, X, y, rows, others)
    embedder, embedding, seconds = _embed(model, dimension, X_fit, y_fit)
    return model.fit_head(embedder, embedding, y_fit).predict(X_new), seconds


def _without(y: ArrayLike, rows: NDArray[np.intp]) -> NDArray[Any]:
    kept = PartialLabels.from_y(y).mask.copy()
    kept[rows] = False
    return hide_labels(y, kept)


def _embed(
    model: ManifoldClassifier, dimension: int, X: Any, y: NDArray[Any]
) -> tuple[Any, Any, float]:
    """Return the fitted embedder, its map of all rows and the time in seconds."""
    labels = PartialLabels.some_from_y(y)
    embedder = model.make_embedder(labels)
    start = perf_counter()
    embedding = as_array(embed(embedder, X, y, labels))
    seconds = perf_counter() - start
    if embedding.shape[1] != dimension:
        raise _UnsuitableError(
            f"{type(embedder).__name__} gave {embedding.shape[1]} coordinates and not {dimension}."
        )
    return embedder, embedding, seconds


def _summarize(records: Sequence[FitRecord]) -> MethodSummary:
    scored = [record for record in records if record.status == "ok"]
    others = [record for record in records if record.status != "ok"]
    status = "ok" if not others else "partly" if scored else others[0].status
    error, low, high = _interval(scored)
    return MethodSummary(
        records[0].method,
        records[0].dimension,
        status,
        error,
        low,
        high,
        n_splits=len(scored),
        seconds=float(np.median([record.seconds for record in scored])) if scored else np.nan,
        reason=others[0].reason if others else "",
    )


def _interval(scored: Sequence[FitRecord]) -> tuple[float, float, float]:
    """Return the mean error and its interval: Student's over splits, Wilson's for a single one."""
    n = len(scored)
    if n == 0:
        return np.nan, np.nan, np.nan
    errors = [record.error for record in scored]
    mean = math.fsum(errors) / n
    if n == 1:
        return mean, *wilson_interval(mean, scored[0].n_scored)
    low, high = student_interval(errors)
    return mean, max(0.0, low), min(1.0, high)
