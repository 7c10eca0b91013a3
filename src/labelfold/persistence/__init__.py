"""Save and load fitted estimators in files that run no code when opened."""

from labelfold.persistence.model_file import load, save

__all__ = ["load", "save"]
