"""How a low-rank solve went, as columns that a fitted estimator keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelfold.solvers.lowrank.distances import DistanceProblem
from labelfold.solvers.lowrank.solver import Round

__all__ = ["History", "columns_of"]

# Plain arrays by name: any reader of a pickle or a model file knows these.
History: TypeAlias = dict[str, NDArray[Any]]


def columns_of(rounds: Sequence[Round], problem: DistanceProblem) -> History:
    """Return what the rounds of a solve came to, an entry a round.

    Parameters
    ----------
    rounds : sequence of Round
        Of the low-rank solver, which counts in units of the median edge length.
    problem : DistanceProblem
        The problem as it was given to the solver.

    Returns
    -------
    dict of ndarray
        ``n_iter`` and ``seconds`` since the start, ``rank``, ``objective`` in squared units of the
        problem, and ``error``, the one that tolerances are about.
    """
    _, unit = problem.without_zero_edges().problem.scaled()
    return {
        "n_iter": np.array([one.n_iter for one in rounds], dtype=np.int64),
        "seconds": np.array([one.seconds for one in rounds], dtype=np.float64),
        "rank": np.array([one.rank for one in rounds], dtype=np.int64),
        "objective": unit**2 * np.array([one.objective for one in rounds], dtype=np.float64),
        "error": np.array([one.error for one in rounds], dtype=np.float64),
    }
