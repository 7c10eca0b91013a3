"""The search for the least rank: bisection against a table of verdicts, and real maps."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from labelfold import IsometricSeparationMap
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import GraphMismatchError, InfeasibleMapWarning
from labelfold.semidefinite import find_least_rank, least_rank
from labelfold.semidefinite.least_rank import RankSearch

LINE = np.linspace(0, 1, 20)[:, None]
HALVES = np.arange(20) // 10


def model(**parameters):
    given = {"margin": 0.01, "objective": "none", "n_neighbors": 2, "random_state": 0}
    return IsometricSeparationMap(**given | parameters)


def fake(feasible, log):
    """Stand in for the fits: a map is feasible if its rank is in the list."""

    def best_of_starts(one, rank, X, y, graph, higher):
        log.append((rank, None if higher is None else higher.gram_factor_.shape[1]))
        assert len(log) < 50  # rather than without end
        errors = SimpleNamespace(rms_squared=0.5 / rank, decisive=0.5 / rank)
        certificate = SimpleNamespace(ok=rank in feasible, errors=errors, separation_error=0.125)
        return SimpleNamespace(certificate_=certificate, gram_factor_=np.zeros((20, rank)))

    return best_of_starts


class TestBisection:
    @pytest.mark.parametrize("n_ranks", [1, 2, 5, 8])
    def test_every_threshold_is_found(self, monkeypatch, n_ranks):
        ranks = list(range(2, 2 + n_ranks))
        for least in [*ranks, None]:
            log = []
            feasible = [] if least is None else [rank for rank in ranks if rank >= least]
            monkeypatch.setattr(least_rank, "_best_of_starts", fake(feasible, log))
            found = find_least_rank(model(), LINE, HALVES, ranks=ranks)
            assert found.rank == least
            tried = [rank for rank, _ in log]
            assert len(set(tried)) == len(tried) <= 1 + np.ceil(np.log2(n_ranks + 1))
            assert tried[0] == ranks[-1]
            assert list(found.trials) == sorted(tried)
            assert all(one.ok == (rank in feasible) for rank, one in found.trials.items())
            if least is None:
                assert found.estimator is None
                assert len(tried) == 1
            else:
                assert found.estimator.gram_factor_.shape[1] == least

    def test_the_least_feasible_map_so_far_is_handed_on(self, monkeypatch):
        log = []
        monkeypatch.setattr(least_rank, "_best_of_starts", fake(range(4, 9), log))
        find_least_rank(model(), LINE, HALVES, ranks=range(1, 9))
        feasible = [None]
        for rank, higher in log:
            assert higher == feasible[-1]
            if rank >= 4:
                feasible.append(rank)
        assert feasible[-1] == 4

    def test_ranks_may_come_in_any_order_and_twice(self, monkeypatch):
        monkeypatch.setattr(least_rank, "_best_of_starts", fake([5, 9], []))
        assert find_least_rank(model(), LINE, HALVES, ranks=[9, 2, 5, 5, 2]).rank == 5

    @pytest.mark.parametrize(
        ("n_classes", "n_features", "expected"), [(2, 1, (1, 2)), (3, 4, (3, 7)), (2, 80, (1, 51))]
    )
    def test_ranks_by_default(self, monkeypatch, n_classes, n_features, expected):
        """From the normals to where the trivial map is."""
        X = np.random.default_rng(0).standard_normal((20, n_features))
        log = []
        monkeypatch.setattr(least_rank, "_best_of_starts", fake([], log))
        find_least_rank(model(), X, np.arange(20) % n_classes)
        assert log[0][0] == expected[1]
        log.clear()
        monkeypatch.setattr(least_rank, "_best_of_starts", fake(range(100), log))
        assert find_least_rank(model(), X, np.arange(20) % n_classes).rank == expected[0]

    def test_words(self, monkeypatch):
        monkeypatch.setattr(least_rank, "_best_of_starts", fake([4, 5], []))
        lines = str(find_least_rank(model(), LINE, HALVES, ranks=[3, 4, 5])).splitlines()
        assert lines[0] == "least feasible rank 4"
        assert lines[1:] == [
            "rank 3: not feasible, squared distances kept to 1.7e-01, 12.5 % of the labels on the "
            "wrong side",
            "rank 4: feasible, squared distances kept to 1.2e-01, 12.5 % of the labels on the "
            "wrong side",
            "rank 5: feasible, squared distances kept to 1.0e-01, 12.5 % of the labels on the "
            "wrong side",
        ]
        assert str(RankSearch(None, None, {})) == "no feasible rank"

    @pytest.mark.parametrize("ranks", [[], [0, 1], [-3]])
    def test_ranks_it_can_not_use(self, ranks):
        with pytest.raises(ValueError, match="must hold at least one number, and none below 1"):
            find_least_rank(model(), LINE, HALVES, ranks=ranks)
        with pytest.raises(ValueError, match="none below 3, the number of normals"):
            find_least_rank(model(), LINE, np.arange(20) % 3, ranks=[2, 3])


class TestMaps:
    def test_a_line_in_halves_needs_one_dimension(self):
        found = find_least_rank(model(), LINE, HALVES)
        assert found.rank == 1
        assert found.estimator.certificate_.ok
        assert found.estimator.gram_factor_.shape == (20, 1)
        assert list(found.trials) == [1, 2]

    def test_a_line_of_three_parts_needs_three(self):
        """One axis a class."""
        found = find_least_rank(model(), LINE[:15], np.arange(15) // 5)
        assert found.rank == 3

    @pytest.mark.filterwarnings("error::labelfold.exceptions.InfeasibleMapWarning")
    def test_classes_in_turn_need_two(self):
        """With four neighbors a line is stiff; it has to stand across the axis."""
        found = find_least_rank(model(n_neighbors=4, max_iter=1500), LINE, np.arange(20) % 2)
        assert found.rank == 2
        failed = found.trials[1]
        assert not failed.ok
        assert failed.errors.decisive > 0.1
        assert failed.separation_error == 0

    def test_the_model_is_left_alone(self):
        one = model(n_components=2, verbose=0)
        before = one.get_params()
        found = find_least_rank(one, LINE, HALVES)
        assert one.get_params() == before
        assert not hasattr(one, "embedding_")
        assert found.estimator.get_params()["margin"] == 0.01
        assert found.estimator.get_params()["rank"] == 1

    def test_partial_labels_sparse_rows_and_a_graph(self):
        X, y, _ = make_swiss_roll(60, n_bands=2, random_state=0)
        y = [str(v) if k < 30 else None for k, v in enumerate(y)]
        one = model(n_neighbors=5)
        graph = one.build_graph(X)
        assert find_least_rank(one, X, y, ranks=[3, 4], graph=graph).rank == 3
        sparse = find_least_rank(one, sp.csr_array(X), y, ranks=[4])
        assert sparse.rank == 4
        with pytest.raises(GraphMismatchError):
            find_least_rank(model(n_neighbors=4), X, y, ranks=[4], graph=graph)

    def test_of_two_starts_the_better_map_counts(self):
        """The model's own start is hopeless, the map of higher rank is not."""
        far = 1e3 * np.random.default_rng(0).standard_normal((20, 2))
        one = model(n_neighbors=4, max_iter=60, init=far)
        graph = one.build_graph(LINE)
        higher = model(n_neighbors=4, rank=2).fit(LINE, HALVES)
        tried = least_rank._best_of_starts(one, 1, LINE, HALVES, graph, higher)
        with pytest.warns(InfeasibleMapWarning):
            alone = model(n_neighbors=4, max_iter=60, init=far, rank=1, n_components=1).fit(
                LINE, HALVES
            )
        assert tried.certificate_.errors.decisive < alone.certificate_.errors.decisive
        assert tried.gram_factor_.shape == (20, 1)
