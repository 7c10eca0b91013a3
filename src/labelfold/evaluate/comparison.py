"""Any set of methods on the same rows, labels and splits, in one table.

For every method, dimension and split the labels of one fold are hidden, the rows are embedded, a
head is fitted on the labels that are left, and its classes of the fold are scored: one record per
fit, one summary per method and dimension. A classifier that computes no embedding has no head and
no dimension. If a method cannot do something, the table says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import _safe_split

from labelfold.checks import check_choice, seed_from
from labelfold.classify import ManifoldClassifier
from labelfold.classify.heads import make_head
from labelfold.classify.manifold_classifier import as_array, embed
from labelfold.evaluate.splits import as_splits, hide_rows, hold_out
from labelfold.exceptions import InputError
from labelfold.intervals import LEVEL, student_interval, wilson_interval
from labelfold.labels import PartialLabels
from labelfold.labels.transduction import class_frequencies
from labelfold.methods import declaration_of, known_methods
from labelfold.progress import show_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from labelfold.plotting.comparison_display import ComparisonDisplay

__all__ = ["Comparison", "FitRecord", "MethodSummary", "compare"]

PROTOCOLS = ("transductive", "inductive")


def compare(
    X: Any,
    y: ArrayLike,
    methods: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    head: Any = "knn",
    dims: Sequence[int] = (2,),
    protocol: str = "transductive",
    cv: Any = 5,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Compare methods by their error on hidden labels, all on the same splits.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels; -1, None, NaN and pandas.NA are unlabeled. Rows without a label are embedded and
        never scored.
    methods : dict of str to estimator, or sequence of str, default=None
        Names and embedders, of this library or scikit-learn's, also pipelines; or the short names
        of methods, such as ``["ccdr", "pca"]``. ``n_components``, in a pipeline that of the last
        step, is set to each of ``dims``. Classifiers of this library that compute no embedding,
        such as :class:`FewLabelClassifier` ("auto"), are fitted once per split. None takes every
        declared method that is quick (see :mod:`labelfold.methods`) and scikit-learn's PCA, LDA,
        Isomap and LLE, the last two with 12 neighbors.
    head : {"ridge", "linear", "knn"} or classifier, default="knn"
        Classifies in every embedding, as for :class:`ManifoldClassifier`.
    dims : sequence of int, default=(2,)
        Dimensions of the embeddings.
    protocol : {"transductive", "inductive"}, default="transductive"
        "transductive" embeds all rows, with the labels of one fold hidden. "inductive" fits on the
        other rows alone and embeds the fold by ``transform``.
    cv : int, splitter or iterable of (train, test), default=5
        Number of folds of :class:`LabeledKFold`, shuffled, or any splits: the labels of test rows
        are hidden, and all other rows are trained on.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same folds in every call, and for a seed in every ``random_state`` of
        methods and head that is None.
    n_jobs : int, default=None
        Number of processes; results do not depend on it, times do.
    verbose : int, default=0
        1 shows progress on stderr.

    Returns
    -------
    Comparison
        One record per method, dimension and split, a summary, a table by ``print``, a picture by
        ``plot()``.

    See Also
    --------
    TransductiveSearchCV : Chooses parameters of one method.
    permuted_label_baseline : Tests whether there is anything to learn.

    Notes
    -----
    Labels reach a method as in :class:`ManifoldClassifier`: those that take partial labels get
    them; those that need a complete y, such as ``LinearDiscriminantAnalysis``, are fitted on the
    labeled rows and embed the rest by ``transform``; all others see none. The transductive protocol
    needs no ``transform``: scikit-learn's ``MDS`` and ``TSNE`` have none.

    A fit that fails, a dimension that a method does not have or a protocol that needs what it lacks
    is a record with a reason; the others go on. Wrong arguments raise, and an interrupt (Ctrl-C)
    stops the comparison.

    Folds share training rows, so the intervals are a guide and not a test. Parameters of methods
    are taken as they are: to compare tuned methods, tune each without the labels scored here.

    Every method is fitted once per split and dimension: the cost is that of all the fits.

    Times are those of the embedding, without the head, or of the fit of a classifier. To compare
    times use one process.

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
    estimators = _check_methods(methods)
    dims = _check_dims(dims)
    check_choice("protocol", protocol, PROTOCOLS)
    make_head(head, labels.n_labeled)  # raises for a wrong one before the work begins
    seed = None if random_state is None else seed_from(random_state)
    folds = hold_out(as_splits(cv, shuffle=True, random_state=seed), X, y)
    if not folds or not all(len(rows) for rows in folds):
        raise InputError(
            "cv gives no split, or one that holds out no row: there is nothing to score."
        )
    trials = [
        (name, dimension, split)
        for name, method in estimators.items()
        for dimension in ((None,) if _labels_rows(method) else dims)
        for split in range(len(folds))
    ]
    work = (
        delayed(_try)(
            (name, dimension, split),
            _prepared(estimators[name], seed),
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
            dimension = "" if record.dimension is None else f", {record.dimension} dimensions"
            progress("fits", done, len(trials), note=record.method + dimension)
    return Comparison(
        tuple(records),
        protocol,
        head if isinstance(head, str) else type(head).__name__,
        chance=1 - float(class_frequencies(labels).max()),
    )


@dataclass(frozen=True)
class FitRecord:
    """One method with one dimension on one split.

    Parameters
    ----------
    method : str
        Name of the method.
    dimension : int or None
        Dimension of the embedding; None for a classifier without one.
    split : int
        Number of the split.
    status : {"ok", "unsuitable", "failed"}
        Whether there is a result; "unsuitable" if the method cannot do what was asked, "failed" if
        it raised an exception.
    error : float
        Share of the rows with hidden labels that got another class; NaN without a result.
    n_scored : int
        Number of these rows.
    seconds : float
        Time of the embedding, without the head, or of a classifier's fit; NaN without a result.
    reason : str
        Why there is no result: a sentence, or type and first line of the exception.
    """

    method: str
    dimension: int | None
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
    dimension : int or None
        Dimension of the embedding; None for a classifier without one.
    status : {"ok", "partly", "unsuitable", "failed"}
        "partly" if some splits have a result and some have none.
    error : float
        Mean error over the splits that have a result; NaN if none has.
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
    dimension: int | None
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
        One per method, dimension and split, in this order.
    protocol : {"transductive", "inductive"}
        Whether the scored rows were in the fit, without their labels.
    head : str
        Name of the head.
    chance : float
        Error of always predicting the largest class.
    """

    records: tuple[FitRecord, ...] = field(repr=False)
    protocol: str
    head: str
    chance: float

    def summary(self) -> list[MethodSummary]:
        """Return one summary per method and dimension, in the order given.

        Returns
        -------
        list of MethodSummary
            The interval is Student's for the mean over several splits, and Wilson's for the scored
            rows of a single one. ``pandas.DataFrame`` takes the list as it is.
        """
        groups: dict[tuple[str, int | None], list[FitRecord]] = {}
        for record in self.records:
            groups.setdefault((record.method, record.dimension), []).append(record)
        return [_summarize(group) for group in groups.values()]

    def to_frame(self) -> Any:
        """Return the records as a table of pandas.

        Returns
        -------
        pandas.DataFrame
            One row per record, one column per field.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install 'labelfold[app]', or use records as they are."
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
            The display, drawn, with `ax_` and `figure_`. Vertical strokes are 80 % intervals; the
            dashed line, if in view, is the error of always predicting the largest class.
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
            dimension = "-" if row.dimension is None else row.dimension
            start = f"{row.method:<{width}}  {dimension:>3}"
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


def _check_methods(methods: Any) -> dict[str, Any]:
    """Return embedders and classifiers by name; the quick ones for None."""
    known = {
        name: one
        for name, one in known_methods().items()
        if one.declaration.embeds or one.declaration.classifies
    }
    if methods is None:
        quick = {name: one for name, one in known.items() if one.declaration.quick}
        return {
            name: one.make()
            for name, one in quick.items()
            if "n_components" in one.parameters or not one.declaration.embeds
        }
    if isinstance(methods, Sequence) and not isinstance(methods, str):
        methods = dict(zip(methods, methods, strict=True))
    if not isinstance(methods, Mapping) or not methods:
        raise TypeError(
            f"methods={methods!r} must be a list of short names, such as ['pca', 'ccdr'], or a "
            "dict of names and embedders, such as {'PCA': PCA(), 'CCDR': CCDR()}."
        )
    estimators = {}
    for name, method in methods.items():
        if not isinstance(name, str):
            raise TypeError(f"The name {name!r} of a method must be text.")
        if isinstance(method, str):
            if method not in known:
                raise InputError(f"Method {method!r} is unknown: use one of {tuple(known)}.")
            method = known[method].make()
        is_estimator = hasattr(method, "get_params") and hasattr(method, "fit_transform")
        if isinstance(method, type) or not (is_estimator or _labels_rows(method)):
            raise TypeError(
                f"Method {name!r} is not an embedder: give an estimator with fit_transform, such "
                f"as PCA(), got {method!r}."
            )
        estimators[name] = method
    return estimators


def _labels_rows(method: Any) -> bool:
    """Whether a method labels rows without an embedding."""
    declaration = declaration_of(method)
    return declaration is not None and declaration.produces == "classification"


def _check_dims(dims: Any) -> tuple[int, ...]:
    values = tuple(dims) if isinstance(dims, Iterable) and not isinstance(dims, str) else ()
    whole = all(isinstance(d, int | np.integer) and not isinstance(d, bool) for d in values)
    if not values or not whole or min(values) < 1:
        raise InputError(f"dims={dims!r} must be positive integers, such as (2, 5, 10).")
    return tuple(dict.fromkeys(int(d) for d in values))


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
    trial: tuple[str, int | None, int],
    method: Any,
    head: Any,
    X: Any,
    y: ArrayLike,
    rows: NDArray[np.intp],
    protocol: str,
) -> FitRecord:
    """Return the record of one fit, also of one that fails."""
    status, error, seconds, reason = "ok", np.nan, np.nan, ""
    try:
        is_new = protocol == "inductive"
        if trial[1] is None:
            error, seconds = _score_classifier(method, X, y, rows, is_new)
        else:
            model = ManifoldClassifier(_with_dimension(method, trial[1]), head=head)
            error, seconds = _score(model, trial[1], X, y, rows, is_new)
    except _UnsuitableError as unsuitable:
        status, reason = "unsuitable", str(unsuitable)
    except Exception as failure:  # a method may fail in any way, and the others go on
        message = (str(failure).strip() or "no message").splitlines()[0]
        status, reason = "failed", f"{type(failure).__name__}: {message}"
    return FitRecord(*trial, status, error, len(rows), seconds, reason)


def _with_dimension(method: Any, dimension: int) -> Any:
    name = "n_components"
    if isinstance(method, Pipeline):
        name = f"{method.steps[-1][0]}__{name}"
    if name not in method.get_params():
        raise _UnsuitableError(f"{type(method).__name__} has no {name} to set the dimension by.")
    return method.set_params(**{name: dimension})


def _score(
    model: ManifoldClassifier,
    dimension: int,
    X: Any,
    y: ArrayLike,
    rows: NDArray[np.intp],
    inductive: bool,
) -> tuple[float, float]:
    """Return the error on some rows' hidden labels, and the seconds that the embedding took."""
    embedder = model.embedder
    truth = PartialLabels.from_y(y).at(rows)
    y = hide_rows(y, rows)
    X_new = None
    if inductive:
        if not hasattr(embedder, "transform"):
            raise _UnsuitableError(
                f"{type(embedder).__name__} has no transform for new rows: use "
                "protocol='transductive'."
            )
        X, y, X_new = _leave_out(model, X, y, rows)
    labels = PartialLabels.some_from_y(y)
    start = perf_counter()
    embedding = as_array(embed(embedder, X, y, labels))
    seconds = perf_counter() - start
    if embedding.shape[1] != dimension:
        raise _UnsuitableError(
            f"{type(embedder).__name__} gave {embedding.shape[1]} coordinates and not {dimension}."
        )
    model.fit_head(embedder, embedding, y)
    predicted = model.predict(X_new) if inductive else model.transduction_[rows]
    return float(np.mean(predicted != truth)), seconds


