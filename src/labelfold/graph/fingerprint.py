"""Tell whether two parameters are the same, whatever they are: numbers, arrays, callables.

Cloning an estimator copies its parameters, so that identity says too little and, for arrays and
callable objects, equality is no help either.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import joblib

__all__ = ["fingerprint"]


def fingerprint(value: Any) -> Hashable:
    """Return a key that is equal for equal values; what cannot be pickled equals only itself."""
    if isinstance(value, list | tuple):
        return tuple(fingerprint(one) for one in value)
    try:
        return str(joblib.hash(value))
    except Exception:  # joblib raises what pickle does, which is anything
        return id(value)
