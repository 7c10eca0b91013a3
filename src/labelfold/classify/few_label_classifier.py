"""Labels for all rows from few labels, with nothing to tune."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_choice, check_mask, check_rows, seed_from
from labelfold.classify.class_sizes import find_offsets, read_class_sizes
from labelfold.classify.kernel_average import KernelAverage
from labelfold.classify.row_kernels import (
    GRAPH_KERNELS,
    KERNELS,
    MOST_FEATURES,
    NewRows,
    RowKernels,
    memory_of_kernels,
)
from labelfold.classify.settling import settle
from labelfold.evidence import (
    calibrate,
    choose_sets,
    estimate_class_sizes,
    estimate_error,
    find_threshold,
)
from labelfold.exceptions import InputError
from labelfold.graph.adjacency import nearest_points
from labelfold.graph.neighbor_graph import NeighborGraph, fingerprint
from labelfold.graph.search import SEARCHES
from labelfold.labels import PartialLabels
from labelfold.labels.score_classifier import ScoreClassifierMixin
from labelfold.labels.transduction import (
    class_frequencies,
    find_unreached,
    transduce,
    warn_of_unreached,
)
from labelfold.memory import require_memory
from labelfold.methods import Declaration, declare, stored
from labelfold.progress import Progress, show_progress
from labelfold.solvers.certificates import EigenCertificate
from labelfold.threads import limit_threads

__all__ = ["FewLabelCertificate", "FewLabelClassifier"]

METRICS = ("auto", "euclidean", "cosine", "precomputed")


@stored
@dataclass(frozen=True, eq=False)
class FewLabelCertificate:
    """Evidence for a fitted :class:`FewLabelClassifier`.

    Parameters
    ----------
    eigen : dict of str to EigenCertificate
        Residuals and orthogonality of the eigenvectors of every graph.
    n_labeled : int
        Number of labeled rows.
    n_unreached : int
        Rows that no label can reach.
    """

    eigen: Mapping[str, EigenCertificate] = field(repr=False)
    n_labeled: int
    n_unreached: int

    @property
    def ok(self) -> bool:
        """Whether all eigenvectors are as good as asked."""
        return all(one.ok for one in self.eigen.values())

    def __str__(self) -> str:
        text = f"{'ok' if self.ok else 'NOT converged'}: {self.n_labeled} labeled rows"
        for name, one in self.eigen.items():
            share = np.max(one.residuals / one.tolerances, initial=0.0)
            text += f"; {name}: {len(one.residuals)} eigenpairs, residuals {share:.0%} of the limit"
        if self.n_unreached:
            text += f"; {self.n_unreached} rows in components without a label"
        return text + "."


@declare(
    Declaration(
        "auto",
        "averages graphs and features by how well they predict left-out labels",
        labels="needs",
        produces="classification",
        only_in_fit=("label_distributions_", "transduction_", "_kernels"),
        examples=({}, {"candidates": ("mutual", "shared", "graph-10", "linear", "gaussian")}),
        agreement=1e-5,
        rotates=False,
    )
)
class FewLabelClassifier(ScoreClassifierMixin, BaseEstimator):
    """Label all rows from few labels, without a parameter to tune.

    Parameters
    ----------
    candidates : sequence of str, default=None
        Names of the kernels that may take part, out of "mutual", "shared", "graph-10",
        "shared-20", "linear", "gaussian", "linear-standardized" and "gaussian-standardized"; None
        for all, and past 200,000 rows for all but the graphs after the first.
        Without the last two the result does not depend on a rotation of the rows.
    class_sizes : mapping, "balanced" or None, default=None
        How many rows each class has, if that is known: from class to its share or number of rows,
        or to (least, most); "balanced" for equal sizes. Scores are shifted so that the sizes come
        out right, to 2 %.
    metric : {"auto", "euclidean", "cosine", "precomputed"}, default="auto"
        "auto" is cosine for sparse rows of more than 100 columns, such as word counts, and
        euclidean for all others. "precomputed" takes a sparse matrix of distances to at least 10
        neighbors, such as that of ``KNeighborsTransformer(mode="distance")``, and has graphs only.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick.
    random_state : int, RandomState instance or None, default=None
        Seed of what serves speed only: approximate search, random samples of many rows or labels.
        None is a fixed one.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes with a labeled row, sorted.
    transduction_ : ndarray of shape (n_samples,)
        A class for every row: the given label, or the class with the largest score.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Calibrated probabilities of the classes, from scores; of labeled rows too, whose own label
        is part of them.
    calibration_ : Calibration
        How scores become probabilities, and on how many labels that was found.
    error_estimate_ : ErrorEstimate
        Estimated share of wrong labels among the unlabeled rows, and of each predicted class. As
        text one sentence.
    class_sizes_ : ClassSizes
        Estimated share of every class among all rows.
    decision_values_ : ndarray of shape (n_samples, n_classes)
        The scores of all rows.
    class_offsets_ : ndarray of shape (n_classes,)
        What ``class_sizes`` added to the scores; zeros without.
    labeled_rows_ : ndarray of shape (n_labeled,)
        Numbers of the labeled rows, ascending.
    left_out_values_ : ndarray of shape (n_labeled, n_classes)
        The scores that other labels give each labeled row.
    left_out_distributions_ : ndarray of shape (n_labeled, n_classes)
        The same, calibrated.
    candidates_ : CandidateTable
        What was considered, with its error on left-out labels and its weight. As text it is one
        sentence; ``pandas.DataFrame(model.candidates_)`` is a table.
    unreached_ : ndarray of shape (n_unreached,)
        Rows that no label can reach, in components of precomputed neighbors without a label. They
        get the frequencies of the given labels as distribution.
    graph_ : NeighborGraph
        The neighbors of the rows, with shared weights.
    certificate_ : FewLabelCertificate
        How good the eigenvectors of each graph are.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    LaplacianClassifier : One graph, with its parameters.
    ManifoldClassifier : A classifier on an embedding.

    Notes
    -----
    A kernel says how alike two rows are. Four are sums e_j e_j^T / lambda_j^2 over the smoothest
    eigenvectors of a graph: "mutual" has 6 neighbors, and counts edges that only one end lists as
    5 %; "shared" has 10, and weighs edges by the neighbors that both ends have; "graph-10" and
    "shared-20" are of the first 10 and 20 principal components. Four are of features:
    linear and Gaussian, of rows as they are and of standardized columns. Each candidate is a ridge
    regression of class indicators on some of them, with penalty and gain by closed-form
    leave-one-out. The scores are an average with weights prior * exp(-m e), m being the number of
    labels and e the relative squared error on left-out labels.

    Where the classes turn out to be clusters of the "mutual" graph, labels settle: boundaries move
    to the gaps between clusters, by a random walk on the graph. New rows follow their neighbors.
    Where one in ten left-out labels is wrong, more than 5 % of the edges join different classes, or
    a class would change its size by more than 20 %, nothing happens; nor does it without "mutual"
    among the candidates.

    Rows of more than 100 columns are reduced to 100 principal components. Separate components of a
    graph are joined by bridges. Past 2,000 labels candidates are compared on 2,000 of them, and
    Gaussian kernels have 1,000 landmarks. Past 200,000 rows "mutual" is the only graph unless
    ``candidates`` names others, and ``candidates_`` says so.

    Time is linear in the number of rows past the neighbor search. Memory is about 12 kB per row
    beside the rows themselves, measured on 60,000 rows of 100 columns: four graphs, 60
    eigenvectors each, three views of the rows, and work space of a fifth of it.

    Past 200,000 rows or 67 million entries, dense rows stay what they are: float64, float32,
    float16 or int8, in memory or mapped from a file. Principal components and scales are fitted to
    a random sample of 17 million entries, and features are computed a block of rows at a time;
    only the rows that are searched are kept, in float32 if they are reduced. Fewer rows are
    converted to float64.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from labelfold import FewLabelClassifier, hide_labels
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FewLabelClassifier().fit(X, hide_labels(y, keep=range(50)))
    >>> bool(np.mean(model.transduction_ == y) > 0.9)
    True
    """

    def __init__(
        self,
        *,
        candidates: Sequence[str] | None = None,
        class_sizes: Mapping[Any, float] | str | None = None,
        metric: str = "auto",
        neighbor_search: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.candidates = candidates
        self.class_sizes = class_sizes
        self.metric = metric
        self.neighbor_search = neighbor_search
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        audit: ArrayLike | None = None,
        *,
        graph: NeighborGraph | None = None,
    ) -> Self:
        """Label all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; neighbor distances of shape (n_samples, n_samples) for
            ``metric="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels; -1, None, NaN and pandas.NA are unlabeled.
        audit : array-like of bool of shape (n_samples,), default=None
            Rows that were drawn at random to be labeled. Probabilities, error estimate and sets
            then rest on the labels of these rows alone. If none of them is labeled, labels count as
            chosen, and nothing is promised. None takes all labels as drawn at random.
        graph : NeighborGraph, default=None
            A graph built from the same rows with the same metric, by any estimator, whose neighbors
            serve "mutual" and "shared" instead of a search. With 13 neighbors or more they are
            those of a search of its own; with fewer than 10 a warning says so.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = self._check_rows(X, reset=True)
        labels = PartialLabels.some_from_y(y, n_samples=X.shape[0])
        self._check_parameters()
        self._require_memory(X, graph, labels.n_classes)
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            self._kernels = self._make_kernels(X, graph)
            self._fit_labels(labels, audit, progress)
        return self

    def build_graph(self, X: Any) -> NeighborGraph:
        """Return the graph that ``fit`` stores as ``graph_``, which needs no label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        NeighborGraph
            For :func:`labelfold.evidence.suggest_rows` before any row is labeled, and for
            ``fit(X, y, graph=...)``.
        """
        X = clone(self)._check_rows(X, reset=True)
        self._check_parameters()
        self._require_memory(X, None)
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            return self._make_kernels(X).graph("shared", progress)

    def refit(self, y: ArrayLike, audit: ArrayLike | None = None) -> Self:
        """Label the rows of the last fit from other labels, on the same graphs.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels; -1, None, NaN and pandas.NA are unlabeled.
        audit : array-like of bool of shape (n_samples,), default=None
            Rows that were drawn at random to be labeled, as for :meth:`fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_is_fitted(self)
        if not hasattr(self, "_kernels"):
            raise InputError(
                "The model comes from a compact file, without its graphs: save it with "
                "compact=False, or call fit(X, y)."
            )
        labels = PartialLabels.some_from_y(y, n_samples=len(self.decision_values_))
        self._check_parameters()
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            self._fit_labels(labels, audit, progress)
        return self

    def sharing_key(self) -> Hashable:
        """Return a key that is equal for classifiers that :meth:`fit_many` can fit together."""
        own = self.get_params()
        names = ("metric", "neighbor_search", "random_state", "n_jobs")
        return tuple((name, fingerprint(own[name])) for name in names)

    def shares_folds(self) -> bool:
        """Return True: graphs do not depend on labels."""
        return True

    def fit_many(
        self,
        models: Sequence[FewLabelClassifier],
        X: Any,
        ys: Sequence[ArrayLike],
        graph: NeighborGraph | None = None,
    ) -> Iterator[tuple[int, int, FewLabelClassifier]]:
        """Fit classifiers on the same graphs, for every y.

        Parameters
        ----------
        models : sequence of FewLabelClassifier
            All with the :meth:`sharing_key` of this one; not changed.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        ys : sequence of array-like of shape (n_samples,)
            Labels.
        graph : NeighborGraph, default=None
            As for :meth:`fit`.

        Yields
        ------
        model, y, fitted : int, int, FewLabelClassifier
            Positions in ``models`` and ``ys``, and the model fitted for that y.
        """
        first = clone(models[0]).fit(X, ys[0], graph=graph)
        for number, model in enumerate(models):
            for fold, y in enumerate(ys):
                fitted = copy(first).set_params(**model.get_params(deep=False))
                yield number, fold, fitted.refit(y) if number or fold else fitted

    def _require_memory(self, X: Any, graph: NeighborGraph | None, n_classes: int = 0) -> None:
        """Raise NotEnoughMemoryError unless kernels and scores fit in free memory."""
        memory = memory_of_kernels(X, self._choose_metric(X), self.candidates, graph)
        memory.add_scores(n_classes)
        require_memory(memory.needed, verbose=self.verbose)

    def _check_parameters(self) -> None:
        check_choice("metric", self.metric, METRICS)
        check_choice("neighbor_search", self.neighbor_search, SEARCHES)
        if self.candidates is not None:
            names = self.candidates if isinstance(self.candidates, tuple | list) else ()
            if not names or not all(isinstance(one, str) and one in KERNELS for one in names):
                raise InputError(
                    f"candidates={self.candidates!r} must be a list of names out of "
                    f"{KERNELS}, or None for all."
                )

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        return check_rows(self, X, reset=reset, keep_type=self.metric != "precomputed")

    def _make_kernels(self, X: Any, graph: NeighborGraph | None = None) -> RowKernels:
        return RowKernels(
            X,
            self._choose_metric(X),
            neighbor_search=self.neighbor_search,
            seed=seed_from(self.random_state),
            n_jobs=self.n_jobs,
            graph=graph,
        )

    def _choose_metric(self, X: Any) -> str:
        if self.metric != "auto":
            return self.metric
        is_wide: bool = X.shape[1] > MOST_FEATURES
        return "cosine" if is_wide and sp.issparse(X) else "euclidean"

    def _fit_labels(
        self, labels: PartialLabels, audit: ArrayLike | None, progress: Progress
    ) -> None:
        """Average the candidates for these labels and set the fitted attributes."""
        kernels = self._kernels
        given = kernels.default_names if self.candidates is None else self.candidates
        names = [one for one in kernels.names if one in given]
        if not names:
            raise InputError(
                f"candidates={self.candidates!r} has no graph, and metric='precomputed' has "
                f"nothing else: name one of {kernels.names}."
            )
        components = kernels.groups(progress)
        self.unreached_ = find_unreached(labels, components)
        warn_of_unreached(labels, components, self.unreached_)
        labeled = np.unique(components[labels.mask])
        reached = np.isin(components, labeled)
        groups = np.where(reached, np.searchsorted(labeled, components), -1)
        average = KernelAverage.fit(kernels, labels, groups, names, progress)
        scores = average.scores(kernels, groups)
        self._prior = class_frequencies(labels)
        scores[self.unreached_] = self._prior
        self.class_offsets_, bands = np.zeros(labels.n_classes), None
        if self.class_sizes is not None:
            bands = read_class_sizes(self.class_sizes, labels)
            self.class_offsets_ = find_offsets(scores, labels, bands)
            scores += self.class_offsets_
        self.left_out_values_ = average.left_out + self.class_offsets_
        settled = None
        if "mutual" in names and not len(self.unreached_):
            mutual = kernels.graph("mutual", progress)
            settled = settle(scores, self.left_out_values_, labels, mutual, bands)
        self._settling = None if settled is None else settled - scores
        scores = scores if settled is None else settled
        self._average, self._groups, self._views = average, groups, kernels.views
        self.classes_ = labels.classes
        self.decision_values_ = scores
        self.transduction_ = transduce(labels, scores)
        self._weigh_evidence(labels, audit)
        self.candidates_ = average.table
        self.graph_ = kernels.graph("shared", progress)
        self.certificate_ = FewLabelCertificate(
            kernels.certificates(), labels.n_labeled, len(self.unreached_)
        )

    def _weigh_evidence(self, labels: PartialLabels, audit: ArrayLike | None) -> None:
        """Calibrate the scores, and set what follows from probabilities."""
        self.labeled_rows_ = np.flatnonzero(labels.mask)
        self._given = labels.codes[self.labeled_rows_]
        sample, drawn = "labels", np.ones(labels.n_labeled, dtype=bool)
        if audit is not None:
            drawn = check_mask("audit", audit, len(labels))[self.labeled_rows_]
            sample = "audit" if drawn.any() else "chosen"
        # A class that loses its only label is unknown, which says nothing of scores.
        has_others = np.bincount(self._given)[self._given] > 1
        self._trusted = np.flatnonzero(has_others & (drawn | (sample == "chosen")))
        given, left_out = self._given[self._trusted], self.left_out_values_
        self.calibration_ = calibrate(left_out[self._trusted], given, sample)
        self.left_out_distributions_ = self.calibration_.distributions(left_out)
        self.label_distributions_ = self._calibrated(self.decision_values_, self.unreached_)
        unknown, scores = self.left_out_distributions_, left_out
        if labels.n_labeled < len(labels):
            unknown = self.label_distributions_[~labels.mask]
            scores = self.decision_values_[~labels.mask]
        n_labels = np.bincount(given, minlength=labels.n_classes)
        self.error_estimate_ = estimate_error(
            unknown, scores.argmax(axis=1), n_labels, labels.classes
        )
        self.class_sizes_ = estimate_class_sizes(
            self.label_distributions_, labels.codes, labels.classes, len(given)
        )

    def _calibrated(self, scores: NDArray[np.float64], unreached: Any) -> NDArray[np.float64]:
        distributions = self.calibration_.distributions(scores)
        distributions[unreached] = self._prior
        return distributions

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return calibrated probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, in the form that ``fit`` takes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One row per row of X, one column per class in the order of ``classes_``.
        """
        return self._calibrated(*self._score_rows(X))

    def label_sets(self, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return for every row of fit a set of classes that holds the right one.

        Parameters
        ----------
        coverage : float, default=0.9
            Probability with which it does. Nothing proves it, as the labels that set the threshold
            also fit the model; the guide says what was measured.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            Whether the class is in the set. A set of one is a label to accept, a large one a row to
            look at. The set of a labeled row is its label.
        """
        check_is_fitted(self)
        sets = self._choose_sets(self.decision_values_, self.unreached_, coverage)
        sets[self.labeled_rows_] = np.eye(len(self.classes_), dtype=bool)[self._given]
        return sets

    def predict_sets(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return for every new row a set of classes that holds the right one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, in the form that ``fit`` takes.
        coverage : float, default=0.9
            Probability with which it does, as for :meth:`label_sets`.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            Whether the class is in the set.
        """
        return self._choose_sets(*self._score_rows(X), coverage)

    def distances_to(self, X: Any) -> sp.csr_array:
        """Return distances of rows to their neighbors among the rows of fit, in ``graph_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows, in the form that ``fit`` takes.

        Returns
        -------
        csr_array of shape (n_new, n_samples)
            Ten neighbors per row, or all if there are fewer.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        with limit_threads(self.n_jobs):
            return NewRows(self._views, X).distances(GRAPH_KERNELS["shared"], self.graph_)

    def _choose_sets(
        self, scores: NDArray[np.float64], unreached: Any, coverage: float
    ) -> NDArray[np.bool_]:
        left_out = self.left_out_distributions_[self._trusted]
        threshold = find_threshold(left_out, self._given[self._trusted], coverage)
        distributions = self._calibrated(scores, unreached)
        return choose_sets(distributions, scores.argmax(axis=1), threshold)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return self._score_rows(X)[0]

    def _score_rows(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return scores of rows, and whether no label reaches them."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        with limit_threads(self.n_jobs):
            new = NewRows(self._views, X)
            distances = new.distances(GRAPH_KERNELS["shared"], self.graph_)
            groups = self._groups[nearest_points(distances)]
            scores = self._average.scores_at_new(new, groups)
            scores[groups < 0] = self._prior
            scores += self.class_offsets_
            if self._settling is not None:
                near = self.graph_.weigh(distances, relative=True)
                scores += (near @ self._settling) / near.sum(axis=1)[:, None]
            rows, own = self.graph_.values_of_equal(
                new.searched(GRAPH_KERNELS["shared"]), distances, self.decision_values_
            )
            scores[rows] = own
        return scores, groups < 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
