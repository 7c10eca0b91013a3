"""What ``make fuzz`` found and was mended, each by its name."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labelfold import (
    CCDR,
    FewLabelClassifier,
    FurthestNeighborUnfolding,
    IntrinsicDimension,
    LabeledKFold,
    LaplacianClassifier,
    LaplacianEigenmaps,
    LeastSquaresClassifier,
    ManifoldClassifier,
    MarginalFisherAnalysis,
    MaximumVarianceUnfolding,
    NeighborGraph,
    PartialLabels,
    ResampledEmbedding,
    SupervisedSemidefiniteEmbedding,
    TransductiveSearchCV,
    draw_labeled,
    evidence,
    hide_labels,
)
from labelfold.evaluate import student_interval, trustworthiness, wilson_interval
from labelfold.exceptions import InputError
from labelfold.tables import as_table, make_preparation

RNG = np.random.default_rng(0)
X = RNG.random((30, 3))
Y = np.arange(30) % 3
P = np.array([[0.9, 0.1], [0.2, 0.8]])
CODES, NAMES = np.array([0, 1]), np.array(["a", "b"])


@pytest.fixture(autouse=True)
def no_warning_of_numpy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evidence.calibrate(P, ["a", "b"]), "codes must be 2 numbers of classes"),
        (lambda: evidence.calibrate(P, [0, 2]), "codes must be numbers of classes, from 0 to 1"),
        (lambda: evidence.calibrate(P, CODES, "some"), "sample='some' is unknown"),
        (lambda: evidence.calibrate(np.array([["a", "b"]]), [0]), "could not convert"),
        (lambda: evidence.estimate_error(P[:0], CODES[:0], CODES, NAMES), "has no rows"),
        (lambda: evidence.estimate_error(P, CODES, [3], NAMES), "n_labels must have one value"),
        (lambda: evidence.estimate_error(2 * P, CODES, CODES, NAMES), "from 0 to 1; got 0 to 1.8"),
        (lambda: evidence.estimate_class_sizes(P, [0, -2], NAMES, 2), "from -1 to 1; got -2 to 0"),
        (lambda: evidence.estimate_class_sizes(P, CODES, NAMES[:1], 2), "each of the 2 classes"),
        (lambda: evidence.find_threshold(sp.csr_array(P), CODES, 0.5), "Sparse data was passed"),
        (lambda: evidence.choose_sets(P, CODES, np.nan), "threshold=nan must be a number"),
        (lambda: student_interval([1.0]), "two values or more, got 1"),
        (lambda: student_interval([1.0, np.nan]), "must be numbers from"),
        (lambda: wilson_interval(1.5, 9), "share=1.5 must be"),
        (lambda: wilson_interval(0.5, 0), "n=0 must be"),
    ],
)
def test_arguments_of_evidence_functions_are_named(call, message):
    with pytest.raises((InputError, TypeError), match=message):
        call()


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (CCDR(metric=np.array([1, 2])), "metric=.* must be a single value"),
        (CCDR(n_components=np.array([1, 2])), "n_components=.* must be a single value"),
        (CCDR(weights=np.array([1, 2])), "weights=.* is unknown"),
        (CCDR(scale={}), "scale={} must be 'auto', a number"),
        (CCDR(n_jobs=2**70), "n_jobs=.* is more than 4096 threads"),
        (CCDR(n_jobs="2"), "n_jobs='2' must be an integer"),
        (CCDR(neighbor_search=np.array([1, 2])), "neighbor_search=.* is unknown"),
        (LaplacianClassifier(tol=5e-324), "tol=5e-324 must be a number, .* at least 1e-15"),
        (FewLabelClassifier(candidates=3), "candidates=3 must be a list"),
        (FewLabelClassifier(class_sizes=0.5), "class_sizes=0.5 must be 'balanced'"),
        (IntrinsicDimension(edge_power=1e300), r"edge_power=1e\+300 must be .* at most 256"),
        (IntrinsicDimension(edge_power=5e-324), "edge_power=5e-324 must be .* at least 0.01"),
        (SupervisedSemidefiniteEmbedding(class_spread=1e300), r"class_spread=1e\+300 must be"),
        (LeastSquaresClassifier(penalty="auto", roughness={}), "roughness={} must be 3 finite"),
        (LeastSquaresClassifier(penalty="auto", fit_intercept="2"), "fit_intercept='2' must be"),
        (MaximumVarianceUnfolding(init=1j), "init of shape .* must be finite coordinates"),
        (MarginalFisherAnalysis(kernel="poly", degree=2j), "degree=2j must be a number"),
        (ResampledEmbedding(embedder=3.0), "embedder"),
        (ManifoldClassifier(embedder=CCDR), "provide an instance"),
        (TransductiveSearchCV(LaplacianClassifier(), {"tol": [0.1]}, cv=[1, 2]), "cv=.* must be"),
        (TransductiveSearchCV(LaplacianClassifier(), {"tol": [0.1]}, cv=-1), "n_splits=-1 must be"),
    ],
    ids=repr,
)
def test_wrong_parameters_are_named(method, message):
    with pytest.raises((InputError, TypeError), match=message):
        method.fit(X, Y)


@pytest.mark.parametrize("factor", [1e160, 1e-160])
def test_coordinates_beyond_the_range_of_their_squares_have_no_penalty(factor):
    with pytest.raises(InputError, match="leave the range of float64: rescale X"):
        LeastSquaresClassifier(penalty="auto").fit(X * factor, Y)
    head = LeastSquaresClassifier().fit(X * factor, Y)
    np.testing.assert_allclose(
        head.decision_function(X * factor),
        LeastSquaresClassifier().fit(X, Y).decision_function(X),
        atol=1e-8,
    )


def test_coefficients_beyond_range_are_refused():
    with pytest.raises(InputError, match="leave the range of float64: rescale X"):
        LeastSquaresClassifier().fit([[0.0], [1e-314]], [0, 1])


def test_labels_that_cannot_be_sorted_are_named():
    with pytest.raises(InputError, match="y mixes labels of several types"):
        LeastSquaresClassifier().fit(X[:2], np.array(["a", None], dtype=object))
    with pytest.raises(InputError, match=r"mixes or holds \['bytes', 'text'\]"):
        PartialLabels.from_y(["a", b"b"])
    with pytest.raises(InputError, match="y holds the text 'NaN'"):
        PartialLabels.from_y(["a", "NaN"])  # as polars writes it
    with pytest.raises(InputError, match="some of its entries are lists"):
        PartialLabels.from_y([(1, 2), True])


def test_rows_to_keep_or_draw():
    with pytest.raises(InputError, match="keep has row numbers from 9 to 9, but y has 3 entries"):
        hide_labels([0, 1, 1], keep=[9])
    assert draw_labeled([None, None], 0).tolist() == []
    with pytest.raises(InputError, match="n_splits=None must be an integer"):
        list(LabeledKFold(None).split(X, Y))


def test_cells_that_are_not_numbers_are_named():
    rows = pd.Series([[1.0], [2.0, 3.0]])
    with pytest.raises(InputError, match="Rows of unequal length, or cells that are not numbers"):
        CCDR().fit(rows)
    with pytest.raises(InputError, match="Rows of unequal length, or cells that are not numbers"):
        trustworthiness(rows, X)
    with pytest.raises(InputError, match="Expected a 2-dimensional container"):
        as_table(pd.Series([1.0, 2.0]))


def test_the_approximate_search_serves_four_rows():
    graph = NeighborGraph.build(X[:4], n_neighbors=2, neighbor_search="approximate")
    exact = NeighborGraph.build(X[:4], n_neighbors=2)
    assert (graph.adjacency != exact.adjacency).nnz == 0


@pytest.mark.parametrize("n_features", [3, 30])
def test_a_huge_radius_joins_all_rows(n_features):
    rows = RNG.random((9, n_features))
    graph = NeighborGraph.build(rows, radius=1e300, weights="binary")
    assert graph.adjacency.nnz == 9 * 8


def test_a_tiny_scale_makes_weights_of_new_rows_small_and_finite():
    model = LaplacianEigenmaps(1, n_neighbors=5, scale=5e-324).fit(X)
    assert np.all(np.isfinite(model.transform(X * 1e100)))


def test_rows_that_join_two_points_have_finite_coordinates():
    # The two points are at the very end of the spectrum, where there is nothing to damp.
    model = CCDR(1).fit([[0.0], [1.0]], [-1, -1])
    assert np.all(np.isfinite(model.transform_jointly([[-1.0], [-1.0]])))


def test_a_diffusion_so_long_that_all_coordinates_vanish():
    model = LaplacianEigenmaps(1, n_neighbors=5, diffusion_time=1e6).fit(X)
    assert np.all(model.transform_jointly(X + 0.1) == 0)


def test_subsamples_so_small_that_they_share_no_row():
    model = ResampledEmbedding(LaplacianEigenmaps(1, n_neighbors=2), subsample_size=3)
    assert np.all(np.isfinite(model.fit(X).transform(X + 0.1)))


def test_rows_of_a_class_that_differ_by_rounding_only_are_refused():
    rows = sp.csr_array(1e15 + np.array([[0, 0.9, -1.2], [-0.6, -0.9, 1.6], [-1.2, -1.5, -0.2]]))
    with pytest.raises(InputError, match="differ by rounding errors only"):
        MarginalFisherAnalysis().fit(rows, [0, 0, 1])


def test_kernels_whose_sums_overflow_are_refused():
    with pytest.raises(InputError, match="where sums overflow: rescale X"):
        MarginalFisherAnalysis(kernel="linear").fit([[1e154], [1e154]], [0, 1])


def test_distances_of_too_many_magnitudes_are_refused():
    rows = np.array([[1e150], [-1e-138], [-4e-139], [-2e-139], [5e-139]])
    with pytest.raises(InputError, match="so many orders of magnitude"):
        FurthestNeighborUnfolding(1, n_neighbors=5, local_angles=True, max_iter=300).fit(rows)


def test_equal_rows_have_no_geometry_for_any_candidate():
    model = FewLabelClassifier(candidates=("linear", "gaussian"))
    with pytest.raises(InputError, match="All 2 rows of X are equal"):
        model.fit(X[[0, 0]], [0, 1])


def test_class_sizes_that_the_given_labels_exceed():
    labels = np.array([0, 1, None, 1], dtype=object)
    model = FewLabelClassifier(class_sizes={0: 0.9, 1: 0.1}).fit(X[:4], labels)
    assert model.transduction_.tolist() == [0, 1, 0, 1]


def test_suggested_rows_of_no_gain():
    graph = NeighborGraph.build([[-1.0], [-0.9]])
    (found,) = evidence.suggest_rows(graph, 5, labeled=[1])
    assert (found.row, found.gain) == (0, found.gain)
    assert 0 <= found.gain <= 1


def test_calibrated_scores_must_be_numbers():
    calibration = evidence.calibrate(P, CODES)
    with pytest.raises(InputError, match="could not convert"):
        calibration.distributions(np.array([["a", "b"]]))


def test_the_column_of_labels_is_a_name():
    with pytest.raises(InputError, match=r"labels=.* is not a column"):
        make_preparation(X, labels=np.array([1, 2]))
