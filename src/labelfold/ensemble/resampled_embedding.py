"""Embeddings of subsamples, averaged (CCDR-MC section V, second scenario, and appendix III).

One eigendecomposition for many rows is replaced by several for few: every subsample has its own
function f(x, c) for any row (eq. 19). These are aligned, and their mean is the embedding; their
standard deviation at a row shows how far to trust it there.
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

from labelfold.checks import check_integer, check_rows, seed_from
from labelfold.classify.manifold_classifier import as_array, embed
from labelfold.ensemble.subsamples import align, draw_subsamples, mean_and_std, nearest_of_all
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
APART = 1.0  # relative distance from the mean above which an embedding has little in common with it


@stored
@dataclass(frozen=True, eq=False)
class ResamplingCertificate:
    """Evidence for the mean of several embeddings.

    Parameters
    ----------
    members : tuple
        The certificates of the subsamples' solves, for embedders that have one.
    errors : ndarray of shape (n_subsamples,)
        Distance of each embedding from the mean on the rows they share, after alignment, relative
        to the size of the mean there.
    """

    members: tuple[Any, ...] = field(repr=False)
    errors: NDArray[np.float64]

    @property
    def ok(self) -> bool:
        """Whether every solve is ok, and no embedding is farther from the mean than its size."""
        solved = all(bool(one.ok) for one in self.members)
        return solved and bool(np.all(self.errors < APART))

    def __str__(self) -> str:
        n_good = sum(bool(one.ok) for one in self.members)
        verdict = "ok" if self.ok else "NOT ok"
        text = f"{verdict}: {len(self.errors)} embeddings"
        if self.members:
            text += f", {n_good} of {len(self.members)} solves ok"
        if len(self.errors) > 1:
            text += (
                f", shared rows {np.median(self.errors):.0%} from their mean (at most "
                f"{self.errors.max():.0%}) of its size"
            )
        return text + "."


@declare(
    Declaration(
        "resampled",
        "mean of embeddings of subsamples, for very many rows",
        labels="uses",
        produces="embedding",
        uses_graph=False,
        only_in_fit=("embedding_", "embedding_std_", "subsamples_"),
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
    """The mean of embeddings of subsamples, for more rows than one embedding can take.

    Parameters
    ----------
    embedder : transformer, default=None
        Embeds each subsample: an embedder of this library, or any transformer with ``transform``.
        None is :class:`CCDR` with its defaults.
    n_subsamples : int, default=8
        Number of subsamples.
    subsample_size : int, default=5000
        Rows of each. If X has no more rows, there is one embedding, that of the embedder itself.
    n_neighbors : "scaled", int or None, default="scaled"
        Neighbors in a subsample's graph, for embedders with such a parameter. "scaled" multiplies
        the embedder's number by the root of the subsample's share of the rows, down to 3. None
        leaves it as it is.
    chunk_size : int, default=1000
        Rows embedded at a time, which bounds the memory.
    random_state : int, RandomState instance or None, default=None
        Seed of the subsamples, and of an embedder without one; None is a fixed seed.
    n_jobs : int, default=None
        Bound on the number of threads, passed on to the embedder; None leaves both alone.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Mean coordinates of all rows.
    embedding_std_ : ndarray of shape (n_samples,)
        Standard deviation of a row's coordinates in the subsamples about their mean, in units of
        the embedding and with the weights of the mean. 0 if only one has points near by.
    members_ : list of transformers
        The fitted embedders, one per subsample.
    alignments_ : list of SimilarityTransform
        What aligns each of them with the mean.
    subsamples_ : list of ndarray of shape (subsample_size,)
        The rows of each.
    certificate_ : ResamplingCertificate
        How good the solves are, and how well the embeddings agree on the rows they share.
    n_neighbors_ : int or None
        Neighbors in the subsamples' graphs.
    beta_ : float or None
        beta of the subsamples' embedders, if they have one.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    CCDR : A single embedding, which takes hundreds of thousands of rows.

    Notes
    -----
    Every subsample has all labeled rows, up to half its size, and other rows of its own. They are
    aligned on the rows they share and the class centers. A labeled row is embedded with its label,
    f(x, c), any other with f(x, 0).

    Of a row's neighbors in all subsamples, as many as the embedder has are kept, the nearest of
    all, but at least one per subsample: each f(x, c) is computed from its own among them and
    weighted by their number. That is eq. 19 with sums over the points of all subsamples. It takes
    an embedder with ``graph_``, a :class:`NeighborGraph`, and ``embed_from_neighbors``, such as
    :class:`CCDR` and :class:`LaplacianEigenmaps`. Other embedders are extended by their
    ``transform`` and have equal weights.

    Neighbors are farther in a subsample. As many of them as in all rows would blur its embedding, a
    bias that no mean removes; as small a neighborhood would hold hardly any. In between, the
    embedding of a subsample has more noise than its embedder would have alone, and the mean removes
    that.

    That embeddings of subsamples tend to that of all rows as they grow is proved for no useful
    case: appendix III assumes that all coordinates tend to one constant. It was tested
    (``python -m reproductions ccdr-mc appendix-3``): on Landsat it holds in 5 dimensions, which the
    labels determine, and in part in 14. Small subsamples cost accuracy: prefer the embedder itself
    if time and memory allow it.

    Deviation: eq. 22 holds beta n fixed, so that beta grows as a subsample shrinks. Here it grows,
    by n_samples / subsample_size, only in a graph with a ``radius``, where a subsample's degrees
    shrink with its size. The degrees of a graph of nearest neighbors do not depend on the number
    of rows, and beta stays as it is.

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
    >>> coordinates, std = model.transform(X[:3] + 0.1, return_std=True)
    >>> std.shape
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
        """Embed subsamples of the rows of X, and all rows by their mean.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; not distances.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None, NaN and pandas.NA are unlabeled.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = check_rows(self, X, reset=True)
        labels = PartialLabels.from_optional_y(y, n_samples=X.shape[0])
        self._check_parameters(labels)
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            shared, self.subsamples_ = self._draw(labels)
            embedded = self._embed_members(X, labels.to_y(), progress)
            self.alignments_, errors = align(self._shared_parts(embedded, len(shared)))
            solves = [getattr(member, "certificate_", None) for member in self.members_]
            self.certificate_ = ResamplingCertificate(tuple(c for c in solves if c), errors)
            self.embedding_, self.embedding_std_ = self._average(
                X, progress, embedded, labels.codes
            )
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Embed the rows of X and return their coordinates; see :meth:`fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            ``embedding_``.
        """
        return np.array(self.fit(X, y).embedding_)

    def transform(self, X: Any, *, return_std: bool = False) -> Any:
        """Embed new rows, each by itself and without labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows.
        return_std : bool, default=False
            Return the standard deviation as well.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            Mean over the subsamples. A row of a subsample has its own coordinates there.
        std : ndarray of shape (n_new,)
            As ``embedding_std_``; if ``return_std``.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            coordinates, std = self._average(X, progress)
        return (coordinates, std) if return_std else coordinates

    def _check_parameters(self, labels: PartialLabels) -> None:
        for name, least in (("n_subsamples", 1), ("subsample_size", 2), ("chunk_size", 1)):
            check_integer(name, getattr(self, name), least=least)
        if self.n_neighbors is not None and self.n_neighbors != SCALED:
            check_integer("n_neighbors", self.n_neighbors, least=1, hint=f", {SCALED!r} or None")
        if labels.n_classes > self.subsample_size < len(labels):
            raise InputError(
                f"subsample_size={self.subsample_size} is less than the {labels.n_classes} classes "
                "of y, and a subsample needs a row of each: raise it."
            )
        if self.embedder is not None and not hasattr(self.embedder, "transform"):
            raise InputError(
                f"embedder={self.embedder!r} has no transform, which rows outside a subsample "
                "need: give one that has, such as CCDR(n_components=5), or None."
            )
        if getattr(self.embedder, "metric", None) == "precomputed":
            raise InputError(
                "embedder has metric='precomputed', and subsamples need the rows themselves: give "
                "these, and the embedder their metric."
            )

    def _draw(self, labels: PartialLabels) -> tuple[NDArray[np.intp], list[NDArray[np.intp]]]:
        everything = np.arange(len(labels))
        if self.subsample_size >= len(labels):
            return everything, [everything]
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        return draw_subsamples(labels, self.n_subsamples, self.subsample_size, rng)

    def _embed_members(self, X: Any, y: NDArray[Any], progress: Progress) -> list[Array]:
        """Fit the members, and return each one's coordinates of its own rows."""
        member = self._make_member(len(y))
        self.members_, embedded = [], []
        for number, rows in enumerate(self.subsamples_):
            progress("subsamples", number, len(self.subsamples_))
            member = clone(member)
            coordinates = embed(member, X[rows], y[rows], PartialLabels.from_y(y[rows]))
            embedded.append(np.asarray(as_array(coordinates), dtype=float))
            self.members_.append(member)
            if hasattr(member, "n_components_"):  # all need the dimension of the first
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
            changed["random_state"] = seed_from(self.random_state)
        member.set_params(**changed)
        self.n_neighbors_ = getattr(member, "n_neighbors", None)
        self.beta_ = getattr(member, "beta", None)
        return member

    def _shared_parts(self, embedded: list[Array], n_shared: int) -> list[Array]:
        """Return what aligns the members: their class centers and the shared rows."""
        parts = []
        for member, coordinates in zip(self.members_, embedded, strict=True):
            centers = getattr(member, "class_centers_", np.empty((0, coordinates.shape[1])))
            parts.append(np.vstack([centers, coordinates[:n_shared]]))
        return parts

    def _average(
        self,
        X: Any,
        progress: Progress,
        embedded: list[Array] | None = None,
        codes: NDArray[np.intp] | None = None,
    ) -> tuple[Array, Array]:
        """Return mean and standard deviation over the members for all rows, chunk by chunk.

        For the rows of fit, ``embedded`` are the members' coordinates of their own rows, and
        ``codes`` the classes of all.
        """
        n = X.shape[0]
        mean, std = np.empty((n, len(self.alignments_[0].target))), np.empty(n)
        for start in range(0, n, self.chunk_size):
            progress("rows", start, n)
            rows = np.arange(start, min(start + self.chunk_size, n))
            if all(hasattr(member, "embed_from_neighbors") for member in self.members_):
                parts, weights = self._embed_from_nearest(X[rows], rows, embedded, codes)
            else:
                parts = np.stack([as_array(one.transform(X[rows])) for one in self.members_])
                weights = np.ones(parts.shape[:2])
            aligned = [move(one) for move, one in zip(self.alignments_, parts, strict=True)]
            mean[rows], std[rows] = mean_and_std(np.stack(aligned), weights)
        progress("rows", n, n)
        return mean, std

    def _embed_from_nearest(
        self,
        X: Any,
        rows: NDArray[np.intp],
        embedded: list[Array] | None,
        codes: NDArray[np.intp] | None,
    ) -> tuple[Array, Array]:
        """Return the members' coordinates of some rows, and how many of the nearest each has."""
        neighbors = [member.graph_.distances_to(X) for member in self.members_]
        if getattr(self.members_[0], "radius", None) is None:
            neighbors = nearest_of_all(neighbors, max(self._n_nearest, len(neighbors)))
        weights = np.array([np.diff(one.indptr) for one in neighbors], dtype=float)
        parts = np.zeros((len(neighbors), len(rows), len(self.alignments_[0].target)))
        for number, (member, near) in enumerate(zip(self.members_, neighbors, strict=True)):
            others = np.flatnonzero(weights[number])
            if embedded is not None:
                _, own, places = np.intersect1d(
                    rows, self.subsamples_[number], assume_unique=True, return_indices=True
                )
                parts[number, own] = embedded[number][places]
                others = np.setdiff1d(others, own)
            if len(others):
                parts[number, others] = member.embed_from_neighbors(
                    X[others], near[others], None if codes is None else codes[rows[others]]
                )
        return parts, weights

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        embedder = CCDR() if self.embedder is None else self.embedder
        if hasattr(embedder, "fit_transform") and not isinstance(embedder, type):
            tags.input_tags.sparse = get_tags(embedder).input_tags.sparse
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
