"""The mean of subsamples' maps: eq. 19 by hand, its limits, its spread, and its convergence."""

import numpy as np
import pytest
import scipy.sparse as sp
from method_cases import cases
from scipy.linalg import orthogonal_procrustes, subspace_angles
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import MDS

from labelfold import (
    CCDR,
    LaplacianEigenmaps,
    ManifoldClassifier,
    ResampledEmbedding,
    hide_labels,
)
from labelfold.datasets import make_swiss_roll
from labelfold.ensemble.subsamples import nearest_of_all

pytestmark = pytest.mark.filterwarnings("ignore::labelfold.exceptions.DisconnectedGraphWarning")


@pytest.fixture(scope="module")
def roll():
    X, y, _ = make_swiss_roll(1200, n_classes=3, random_state=0)
    return X, y, hide_labels(y, keep=np.arange(0, 1200, 12))


@pytest.fixture(scope="module")
def fitted(roll):
    X, _, partial = roll
    model = ResampledEmbedding(
        CCDR(3, beta=0.5), n_subsamples=4, subsample_size=400, random_state=0
    )
    return model.fit(X, partial)


def embed_by_hand(model, x, code, own=None):
    """Eq. 19 over the nearest points of all subsamples, in plain loops: the mean and the spread.

    ``own`` are the coordinates that members have embedded x at, None where they have not.
    """
    offers = []
    for member in model.members_:
        distances = np.linalg.norm(member.graph_.index.X - x, axis=1)
        near = np.argsort(distances, kind="stable")[: member.n_neighbors]
        offers.append((near, distances[near]))
    n_nearest = max(12, len(offers))  # the embedder's neighbors
    last = np.sort(np.concatenate([d for _, d in offers]))[n_nearest - 1]
    maps, counts = [], []
    for number, (member, motion, (near, distances)) in enumerate(
        zip(model.members_, model.alignments_, offers, strict=True)
    ):
        near, distances = near[distances <= last], distances[distances <= last]
        if len(near) == 0:
            continue
        w = 0.5 * np.exp(-(distances**2) / member.graph_.scale)
        total, degree = w @ member.embedding_[near], w.sum()
        if code >= 0:
            total, degree = total + member.class_centers_[code], degree + 1
        coordinates = total / degree / (1 - member.eigenvalues_)
        if own is not None and own[number] is not None:
            coordinates = own[number]
        maps.append(motion.scale * (coordinates - motion.origin) @ motion.rotation + motion.target)
        counts.append(len(near))
    mean = np.average(maps, axis=0, weights=counts)
    squares = np.sum((np.array(maps) - mean) ** 2, axis=1)
    shares = np.array(counts) / np.sum(counts)
    if len(counts) == 1:
        return mean, 0.0
    return mean, np.sqrt(shares @ squares / (1 - shares @ shares))


def test_rows_of_fit_are_embedded_with_their_labels(roll, fitted):
    X, _, partial = roll
    for row in [0, 5, 12, 13, 700, 1188, 1199]:
        own = []
        for member, rows in zip(fitted.members_, fitted.subsamples_, strict=True):
            place = np.flatnonzero(rows == row)
            own.append(member.embedding_[place[0]] if len(place) else None)
        mean, spread = embed_by_hand(fitted, X[row], partial[row], own)
        np.testing.assert_allclose(fitted.embedding_[row], mean, atol=1e-10)
        np.testing.assert_allclose(fitted.embedding_std_[row], spread, atol=1e-10)


def test_labeled_rows_outside_a_subsample_keep_their_labels(roll):
    X, y, _ = roll
    model = ResampledEmbedding(
        CCDR(3, beta=0.5), n_subsamples=4, subsample_size=300, random_state=0
    ).fit(X, y)
    outside = np.setdiff1d(np.arange(1200), np.concatenate(model.subsamples_))
    assert len(outside)
    for row in outside[:5]:
        mean, _ = embed_by_hand(model, X[row], y[row])
        np.testing.assert_allclose(model.embedding_[row], mean, atol=1e-10)


def test_new_rows_are_embedded_without_labels(roll, fitted):
    X, *_ = roll
    new = X[:50] + 0.05
    coordinates, spread = fitted.transform(new, return_std=True)
    for row in range(0, 50, 7):
        by_hand = embed_by_hand(fitted, new[row], -1)
        np.testing.assert_allclose(coordinates[row], by_hand[0], atol=1e-10)
        np.testing.assert_allclose(spread[row], by_hand[1], atol=1e-10)
    np.testing.assert_array_equal(fitted.transform(new), coordinates)


