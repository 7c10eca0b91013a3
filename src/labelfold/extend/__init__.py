"""Extensions: formulas that give new rows coordinates."""

from labelfold.extend.regression import KernelRegression

__all__ = ["KernelRegression"]
