"""Numerical methods that know matrices and constraints, and no estimator.

- :mod:`.eigen`: smallest eigenpairs of graph Laplacians and related matrices;
- :mod:`.lowrank`: maps that keep distances, over coordinates (thousands of points); its first
  lines explain bars, ropes, sides and walls;
- :mod:`.conic`: the same problem over Gram matrices, convex (hundreds of points);
- :mod:`.ridge`: ridge regression on few rows with closed-form leave-one-out predictions;
- :mod:`.certificates`: how good a solve is; :mod:`.kernels`: what is compiled.
"""
