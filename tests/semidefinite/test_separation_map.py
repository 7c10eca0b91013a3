"""Separation maps as users meet them: sides, distances, labels, anchors, new rows, motions."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsTransformer

from labelfold import IsometricSeparationMap, hide_labels
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import InfeasibleMapWarning
from labelfold.extend.local_average import LocalAverage
from labelfold.extend.regression import KernelRegression
from labelfold.labels.transduction import nearest_distributions
from labelfold.semidefinite.unfolder import gap_dimension

N, N_LABELED = 120, 40


def make_roll(n_classes=2, n=N):
    """A roll in bands, and the labels of the first third of its points."""
    X, y, _ = make_swiss_roll(n, n_classes=n_classes, n_bands=n_classes, random_state=0)
    return X, y, hide_labels(y, keep=np.arange(N_LABELED))


def quick(**parameters):
    """Any map that keeps the distances and all labels on their side: a tenth of a second."""
    given = {"objective": "none", "label_weight": None, "random_state": 0}
    return IsometricSeparationMap(**given | parameters)


def edges_of(model):
    """Ends and lengths of the edges, from the graph."""
    entries = sp.coo_array(sp.triu(model.graph_.distances))
    return entries.row, entries.col, entries.data


@pytest.fixture(scope="module")
def roll():
    return make_roll()


@pytest.fixture(scope="module")
def fitted(roll):
    X, _, y = roll
    return quick().fit(X, y)


@pytest.fixture(scope="module")
def unfolded(roll):
    X, _, y = roll
    return IsometricSeparationMap.as_published(random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def three():
    X, truth, y = make_roll(3)
    return X, truth, y, quick(n_components=4).fit(X, y)


class TestTheProblem:
    """Distances and sides, recomputed from the map and the data."""

    @pytest.mark.parametrize("objective", ["variance", "furthest", "none"])
    @pytest.mark.parametrize("n_classes", [2, 3, 4])
    def test_distances_are_kept_and_labels_are_on_their_side(self, objective, n_classes):
        X, truth, y = make_roll(n_classes)
        model = quick(objective=objective).fit(X, y)
        i, j, lengths = edges_of(model)
        assert lengths == pytest.approx(np.linalg.norm(X[i] - X[j], axis=1))
        R, d = model.gram_factor_, lengths**2
        q = np.sum((R[i] - R[j]) ** 2, axis=1)
        errors = model.certificate_.errors
        assert errors.rms_squared == pytest.approx(np.linalg.norm(q - d) / np.linalg.norm(d))
        assert errors.median_squared == pytest.approx(np.median(np.abs(q - d) / d))
        assert errors.decisive <= 1e-3
        margin = 0.3 * lengths.mean()
        for row in range(N_LABELED):
            for axis, c in enumerate([1] if n_classes == 2 else range(n_classes)):
                side = 1 if y[row] == c else -1
                assert side * R[row, axis] >= margin * (1 - 1e-9)
        assert model.certificate_.separation_error == 0
        assert model.certificate_.shortfall == pytest.approx(0, abs=1e-12)
        assert model.certificate_.ok
        assert np.mean(model.transduction_ == truth) > 0.85

    def test_all_labels_and_few(self, roll):
        X, truth, _ = roll
        full = quick().fit(X, truth)
        assert full.certificate_.ok
        assert np.array_equal(full.transduction_, truth)
        one_each = hide_labels(truth, [np.argmax(truth == 0), np.argmax(truth == 1)])
        few = quick().fit(X, one_each)
        assert few.certificate_.ok
        assert few.init_ == "geodesic"
        assert np.mean(few.transduction_ == truth) > 0.7

    def test_objectives(self, roll, unfolded):
        X, _, y = roll
        R = unfolded.gram_factor_ - unfolded.gram_factor_.mean(axis=0)
        certificate = unfolded.certificate_
        assert certificate.objective == pytest.approx(np.sum(R**2))
        none = quick().fit(X, y)
        other = none.gram_factor_ - none.gram_factor_.mean(axis=0)
        assert np.sum(other**2) < 0.8 * certificate.objective
        assert none.certificate_.objective == 0
        assert certificate.objective <= certificate.bound + certificate.slack

    @pytest.mark.parametrize("start", ["geodesic", "ridge", "random"])
    def test_every_start(self, roll, start):
        X, truth, y = roll
        model = quick(init=start).fit(X, y)
        assert model.init_ == start
        assert model.certificate_.ok
        assert np.mean(model.transduction_ == truth) > 0.85

    def test_fewer_dimensions_than_distances_need(self, roll):
        """Hard sides hold at the price of distances, and the warning has both numbers."""
        X, truth, _ = roll
        with pytest.warns(InfeasibleMapWarning) as caught:
            model = quick(rank=2, max_iter=900).fit(X, truth)
        text, certificate = str(caught[0].message), model.certificate_
        assert "NOT converged (stopped by iterations)" in text
        assert f"kept to {certificate.errors.rms_squared:.1e}" in text
        assert "0 % of the labels on the wrong side" in text
        assert "Remedy: raise max_iter" in text
        assert certificate.errors.decisive > 0.01
        assert certificate.separation_error == 0
        assert certificate.shortfall == pytest.approx(0, abs=1e-12)
        assert not certificate.ok
        assert model.gram_factor_.shape == (N, 2)
        assert np.array_equal(model.predict(X), truth)

    def test_a_margin_that_no_map_can_keep(self, roll):
        """The error is near what the certificate says any map must have."""
        X, truth, _ = roll
        with pytest.warns(InfeasibleMapWarning, match="with this margin no map errs less than"):
            model = quick(margin=3.0).fit(X, truth)
        certificate = model.certificate_
        i, j, lengths = edges_of(model)
        stretched = np.where(truth[i] != truth[j], 4 * (3.0 * lengths.mean()) ** 2, 0)
        least = np.linalg.norm(np.maximum(stretched - lengths**2, 0)) / np.linalg.norm(lengths**2)
        assert certificate.least_error == pytest.approx(least)
        assert least <= certificate.errors.rms_squared <= 1.5 * least
        assert model.n_iter_ < 1000  # what is out of reach is not waited for
        assert certificate.separation_error == 0

    def test_the_trivial_map_is_measured(self, unfolded, roll):
        X, _, y = roll
        i, j, lengths = edges_of(unfolded)
        m = 0.3 * lengths.mean()
        own = np.clip(unfolded.decision_values_, -m, m)
        own[:N_LABELED] = m * (2 * y[:N_LABELED] - 1)
        q = np.sum((X[i] - X[j]) ** 2, axis=1) + (own[i] - own[j]) ** 2
        expected = np.linalg.norm(q - lengths**2) / np.linalg.norm(lengths**2)
        assert unfolded.certificate_.trivial_errors.rms_squared == pytest.approx(expected)
        assert unfolded.certificate_.margin == 0.3


class TestAttributes:
    def test_decision_values_are_products_with_the_normals(self, fitted, three):
        assert np.array_equal(fitted.normals_, np.eye(1, fitted.gram_factor_.shape[1]))
        expected = fitted.gram_factor_ @ fitted.normals_.T
        assert np.array_equal(fitted.decision_values_, expected[:, 0])
        model = three[3]
        assert np.array_equal(model.normals_, np.eye(3, model.gram_factor_.shape[1]))
        assert np.array_equal(model.decision_values_, model.gram_factor_ @ model.normals_.T)
        assert model.anchors_ is None
        assert np.array_equal(model.embedding_, model.gram_factor_[:, :4])

    def test_other_columns_are_centered_along_principal_axes(self, unfolded, three):
        for model, n_normals in ((unfolded, 1), (three[3], 3)):
            others = model.gram_factor_[:, n_normals:]
            assert others.mean(axis=0) == pytest.approx(np.zeros(others.shape[1]), abs=1e-9)
            products = others.T @ others
            sizes = np.diag(products)
            assert products == pytest.approx(np.diag(sizes), abs=1e-9 * sizes[0])
            assert np.all(np.diff(sizes) <= 0)
            assert len(sizes) >= 2

    def test_the_decision_axis_is_not_centered(self):
        """Nineteen labels of one class and one of the other: the hyperplane is near the one."""
        X = np.linspace(0, 19, 20)[:, None]
        model = quick(n_neighbors=2).fit(X, np.arange(20) == 0)
        assert model.decision_values_.mean() < -0.5
        assert model.gram_factor_[:, 1:].mean(axis=0) == pytest.approx(
            np.zeros(model.gram_factor_.shape[1] - 1), abs=1e-9
        )

    def test_spectrum_is_of_the_centered_gram_matrix(self, unfolded):
        R = unfolded.gram_factor_ - unfolded.gram_factor_.mean(axis=0)
        values = np.linalg.eigvalsh(R @ R.T)[::-1][: R.shape[1]]
        assert unfolded.spectrum_ == pytest.approx(values, rel=1e-8, abs=1e-8)
        assert unfolded.certificate_.rank == len(unfolded.spectrum_) == R.shape[1]

    def test_transduction(self, fitted, three, roll):
        _, _, y = roll
        expected = np.where(fitted.decision_values_ > 0, 1, 0)
        expected[:N_LABELED] = y[:N_LABELED]
        assert np.array_equal(fitted.transduction_, expected)
        _, _, y, model = three
        expected = model.decision_values_.argmax(axis=1)
        expected[:N_LABELED] = y[:N_LABELED]
        assert np.array_equal(model.transduction_, expected)

    def test_distributions_are_certain_from_the_margin_on(self, fitted, three):
        margin = 0.3 * edges_of(fitted)[2].mean()
        share = np.clip(fitted.decision_values_ / margin / 2 + 0.5, 0, 1)
        expected = np.column_stack([1 - share, share])
        assert fitted.label_distributions_ == pytest.approx(expected)
        _, _, y, model = three
        margin = 0.3 * edges_of(model)[2].mean()
        scores = model.decision_values_ / (2 * margin)
        assert model.label_distributions_ == pytest.approx(nearest_distributions(scores))
        certain = model.label_distributions_[np.arange(N_LABELED), y[:N_LABELED]]
        assert certain == pytest.approx(np.ones(N_LABELED))

    def test_decision_axes_are_dimensions_of_the_map(self):
        """A line is long in one direction, but three classes have three axes."""
        line, y = np.arange(60.0)[:, None], np.arange(60) // 20
        model = quick(n_components="auto", objective="variance", n_neighbors=2).fit(line, y)
        assert gap_dimension(model.spectrum_) < 3
        assert model.n_components_ == 3
        assert np.array_equal(model.embedding_, model.decision_values_)

    def test_more_dimensions_than_there_are_are_zero(self):
        X = np.linspace(0, 1, 12)[:, None]
        model = quick(n_components=7, n_neighbors=2).fit(X, np.arange(12) // 6)
        rank = model.gram_factor_.shape[1]
        assert rank < 7
        assert model.embedding_.shape == (12, 7)
        assert not model.embedding_[:, rank:].any()


class TestDefaults:
    def test_published_settings(self):
        changed = {"objective": "variance", "label_weight": None}
        default = IsometricSeparationMap().get_params()
        assert IsometricSeparationMap.as_published().get_params() == default | changed
        model = IsometricSeparationMap.as_published(margin=0.1)
        assert (model.margin, model.objective, model.label_weight) == (0.1, "variance", None)

    def test_equal_rows_with_different_labels(self):
        X, y = np.repeat(np.linspace(0, 1, 30), 2)[:, None], np.arange(60) // 30
        y[1] = 1  # the row equal to row 0, far from all others of its class
        model = IsometricSeparationMap(random_state=0).fit(X, y)
        assert model.certificate_.ok
        assert np.array_equal(model.predict(X[2:]), y[2:])


class TestLabels:
    def test_other_names_in_another_order_turn_the_axis_round(self, roll, fitted):
        X, _, y = roll
        model = quick().fit(X, [None if v < 0 else "zy"[v] for v in y])
        assert np.array_equal(model.decision_values_, -fitted.decision_values_)
        assert model.transduction_.tolist() == ["zy"[v] for v in fitted.transduction_]

    def test_names_of_three_classes_permute_the_axes(self, three):
        X, _, y, model = three
        names = np.array([7, 1, 4])  # sorted: 1 was 1, 4 was 2, 7 was 0
        renamed = quick(n_components=4).fit(X, np.where(y < 0, -1, names[y]))
        assert np.mean(renamed.transduction_ == names[model.transduction_]) > 0.98
        assert renamed.classes_.tolist() == [1, 4, 7]
        assert np.array_equal(renamed.decision_values_.argmax(axis=1), renamed.transduction_ // 3)

    def test_a_label_against_all_its_neighbors_gives_way(self):
        """With a penalty it ends on the other side, and changes nothing around it."""
        X, truth, y = make_roll()
        D = np.linalg.norm(X[:, None] - X[None], axis=2)
        apart = [D[k][:N_LABELED][y[:N_LABELED] != y[k]].min() for k in range(N_LABELED)]
        noisy = int(np.argmax(apart))
        y = y.copy()
        y[noisy] = 1 - y[noisy]
        model = quick(objective="variance", label_weight=1.0).fit(X, y)
        certificate = model.certificate_
        assert certificate.ok
        assert certificate.separation_error == pytest.approx(1 / N_LABELED)
        assert certificate.shortfall > 0.3
        assert model.predict(X[noisy : noisy + 1])[0] == truth[noisy]
        assert model.transduction_[noisy] == y[noisy]
        nearest = np.argsort(D[noisy])[1:6]
        assert np.array_equal(model.transduction_[nearest], truth[nearest])
        hard = quick(objective="variance").fit(X, y)
        assert hard.certificate_.separation_error == 0
        assert hard.predict(X[noisy : noisy + 1])[0] == y[noisy]

    def test_a_large_penalty_is_as_good_as_none(self, roll):
        X, _, y = roll
        model = quick(objective="variance", label_weight=100.0).fit(X, y)
        assert model.certificate_.separation_error == 0
        assert model.certificate_.shortfall < 0.05

    def test_equal_rows_with_different_labels_are_named(self):
        X, truth, _ = make_roll()
        X = np.vstack([X, X[[7]]])
        y = np.append(np.array(["left", "right"])[truth], np.array(["right", "left"])[truth[7]])
        with pytest.raises(ValueError, match="are at distance 0 but labeled") as error:
            quick().fit(X, y)
        text = str(error.value)
        first, second = (120, 7) if "Rows 120 and 7 of X" in text else (7, 120)
        assert f"Rows {first} and {second} of X" in text
        assert f"labeled {str(y[first])!r} and {str(y[second])!r}" in text
        assert "label_weight=1.0" in text

    def test_soft_labels_absorb_contradictions(self):
        X, truth, y = make_roll()
        X, y = np.vstack([X, X[[7]]]), np.append(y, 1 - truth[7])
        model = quick(objective="variance", label_weight=1.0).fit(X, y)
        assert model.certificate_.ok
        assert np.array_equal(model.gram_factor_[7], model.gram_factor_[120])
        assert model.certificate_.separation_error == pytest.approx(1 / (N_LABELED + 1))
        assert model.transduction_[[7, 120]].tolist() == [truth[7], 1 - truth[7]]


class TestAnchors:
    @pytest.mark.parametrize("n_classes", [2, 3, 4])
    def test_entries_of_the_gram_matrix_have_the_sign_of_the_label(self, n_classes):
        X, truth, y = make_roll(n_classes)
        model = quick(normals="anchors").fit(X, y)
        R, anchors = model.gram_factor_, model.anchors_
        classes = [1] if n_classes == 2 else range(n_classes)
        assert y[anchors].tolist() == list(classes)
        assert R.mean(axis=0) == pytest.approx(np.zeros(R.shape[1]), abs=1e-9)
        K, unit = R @ R.T, edges_of(model)[2].mean()
        for row in range(N_LABELED):
            for A, c in zip(anchors, classes, strict=True):
                side = 1 if y[row] == c else -1
                allowed = 1e-3 * unit * np.linalg.norm(R[A])  # tol, along the normal
                assert side * K[A, row] >= 0.3 * unit**2 - allowed
        assert model.certificate_.separation_error == 0
        assert model.certificate_.shortfall <= 1e-3
        assert model.certificate_.errors.decisive <= 1e-3
        assert np.array_equal(model.normals_, R[anchors])
        values = K[:, anchors]
        assert model.decision_values_ == pytest.approx(values[:, 0] if n_classes == 2 else values)
        assert np.mean(model.transduction_ == truth) > 0.8

    def test_they_span_the_first_columns(self):
        X, _, y = make_roll(3)
        model = quick(normals="anchors").fit(X, y)
        normals, others = model.normals_, model.gram_factor_[:, 3:]
        assert normals[:, 3:] == pytest.approx(np.zeros_like(normals[:, 3:]), abs=1e-9)
        assert normals[0, 1:] == pytest.approx(np.zeros(normals.shape[1] - 1), abs=1e-9)
        assert np.all(np.diag(normals) > 0)
        products = others.T @ others
        assert products == pytest.approx(np.diag(np.diag(products)), abs=1e-8 * products.max())

    def test_the_deepest_label_of_the_start_is_the_anchor(self, roll):
        X, _, y = roll
        start = np.column_stack([np.arange(N, 0, -1.0), X])
        model = quick(normals="anchors", init=start, max_iter=300)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InfeasibleMapWarning)
            model.fit(X, y)
        assert model.anchors_.tolist() == [np.argmax(y == 1)]

    def test_named_anchors(self, roll):
        X, _, y = roll
        row = int(np.flatnonzero(y == 1)[3])
        for normals in ([row], np.array([row])):
            model = quick(normals=normals).fit(X, y)
            assert model.anchors_.tolist() == [row]
            assert model.certificate_.separation_error == 0

    def test_wrong_anchors_are_refused(self, roll):
        X, _, y = roll
        other = int(np.flatnonzero(y == 0)[0])
        with pytest.raises(ValueError, match=rf"normals=\[{other}\] name row {other} as anchor of"):
            quick(normals=[other]).fit(X, y)
        with pytest.raises(ValueError, match="but y has no such label there"):
            quick(normals=[N - 1]).fit(X, y)  # unlabeled
        X, _, y = make_roll(3)
        rows = [int(np.argmax(y == c)) for c in (0, 1, 0)]
        with pytest.raises(ValueError, match=f"name row {rows[2]} as anchor of class 2,"):
            quick(normals=rows).fit(X, y)

    def test_soft_labels(self, roll):
        X, _, y = roll
        weak, strong = (
            quick(normals="anchors", objective="variance", label_weight=p).fit(X, y).certificate_
            for p in (0.3, 10.0)
        )
        assert weak.ok
        assert weak.separation_error > 0.2
        assert strong.separation_error == 0
        assert strong.shortfall < 0.02 < weak.shortfall

    def test_distances_count_for_the_trivial_map_but_no_margin(self, roll):
        """A margin of products is not one of a hyperplane."""
        X, _, y = roll
        certificate = quick(normals="anchors").fit(X, y).certificate_
        assert certificate.least_error == 0
        assert certificate.trivial_errors.rms_squared == 0


class TestParameters:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"margin": -0.1}, "margin=-0.1 must be a number, finite and at least 0, such as 0.3"),
            ({"objective": "spread"}, "objective='spread' is unknown: use one of"),
            ({"label_weight": 0}, "label_weight=0 must be .* greater than 0, or None"),
            ({"normals": "points"}, "normals='points' must be one of axes, anchors, or row num"),
            ({"normals": [1, 2]}, r"normals=\[1, 2\] must be 3 row numbers, one for each normal"),
            ({"normals": [0.0, 1.0, 2.0]}, "must be 3 row numbers"),
            ({"normals": 4}, "normals=4 must be 3 row numbers"),
            ({"normals": None}, "normals=None must be 3 row numbers"),
            ({"normals": [0, 1, 40]}, r"normals=\[0, 1, 40\] must be row numbers from 0 to 39"),
            ({"normals": [-1, 1, 2]}, "must be row numbers from 0 to 39"),
            ({"rank": 2}, "rank=2 must be an integer of at least 3, one axis for each"),
            ({"init": "data"}, "init='data' is unknown: use one of"),
            ({"metric": "precomputed", "init": "ridge"}, "init='ridge' needs rows"),
        ],
    )
    def test_wrong_ones_are_named(self, parameters, message):
        X = np.random.default_rng(0).standard_normal((40, 3))
        with pytest.raises(ValueError, match=message):
            quick(**parameters).fit(X, np.arange(40) % 3)

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (None, "requires y to be passed, but the target y is None"),
            (np.full(20, -1), "None of the 20 entries of y is a label"),
            (["cat"] * 10 + [None] * 10, "y has one class only, 'cat': a separation map needs"),
        ],
    )
    def test_labels_it_can_not_use(self, y, message):
        X = np.random.default_rng(0).standard_normal((20, 3))
        with pytest.raises(ValueError, match=message):
            quick().fit(X, y)

    @pytest.mark.parametrize(("n_repeated", "n_neighbors"), [(0, 5), (60, 8)])
    def test_the_margin_is_in_mean_lengths_of_edges_above_zero(self, roll, n_repeated, n_neighbors):
        """A narrow one is met exactly by labels near the border."""
        rows = np.r_[:N, :n_repeated]
        X, truth = roll[0][rows], roll[1][rows]
        model = quick(margin=0.2, objective="variance", n_neighbors=n_neighbors).fit(X, truth)
        i, j, _ = edges_of(model)
        lengths = np.linalg.norm(X[i] - X[j], axis=1)
        assert np.sum(lengths == 0) >= n_repeated
        least = np.min((2 * truth - 1) * model.decision_values_)
        assert least == pytest.approx(0.2 * lengths[lengths > 0].mean(), rel=1e-6)


class TestInvariance:
    @pytest.mark.parametrize("factor", [1e-6, 1e6])
    def test_scale_with_an_objective(self, factor):
        X, _, y = make_roll(n=60)
        parameters = {"objective": "variance", "label_weight": 2.0, "rank": 4}
        one = quick(**parameters).fit(X, y)
        other = quick(**parameters).fit(factor * X, y)
        assert np.array_equal(one.transduction_, other.transduction_)
        assert other.decision_values_ / factor == pytest.approx(one.decision_values_, abs=0.05)

    def test_anchors_scale_too(self, roll):
        X, _, y = roll
        one, other = (quick(normals="anchors").fit(f * X, y) for f in (1.0, 3.0))
        assert other.decision_values_ == pytest.approx(9 * one.decision_values_, rel=1e-4, abs=1e-3)
        assert other.label_distributions_ == pytest.approx(one.label_distributions_, abs=1e-4)
        assert other.certificate_.margin == 0.3


class TestNewRows:
    @pytest.fixture(params=["two", "three"])
    def model(self, request, roll, fitted, three):
        return (roll[0], fitted) if request.param == "two" else (three[0], three[3])

    def test_training_rows_have_their_values(self, model):
        X, model = model
        assert np.array_equal(model.transform(X), model.embedding_)
        assert np.array_equal(model.predict(X), model.transduction_)
        assert model.predict_proba(X) == pytest.approx(model.label_distributions_)
        assert model.decision_function(X) == pytest.approx(model.decision_values_)

    def test_decision_values_go_with_the_first_coordinates(self, model):
        """Both are carried by their own regression."""
        X, model = model
        new = X[:20] + 0.05
        values = model.decision_function(new)
        first = values if values.ndim == 1 else values[:, 0]
        assert np.corrcoef(first, model.transform(new)[:, 0])[0, 1] > 0.99
        assert isinstance(model.extension_, KernelRegression)

    def test_left_out_rows_are_classified(self):
        X, truth, _ = make_swiss_roll(400, n_bands=2, random_state=0)
        y = hide_labels(truth, np.arange(100))
        model = quick().fit(X[:250], y[:250])
        assert model.score(X[250:], truth[250:]) > 0.9
        predicted = model.predict(X[250:])
        partial = hide_labels(truth[250:], np.arange(30))
        assert model.score(X[250:], partial) == np.mean(predicted[:30] == truth[250:280])

    def test_precomputed_distances(self, roll):
        X, truth, y = roll
        search = KNeighborsTransformer(mode="distance", n_neighbors=5).fit(X[:100])
        model = quick(metric="precomputed").fit(search.transform(X[:100]), y[:100])
        assert model.certificate_.ok
        assert model.certificate_.separation_error == 0
        new = search.transform(X[100:])
        assert model.transform(new).shape == (20, 2)
        assert np.mean(model.predict(new) == truth[100:]) > 0.7
        assert isinstance(model.extension_, LocalAverage)

    def test_cosine_rows_count_at_unit_length(self):
        X = np.abs(np.random.default_rng(0).standard_normal((60, 4))) + 0.2
        y = hide_labels(X[:, 0] > X[:, 1], np.arange(30))
        unit = X / np.linalg.norm(X, axis=1)[:, None]
        cosine = quick(metric="cosine", margin=0.1).fit(X, y)
        euclidean = quick(margin=0.1).fit(unit, y)
        assert cosine.certificate_.errors.decisive <= 1e-3
        assert np.mean(cosine.transduction_ == euclidean.transduction_) > 0.9
        i, j, _ = edges_of(euclidean)
        R = cosine.gram_factor_
        squares = np.sum((unit[i] - unit[j]) ** 2, axis=1)
        lengths = np.sum((R[i] - R[j]) ** 2, axis=1)
        assert np.linalg.norm(lengths - squares) <= 1.1e-3 * np.linalg.norm(squares)
        assert np.array_equal(cosine.predict(5 * X), cosine.predict(X))

    def test_another_metric(self, roll):
        X, truth, y = roll
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InfeasibleMapWarning)  # not all can be kept
            model = quick(metric="manhattan", max_iter=300).fit(X, y)
        assert model.certificate_.separation_error == 0
        assert np.mean(model.predict(X) == truth) > 0.85
