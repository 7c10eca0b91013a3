"""Numerical methods on matrices and constraints; they know no estimator, graph or label.

- :mod:`.eigen`: smallest eigenpairs of graph Laplacians and related matrices;
- :mod:`.lowrank`: embeddings that keep distances, over coordinates (thousands of points); its
  first lines explain bars, ropes, sides and walls;
- :mod:`.conic`: the same problem over Gram matrices, convex (up to 400 points);
- :mod:`.ridge`: ridge regression on few rows with closed-form leave-one-out predictions;
- :mod:`.certificates`: how good a solve is; :mod:`.kernels`: compiled loops.
"""
