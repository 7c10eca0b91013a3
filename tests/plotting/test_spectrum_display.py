from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.decomposition import KernelPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import labelfold
from labelfold.classify import LaplacianClassifier, ManifoldClassifier
from labelfold.plotting.spectrum_display import SpectrumDisplay
from labelfold.semidefinite import IsometricSeparationMap, MaximumVarianceUnfolding
from labelfold.semidefinite.unfolder import gap_dimension
from labelfold.spectral import CCDR, LaplacianEigenmaps, MarginalFisherAnalysis, SupervisedLLE

GRAM = np.array([6.0, 3.9, 0.05, 0.04, 0.01])


@pytest.fixture(scope="module")
def clusters():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    return 8 * np.eye(3, 4)[y] + rng.normal(size=(60, 4)), y


def words(display):
    return [text.get_text() for text in display.text_]


# What is drawn


def test_values_stand_at_their_numbers(ax):
    values = [0.1, 0.2, 0.7, 0.9]
    display = SpectrumDisplay(values).plot(ax)
    np.testing.assert_array_equal(display.used_.get_xdata(), [1, 2, 3, 4])
    np.testing.assert_array_equal(display.used_.get_ydata(), values)
    assert display.rest_ is None
    assert display.band_ is None
    assert ax.get_yscale() == "linear"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of the eigenvalue", "eigenvalue")
    tops = [segment[1, 1] for segment in display.stems_.get_segments()]
    np.testing.assert_array_equal(tops, values)
    assert all(segment[0, 1] == 0 for segment in display.stems_.get_segments())


def test_variance_is_drawn_as_shares_on_a_logarithmic_scale(ax):
    display = SpectrumDisplay(GRAM[[2, 0, 1, 4, 3]], kind="variance").plot(ax)
    np.testing.assert_allclose(display.used_.get_ydata(), GRAM / 10)
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel() == "share of the variance"
    assert ax.yaxis.get_major_formatter()(0.001, 0) == "0.1%"


def test_indices_move_with_sorted_variances(ax):
    display = SpectrumDisplay([0.1, 9.0, 0.9], kind="variance", fragile=[1], unconverged=[0, 2])
    np.testing.assert_array_equal(display.values, [9.0, 0.9, 0.1])
    assert (display.fragile, display.unconverged) == ([0], [1, 2])
    display.plot(ax, scale="linear")
    np.testing.assert_allclose(display.fragile_.get_xydata(), [[1, 0.9]])
    np.testing.assert_allclose(display.unconverged_.get_xydata(), [[2, 0.09], [3, 0.01]])
    assert ax.get_ylim()[1] < 1.2


@pytest.mark.parametrize("values", [[5.0, 3.0, 2.0], [1.0, 1e-3], [1.0]])
def test_shares_are_written_in_one_way(ax, values):
    SpectrumDisplay(values, kind="variance").plot(ax)
    ax.figure.draw_without_rendering()
    labels = ax.get_yticklabels() + ax.get_yticklabels(minor=True)
    shown = {label.get_text() for label in labels} - {""}
    assert len(shown) > 1
    assert all(text.endswith("%") and float(text[:-1]) <= 100 for text in shown)


def test_eigenvalues_of_the_embedding_are_set_apart(ax):
    display = SpectrumDisplay(GRAM, kind="variance", n_components=2).plot(ax)
    np.testing.assert_array_equal(display.used_.get_xdata(), [1, 2])
    np.testing.assert_array_equal(display.rest_.get_xdata(), [3, 4, 5])
    np.testing.assert_allclose(display.rest_.get_ydata(), GRAM[2:] / 10)
    assert display.rest_.get_markerfacecolor() == "white"
    assert display.band_.get_extents().transformed(ax.transData.inverted()).x1 == 2.5
    assert words(display)[0] == "2 in the embedding: 99.0%"
    for n_components in (5, 9):  # all of them
        display = SpectrumDisplay(GRAM, n_components=n_components).plot(Figure().subplots())
        assert len(display.used_.get_xdata()) == 5
        assert (display.rest_, display.band_) == (None, None)


def test_the_gap_of_a_gram_spectrum_is_that_of_the_unfoldings(ax):
    display = SpectrumDisplay(GRAM, kind="variance").plot(ax)
    # 3.9 to 0.05 is the largest ratio, though 6 to 3.9 holds a wider part of the scale.
    assert display.gap == gap_dimension(GRAM) == 2
    np.testing.assert_array_equal(display.gap_.get_xdata(), [2.5, 2.5])
    assert words(display) == ["widest gap, after 2"]


