"""What displays of every kind have in common."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from labelfold.plotting import (
    ConvergenceDisplay,
    EmbeddingDisplay,
    GraphDisplay,
    SpectrumDisplay,
    SweepDisplay,
)
from labelfold.semidefinite import MaximumVarianceUnfolding
from labelfold.spectral import CCDR

VALUES = [6.0, 3.9, 0.05]
ROUNDS = ([30, 60], [0.5, 0.02], [14.0, 11.0])
DRAWN = {
    "map": EmbeddingDisplay(np.eye(2), labels=["a", None]),
    "variance": SpectrumDisplay(VALUES, kind="variance", n_components=1, fragile=[1]),
    "eigenvalues": SpectrumDisplay(VALUES, n_components=1, fragile=[1]),
    "sweep": SweepDisplay([1, 2], [0.3, 0.1], names=["a"], chosen=(0, 1)),
    "sweep, logarithmic": SweepDisplay([0.01, 10], [0.3, 0.1], names=["a"], chosen=(0, 1)),
    "sweep of words": SweepDisplay(["a", "b"], [0.3, 0.1], names=["a"], chosen=(0, 1)),
    "rounds": ConvergenceDisplay(*ROUNDS, rank=[2, 3], tol=0.1, bound=11.0, final_error=0.01),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_display_can_be_pickled(name):
    display = DRAWN[name].plot()
    again = pickle.loads(pickle.dumps(display))
    again.figure_.draw_without_rendering()
    words = [text.get_text() for text in display.text_]
    assert words
    assert [text.get_text() for text in again.text_] == words


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        (EmbeddingDisplay, CCDR()),
        (GraphDisplay, CCDR()),
        (SpectrumDisplay, CCDR()),
        (ConvergenceDisplay, MaximumVarianceUnfolding()),
        (SweepDisplay, GridSearchCV(Ridge(), {"alpha": [1.0]})),
    ],
)
def test_models_that_are_not_fitted_raise(kind, model):
    with pytest.raises(NotFittedError):
        kind.from_estimator(model)
