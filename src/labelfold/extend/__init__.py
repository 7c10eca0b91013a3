"""Maps that carry an embedding to new points."""

from labelfold.extend.regression import KernelRegression

__all__ = ["KernelRegression"]
