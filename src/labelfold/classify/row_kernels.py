"""Kernels over all rows: how alike two rows are, on a graph of neighbors or by their features.

A kernel is held as columns: K = Phi Phi^T, with one row of Phi per row of the data.

- A graph's columns are e_j / lambda_j, from its smoothest eigenvectors, L e = lambda D e, so that
  K = sum_j e_j e_j^T / lambda_j^2: rows are alike if many short paths join them.
- A linear kernel's columns are features, weighted by their standard deviations (over the square of
  the largest, so that scale has no influence).
- A Gaussian kernel's columns are k(x, A) k(A, A)^(-1/2) with landmarks A: the labeled rows, or a
  random part of them if there are many (Nystroem).

Columns rather than K itself: 1 / lambda^2 may span fourteen orders of magnitude, of which an
eigendecomposition of K loses the smallest. All but the landmarks is independent of labels. It is
computed when it is first needed, and serves every later set of labels.

Few rows are converted to float64, and their views are held. Many stay what they are, on disk if
they are mapped from there: views are fitted to a random sample of them, only the one that is
searched is held, in float32, and the others are computed a block of rows at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from labelfold.checks import row_blocks
from labelfold.classify.laplacian_scores import LaplacianColumns
from labelfold.exceptions import FewNeighborsWarning, warn_user
from labelfold.fit_memory import FitMemory
from labelfold.graph import GraphRecipe, NeighborGraph
from labelfold.graph.adjacency import keep_nearest
from labelfold.graph.neighbor_graph import build_graph, graph_of_lists
from labelfold.graph.point_space import PointSpace, as_float64
from labelfold.methods import stored
from labelfold.progress import Progress
from labelfold.solvers.certificates import EigenCertificate
from labelfold.spectral.laplacian_basis import LaplacianBasis

__all__ = [
    "FEATURE_KERNELS",
    "GRAPH_KERNELS",
    "KERNELS",
    "Columns",
    "NewRows",
    "RowKernels",
    "memory_of_kernels",
]

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

MOST_FEATURES = 100  # of the rows that are searched; wider ones are reduced to so many components
N_EIGENVECTORS = 60  # 30 to 150 differ by 0.1 points on average, with up to 500 labels
MOST_LANDMARKS = 1000
SAMPLE_SIZE = 1000  # of the rows among which the median distance is measured
# Rows of whole numbers have neighbors at equal distances. If the order of the rows chose among
# them, another order would change up to 4.5 % of the labels of the digits from two per class.
MOST_TIES = 3
ENTRIES_AT_ONCE = 2**23  # of a Gaussian kernel


@stored
@dataclass(frozen=True)
class GraphKernel:
    """A kernel on the neighbor graph of the rows, or of their first principal components."""

    n_neighbors: int
    weights: str
    one_sided: float | None = None
    n_components: int | None = None
    neighbors_of: str = ""  # the kernel whose search serves this one too


@stored
@dataclass(frozen=True)
class FeatureKernel:
    """A linear or Gaussian kernel on one view of the rows."""

    view: str
    shape: str


GRAPH_KERNELS = {
    "mutual": GraphKernel(6, "self-tuning", one_sided=0.05, neighbors_of="shared"),
    "shared": GraphKernel(10, "shared"),
    "graph-10": GraphKernel(15, "self-tuning", n_components=10),
    "shared-20": GraphKernel(15, "shared", n_components=20),
}
FEATURE_KERNELS = {
    "linear": FeatureKernel("components", "linear"),
    "gaussian": FeatureKernel("components", "gaussian"),
    "linear-standardized": FeatureKernel("standardized", "linear"),
    "gaussian-standardized": FeatureKernel("standardized", "gaussian"),
}
KERNELS = (*GRAPH_KERNELS, *FEATURE_KERNELS)
# Past so many rows one graph takes part unless others are named: each takes 2 to 3 kB per row and a
# quarter of the time. On 60,000 images with 100 labels the error is 3.0 % instead of 2.8 %.
MANY_ROWS = 200_000
ONE_GRAPH = "mutual"
# Past so many rows or entries (half a gigabyte in float64) views are fitted to a random sample.
MANY_ENTRIES = 2**26
SAMPLE_ENTRIES = 2**24


@stored
@dataclass(frozen=True, eq=False)
class GraphColumns:
    """Columns of a graph's kernel; ``laplacian`` holds e_j and lambda_j."""

    kernel: GraphKernel
    laplacian: LaplacianColumns

    def at(self, kernels: RowKernels, rows: Numbers) -> Array:
        """Return the columns at some rows."""
        return np.asarray(self.laplacian.basis.vectors[rows] / self._roughness)

    def combine(self, kernels: RowKernels, coefficients: Array) -> Array:
        """Return combinations of the columns at all rows."""
        vectors, slopes = self.laplacian.basis.vectors, (coefficients.T / self._roughness).T
        combined = np.empty((len(vectors), slopes.shape[1]))
        for block in row_blocks(*vectors.shape):
            combined[block] = vectors[block] @ slopes
        return combined

    def combine_at_new(self, new: NewRows, coefficients: Array) -> Array:
        """Return combinations of the columns at new rows, extended from their neighbors."""
        graph = self.laplacian.basis.graph
        distances = new.distances(self.kernel, graph)
        level = np.zeros((1, coefficients.shape[1]))
        slopes = (coefficients.T / self._roughness).T
        return self.laplacian.combine_at_new(distances, np.vstack([level, slopes]))

    @property
    def _roughness(self) -> Array:
        return self.laplacian.roughness[self.laplacian.n_indicators :]


