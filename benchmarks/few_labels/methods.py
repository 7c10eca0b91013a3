"""Methods of the benchmark: from rows and some labels to a class for every row.

A method is a function of the shared rows, the numbers of the labeled rows, their codes (0 to
n_classes - 1) and n_classes; `@method("its name")` adds it to `METHODS`. It sees no other label.
Parameters of rivals are chosen by hidden labels; the first value of each list is the one taken
where no label can be hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.few_labels.hidden_labels import choose
from benchmarks.few_labels.shared_rows import N_NEIGHBORS, SharedRows

Codes = NDArray[np.int64]
Method = Callable[[SharedRows, NDArray[np.int64], Codes, int], Codes]

METHODS: dict[str, Method] = {}
SCALINGS = ("plain", "standardized")  # one unit for all columns, or one for each


def method(name: str) -> Callable[[Method], Method]:
    """Return a decorator that registers a method."""

    def register(function: Method) -> Method:
        METHODS[name] = function
        return function

    return register


@method("few-label")
def few_label(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """labelfold's FewLabelClassifier without a parameter."""
    from labelfold import FewLabelClassifier

    y = rows.partial(labeled, codes)
    model = rows.model("few-label", lambda: FewLabelClassifier().fit(rows.X, y))
    model.refit(y)
    return model.transduction_


