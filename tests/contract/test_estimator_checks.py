"""Every declared estimator passes every check that scikit-learn has for its kind."""

import pytest
import sklearn
from method_cases import estimators
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from labelfold.methods import all_estimators, takes_partial_labels

pytestmark = [
    pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewNeighborsWarning"),
    pytest.mark.filterwarnings("ignore::labelfold.exceptions.DisconnectedGraphWarning"),
    pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewEigenvectorsWarning"),
    pytest.mark.filterwarnings("ignore::labelfold.exceptions.UnreachedPointsWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def declared_failures(estimator):
    """Return the checks that an estimator, or its class, may fail, with the reasons.

    scikit-learn exempts its own semi-supervised classifiers from the first one by name.
    """
    failing = dict(estimator.declaration.failed_checks)
    if takes_partial_labels(estimator) and estimator.declaration.classifies:
        failing["check_classifiers_classes"] = "y = {-1, +1} is ambiguous and refused"
    return failing


@parametrize_with_checks(estimators())
def test_scikit_learn_check(estimator, check):
    try:
        check(estimator)
    except Exception:
        reason = declared_failures(estimator).get(check.func.__name__)
        if reason is None:
            raise
        pytest.xfail(reason)


FAILURES = [(kind, name) for kind in all_estimators() for name in declared_failures(kind)]


@pytest.mark.skipif(sklearn.__version__.startswith("1.6"), reason="has fewer checks")
@pytest.mark.parametrize(("kind", "name"), FAILURES)
def test_declared_failures_fail_for_one_example_at_least(kind, name):
    for estimator in estimators():
        for _, check in estimator_checks_generator(estimator) if type(estimator) is kind else ():
            if check.func.__name__ == name:
                try:
                    check(clone(estimator))
                except Exception:
                    return
    pytest.fail(f"{name} passes, or is not a check: take it out of failed_checks.")
