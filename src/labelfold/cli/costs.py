"""Roughly how long a fit takes and how much memory it needs: a guess from a few measured sizes.

A fit of n rows with d features costs a neighbour search and what the method adds, in seconds:

====================  ====================================================================
search, d <= 6        5e-5 n (a tree)
search, exact         2.5e-10 n^2 d
search, inverted      1.4e-6 n d, once n^2 d passes 2e10 and rows are dense
ccdr, eigenmaps       4e-10 n^3 up to 1,000 rows (dense), then 0.1 + 5e-5 n
lle, locally-linear   1.5e-4 n + 3e-8 n^2, for a factorisation that fills up
mvu, mfnu             6.5e-4 n^1.3
ssde                  6e-3 n^1.3
ism                   8e-6 n^2
isomap                3e-7 n^2, and three matrices of n x n
====================  ====================================================================

The constants come from fits with default parameters of clustered data, 500 to 64,000 rows (up to
4,000 for unfoldings) with 50 and 400 features and a label for one row in twenty, on one thread of a
busy server of 2.8 GHz. There ccdr took 0.4, 0.6, 5.8 and 7.0 s for 1,000, 4,000, 16,000 and 64,000
rows, lle 0.1, 1.0, 2.8 and over 100 s, mvu 2, 5, 18 and 28 s for 500, 1,000, 2,000 and 4,000, ism
2, 8 and 40 s, ssde 19, over 120 and 55 s. The last shows how far data decide: steps of a solver
vary tenfold, so only the order of magnitude is told.
"""

from __future__ import annotations

from dataclasses import dataclass

QUICK_SEARCH = 2e10  # n^2 d up to which the search is exact, as in labelfold.graph.search
TREE_DIMENSIONS = 6  # up to which a tree serves, as in labelfold.graph.neighbor_index
DENSE_ROWS = 1000  # up to which eigenvectors are found by a dense solver
GRAPH_BYTES = 1100.0  # of a graph of 12 neighbours, a row
UNFOLDING_SECONDS = {
    "mvu": (6.5e-4, 1.3),
    "mfnu": (6.5e-4, 1.3),
    "ssde": (6e-3, 1.3),
    "ism": (8e-6, 2),
}
UNFOLDING_BYTES = {"mvu": 1e4, "mfnu": 1e4, "ssde": 5e4, "ism": 1e4}  # a row
SUBSAMPLES, SUBSAMPLE_SIZE = 8, 5000  # of ResampledEmbedding by default

TIMES = ((1, "under a second"), (60, "seconds"), (3600, "minutes"), (86_400, "hours"))
LONGER = "days"


@dataclass(frozen=True)
class DataSize:
    """What the cost depends on.

    Parameters
    ----------
    n_rows, n_features, n_labeled : int
        Size of the data.

    is_sparse : bool
        Whether rows are sparse, so that the search is exact.

    entries_per_row : float
        Entries that are not zero, for sparse rows; else as many as features.
    """

    n_rows: int
    n_features: int
    n_labeled: int
    is_sparse: bool
    entries_per_row: float


@dataclass(frozen=True)
class Cost:
    """A guess at what a fit takes.

    Parameters
    ----------
    seconds : float
        Time on one thread.

    n_bytes : float
        Memory beyond that of the data.
    """

    seconds: float
    n_bytes: float

    @property
    def time(self) -> str:
        """The order of the time in words."""
        return next((words for limit, words in TIMES if self.seconds < limit), LONGER)

    @property
    def memory(self) -> str:
        """The order of the memory in words."""
        size = self.n_bytes / 1e6
        if size < 10:
            return "little"
        steps = (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
        most = next((step for step in steps if size <= step), None)
        if most is None:
            return "over 1 TB"
        return f"{most} MB" if most < 1000 else f"{most // 1000:,} GB"


def expected_cost(method: str, size: DataSize) -> Cost:
    """Return the guess for one of the methods that `labelfold inspect` speaks of."""
    n, d, m = size.n_rows, size.n_features, size.n_labeled
    if method == "pca":
        return Cost(1e-9 * n * min(d, 500) ** 2, 8.0 * min(d, n) ** 2 + 16 * n)
    if method == "lda":
        return Cost(4e-9 * m * d * min(d, m), 16.0 * m * d + 8 * d * min(d, m))
    if method == "mfa":
        within = min(d, max(m, 1))
        return Cost(3e-10 * m * m * d + 3e-9 * m * d * within, 24.0 * within**2 + 24 * m * d)
    if method == "resampled":
        return _resampled_cost(size)
    search = _search_seconds(size)
    dense_bytes = 24.0 * min(n, DENSE_ROWS) ** 2
    if method in ("ccdr", "eigenmaps"):
        return Cost(search + _eigen_seconds(n), 2 * GRAPH_BYTES * n + dense_bytes)
    if method in ("lle", "locally-linear"):
        return Cost(search + 1.5e-4 * n + 3e-8 * n**2, 9 * GRAPH_BYTES * n + dense_bytes)
    if method == "isomap":
        return Cost(search + 3e-7 * n**2, 24.0 * n**2)
    factor, power = UNFOLDING_SECONDS[method]
    return Cost(search + factor * n**power, UNFOLDING_BYTES[method] * n)


def _search_seconds(size: DataSize) -> float:
    n, d = size.n_rows, size.n_features
    if d <= TREE_DIMENSIONS and not size.is_sparse:
        return 5e-5 * n
    exact = 2.5e-10 * n * n * size.entries_per_row
    if size.is_sparse or float(n) ** 2 * d <= QUICK_SEARCH:
        return exact
    return min(exact, 1.4e-6 * n * d)


def _eigen_seconds(n: int) -> float:
    return 4e-10 * n**3 if n <= DENSE_ROWS else 0.1 + 5e-5 * n


def _resampled_cost(size: DataSize) -> Cost:
    """Maps of subsamples, and the search that places all rows in each of them."""
    n = min(size.n_rows, SUBSAMPLE_SIZE)
    part = DataSize(n, size.n_features, size.n_labeled, size.is_sparse, size.entries_per_row)
    one = expected_cost("ccdr", part)
    if size.n_rows <= SUBSAMPLE_SIZE:
        return one
    placing = 1.2e-10 * size.n_rows * n * size.entries_per_row
    return Cost(SUBSAMPLES * (one.seconds + placing), one.n_bytes + 500.0 * size.n_rows)
