import copy
from functools import partial

import numpy as np
import pytest

from labelfold import CCDR, NeighborGraph
from labelfold.exceptions import GraphMismatchError
from labelfold.graph.fingerprint import fingerprint


def decay(distances, scales, power):
    return np.exp(-(distances**power))


@pytest.mark.parametrize("value", [1, "heat", None, np.arange(3.0), partial(decay, power=2)])
def test_copies_are_the_same(value):
    assert fingerprint(copy.deepcopy(value)) == fingerprint(value)
    assert fingerprint([value]) == fingerprint((copy.deepcopy(value),))


def test_others_are_not():
    values = [1, 2, "1", None, np.arange(3.0), np.arange(4.0), partial(decay, power=1)]
    values += [partial(decay, power=2), lambda d, s: d, lambda d, s: d]
    assert len({fingerprint(value) for value in values}) == len(values)


def test_a_graph_of_another_function_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 2))
    graph = NeighborGraph.build(X, n_neighbors=5, weights=lambda d, s: 1 / (1 + d))
    other = CCDR(n_neighbors=5, weights=lambda d, s: 1 / (2 + d))
    with pytest.raises(GraphMismatchError, match="weights="):
        other.fit(X, graph=graph)
    same = partial(decay, power=2)
    graph = NeighborGraph.build(X, n_neighbors=5, weights=same)
    CCDR(n_neighbors=5, weights=copy.deepcopy(same)).fit(X, graph=graph)
