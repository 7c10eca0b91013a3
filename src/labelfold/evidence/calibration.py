"""From scores to probabilities that hold: of labels with probability 0.9, nine in ten are right.

With s the scores of a row, bounded to [0, 1], and C classes,

    P(s) = (1 - eps) ((1 - share) softmax(b s) + share nearest(s)) + eps / C,

where nearest(s) is the distribution nearest to s. The sharpness b and the share are the means of
their posterior, given scores of labeled rows from which the row's own label was left out. A prior
carries it while labels are few: log b is normal around log(e C^0.4) with variance 1/3, the share is
uniform, and eps = 1 / (2 m + 3) for m labels. The prior's center is where b lies on data with many
labels: more classes need a sharper softmax.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from labelfold.checks import check_choice
from labelfold.evidence.arguments import check_codes, check_scores
from labelfold.labels.transduction import nearest_distributions
from labelfold.methods import stored

__all__ = ["Calibration", "calibrate"]

Array = NDArray[np.float64]

SHARPNESSES = np.exp(np.linspace(-0.7, 4.0, 48))
SHARES = np.linspace(0.0, 1.0, 11)
CENTER, POWER, VARIANCE = 1.0, 0.4, 1 / 3  # of the prior of log b
OVERSHOOT = 0.01  # slope outside [0, 1], which keeps the order of the classes

PROMISES = {
    "labels": "It holds for labels of rows that were drawn at random.",
    "audit": "It rests on the audit rows alone, which were drawn at random.",
    "chosen": "It promises nothing: the labeled rows were chosen, and none was drawn for an audit.",
}


@stored
@dataclass(frozen=True)
class Calibration:
    """A map from scores to probabilities; as text, how it was found.

    Parameters
    ----------
    sharpness : float
        b, the factor of scores in the softmax.
    share : float
        Share of the nearest distribution.
    floor : float
        eps, the share of the uniform distribution.
    n_labels : int
        Number of left-out labels it was fitted on.
    sample : {"labels", "audit", "chosen"}
        Which labels these are: all, taken as drawn at random; those of audit rows; or all, known to
        be chosen.
    """

    sharpness: float
    share: float
    floor: float
    n_labels: int
    sample: str = "labels"

    @property
    def promise(self) -> str:
        """What the calibration, and evidence that builds on it, promises."""
        return PROMISES[self.sample]

    def distributions(self, scores: Array) -> Array:
        """Return a distribution over classes for every row of scores."""
        scores = check_scores("scores", scores)
        s = _bound(scores)
        mixed = (1 - self.share) * softmax(self.sharpness * s, axis=1)
        mixed += self.share * nearest_distributions(s)
        return np.asarray((1 - self.floor) * mixed + self.floor / scores.shape[1])

    def __str__(self) -> str:
        return (
            f"Calibrated on {self.n_labels} left-out labels: {1 - self.share:.0%} softmax of "
            f"{self.sharpness:.1f} times the scores, {self.share:.0%} nearest distribution. "
            f"{self.promise}"
        )


def calibrate(left_out: Array, codes: NDArray[np.integer], sample: str = "labels") -> Calibration:
    """Fit a calibration to scores of labeled rows.

    Parameters
    ----------
    left_out : ndarray of shape (n_labels, n_classes)
        Scores that the other labels give each labeled row, about 1 for its class and 0 for others.
    codes : ndarray of shape (n_labels,)
        Numbers of the rows' classes.
    sample : {"labels", "audit", "chosen"}, default="labels"
        Which labels these are; see :class:`Calibration`.

    Returns
    -------
    Calibration
        The posterior means.

    Examples
    --------
    Scores that are right three times in four deserve less than their face value:

    >>> import numpy as np
    >>> from labelfold.evidence import calibrate
    >>> scores = np.eye(2)[np.arange(400) % 2]
    >>> codes = np.where(np.arange(400) % 4 == 0, 1, np.arange(400) % 2)
    >>> calibrate(scores, codes).distributions(np.array([[1.0, 0.0]])).round(2)
    array([[0.76, 0.24]])
    """
    check_choice("sample", sample, tuple(PROMISES))
    left_out = check_scores("left_out", left_out)
    codes = check_codes("codes", codes, left_out.shape)
    (n, n_classes), s = left_out.shape, _bound(left_out)
    own = np.arange(n), codes
    floor = 1 / (2 * n + 3)
    nearest = nearest_distributions(s)[own]
    sharp = np.array([softmax(b * s, axis=1)[own] for b in SHARPNESSES])
    mixed = (1 - SHARES)[:, None, None] * sharp + SHARES[:, None, None] * nearest
    prior = (np.log(SHARPNESSES) - CENTER - POWER * np.log(n_classes)) ** 2 / (2 * VARIANCE)
    logs = np.sum(np.log((1 - floor) * mixed + floor / n_classes), axis=2) - prior
    weights = softmax(logs)
    # The sharpness matters as far as the softmax has a share.
    by_sharpness = (1 - SHARES) @ weights
    log_sharpness = by_sharpness @ np.log(SHARPNESSES) / by_sharpness.sum()
    share = SHARES @ weights.sum(axis=1)
    return Calibration(float(np.exp(log_sharpness)), float(share), floor, n, sample)


def _bound(scores: Array) -> Array:
    """Return scores within [0, 1], or little outside: beyond, they say nothing more of a class."""
    bounded = np.clip(scores, 0, 1)
    return np.asarray(bounded + OVERSHOOT * (scores - bounded))
