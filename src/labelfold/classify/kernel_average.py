"""Scores of all rows as an average of ridge regressions, each on some of the rows' kernels.

Every candidate regresses the classes' indicators on the columns of its kernels, at the labeled
rows, with the penalty and gain that :func:`labelfold.solvers.ridge.choose_penalty` finds by leaving
out one row at a time. With e_c the relative squared error of candidate c on left-out rows and m
labeled rows, its weight is

    w_c = prior_c exp(-m e_c) / sum,

the posterior of a Gaussian model whose noise has variance 1/2. The prior prefers graphs, as few
labels cannot: 1 for graphs, 0.3 for graphs with features, 0.1 for features alone. Scores are linear
in the columns, so the average needs one vector of coefficients per kernel.

Left-out scores are to show how far labels can be trusted, so that a row must be left out of the
choice of penalties and weights too: with 20 labels that choice flatters hard data by ten points of
error. Up to 100 labels all of it is done again without each tenth of them; beyond, the closed form
for the chosen penalties and weights is as good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from labelfold.classify.row_kernels import FEATURE_KERNELS, Columns, NewRows, RowKernels
from labelfold.labels import PartialLabels
from labelfold.methods import stored
from labelfold.progress import Progress
from labelfold.solvers.ridge import RidgeFit, choose_penalty, kernel_unit
from labelfold.threads import limit_threads

__all__ = ["CANDIDATES", "Candidate", "CandidateTable", "KernelAverage"]

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

GRAPHS = ("shared", "graph-10", "shared-20")
CANDIDATES: tuple[tuple[str, ...], ...] = (
    ("mutual",),
    ("shared",),
    ("graph-10",),
    ("shared-20",),
    ("mutual", "shared"),
    ("mutual", "shared", "shared-20"),
    GRAPHS,
    (*GRAPHS, "linear"),
    (*GRAPHS, "gaussian"),
    (*GRAPHS, "gaussian-standardized"),
    ("linear",),
    ("gaussian",),
    ("linear-standardized",),
    ("gaussian-standardized",),
)
WITH_FEATURES, FEATURES_ALONE = 0.3, 0.1  # priors; that of graphs is 1
MOST_COMPARED = 2000  # labeled rows on which candidates are compared
LEAST_WEIGHT = 0.1  # of the largest weight, of candidates that are fitted on more rows than that
SHOWN = 0.1  # least weight of a candidate that the sentence names
NEGLIGIBLE = 1e-6  # weight of a candidate that is left out of the average
FOLDS = 10
DIGITS = 6  # of scores that put rows in order, or rounding errors would
MOST_FOLDED = 100  # labeled rows up to which left-out scores come from folds


@stored
@dataclass(frozen=True)
class Candidate:
    """A regression that was considered, with its part in the average.

    Parameters
    ----------
    name : str
        Its kernels, such as "shared + gaussian".
    left_out_error : float
        Relative squared error on left-out labels: 0 is perfect, 1 no better than class means.
    weight : float
        Its weight in the average.
    penalty : float
        Weight of roughness, in units of the kernel.
    """

    name: str
    left_out_error: float
    weight: float
    penalty: float


@stored
@dataclass(frozen=True, eq=False)
class CandidateTable:
    """All candidates, the largest weight first; as text one sentence.

    Parameters
    ----------
    candidates : tuple of Candidate
        One per row of the table.
    n_wrong : int
        Left-out labels that the average names wrongly.
    n_left_out : int
        Labels whose class has another label: only these can be left out.
    """

    candidates: tuple[Candidate, ...]
    n_wrong: int
    n_left_out: int

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __str__(self) -> str:
        if self.n_left_out == 0:
            return f"{len(self)} by their priors, as no label can be left out."
        shown = [one for one in self.candidates if one.weight >= SHOWN] or self.candidates[:1]
        text = ", ".join(f"{one.name} {one.weight:.2f}" for one in shown)
        rest = 1 - sum(one.weight for one in shown)
        text += f", others {rest:.2f}" if rest >= 0.005 else ""
        return f"{text}; {self.n_wrong} of {self.n_left_out} left-out labels wrong."


@stored
@dataclass(frozen=True, eq=False)
class KernelAverage:
    """The average, as a function of any row.

    Parameters
    ----------
    columns : tuple of Columns
        Of the kernels that take part.
    coefficients : tuple of ndarray of shape (n_columns, n_classes)
        One array per kernel.
    levels : ndarray of shape (n_groups, n_classes)
        What is added in each group of rows.
    table : CandidateTable
        What was considered.
    left_out : ndarray of shape (n_labeled, n_classes)
        Scores of the labeled rows, each predicted by others.
    """

    columns: tuple[Columns, ...]
    coefficients: tuple[Array, ...] = field(repr=False)
    levels: Array = field(repr=False)
    table: CandidateTable
    left_out: Array = field(repr=False)

    @classmethod
    def fit(
        cls,
        kernels: RowKernels,
        labels: PartialLabels,
        groups: Numbers,
        names: Sequence[str],
        progress: Progress,
    ) -> KernelAverage:
        """Fit all candidates whose kernels are among ``names``, and average them.

        ``groups`` has the number of the group of each row, 0 and up for groups with a label.
        """
        design = _Design.at_labeled(kernels, labels, groups, names, progress)
        candidates = [one for one in CANDIDATES if set(one) <= set(names)]
        rows = design.sample(kernels.seed)
        fits = [design.fit(one, rows) for one in candidates]
        errors = np.array([np.min(fit.errors, initial=1.0) for fit in fits])
        weights = _weigh(candidates, errors, len(rows))
        if len(rows) < labels.n_labeled:
            weights = np.where(weights >= LEAST_WEIGHT * weights.max(), weights, 0)
            every = np.arange(labels.n_labeled)
            fits = [
                design.fit(one, every) if weight > 0 else fit
                for one, fit, weight in zip(candidates, fits, weights, strict=True)
            ]
        weights = np.where(weights > NEGLIGIBLE, weights, 0)
        weights /= weights.sum()
        listed = [
            Candidate(" + ".join(one), float(error), float(weight), fit.penalty)
            for one, error, weight, fit in zip(candidates, errors, weights, fits, strict=True)
        ]
        listed.sort(key=lambda one: -one.weight)
        levels, slopes, left_out = design.average(candidates, fits, weights)
        if 2 <= labels.n_labeled <= MOST_FOLDED:
            with limit_threads(1):  # many small matrices: more threads would wait for each other
                left_out = design.predict_folds(candidates, left_out)
        tested = np.sum(design.targets, axis=0)[labels.codes[labels.mask]] > 1
        is_wrong = left_out.argmax(axis=1) != labels.codes[labels.mask]
        return cls(
            tuple(design.columns[name] for name in slopes),
            tuple(slopes.values()),
            levels,
            CandidateTable(tuple(listed), int(np.sum(is_wrong & tested)), int(np.sum(tested))),
            left_out,
        )

    def scores(self, kernels: RowKernels, groups: Numbers) -> Array:
        """Return the scores of the training rows; those of group -1 have no level."""
        scores = self._levels_of(groups)
        for columns, coefficients in zip(self.columns, self.coefficients, strict=True):
            scores += columns.combine(kernels, coefficients)
        return scores

    def scores_at_new(self, new: NewRows, groups: Numbers) -> Array:
        """Return the scores of new rows in these groups."""
        scores = self._levels_of(groups)
        for columns, coefficients in zip(self.columns, self.coefficients, strict=True):
            scores += columns.combine_at_new(new, coefficients)
        return scores

    def _levels_of(self, groups: Numbers) -> Array:
        return np.asarray(np.vstack([self.levels, np.zeros_like(self.levels[:1])])[groups])


@dataclass(frozen=True, eq=False)
class _Design:
    """Columns at the labeled rows, in units of their kernels, and the targets."""

    columns: dict[str, Columns]
    units: dict[str, float]
    values: dict[str, Array]
    indicators: Array  # of the groups, one column each
    targets: Array

    @classmethod
    def at_labeled(
        cls,
        kernels: RowKernels,
        labels: PartialLabels,
        groups: Numbers,
        names: Sequence[str],
        progress: Progress,
    ) -> _Design:
        rows = np.flatnonzero(labels.mask)
        columns, units, values = {}, {}, {}
        for done, name in enumerate(names):
            progress("kernels", done, len(names), note=name)
            columns[name] = kernels.columns(name, rows, progress)
            at_rows = columns[name].at(kernels, rows)
            units[name] = kernel_unit(at_rows[:MOST_COMPARED])
            values[name] = at_rows / np.sqrt(units[name])
        return cls(
            columns,
            units,
            values,
            np.eye(groups.max() + 1)[groups[rows]],
            np.eye(labels.n_classes)[labels.codes[rows]],
        )

    def sample(self, seed: int) -> Numbers:
        """Return the labeled rows on which candidates are compared."""
        n = len(self.targets)
        if n <= MOST_COMPARED:
            return np.arange(n)
        rng = np.random.default_rng(seed)
        return np.sort(rng.choice(n, MOST_COMPARED, replace=False))

    def fit(self, candidate: Sequence[str], rows: Numbers) -> RidgeFit:
        """Fit a candidate on some of the labeled rows."""
        return self._regress(self._stack(candidate), rows)

    def predict_folds(self, candidates: Sequence[Sequence[str]], left_out: Array) -> Array:
        """Return scores of all labeled rows, a tenth of them at a time, by averages of the others.

        Folds are dealt class by class, in the order of the closed-form scores of their class, so
        that every fold has its share of each, and does not depend on the order of the rows.
        """
        n, n_groups = len(self.targets), self.indicators.shape[1]
        codes = self.targets.argmax(axis=1)
        own = left_out[np.arange(n), codes].round(DIGITS)
        folds = np.empty(n, dtype=np.intp)
        folds[np.lexsort((own, codes))] = np.arange(n) % FOLDS
        stacks = [_turn(self._stack(one), n_groups) for one in candidates]
        scores = np.zeros(self.targets.shape)
        for fold in range(min(n, FOLDS)):
            rows, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            fits = [self._regress(stack, others) for stack in stacks]
            errors = np.array([np.min(fit.errors, initial=1.0) for fit in fits])
            weights = _weigh(candidates, errors, len(others))
            for stack, fit, weight in zip(stacks, fits, weights, strict=True):
                scores[rows] += weight * stack[rows] @ fit.coefficients
        return scores

    def _stack(self, candidate: Sequence[str]) -> Array:
        return np.hstack([self.indicators, *(self.values[name] for name in candidate)])

    def _regress(self, stack: Array, rows: Numbers) -> RidgeFit:
        roughness = np.ones(stack.shape[1])
        roughness[: self.indicators.shape[1]] = 0
        return choose_penalty(stack[rows], self.targets[rows], roughness)

    def average(
        self, candidates: Sequence[Sequence[str]], fits: Sequence[RidgeFit], weights: Array
    ) -> tuple[Array, dict[str, Array], Array]:
        """Return average levels, coefficients of every kernel in use, and left-out scores."""
        n_groups = self.indicators.shape[1]
        levels, left_out = np.zeros((n_groups, self.targets.shape[1])), np.zeros(self.targets.shape)
        slopes: dict[str, Array] = {}
        for candidate, fit, weight in zip(candidates, fits, weights, strict=True):
            if weight == 0:
                continue
            levels += weight * fit.coefficients[:n_groups]
            left_out += weight * fit.left_out
            start = n_groups
            for name in candidate:
                stop = start + self.values[name].shape[1]
                part = weight / np.sqrt(self.units[name]) * fit.coefficients[start:stop]
                slopes[name] = slopes.get(name, 0) + part
                start = stop
        return levels, slopes, left_out


def _turn(stack: Array, n_groups: int) -> Array:
    """Return columns with the same inner products, as many as rows: the same ridge, sooner."""
    if stack.shape[1] - n_groups <= len(stack):
        return stack
    triangle = np.asarray(np.linalg.qr(stack[:, n_groups:].T, mode="r"))
    return np.hstack([stack[:, :n_groups], triangle.T])


def _weigh(candidates: Sequence[Sequence[str]], errors: Array, n_rows: int) -> Array:
    logs = np.log([_prior(one) for one in candidates]) - n_rows * errors
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _prior(candidate: Sequence[str]) -> float:
    is_feature = [name in FEATURE_KERNELS for name in candidate]
    return FEATURES_ALONE if all(is_feature) else WITH_FEATURES if any(is_feature) else 1.0