def test_transform_of_unlabeled_rows_of_fit_gives_their_coordinates(roll, fitted):
    X, _, partial = roll
    unlabeled = np.flatnonzero(np.asarray(partial) == -1)[:40]
    np.testing.assert_allclose(
        fitted.transform(X[unlabeled]), fitted.embedding_[unlabeled], atol=1e-10
    )


def test_embedders_without_a_graph_have_equal_weights(roll):
    X, *_ = roll
    model = ResampledEmbedding(PCA(2), n_subsamples=3, subsample_size=500, random_state=0).fit(X)
    maps = np.array(
        [
            motion(member.transform(X))
            for member, motion in zip(model.members_, model.alignments_, strict=True)
        ]
    )
    np.testing.assert_allclose(model.embedding_, maps.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(
        model.embedding_std_, np.sqrt(maps.var(axis=0, ddof=1).sum(axis=1)), atol=1e-12
    )


def test_nearest_of_all_lists():
    first = sp.csr_array(np.array([[1.0, 0, 5], [9, 0, 2]]))
    second = sp.csr_array(np.array([[0, 3.0, 4], [2, 2, 0]]))
    kept = nearest_of_all([first, second], 3)
    np.testing.assert_array_equal(kept[0].toarray(), [[1, 0, 0], [0, 0, 2]])
    np.testing.assert_array_equal(kept[1].toarray(), [[0, 3, 4], [2, 2, 0]])
    ties = nearest_of_all([first, second], 1)
    np.testing.assert_array_equal(ties[1].toarray(), [[0, 0, 0], [2, 2, 0]])


def test_one_subsample_of_all_rows_is_the_embedder(roll):
    X, _, partial = roll
    embedder = CCDR(3, beta=0.5, n_neighbors=8)
    model = ResampledEmbedding(embedder, subsample_size=1200).fit(X, partial)
    alone = clone(embedder).fit(X, partial)
    assert len(model.members_) == 1
    assert model.n_neighbors_ == 8
    np.testing.assert_allclose(model.embedding_, alone.embedding_, atol=1e-12)
    np.testing.assert_allclose(model.embedding_std_, 0, atol=1e-12)
    np.testing.assert_allclose(model.transform(X + 0.1), alone.transform(X + 0.1), atol=1e-12)


def test_larger_subsamples_come_nearer_to_the_whole_and_each_other(roll):
    """What appendix III claims: the map of a subsample tends to that of all rows."""
    X, _, partial = roll
    embedder = CCDR(2, beta=0.5, n_neighbors=10)
    whole = clone(embedder).fit(X, partial).embedding_
    size = np.linalg.norm(whole - whole.mean(axis=0))
    distances, spreads = [], []
    for subsample_size in (150, 400, 1000):
        mean = ResampledEmbedding(
            embedder, n_subsamples=4, subsample_size=subsample_size, random_state=0
        )
        embedding = mean.fit_transform(X, partial)
        spreads.append(np.median(mean.embedding_std_) / np.ptp(embedding, axis=0).max())
        centered = embedding - embedding.mean(axis=0)
        rotation, overlap = orthogonal_procrustes(centered, whole - whole.mean(axis=0))
        moved = overlap / np.sum(centered**2) * centered @ rotation
        distances.append(np.linalg.norm(moved - (whole - whole.mean(axis=0))) / size)
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 0.1
    assert spreads[2] < 0.5 * spreads[0]


def test_beta_follows_the_size_where_degrees_do(roll):
    X, _, partial = roll
    by_radius = ResampledEmbedding(
        CCDR(2, beta=0.5, radius=4.0), n_subsamples=2, subsample_size=300, random_state=0
    ).fit(X, partial)
    assert by_radius.beta_ == pytest.approx(0.5 * 1200 / 300)
    assert all(member.beta == by_radius.beta_ for member in by_radius.members_)
    by_number = ResampledEmbedding(
        CCDR(2, beta=0.5), n_subsamples=2, subsample_size=300, random_state=0
    ).fit(X, partial)
    assert by_number.beta_ == 0.5
    assert by_number.n_neighbors_ == 6  # 12 times the root of a quarter


@pytest.mark.parametrize(("asked", "used"), [(None, 12), (7, 7), ("scaled", 3)])
def test_neighbors(roll, asked, used):
    X, _, partial = roll
    model = ResampledEmbedding(n_subsamples=2, subsample_size=60, n_neighbors=asked, random_state=0)
    assert model.fit(X, partial).n_neighbors_ == used
    assert {member.n_neighbors for member in model.members_} == {used}


@pytest.mark.parametrize("embedder", [LaplacianEigenmaps(2), PCA(2)])
def test_without_labels(roll, embedder):
    X, *_ = roll
    model = ResampledEmbedding(embedder, n_subsamples=3, subsample_size=500, random_state=0).fit(X)
    assert model.embedding_.shape == (1200, 2)
    whole = clone(embedder).fit_transform(X)
    centered = model.embedding_ - model.embedding_.mean(axis=0)
    assert np.max(subspace_angles(centered, whole - whole.mean(axis=0))) < 0.25


OTHERS = [
    param.values[0]
    for param in cases(lambda one: one.embeds and one.name != "resampled")
    if hasattr(param.values[0], "transform")
    and not hasattr(param.values[0], "embed_from_neighbors")
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewNeighborsWarning")
@pytest.mark.parametrize("embedder", [LinearDiscriminantAnalysis(n_components=2), *OTHERS], ids=str)
def test_other_embedders(roll, embedder):
    X, _, partial = roll
    model = ResampledEmbedding(embedder, n_subsamples=2, subsample_size=100, random_state=0)
    model.fit(X[:160], partial[:160])
    maps = [
        motion(member.transform(X[:160]))
        for member, motion in zip(model.members_, model.alignments_, strict=True)
    ]
    np.testing.assert_allclose(model.embedding_, np.mean(maps, axis=0), atol=1e-9)
    assert np.all(np.isfinite(model.transform(X[160:170])))


def test_estimated_dimension_is_the_same_in_all_subsamples(roll):
    X, _, partial = roll
    model = ResampledEmbedding(CCDR("auto"), n_subsamples=3, subsample_size=400, random_state=0)
    assert model.fit(X, partial).embedding_.shape == (1200, 3)


def test_sparse_rows_chunks_and_names_of_classes(roll, fitted):
    X, _, partial = roll
    small = clone(fitted).set_params(chunk_size=7).fit(X, partial)
    np.testing.assert_allclose(small.embedding_, fitted.embedding_, atol=1e-12)
    sparse = clone(fitted).fit(sp.csr_array(X), partial)
    np.testing.assert_allclose(sparse.embedding_, fitted.embedding_, atol=1e-6)
    renamed = np.array(["a", "b", "c", None], dtype=object)[partial]
    np.testing.assert_array_equal(clone(fitted).fit(X, renamed).embedding_, fitted.embedding_)


def test_in_a_classifier(roll):
    X, y, partial = roll
    resampled = ResampledEmbedding(CCDR(4), n_subsamples=4, subsample_size=400, random_state=0)
    model = ManifoldClassifier(resampled).fit(X, partial)
    hidden = np.asarray(partial) == -1
    assert np.mean(model.transduction_[hidden] == y[hidden]) > 0.9
    assert model.predict(X[:10] + 0.01).shape == (10,)


def test_certificate(fitted):
    certificate = fitted.certificate_
    assert certificate.ok
    assert len(certificate.members) == 4
    assert str(certificate).startswith("ok: 4 embeddings, 4 of 4 solves ok, shared rows ")
    assert np.all((certificate.errors > 0) & (certificate.errors < 0.5))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_subsamples": 0}, "n_subsamples=0 must be an integer of at least 1"),
        ({"subsample_size": 1.5}, "subsample_size=1.5 must be"),
        ({"subsample_size": 2}, "subsample_size=2 is less than the 3 classes"),
        ({"chunk_size": 0}, "chunk_size=0 must be"),
        ({"n_neighbors": "few"}, "n_neighbors='few' must be an integer.*'scaled' or None"),
        ({"embedder": MDS()}, "has no transform"),
        ({"embedder": CCDR(metric="precomputed")}, "metric='precomputed'"),
    ],
)
def test_bad_parameters(roll, parameters, message):
    X, _, partial = roll
    with pytest.raises(ValueError, match=message):
        ResampledEmbedding(**parameters).fit(X, partial)