@stored
@dataclass(frozen=True, eq=False)
class FeatureColumns:
    """Columns of a feature kernel: ``factors`` times features, or a Gaussian map of them."""

    kernel: FeatureKernel
    factors: Array
    gaussian: Nystroem | None = None

    def at(self, kernels: RowKernels, rows: Numbers) -> Array:
        """Return the columns at some rows."""
        return self._values(kernels.view(self.kernel.view)[rows])

    def combine(self, kernels: RowKernels, coefficients: Array) -> Array:
        """Return combinations of the columns at all rows."""
        return self._combine(kernels.view(self.kernel.view), coefficients)

    def combine_at_new(self, new: NewRows, coefficients: Array) -> Array:
        """Return combinations of the columns at new rows."""
        return self._combine(new.view(self.kernel.view), coefficients)

    def _combine(self, features: Array, coefficients: Array) -> Array:
        combined = np.empty((len(features), coefficients.shape[1]))
        widest = max(len(coefficients), features[:1].shape[1])
        step = max(1, ENTRIES_AT_ONCE // widest)
        for start in range(0, len(features), step):
            part = slice(start, start + step)
            combined[part] = self._values(features[part]) @ coefficients
        return combined

    def _values(self, features: Array) -> Array:
        if self.gaussian is None:
            return np.asarray(features * self.factors)
        return np.asarray(self.gaussian.transform(features))


Columns = GraphColumns | FeatureColumns


def as_dense(X: Any) -> Array:
    """Return rows as an array."""
    given: Any = X
    return np.asarray(given.toarray() if sp.issparse(X) else given)


@stored
@dataclass(frozen=True, eq=False)
class View:
    """A fitted map to features, from given rows or from the view "rows" of them.

    Projections are rounded to multiples of ``grain``, about single precision: products of equal
    rows may differ in the last digit, and equal rows must stay equal.
    """

    map: Pipeline
    of_rows: bool
    grain: float

    @classmethod
    def fit(cls, X: Any, *steps: Any, of_rows: bool = False) -> View:
        """Fit a map that consists of steps to the training rows."""
        # PCA's shares of no variance: graphs refuse equal rows.
        with np.errstate(divide="ignore", invalid="ignore"):
            pipeline = make_pipeline(*map(clone, steps), "passthrough").fit(X)
        projects = any(isinstance(step, PCA | TruncatedSVD) for step in steps)
        largest = float(np.max(np.abs(pipeline.transform(X)))) if projects else 0.0
        return cls(pipeline, of_rows, 2.0 ** (np.ceil(np.log2(largest)) - 26) if largest else 0.0)

    def __call__(self, X: Any) -> Array:
        """Return the features of rows."""
        features = self.map.transform(as_float64(X))
        if self.grain == 0:
            return np.asarray(features)
        return np.asarray(np.rint(features / self.grain) * self.grain)

    @property
    def is_identity(self) -> bool:
        """Whether features are the rows themselves."""
        return len(self.map.steps) == 1


@stored
@dataclass(frozen=True, eq=False)
class Views:
    """The views of a set of rows, by name, and how they are computed.

    Parameters
    ----------
    maps : dict of str to View
        "rows", "components" and "standardized".
    in_blocks : bool
        Whether rows are so many that they are mapped a block at a time, when they are needed.
    searches_given : bool
        Whether neighbors are found among the given rows, by a graph that came with them, instead
        of among their view "rows".
    """

    maps: dict[str, View]
    in_blocks: bool
    searches_given: bool = False


@stored
class MappedRows:
    """Features of rows, computed for a selection of rows and columns when it is asked for."""

    def __init__(self, view: View, rows: Any, *, is_single: bool = False) -> None:
        self._view, self._rows, self._is_single = view, rows, is_single
        self._n_features = view(rows[:1]).shape[1]

    def __len__(self) -> int:
        return int(self._rows.shape[0])

    def __getitem__(self, selection: Any) -> NDArray[Any]:
        at, columns = selection if isinstance(selection, tuple) else (selection, slice(None))
        numbers = np.arange(len(self))[at]
        width = np.arange(self._n_features)[columns].size
        dtype = np.float32 if self._is_single else np.float64
        features = np.empty((len(numbers), width), dtype=dtype)
        for block in row_blocks(len(numbers), self._rows.shape[1]):
            features[block] = self._view(self._rows[numbers[block]])[:, columns]
        return features


def are_many(X: Any) -> bool:
    """Return whether rows are so many that their views are fitted to a sample."""
    return bool(X.shape[0] > MANY_ROWS or X.size > MANY_ENTRIES)


def sample_rows(X: Any, seed: int) -> Numbers | slice:
    """Return the rows that views are fitted to: all, or a random sample of many."""
    if not are_many(X):
        return slice(None)
    n = X.shape[0]
    size = min(n, max(SAMPLE_SIZE, SAMPLE_ENTRIES * n // max(1, X.size)))
    return np.sort(np.random.default_rng(seed).choice(n, size, replace=False))


def fit_views(X: Any, metric: str, seed: int) -> dict[str, View]:
    """Fit the views of the training rows, or of a sample of them.

    "rows" are searched for neighbors: the rows themselves, or their first principal components if
    they are wide; with ``metric="cosine"`` brought to length 1. "components" are the principal
    components of these. "standardized" are the columns divided by their standard deviations, the
    columns of "rows" if the metric is cosine or the rows are sparse.
    """
    is_wide = X.shape[1] > MOST_FEATURES
    X = as_float64(X if is_wide else as_dense(X))
    n_reduced = min(MOST_FEATURES, min(X.shape) - 1)
    reduce = [PCA(n_reduced, random_state=seed)] if is_wide else []
    if metric == "cosine":
        svd = TruncatedSVD(n_reduced, algorithm="arpack", random_state=seed)
        steps = [Normalizer(), svd, Normalizer()] if is_wide else [Normalizer()]
        rows = View.fit(X, *steps)
    else:
        rows = View.fit(X, *reduce)
    searched = rows(X)
    if metric == "cosine" or sp.issparse(X):
        standardized = View.fit(searched, StandardScaler(), of_rows=True)
    else:
        standardized = View.fit(X, StandardScaler(), *reduce)
    components = View.fit(searched, PCA(random_state=seed), of_rows=True)
    return {"rows": rows, "components": components, "standardized": standardized}


def default_names(n_rows: int) -> tuple[str, ...]:
    """Return the names of the kernels that take part if none are named."""
    left_out = set(GRAPH_KERNELS) - {ONE_GRAPH} if n_rows > MANY_ROWS else set()
    return tuple(name for name in KERNELS if name not in left_out)


def memory_of_kernels(
    X: Any, metric: str, names: Sequence[str] | None, graph: NeighborGraph | None
) -> FitMemory:
    """Return how much memory views, graphs and eigenvectors of these rows take."""
    memory, d = FitMemory(X.shape[0]), min(X.shape[1], MOST_FEATURES)
    value = X.dtype.itemsize
    if metric == "precomputed":
        d = 0
    elif are_many(X):
        projected = X.shape[1] > d or metric == "cosine"
        value = 4 if projected else value
        memory.add(kept=4.0 * d * projected, block=16.0 * SAMPLE_ENTRIES)
    else:  # rows and three views in float64, two if the first is the rows themselves
        own = 0 if value == 8 or sp.issparse(X) else 8 * X.shape[1]
        value = 8
        memory.add(kept=own + 16 * d + 8 * d * (X.shape[1] > d), during=8 * d)
    shared = GRAPH_KERNELS["shared"].n_neighbors
    if graph is None:
        memory.add_search(value * d, d, shared + MOST_TIES)
    memory.add_edges(shared)
    memory.add_lists(shared)  # which serve "mutual" too
    for name, kernel in GRAPH_KERNELS.items():
        if name not in (default_names(X.shape[0]) if names is None else names):
            continue
        if kernel.n_components is not None:
            memory.add_search(8 * kernel.n_components, kernel.n_components, kernel.n_neighbors)
        if name != "shared":
            memory.add_edges(kernel.n_neighbors)
        memory.add_eigenvectors(kernel.n_neighbors, N_EIGENVECTORS, is_rough=True)
    memory.add(block=16.0 * ENTRIES_AT_ONCE)
    return memory


@stored
class NewRows:
    """Rows with their views and neighbors, each computed once for all kernels."""

    def __init__(self, views: Views | None, X: Any) -> None:
        self._maps, self._given = views, X
        if views is not None:
            # What was fitted to dense rows, or to few columns, takes dense rows.
            is_text = X.shape[1] > MOST_FEATURES and views.maps["standardized"].of_rows
            self._given = X if is_text else as_dense(X)
            if not views.in_blocks:
                self._given = as_float64(self._given)
        self._views: dict[str, Any] = {}
        self._distances: dict[int | None, sp.csr_array] = {}

    def view(self, name: str) -> Any:
        """Return a view of the rows; precomputed distances as they are."""
        if self._maps is None:
            return self._given
        if name not in self._views:
            self._views[name] = self._compute(name, self._maps)
        return self._views[name]

    def _compute(self, name: str, views: Views) -> Any:
        view = views.maps[name]
        rows = self.view("rows") if view.of_rows else self._given
        if not views.in_blocks:
            return view(rows)
        if name != "rows":
            return MappedRows(view, rows)
        return rows if view.is_identity else MappedRows(view, rows, is_single=True)[:]

    def searched(self, kernel: GraphKernel) -> Any:
        """Return the features in which the graph of a kernel has its neighbors."""
        if kernel.n_components is not None:
            return self.view("components")[:, : kernel.n_components]
        is_given = self._maps is not None and self._maps.searches_given
        return self._given if is_given else self.view("rows")

    def distances(self, kernel: GraphKernel, graph: NeighborGraph) -> sp.csr_array:
        """Return distances to the neighbors of the training rows in the graph of a kernel."""
        key = kernel.n_components
        if key not in self._distances:
            searched = GRAPH_KERNELS[kernel.neighbors_of] if kernel.neighbors_of else kernel
            n_neighbors = searched.n_neighbors + graph.recipe.most_ties
            self._distances[key] = graph.index.query(
                self.searched(kernel), min(n_neighbors, graph.n_points - 1)
            )
        return keep_nearest(
            self._distances[key], graph.recipe.n_neighbors, ties=graph.recipe.most_ties > 0
        )


@stored
class RowKernels:
    """The kernels of a set of rows, each computed when it is first asked for.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Valid rows; distances for ``metric="precomputed"``.
    metric : {"euclidean", "cosine", "precomputed"}
        Metric of the rows.
    neighbor_search : {"auto", "exact", "approximate"}
        See :meth:`NeighborGraph.build`.
    seed : int
        Of the approximate search and of the decompositions.
    n_jobs : int or None
        Bound on the number of threads.
    graph : NeighborGraph, default=None
        A graph of these rows, whose neighbors serve the kernels on all features.
    """

    def __init__(
        self,
        X: Any,
        metric: str,
        *,
        neighbor_search: str,
        seed: int,
        n_jobs: int | None,
        graph: NeighborGraph | None = None,
    ) -> None:
        self.n_rows = X.shape[0]
        # Rows of length 1 have the same neighbors by the euclidean metric as by the cosine.
        self._graph_metric = metric if metric == "precomputed" else "euclidean"
        self.neighbor_search, self.seed, self.n_jobs = neighbor_search, seed, n_jobs
        self.views: Views | None = None  # none of distances
        self._sample: Numbers | slice = slice(None)
        if metric != "precomputed":
            PointSpace(metric).check(X)  # raises for rows of extreme size
            self._sample = sample_rows(X, seed)
            maps = fit_views(X[self._sample], metric, seed)
            self.views = Views(maps, in_blocks=not isinstance(self._sample, slice))
        self._rows = NewRows(self.views, X)
        self._graphs: dict[str, NeighborGraph] = {}
        self._columns: dict[str, GraphColumns] = {}
        if graph is not None:
            self._take_neighbors(graph, X, metric)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the kernels that these rows can have."""
        if self.views is None:
            return ("mutual", "shared")
        return KERNELS

    @property
    def default_names(self) -> tuple[str, ...]:
        """Names of the kernels that take part if none are named."""
        by_size = default_names(self.n_rows)
        return tuple(name for name in self.names if name in by_size)

    def view(self, name: str) -> Any:
        """Return a view of the training rows."""
        return self._rows.view(name)

    def columns(self, name: str, labeled: Numbers, progress: Progress) -> Columns:
        """Return the columns of a kernel, given the labeled rows."""
        if name in FEATURE_KERNELS:
            return self._feature_columns(FEATURE_KERNELS[name], labeled)
        if name not in self._columns:
            self._columns[name] = self._graph_columns(name, progress)
        return self._columns[name]

    def graph(self, name: str, progress: Progress) -> NeighborGraph:
        """Return the graph of a kernel; kernels on the same features share the search."""
        if name not in self._graphs:
            kernel = GRAPH_KERNELS[name]
            n_neighbors = min(kernel.n_neighbors, self.n_rows - 1)
            if kernel.neighbors_of:
                searched = self.graph(kernel.neighbors_of, progress)
                graph = searched.reweighed(n_neighbors, kernel.weights, one_sided=kernel.one_sided)
            else:
                recipe = GraphRecipe(n_neighbors, None, self._graph_metric, kernel.weights)
                if self.views is not None:
                    recipe = replace(recipe, most_ties=MOST_TIES)
                graph = build_graph(
                    self._rows.searched(kernel),
                    recipe,
                    neighbor_search=self.neighbor_search,
                    random_state=self.seed,
                    n_jobs=self.n_jobs,
                    progress=progress,
                )
            self._graphs[name] = graph
        return self._graphs[name]

    def _take_neighbors(self, graph: NeighborGraph, X: Any, metric: str) -> None:
        """Let the lists of a given graph serve the kernels on all features."""
        given, kernel = graph.recipe, GRAPH_KERNELS["shared"]
        is_of_view = (  # as a graph that this class built
            self.views is not None
            and not self.views.maps["rows"].is_identity
            and given.metric == self._graph_metric
            and graph.index.same_as(self._rows.view("rows"))
        )
        if not is_of_view:
            wanted = GraphRecipe(given.n_neighbors, None, metric, given.weights, given.scale)
            graph.check_matches(X, wanted)
            if self.views is not None:
                self.views = replace(self.views, searches_given=True)
                self._rows = NewRows(self.views, X)
        n_neighbors = min(kernel.n_neighbors, given.n_neighbors)
        if n_neighbors < min(kernel.n_neighbors, self.n_rows - 1):
            warn_user(
                f"The graph has {n_neighbors} neighbors per row, and FewLabelClassifier takes "
                f"{kernel.n_neighbors}: it makes do with fewer, and may err more often. Build the "
                f"graph with n_neighbors={kernel.n_neighbors} or more.",
                FewNeighborsWarning,
            )
        n_listed = given.n_neighbors + given.most_ties
        most_ties = 0 if self.views is None else min(MOST_TIES, n_listed - n_neighbors)
        recipe = GraphRecipe(n_neighbors, None, given.metric, kernel.weights, most_ties=most_ties)
        nearest = keep_nearest(graph.nearest, n_neighbors + most_ties)
        lists = keep_nearest(nearest, n_neighbors, ties=most_ties > 0)
        self._graphs["shared"] = graph_of_lists(lists, None, recipe, graph.index)

    def groups(self, progress: Progress) -> NDArray[np.int32]:
        """Return for every row the group that labels of other groups do not reach.

        Graphs of rows are bridged. The distances that would take are unknown for precomputed
        neighbors, whose groups are the connected components.
        """
        if self.views is None:
            return self.graph("shared", progress).connected_components
        return np.zeros(self.n_rows, dtype=np.int32)

    def certificates(self) -> dict[str, EigenCertificate]:
        """Return how good the eigenvectors are, of every graph that was solved."""
        return {name: one.laplacian.basis.certificate for name, one in self._columns.items()}

    def _graph_columns(self, name: str, progress: Progress) -> GraphColumns:
        kernel, graph = GRAPH_KERNELS[name], self.graph(name, progress)
        if self.views is not None:
            graph = graph.bridged()
        basis = LaplacianBasis.compute(
            graph, N_EIGENVECTORS, normalization="degree", progress=progress
        )
        alike = np.zeros(graph.n_points, dtype=np.intp)
        return GraphColumns(kernel, LaplacianColumns(basis, alike, np.ones(1)))

    def _feature_columns(self, kernel: FeatureKernel, labeled: Numbers) -> FeatureColumns:
        features = self.view(kernel.view)[self._sample]
        if kernel.shape == "linear":
            deviations = features.std(axis=0)
            return FeatureColumns(kernel, deviations / (deviations.max() or 1.0) ** 2)
        # A sample that does not depend on the order of the rows.
        by_length = np.argsort(np.einsum("ij,ij->i", features, features))
        places = np.linspace(0, len(features) - 1, min(SAMPLE_SIZE, len(features))).astype(int)
        sample = features[by_length[places]]
        squares = euclidean_distances(sample, squared=True)[np.triu_indices(len(sample), 1)]
        scale = float(np.median(squares)) or float(squares.max()) or 1.0
        landmarks = Nystroem(
            gamma=1 / scale,
            n_components=min(MOST_LANDMARKS, len(labeled)),
            random_state=self.seed,
        )
        at_labeled = self.view(kernel.view)[labeled]
        return FeatureColumns(kernel, np.ones(0), landmarks.fit(at_labeled))