def test_the_gap_of_other_spectra_is_the_largest_difference(ax):
    # The largest ratio, 20, is that of the first two.
    display = SpectrumDisplay([0.001, 0.02, 0.03, 0.5, 0.6]).plot(ax)
    assert display.gap == 3
    np.testing.assert_array_equal(display.gap_.get_xdata(), [3.5, 3.5])
    assert SpectrumDisplay([0.6, 0.5, 0.03]).gap == 2  # in descending order too


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.1], "eigenvalues"),
        ([0.1, 0.5], "eigenvalues"),
        ([0.3] * 4, "eigenvalues"),
        ([2.0], "variance"),
        ([2.0, 2.0], "variance"),
    ],
)
def test_no_gap_if_none_is_clear(ax, values, kind):
    display = SpectrumDisplay(values, kind=kind).plot(ax)
    assert display.gap is None
    assert display.gap_ is None
    display.figure_.draw_without_rendering()


def test_doubtful_ones_are_marked_and_named(ax):
    display = SpectrumDisplay([0.1, 0.5, 0.95, 1.0], unconverged=[0, 3], fragile=(2, 3)).plot(ax)
    np.testing.assert_array_equal(display.fragile_.get_xdata(), [3, 4])
    np.testing.assert_array_equal(display.fragile_.get_ydata(), [0.95, 1.0])
    np.testing.assert_array_equal(display.unconverged_.get_xdata(), [1, 4])
    assert display.fragile_.get_marker() != display.unconverged_.get_marker()
    names = [text.get_text() for text in display.legend_.get_texts()]
    assert names == ["extends badly", "not converged"]
    assert SpectrumDisplay([0.1, 0.5]).plot(Figure().subplots()).legend_ is None


def test_values_too_small_for_a_logarithmic_scale_are_on_its_edge(ax):
    display = SpectrumDisplay([0.0, 1e-17, 0.1, 1.0], n_components=1).plot(ax, scale="log")
    np.testing.assert_array_equal(display.tiny_.get_xdata(), [1, 2])
    np.testing.assert_allclose(display.tiny_.get_ydata(), ax.get_ylim()[0])
    np.testing.assert_array_equal(display.rest_.get_xdata(), [3, 4])
    assert ax.get_ylim()[0] < 0.1
    # Of a Gram matrix, less than a millionth of the first is the solver's error.
    shares = SpectrumDisplay([1.0, 1e-5, 1e-7], kind="variance").plot(Figure().subplots())
    np.testing.assert_array_equal(shares.tiny_.get_xdata(), [3])


def test_stems(ax):
    display = SpectrumDisplay([-0.5, 0.1, 0.2]).plot(ax)
    assert ax.get_ylim()[0] < -0.5
    assert display.stems_.get_segments()[0][0, 1] == 0  # a negative value hangs down
    many = SpectrumDisplay(np.linspace(0, 1, 61)).plot(Figure().subplots())
    assert many.stems_ is None
    assert many.used_.get_markersize() < 5


def test_style_can_be_changed_under_any_alias(ax):
    display = SpectrumDisplay(GRAM, n_components=2).plot(
        ax, c="red", ms=3, rest_kwargs={"mfc": "blue"}
    )
    assert to_rgba(display.used_.get_color()) == to_rgba("red")
    assert display.used_.get_markersize() == 3
    assert to_rgba(display.rest_.get_markerfacecolor()) == to_rgba("blue")
    assert to_rgba(display.stems_.get_colors()[0]) == to_rgba("red")


# Ways in


def test_from_an_unfolding(ax):
    X = np.random.default_rng(0).normal(size=(40, 3)) * [9, 3, 0.1]
    model = MaximumVarianceUnfolding("auto", random_state=0).fit(X)
    display = SpectrumDisplay.from_estimator(model, ax=ax)
    assert display.kind == "variance"
    np.testing.assert_array_equal(display.values, model.spectrum_)
    assert display.n_components == display.gap == model.n_components_


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_none_are_set_apart_for_a_separation_map(ax, clusters):
    X, y = clusters
    model = IsometricSeparationMap(random_state=0, max_iter=60).fit(X[:40], y[:40])
    display = SpectrumDisplay.from_estimator(model, ax=ax)
    np.testing.assert_array_equal(display.values, model.spectrum_)
    assert display.n_components is None
    assert SpectrumDisplay.from_estimator(model, n_components=2).n_components == 2


def test_from_eigenmaps_finds_the_clusters(ax, clusters):
    X, _ = clusters
    model = LaplacianEigenmaps(8, n_neighbors=24).fit(X)
    display = SpectrumDisplay.from_estimator(model, n_components=2, ax=ax)
    np.testing.assert_array_equal(display.values, model.eigenvalues_)
    assert display.gap == 2  # three clusters: two small eigenvalues beside the zero
    assert display.unconverged == []
    assert list(display.fragile) == list(model.certificate_.fragile)


