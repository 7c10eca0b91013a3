"""Maps of subsamples, averaged (CCDR-MC section V, second scenario, and appendix III).

An eigendecomposition of many points is replaced by several of few: every subsample has its own map
f(x, c) of any point (eq. 19), the maps are turned onto each other, and their mean is the map. How
far they are apart at a point tells how far to trust it there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MetaEstimatorMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_integer, check_rows
from labelfold.classify.manifold_classifier import as_array, embed
from labelfold.ensemble.subsamples import (
    Subsamples,
    align,
    draw_subsamples,
    mean_and_spread,
    nearest_of_all,
)
from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, declare, stored
from labelfold.progress import Progress, show_progress
from labelfold.spectral import CCDR, LaplacianEigenmaps
from labelfold.threads import limit_threads

__all__ = ["ResampledEmbedding", "ResamplingCertificate"]

Array = NDArray[np.float64]

SCALED = "scaled"
LEAST_NEIGHBORS = 3  # below it a neighbor graph falls apart
APART = 1.0  # relative distance from the mean map: beyond it a map has little in common with it


@stored
@dataclass(frozen=True, eq=False)
class ResamplingCertificate:
    """Evidence for the mean of several maps.

    Parameters
    ----------
    members : tuple
        The certificates of the subsamples' solves, for embedders that have one.
    errors : ndarray of shape (n_subsamples,)
        Distance of each map from the mean on the rows they share, after rotation and scale,
        relative to the size of the mean map there.
    """

    members: tuple[Any, ...] = field(repr=False)
    errors: NDArray[np.float64]

    @property
    def ok(self) -> bool:
        """Whether every solve is as asked, and no map is farther from the mean than its size."""
        solved = all(bool(one.ok) for one in self.members)
        return solved and bool(np.all(self.errors < APART))

    def __str__(self) -> str:
        n_good = sum(bool(one.ok) for one in self.members)
        verdict = "ok" if self.ok else "NOT ok"
        text = f"{verdict}: {len(self.errors)} maps"
        if self.members:
            text += f", {n_good} of {len(self.members)} solves as asked"
        if len(self.errors) > 1:
            text += (
                f", shared rows {np.median(self.errors):.0%} from their mean (at most "
                f"{self.errors.max():.0%}) of the map's size"
            )
        return text + "."


@declare(
    Declaration(
        "resampled",
        "mean of embeddings of subsamples, for very many rows",
        labels="uses",
        produces="embedding",
        uses_graph=False,
        only_in_fit=("embedding_", "spread_", "subsamples_"),
        reorders=False,
        examples=(
            {},
            {
                "embedder": LaplacianEigenmaps(1),
                "n_subsamples": 2,
                "subsample_size": 15,
                "random_state": 0,
            },
        ),
    )
)
class ResampledEmbedding(
    ClassNamePrefixFeaturesOutMixin, MetaEstimatorMixin, TransformerMixin, BaseEstimator
):
    """The mean of maps of subsamples, for more points than one map can be made of.

    Parameters
    ----------
    embedder : transformer, default=None
        What each subsample is embedded by: an embedder of this library, or any transformer with
        ``transform``. None is :class:`CCDR` with its defaults.
    n_subsamples : int, default=8
        Number of subsamples.
    subsample_size : int, default=5000
        Rows of each. With as many rows as X has there is one map, that of the embedder itself.
    n_neighbors : "scaled", int or None, default="scaled"
        Neighbours in a subsample's graph, for embedders with such a parameter. "scaled" lowers the
        embedder's number by the root of the subsample's share of the rows, to 3 at the least. None
        leaves it as it is.
    chunk_size : int, default=1000
        Rows that are mapped at a time, which bounds the memory.
    random_state : int, RandomState instance or None, default=None
        Draws the subsamples, and is handed on to the embedder.
    n_jobs : int, default=None
        Bound on the number of threads, handed on to the embedder; None leaves both alone.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The mean map of all rows.
    spread_ : ndarray of shape (n_samples,)
        Standard deviation of the subsamples' maps of a row about their mean, in units of the map;
        maps count as they do in the mean. 0 where a single one has points near by.
    members_ : list of transformers
        The fitted maps, one a subsample.
    motions_ : list of Motion
        What turns each of them onto the mean.
    subsamples_ : list of ndarray of shape (subsample_size,)
        The rows of each.
    certificate_ : ResamplingCertificate
        How good the solves are, and how well the maps agree on the rows they share.
    n_neighbors_ : int or None
        Neighbours in the subsamples' graphs.
    beta_ : float or None
        beta of the subsamples' maps, where the embedder has one.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    CCDR : The map itself, which takes hundreds of thousands of rows.

    Notes
    -----
    Every subsample has all labelled rows, up to half its size, and other rows of its own. Maps are
    aligned on the rows they share and the class centres. A labelled row is mapped with its label,
    f(x, c), any other with f(x, 0).

    Of the neighbours that all subsamples offer a point, as many as the embedder has are kept, the
    nearest of all, but at least one per subsample: each f(x, c) is made of those it has among them,
    and counts by their number. That is eq. 19 with sums over the points of all subsamples. It takes
    an embedder with the methods ``find_neighbors``, ``known_rows`` and ``place``, as
    :class:`CCDR` and :class:`LaplacianEigenmaps` have them. Maps of other embedders are extended by
    their ``transform`` and count the same.

    Neighbours are farther in a subsample. As many of them as in all rows would blur its map, a bias
    that no mean takes away; as small a neighbourhood would hold hardly any. Halfway, the map of a
    subsample has more noise than its embedder would have alone, and the mean takes that away.

    That the maps of subsamples tend to that of all rows as these grow is proved for no map worth
    looking at: appendix III assumes that all coordinates tend to one constant. It was tested
    (``python -m reproductions ccdr-mc appendix-3``): on Landsat it holds in 5 dimensions, which the
    labels determine, and in part in 14. Small subsamples cost accuracy: prefer the embedder itself
    where time and memory allow it.

    Deviation: eq. 22 holds beta n fixed, so that beta grows as a subsample shrinks. Here it grows,
    by n_samples / subsample_size, only in a graph with a ``radius``, where a subsample's degrees
    shrink with its size. The degrees of a graph of nearest neighbours do not depend on the number
    of points, and beta stays as it is.

    References
    ----------
    R. Raich, S. B. Damelin, J. A. Costa and A. O. Hero III, "Classification constraint
    dimensionality reduction".

    Examples
    --------
    >>> from labelfold import CCDR, ResampledEmbedding, hide_labels
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(2000, random_state=0)
    >>> model = ResampledEmbedding(CCDR(2), n_subsamples=4, subsample_size=500, random_state=0)
    >>> model.fit(X, hide_labels(y, keep=range(100))).embedding_.shape
    (2000, 2)
    >>> coordinates, spread = model.transform(X[:3] + 0.1, return_spread=True)
    >>> spread.shape
    (3,)
    """

    def __init__(
        self,
        embedder: Any = None,
        *,
        n_subsamples: int = 8,
        subsample_size: int = 5000,
        n_neighbors: int | str | None = SCALED,
        chunk_size: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.embedder = embedder
        self.n_subsamples = n_subsamples
        self.subsample_size = subsample_size
        self.n_neighbors = n_neighbors
        self.chunk_size = chunk_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed subsamples of the rows of X, and map all rows by the mean of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; not distances.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None, NaN and pandas.NA are unlabelled.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = check_rows(self, X, reset=True)
        labels = PartialLabels.from_optional_y(y, n_samples=X.shape[0])
        self._check_parameters(labels)
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            subsamples = self._draw(labels)
            self.subsamples_ = subsamples.rows
            embedded = self._embed_members(X, labels.to_y(), progress)
            self.motions_, errors = align(self._shared_maps(embedded, len(subsamples.shared)))
            solves = [getattr(member, "certificate_", None) for member in self.members_]
            self.certificate_ = ResamplingCertificate(tuple(c for c in solves if c), errors)
            rows = _FittedRows(self.subsamples_, embedded, labels.codes)
            self.embedding_, self.spread_ = self._average(X, rows, progress)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Embed the rows of X and return their coordinates; see :meth:`fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            ``embedding_``.
        """
        return np.array(self.fit(X, y).embedding_)

    def transform(self, X: Any, *, return_spread: bool = False) -> Any:
        """Map new rows, each by itself and without labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows.
        return_spread : bool, default=False
            Return the spread as well.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            Mean of the subsamples' maps. A row of a subsample has its own coordinates in that map.
        spread : ndarray of shape (n_new,)
            As ``spread_``; if ``return_spread``.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            coordinates, spread = self._average(X, None, progress)
        return (coordinates, spread) if return_spread else coordinates

    def _check_parameters(self, labels: PartialLabels) -> None:
        for name, least in (("n_subsamples", 1), ("subsample_size", 2), ("chunk_size", 1)):
            check_integer(name, getattr(self, name), least=least)
        if self.n_neighbors is not None and self.n_neighbors != SCALED:
            check_integer("n_neighbors", self.n_neighbors, least=1, hint=f", {SCALED!r} or None")
        if labels.n_classes > self.subsample_size < len(labels):
            raise InputError(
                f"subsample_size={self.subsample_size} is less than the {labels.n_classes} classes "
                "of y, of each of which a subsample needs a row: raise it."
            )
        if self.embedder is not None and not hasattr(self.embedder, "transform"):
            raise InputError(
                f"embedder={self.embedder!r} has no transform, by which rows outside a subsample "
                "are mapped: give one that has, such as CCDR(n_components=5), or None."
            )
        if getattr(self.embedder, "metric", None) == "precomputed":
            raise InputError(
                "embedder has metric='precomputed', and subsamples are drawn of points: give the "
                "points, and the embedder their metric."
            )

    def _draw(self, labels: PartialLabels) -> Subsamples:
        everything = np.arange(len(labels))
        if self.subsample_size >= len(labels):
            return Subsamples(everything, [everything])
        rng = check_random_state(self.random_state)
        return draw_subsamples(labels, self.n_subsamples, self.subsample_size, rng)

    def _embed_members(self, X: Any, y: NDArray[Any], progress: Progress) -> list[Array]:
        """Fit the members, and return the coordinates that each has given to its own rows."""
        member = self._make_member(len(y))
        self.members_, embedded = [], []
        for number, rows in enumerate(self.subsamples_):
            progress("subsamples", number, len(self.subsamples_))
            member = clone(member)
            coordinates = embed(member, X[rows], y[rows], PartialLabels.from_y(y[rows]))
            embedded.append(np.asarray(as_array(coordinates), dtype=float))
            self.members_.append(member)
            if hasattr(member, "n_components_"):  # all maps need the dimension of the first
                member = clone(member).set_params(n_components=member.n_components_)
        progress("subsamples", len(self.subsamples_), len(self.subsamples_))
        return embedded

    def _make_member(self, n_samples: int) -> Any:
        """Return the embedder as it is fitted on a subsample."""
        member = CCDR() if self.embedder is None else clone(self.embedder)
        self._n_nearest = getattr(member, "n_neighbors", 1)
        share = min(self.subsample_size / n_samples, 1.0)
        by_radius = getattr(member, "radius", None) is not None
        changed: dict[str, Any] = {}
        if hasattr(member, "n_neighbors") and self.n_neighbors is not None and not by_radius:
            asked: Any = self.n_neighbors
            if asked == SCALED:
                scaled = max(LEAST_NEIGHBORS, round(np.sqrt(share) * member.n_neighbors))
                asked = min(member.n_neighbors, scaled)
            changed["n_neighbors"] = asked
        if hasattr(member, "beta") and by_radius:
            changed["beta"] = member.beta / share  # CCDR-MC eq. 22: beta n is the same
        if self.n_jobs is not None and hasattr(member, "n_jobs"):
            changed["n_jobs"] = self.n_jobs
        if getattr(member, "random_state", 0) is None and self.random_state is not None:
            changed["random_state"] = check_random_state(self.random_state).randint(2**31 - 1)
        member.set_params(**changed)
        self.n_neighbors_ = getattr(member, "n_neighbors", None)
        self.beta_ = getattr(member, "beta", None)
        return member

    def _shared_maps(self, embedded: list[Array], n_shared: int) -> list[Array]:
        """Return what the members are aligned by: their class centres and the shared rows."""
        maps = []
        for member, coordinates in zip(self.members_, embedded, strict=True):
            centers = getattr(member, "class_centers_", np.empty((0, coordinates.shape[1])))
            maps.append(np.vstack([centers, coordinates[:n_shared]]))
        return maps

    def _average(
        self, X: Any, fitted: _FittedRows | None, progress: Progress
    ) -> tuple[Array, Array]:
        """Return the mean of the members' maps of all rows and its spread, chunk by chunk."""
        n = X.shape[0]
        mean, spread = np.empty((n, len(self.motions_[0].target))), np.empty(n)
        for start in range(0, n, self.chunk_size):
            progress("rows", start, n)
            rows = np.arange(start, min(start + self.chunk_size, n))
            if all(hasattr(member, "place") for member in self.members_):
                maps, weights = self._place_among_nearest(X[rows], rows, fitted)
            else:
                maps = np.stack([as_array(one.transform(X[rows])) for one in self.members_])
                weights = np.ones(maps.shape[:2])
            moved = np.stack([move(one) for move, one in zip(self.motions_, maps, strict=True)])
            mean[rows], spread[rows] = mean_and_spread(moved, weights)
        progress("rows", n, n)
        return mean, spread

    def _place_among_nearest(
        self, X: Any, rows: NDArray[np.intp], fitted: _FittedRows | None
    ) -> tuple[Array, Array]:
        """Return the members' coordinates of some rows, and how many of the nearest each has."""
        found = [member.find_neighbors(X) for member in self.members_]
        if getattr(self.members_[0], "radius", None) is None:
            found = nearest_of_all(found, max(self._n_nearest, len(found)))
        weights = np.array([np.diff(one.indptr) for one in found], dtype=float)
        maps = np.zeros((len(found), len(rows), len(self.motions_[0].target)))
        for number, (member, near) in enumerate(zip(self.members_, found, strict=True)):
            if fitted is None:
                known, own = member.known_rows(X, near)
            else:
                known, own = fitted.of_member(number, rows)
            maps[number, known] = own
            others = np.setdiff1d(np.flatnonzero(weights[number]), known)
            if len(others):
                codes = None if fitted is None else fitted.codes[rows[others]]
                maps[number, others] = member.place(X[others], near[others], codes)
        return maps, weights

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        embedder = CCDR() if self.embedder is None else self.embedder
        tags.input_tags.sparse = get_tags(embedder).input_tags.sparse
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


@dataclass(frozen=True, eq=False)
class _FittedRows:
    """What the members know of the rows of fit: those of each, their coordinates, all classes."""

    subsamples: list[NDArray[np.intp]]
    embedded: list[Array]
    codes: NDArray[np.intp]

    def of_member(self, number: int, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], Array]:
        """Return which of these rows are a member's own, and their coordinates in its map."""
        its_rows = self.subsamples[number]
        order = np.argsort(its_rows)
        place = np.searchsorted(its_rows, rows, sorter=order)
        position = order[np.minimum(place, len(order) - 1)]
        known = np.flatnonzero(its_rows[position] == rows)
        return known, self.embedded[number][position[known]]
