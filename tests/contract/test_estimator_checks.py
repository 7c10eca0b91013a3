"""Every estimator passes every check that scikit-learn has for its kind."""

import pytest
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelfold import (
    CCDR,
    FurthestNeighborUnfolding,
    IsometricSeparationMap,
    LaplacianClassifier,
    LaplacianEigenmaps,
    LeastSquaresClassifier,
    ManifoldClassifier,
    MaximumVarianceUnfolding,
    ResampledEmbedding,
    SupervisedLLE,
    SupervisedSemidefiniteEmbedding,
)
from labelfold.evaluate import TransductiveSearchCV

ESTIMATORS = [
    LaplacianEigenmaps(),
    LaplacianEigenmaps(normalization="none", weights="binary"),
    CCDR(),
    CCDR(beta=0.1, n_components=1, eigen_solver="arpack"),
    SupervisedLLE(),
    SupervisedLLE(1, alpha=0.2, eigen_solver="arpack"),
    MaximumVarianceUnfolding(max_iter=300),
    FurthestNeighborUnfolding(n_components=1, rank=3, local_angles=True, max_iter=300),
    SupervisedSemidefiniteEmbedding(n_neighbors=2, max_iter=200),
    IsometricSeparationMap(objective="none", max_iter=40),
    IsometricSeparationMap(
        1, objective="none", normals="anchors", label_penalty=1.0, rank=5, max_iter=40
    ),
    LaplacianClassifier(),
    LaplacianClassifier("auto", penalty="auto"),
    LaplacianClassifier(10, normalization="degree", weights="heat", eigen_solver="arpack"),
    ResampledEmbedding(),
    ResampledEmbedding(LaplacianEigenmaps(1), n_subsamples=2, subsample_size=15, random_state=0),
    LeastSquaresClassifier(),
    ManifoldClassifier(),
    ManifoldClassifier(PCA(), head="knn"),
    TransductiveSearchCV(ManifoldClassifier(), {"head": ["linear", "knn"]}, cv=2),
]


def cannot_hold(estimator):
    """A y of -1 and +1 alone is ambiguous where -1 may stand for unlabelled, and is refused.

    Labels that hold at any price refuse equal rows of different classes, as the sparse checks have.
    """
    semi_supervised = (
        IsometricSeparationMap | LaplacianClassifier | ManifoldClassifier | TransductiveSearchCV
    )
    failing = {}
    if isinstance(estimator, semi_supervised):
        failing["check_classifiers_classes"] = "y = {-1, +1} is refused"
    if isinstance(estimator, IsometricSeparationMap) and estimator.label_penalty is None:
        for kind in ("tag", "array", "matrix"):
            failing[f"check_estimator_sparse_{kind}"] = "equal rows have different labels"
    return failing


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewNeighborsWarning")
@pytest.mark.filterwarnings("ignore::labelfold.exceptions.DisconnectedGraphWarning")
@pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewEigenvectorsWarning")
@pytest.mark.filterwarnings("ignore::labelfold.exceptions.UnreachedPointsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=cannot_hold)
def test_scikit_learn_check(estimator, check):
    check(estimator)