def _score_classifier(
    model: Any, X: Any, y: ArrayLike, rows: NDArray[np.intp], inductive: bool
) -> tuple[float, float]:
    """Return the error on some rows' hidden labels, and the seconds that the fit took."""
    truth = PartialLabels.from_y(y).at(rows)
    y = hide_rows(y, rows)
    X_new = None
    if inductive:
        X, y, X_new = _leave_out(model, X, y, rows)
    start = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - start
    predicted = model.predict(X_new) if inductive else model.transduction_[rows]
    return float(np.mean(predicted != truth)), seconds


def _leave_out(model: Any, X: Any, y: Any, rows: NDArray[np.intp]) -> tuple[Any, Any, Any]:
    """Return X and y without some rows, and these rows as new ones."""
    others = np.setdiff1d(np.arange(len(y)), rows)
    X_new, _ = _safe_split(model, X, y, rows, others)
    return *_safe_split(model, X, y, others), X_new


def _summarize(records: Sequence[FitRecord]) -> MethodSummary:
    scored = [record for record in records if record.status == "ok"]
    others = [record for record in records if record.status != "ok"]
    error = low = high = seconds = np.nan
    if scored:
        errors = [record.error for record in scored]
        error = math.fsum(errors) / len(errors)
        one_split = len(scored) == 1
        ends = wilson_interval(error, scored[0].n_scored) if one_split else student_interval(errors)
        low, high = max(0.0, ends[0]), min(1.0, ends[1])
        seconds = float(np.median([record.seconds for record in scored]))
    return MethodSummary(
        records[0].method,
        records[0].dimension,
        "ok" if not others else "partly" if scored else others[0].status,
        error,
        low,
        high,
        n_splits=len(scored),
        seconds=seconds,
        reason=others[0].reason if others else "",
    )
