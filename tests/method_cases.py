"""The cases of the shared suites: every declared estimator with each of its examples."""

import numpy as np
import pytest
from sklearn.base import clone

from labelfold.methods import all_estimators


def estimators(wanted=lambda declaration: True):
    """Return an unfitted estimator, with a seed, for every example of the declarations wanted."""
    found = [
        estimator(**{name: clone(value, safe=False) for name, value in example.items()})
        for estimator in all_estimators()
        if wanted(estimator.declaration)
        for example in estimator.declaration.examples
    ]
    return [
        one.set_params(random_state=0) if getattr(one, "random_state", 0) is None else one
        for one in found
    ]


def cases(wanted=lambda declaration: True):
    """Return the same as parameters of tests, named by class and number of the example."""
    numbers, params = {}, []
    for estimator in estimators(wanted):
        name = type(estimator).__name__
        numbers[name] = numbers.get(name, -1) + 1
        params.append(pytest.param(estimator, id=f"{name}-{numbers[name]}"))
    return params


def set_parameter(estimator, name, value):
    """Return a copy with a parameter, its own or its embedder's, set; None if it has none."""
    for full in estimator.get_params():
        if full in (name, f"embedder__{name}"):
            return clone(estimator).set_params(**{full: clone(value, safe=False)})
    return None


def tiny_set(seed, *, all_equal=True):
    """Return a generator, 2 to 12 rows, often with ties or repeated, and partial labels.

    Unless `all_equal`, a set of rows that are all the same has its first one moved.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 13))
    rows = np.round(rng.normal(size=(n, int(rng.integers(1, 4)))), int(rng.integers(3)))
    if seed % 3 == 0:
        rows = rows[rng.integers(n, size=n)]
    if not all_equal and np.all(rows == rows[0]):
        rows[0] += 1
    return rng, rows, rng.choice(np.array([None, 0, 1, 2]), size=n)
