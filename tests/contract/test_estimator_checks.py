"""Every estimator passes every check that scikit-learn has for its kind."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelfold import CCDR, LaplacianEigenmaps

ESTIMATORS = [
    LaplacianEigenmaps(),
    LaplacianEigenmaps(normalization="none", weights="binary"),
    CCDR(),
    CCDR(beta=0.1, n_components=1, eigen_solver="arpack"),
]


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewNeighborsWarning")
@pytest.mark.filterwarnings("ignore::labelfold.exceptions.DisconnectedGraphWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
