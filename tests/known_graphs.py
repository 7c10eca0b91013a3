"""Graphs with known or awkward spectra, as weight matrices."""

import numpy as np
import scipy.sparse as sp


def path(n):
    return sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1]).tocsr()


def cycle(n):
    W = path(n).tolil()
    W[0, n - 1] = W[n - 1, 0] = 1
    return W.tocsr()


def complete(n):
    return sp.csr_array(np.ones((n, n)) - np.eye(n))


def star(n):
    W = np.zeros((n, n))
    W[0, 1:] = W[1:, 0] = 1
    return sp.csr_array(W)


def grid(a, b):
    return sp.csr_array(sp.kronsum(path(a), path(b)))


def cliques(m, size):
    return sp.csr_array(sp.block_diag([complete(size)] * m))
