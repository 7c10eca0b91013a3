"""Embeddings R that keep squared distances and make a spread large, with K = R R^T.

One row r_i of R per point. With C the Laplacian of a weighted graph of pairs,

    maximize    <C, R R^T>
    subject to  q_e = |r_i - r_j|^2  = d_e   for an *edge* e = (i, j),
                q_e = |r_i - r_j|^2 <= d_e   for a *cap*,
                y_s R[i_s, c_s] >= m         for a *side* s: a half-space with an axis as normal.

The solver (:func:`solve_lowrank`) treats the constraints as a mechanism at rest, and the code uses
its words. Everywhere in this package:

- a *bar* is a pair of points with a force t along it: edges, then caps, then the pairs of C, in
  this order. An edge's bar pulls or pushes, with t = y + s (q - d) for the multiplier y and the
  stiffness s; a pair of C pushes with the constant force t = -weight.
- a *rope* is the bar of a cap. It only pulls: max(t, 0).
- a *wall* holds a side. It only pushes: with the slack g = y R[i, c] - m and the multiplier mu its
  force is t = mu - s g, cut to [0, p]. *Hard* sides have p = inf; *soft* ones yield to forces
  above p, at a cost of p per unit of length.
- the *tension* of a bar is its force times its length. The unit of tension is the one at which
  equal edges everywhere balance the objective; p is given in it.

When forces balance and the constraints hold, forces are the multipliers of a solution.

Modules: :mod:`.distances` states the problem, :mod:`.sides` the half-spaces and their walls,
:mod:`.descent` minimizes the energy of the mechanism, :mod:`.solver` runs the rounds,
:mod:`.bound` derives an upper bound on the objective from the multipliers, and :mod:`.starts` has
starting points.
"""

from labelfold.solvers.lowrank.distances import (
    DistanceProblem,
    Spread,
    compare_lengths,
    measure_errors,
)
from labelfold.solvers.lowrank.sides import AnchorSides, HalfSpaces
from labelfold.solvers.lowrank.solver import LowRankLimits, LowRankSolution, solve_lowrank

__all__ = [
    "AnchorSides",
    "DistanceProblem",
    "HalfSpaces",
    "LowRankLimits",
    "LowRankSolution",
    "Spread",
    "compare_lengths",
    "measure_errors",
    "solve_lowrank",
]
