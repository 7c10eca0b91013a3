"""How far the maps of subsamples can be trusted, as numbers, a flag and a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.methods import stored

__all__ = ["ResamplingCertificate"]

APART = 1.0  # relative distance from the mean map: beyond it a map has little in common with it


@stored
@dataclass(frozen=True, eq=False)
class ResamplingCertificate:
    """Evidence for the mean of several maps.

    Parameters
    ----------
    members : tuple
        The certificates of the subsamples' solves, for embedders that have one.
    errors : ndarray of shape (n_subsamples,)
        Distance of each map from the mean on the rows they share, after rotation and scale,
        relative to the size of the mean map there.
    """

    members: tuple[Any, ...] = field(repr=False)
    errors: NDArray[np.float64]

    @classmethod
    def of(cls, members: list[Any], errors: NDArray[np.float64]) -> ResamplingCertificate:
        """Collect the certificates of fitted members."""
        found = [getattr(member, "certificate_", None) for member in members]
        return cls(tuple(one for one in found if one is not None), errors)

    @property
    def ok(self) -> bool:
        """Whether every solve is as asked, and no map is farther from the mean than its size."""
        solved = all(bool(one.ok) for one in self.members)
        return solved and bool(np.all(self.errors < APART))

    def __str__(self) -> str:
        n_good = sum(bool(one.ok) for one in self.members)
        verdict = "ok" if self.ok else "NOT ok"
        text = f"{verdict}: {len(self.errors)} maps"
        if self.members:
            text += f", {n_good} of {len(self.members)} solves as asked"
        if len(self.errors) > 1:
            text += (
                f", shared rows {np.median(self.errors):.0%} from their mean (at most "
                f"{self.errors.max():.0%}) of the map's size"
            )
        return text + "."