def test_from_ccdr_in_a_classifier(ax, clusters):
    X, y = clusters
    model = ManifoldClassifier(CCDR(40, n_neighbors=24)).fit(X, y)
    display = SpectrumDisplay.from_estimator(model, ax=ax)
    np.testing.assert_array_equal(display.values, model.embedder_.eigenvalues_)
    fragile = np.flatnonzero(np.abs(1 - display.values) < 0.1)
    assert len(fragile) > 0
    np.testing.assert_array_equal(np.subtract(display.fragile_.get_xdata(), 1), fragile)


def test_pairs_that_missed_their_tolerance_are_marked(ax, clusters):
    X, _ = clusters
    model = LaplacianEigenmaps(4, n_neighbors=24).fit(X)
    certificate = model.certificate_
    residuals = certificate.residuals.copy()
    residuals[3] = 0.5  # of the constant and four more: the third coordinate's
    model.certificate_ = replace(certificate, residuals=residuals)
    display = SpectrumDisplay.from_estimator(model, ax=ax)
    assert display.unconverged == [2]


def test_from_a_laplacian_classifier_and_its_basis(ax, clusters):
    X, y = clusters
    model = LaplacianClassifier(n_neighbors=5).fit(X, np.where(np.arange(60) % 2, y, -1))
    basis = SpectrumDisplay.from_estimator(model.basis_, ax=ax)
    np.testing.assert_array_equal(basis.values, model.basis_.eigenvalues)
    display = SpectrumDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.values, model.eigenvalues_)
    assert display.unconverged == []
    # Indicators of the components are eigenvalues that the certificate leaves out.
    n_connected_components = len(model.eigenvalues_) - model.basis_.n_vectors
    assert n_connected_components > 1
    eigen = model.certificate_.eigen
    missed = replace(eigen, residuals=np.r_[0.5, eigen.residuals[1:]])
    model.certificate_ = replace(model.certificate_, eigen=missed)
    assert SpectrumDisplay.from_estimator(model).unconverged == [n_connected_components]


@pytest.mark.parametrize(
    "model", [MarginalFisherAnalysis(3), SupervisedLLE(4), KernelPCA(5), CCDR(3, n_neighbors=24)]
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_from_other_estimators(ax, clusters, model):
    display = SpectrumDisplay.from_estimator(model.fit(*clusters), ax=ax)
    np.testing.assert_array_equal(display.values, model.eigenvalues_)
    display.figure_.draw_without_rendering()


@pytest.mark.parametrize("model", [LaplacianClassifier(n_neighbors=24), LaplacianEigenmaps(3)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_from_a_compact_file(clusters, tmp_path, model):
    labelfold.save(model.fit(*clusters), tmp_path / "model.labelfold", compact=True)
    again = labelfold.load(tmp_path / "model.labelfold")
    values = SpectrumDisplay.from_estimator(again).values
    np.testing.assert_array_equal(values, model.eigenvalues_)


# Errors say what is wrong and what to do


def test_no_spectrum(clusters):
    with pytest.raises(ValueError, match="StandardScaler keeps neither spectrum_ nor eigenvalues_"):
        SpectrumDisplay.from_estimator(StandardScaler().fit(clusters[0]))
    pipe = make_pipeline(StandardScaler(), CCDR(2, n_neighbors=24)).fit(*clusters)
    with pytest.raises(ValueError, match=r"Pipeline keeps no spectrum.*pipe\[-1\], a CCDR"):
        SpectrumDisplay.from_estimator(pipe)


@pytest.mark.parametrize(
    ("values", "given", "message"),
    [
        ([[0.1, 0.2]], {}, r"values has shape \(1, 2\)"),
        ([0.1, np.nan], {}, "NaN"),
        ([], {}, "0 sample"),
        ([0.1], {"kind": "gram"}, r"kind='gram' is unknown: use one of \('eigenvalues'"),
        ([1.0, -0.1], {"kind": "variance"}, "needs nonnegative values.*got -0.1 to 1: pass"),
        ([0.0, 0.0], {"kind": "variance"}, "that are not all 0, got 0 to 0: pass"),
        ([0.1], {"n_components": 0}, "n_components=0 must be"),
        ([0.1], {"n_components": 1.5}, "n_components=1.5 must be"),
        ([0.1], {"fragile": [1]}, r"fragile=\[1\] is out of range for 1 values"),
        ([0.1], {"unconverged": [-1]}, r"unconverged=\[-1\] is out of range"),
    ],
)
def test_bad_arguments(values, given, message):
    with pytest.raises(ValueError, match=message):
        SpectrumDisplay(values, **given)


def test_bad_scales(ax):
    with pytest.raises(ValueError, match="scale='root' is unknown: use one of"):
        SpectrumDisplay([0.1]).plot(ax, scale="root")
    with pytest.raises(ValueError, match="scale='log' needs a positive value"):
        SpectrumDisplay([-0.1, 0.0]).plot(ax, scale="log")