@method("base")
def base(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """LaplacianClassifier with an automatic penalty, as in labelfold 0.1."""
    return _laplacian(rows, rows.partial(labeled, codes), penalty="auto")


@method("laplacian-published")
def laplacian_published(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """LaplacianClassifier by the rule of Belkin and Niyogi, 2002."""
    return _laplacian(rows, rows.partial(labeled, codes), penalty=0.0)


@method("laplacian")
def laplacian(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """labelfold's LaplacianClassifier without a parameter."""
    from labelfold import LaplacianClassifier

    basis = rows.model("laplacian", lambda: LaplacianClassifier().build_basis(rows.X, 100))
    model = LaplacianClassifier().fit(rows.X, rows.partial(labeled, codes), basis=basis)
    return model.transduction_


@method("ccdr")
def ccdr(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """labelfold's ManifoldClassifier without a parameter: CCDR and a ridge head."""
    from labelfold import ManifoldClassifier

    y = rows.partial(labeled, codes)
    return ManifoldClassifier().fit(rows.X, y, graph=rows.default_graph).transduction_


@method("knn")
def knn(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """scikit-learn's k nearest labeled rows, k of 1, 3, 5 and 10."""
    from sklearn.neighbors import KNeighborsClassifier

    def make(n_labels: int, n_neighbors: int) -> Any:
        return KNeighborsClassifier(min(n_neighbors, n_labels))

    return _classify_features(rows, labeled, codes, make, [(1,), (3,), (5,), (10,)])


@method("logistic")
def logistic(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """scikit-learn's logistic regression, C of 1, 0.1, 10 and 0.01."""
    from sklearn.linear_model import LogisticRegression

    def make(n_labels: int, C: float) -> Any:
        return LogisticRegression(C=C, max_iter=1000)

    return _classify_features(rows, labeled, codes, make, [(1.0,), (0.1,), (10.0,), (0.01,)])


@method("svm-rbf")
def svm_rbf(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """scikit-learn's SVM, C of 10, 1 and 100, gamma of 0.3, 0.1, 1 and 3 over the dimension."""
    from sklearn.svm import SVC

    n_features = rows.X.shape[1]

    def make(n_labels: int, C: float, gamma: float) -> Any:
        return SVC(C=C, gamma=gamma / n_features)

    grid = list(product((10.0, 1.0, 100.0), (0.3, 0.1, 1.0, 3.0)))
    return _classify_features(rows, labeled, codes, make, grid)


@method("label-spreading")
def label_spreading(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """scikit-learn's LabelSpreading on its graph of 8 neighbors, alpha of 0.8, 0.2 and 0.99."""
    from sklearn.semi_supervised import LabelSpreading

    def classify(alpha: float, labeled: Codes, codes: Codes, asked: Any) -> Codes:
        model = LabelSpreading(kernel=lambda *_: rows.neighbor_matrix, alpha=alpha, max_iter=1000)
        return model.fit(rows.X, rows.partial(labeled, codes)).transduction_[asked]

    alpha = choose((0.8, 0.2, 0.99), classify, labeled, codes)
    return classify(alpha, labeled, codes, slice(None))


@method("umap-ridge")
def umap_ridge(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """umap-learn's 20 dimensions of 8 neighbors and a ridge, alpha of 0.1, 0.01, 1 and 10."""
    from sklearn.linear_model import RidgeClassifier

    def classify(alpha: float, labeled: Codes, codes: Codes, asked: Any) -> Codes:
        X = rows.umap_coordinates
        return RidgeClassifier(alpha=alpha).fit(X[labeled], codes).predict(X[asked])

    alpha = choose((0.1, 0.01, 1.0, 10.0), classify, labeled, codes)
    return classify(alpha, labeled, codes, slice(None))


@method("graphlearning-laplace")
def graphlearning_laplace(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """GraphLearning's Laplace learning."""
    from graphlearning.ssl import laplace

    return _graphlearning(laplace, rows, labeled, codes)


@method("graphlearning-poisson")
def graphlearning_poisson(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """GraphLearning's Poisson learning."""
    from graphlearning.ssl import poisson

    return _graphlearning(poisson, rows, labeled, codes)


@method("graphlearning-mbo")
def graphlearning_mbo(rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int) -> Codes:
    """GraphLearning's PoissonMBO, which needs class sizes: the shares among the labels."""
    from graphlearning.ssl import poisson_mbo

    sizes = np.bincount(codes, minlength=n_classes)
    return _graphlearning(poisson_mbo, rows, labeled, codes, sizes)


@method("graphlearning-mbo-true-sizes")
def graphlearning_mbo_true_sizes(
    rows: SharedRows, labeled: Codes, codes: Codes, n_classes: int
) -> Codes:
    """GraphLearning's PoissonMBO with the true sizes of the classes that have a label."""
    from graphlearning.ssl import poisson_mbo

    return _graphlearning(poisson_mbo, rows, labeled, codes, rows.true_sizes)


def _laplacian(rows: SharedRows, y: Codes, penalty: float | str) -> Codes:
    from labelfold import LaplacianClassifier

    # Every parameter that matters is given, since later versions may have other defaults.
    model = LaplacianClassifier(
        n_eigenvectors=0.2,
        penalty=penalty,
        penalty_power=2.0,
        n_neighbors=N_NEIGHBORS,
        weights="binary",
        random_state=0,
    )
    return model.fit(rows.X, y, basis=rows.basis).transduction_


def _classify_features(
    rows: SharedRows,
    labeled: Codes,
    codes: Codes,
    make: Callable[..., Any],
    grid: Sequence[tuple[float, ...]],
) -> Codes:
    """Classify all rows by `make(n_labels, *parameters)`, parameters and scaling chosen."""

    def classify(candidate: Any, labeled: Codes, codes: Codes, asked: Any) -> Codes:
        scaling, parameters = candidate
        X = getattr(rows, scaling)
        return make(len(codes), *parameters).fit(X[labeled], codes).predict(X[asked])

    candidate = choose(list(product(SCALINGS, grid)), classify, labeled, codes)
    return classify(candidate, labeled, codes, slice(None))


def _graphlearning(
    model: Callable[..., Any],
    rows: SharedRows,
    labeled: Codes,
    codes: Codes,
    sizes: NDArray[np.int64] | None = None,
) -> Codes:
    """Classify all rows by a model of GraphLearning, which takes classes with a label only."""
    found, positions = np.unique(codes, return_inverse=True)
    priors = None if sizes is None else sizes[found] / sizes[found].sum()
    predicted = model(rows.graphlearning_weights, class_priors=priors).fit_predict(
        labeled, positions
    )
    return found[predicted]
