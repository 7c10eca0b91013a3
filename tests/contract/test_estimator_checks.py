"""Every declared estimator passes every check that scikit-learn has for its kind."""

import pytest
from method_cases import estimators
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelfold.methods import takes_partial_labels


def may_fail(estimator):
    """Return the checks that an estimator may fail, with the reasons.

    scikit-learn exempts its own semi-supervised classifiers from the first one by name.
    """
    failing = dict(estimator.declaration.failed_checks)
    if takes_partial_labels(estimator):
        failing["check_classifiers_classes"] = "y = {-1, +1} is ambiguous and refused"
    return failing


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewNeighborsWarning")
@pytest.mark.filterwarnings("ignore::labelfold.exceptions.DisconnectedGraphWarning")
@pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewEigenvectorsWarning")
@pytest.mark.filterwarnings("ignore::labelfold.exceptions.UnreachedPointsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(estimators())
def test_scikit_learn_check(estimator, check):
    try:
        check(estimator)
    except Exception:
        reason = may_fail(estimator).get(check.func.__name__)
        if reason is None:
            raise
        pytest.xfail(reason)
