"""Numerical methods that know matrices and constraints, and no estimator."""
