"""Fitted estimators to and from files that run no code when they are opened."""

from labelfold.persistence.model_file import load, save

__all__ = ["load", "save"]
