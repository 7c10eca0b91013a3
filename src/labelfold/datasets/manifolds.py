"""Points on known manifolds: from a number of samples to points, classes and true coordinates.

Every generator draws the coordinates uniformly in arc length or area, so that density says nothing
about the classes, and returns `(X, y, coordinates)` with one row per point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from labelfold.checks import check_integer, check_real
from labelfold.datasets.curves import (
    angle_at_length,
    length_at_angle,
    outline_length,
    outline_points,
    points_at_angle,
)
from labelfold.exceptions import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Pattern = Literal["bands", "checkerboard", "random"] | Callable[[FloatArray], ArrayLike]
RandomState = int | np.random.RandomState | None

ROLL_ANGLES = (1.5 * np.pi, 4.5 * np.pi)

SPIRAL_START = 0.5 * np.pi  # where the two spirals are as far apart as their turns, pi


def make_swiss_roll(
    n_samples: int = 1500,
    *,
    pattern: Pattern = "bands",
    n_classes: int = 2,
    n_bands: int = 6,
    n_rows: int = 2,
    height: float = 21.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Draw points uniformly in area from a Swiss roll that carries a pattern of classes.

    The roll is the usual one: radius equal to the angle, angle from 1.5 pi to 4.5 pi. It is an
    isometric image of the rectangle of its coordinates.

    Parameters
    ----------
    n_samples : int, default=1500
        Number of points.
    pattern : {"bands", "checkerboard", "random"} or callable, default="bands"
        - "bands": equal bands along the roll, classes taking turns with arc length;
        - "checkerboard": `n_bands` x `n_rows` equal cells, classes taking turns both ways;
        - "random": each label drawn independently, all classes equally likely;
        - a function that takes `coordinates` and returns a class 0, 1, 2, ... for each row;
          `n_classes` has no effect then.
    n_classes : int, default=2
        Number of classes.
    n_bands : int, default=6
        Number of bands, or of the checkerboard's cells, along the roll.
    n_rows : int, default=2
        Number of the checkerboard's cells along the height.
    height : float, default=21.0
        Extent of the roll along its axis.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to every feature. The classes are those of
        the points before the noise.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same points in every call. `coordinates` and the noise of a seed do
        not depend on the pattern.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        The points, the roll's axis in the second column.
    y : ndarray of shape (n_samples,)
        The classes.
    coordinates : ndarray of shape (n_samples, 2)
        Arc length from the inner edge of the roll, and height.

    Notes
    -----
    The number of points in a class is random. For m points of each class draw more, and keep the
    first m of each: they are still uniform on their class's part of the roll.

    With six bands the error of 3 nearest neighbors after 300, 400 and 500 training points (4.9,
    4.3 and 3.9 %, mean of 200 draws) is close to that of [1]_ (5.0, 4.4 and 3.4 %), which gives its
    classes as a picture only.

    References
    ----------
    .. [1] J. A. Costa and A. O. Hero, "Classification constrained dimensionality reduction",
       ICASSP 2005.

    Examples
    --------
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, coordinates = make_swiss_roll(800, random_state=0)
    >>> X.shape, coordinates.shape
    ((800, 3), (800, 2))
    >>> def upper_half(coordinates):
    ...     return coordinates[:, 1] > 10.5
    >>> X, y, coordinates = make_swiss_roll(5, pattern=upper_half, random_state=0)
    >>> y
    array([1, 1, 1, 1, 0])
    """
    check_integer("n_samples", n_samples, least=1, hint=": a roll needs a point")
    _check_n_classes(n_classes)
    check_integer("n_bands", n_bands, least=1, hint=": bands divide the arc length")
    check_integer("n_rows", n_rows, least=1, hint=": rows divide the height")
    check_real("height", height, above=0, hint=": it is the roll's extent along its axis")
    _check_noise(noise)
    rng: np.random.RandomState = check_random_state(random_state)

    inner, outer = length_at_angle(np.array(ROLL_ANGLES))
    coordinates = rng.uniform(size=(n_samples, 2)) * [outer - inner, height]
    spiral = points_at_angle(angle_at_length(inner + coordinates[:, 0]))
    roll = np.column_stack([spiral[:, 0], coordinates[:, 1], spiral[:, 1]])
    X = _with_noise(roll, noise, rng)
    if callable(pattern):
        y = _check_classes(pattern(coordinates), n_samples)
    elif pattern == "random":
        y = rng.randint(n_classes, size=n_samples, dtype=np.int64)
    elif pattern == "bands":
        y = _alternate(coordinates / [outer - inner, height], (n_bands, 1), n_classes)
    elif pattern == "checkerboard":
        y = _alternate(coordinates / [outer - inner, height], (n_bands, n_rows), n_classes)
    else:
        raise InputError(
            f"pattern={pattern!r} is unknown: give 'bands', 'checkerboard', 'random' or a function "
            "that takes the coordinates and returns one class per row."
        )
    return X, y, coordinates


def make_intertwined_curves(
    n_samples: int = 1000,
    *,
    n_turns: float = 1.5,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Draw points uniformly in arc length from two spirals that lie between each other's turns.

    Both are spirals with radius equal to the angle, the second turned by half a turn; the turns of
    the one are a radius of pi away from those of the other.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points; each curve gets half of them, the first one more when it is odd.
    n_turns : float, default=1.5
        Number of turns of each curve.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to every feature.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same points in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        The curve of each point, 0 or 1.
    coordinates : ndarray of shape (n_samples, 1)
        Arc length from the inner end of the curve.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.datasets import make_intertwined_curves
    >>> X, y, coordinates = make_intertwined_curves(101, random_state=0)
    >>> X.shape, coordinates.shape
    ((101, 2), (101, 1))
    >>> np.bincount(y)
    array([51, 50])
    """
    check_integer("n_samples", n_samples, least=2, hint=": each of the two curves needs a point")
    check_real("n_turns", n_turns, above=0, hint=": it is the number of turns of each curve")
    _check_noise(noise)
    rng: np.random.RandomState = check_random_state(random_state)

    stop = SPIRAL_START + 2 * np.pi * n_turns
    inner, outer = length_at_angle(np.array([SPIRAL_START, stop]))
    arc_length = rng.uniform(size=n_samples) * (outer - inner)
    y = _balanced_classes(n_samples, 2, rng)
    first = points_at_angle(angle_at_length(inner + arc_length))
    X = _with_noise(np.where(y[:, np.newaxis] == 0, first, -first), noise, rng)
    return X, y, arc_length[:, np.newaxis]


def make_closed_curve(
    n_samples: int = 500,
    *,
    n_half_turns: int = 2,
    width: float = 0.5,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Draw points uniformly in arc length from a closed plane curve that two classes share.

    The curve is the outline of a ribbon rolled up into a double spiral, whose turns are 1 apart.
    Each class is one half of it, a long side of the ribbon, so that every point has the other
    class at distance `width`, or nearer at the ribbon's ends. This is the situation of Fig. 1
    of [1]_.

    Parameters
    ----------
    n_samples : int, default=500
        Number of points.
    n_half_turns : int, default=2
        Number of half turns of each of the ribbon's two arms; 1 gives the outline of an S.
    width : float, default=0.5
        Width of the ribbon, between 0 and 1; the next turn of the ribbon is 1 - `width` away.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to every feature.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same points in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        The classes, 0 on the first half of the curve and 1 on the second.
    coordinates : ndarray of shape (n_samples, 1)
        Arc length along the curve; the curve closes at 2 pi `n_half_turns` ** 2 + pi `width`.

    References
    ----------
    .. [1] M. Belkin and P. Niyogi, "Using manifold structure for partially labeled
       classification", NIPS 2002.

    Examples
    --------
    >>> from labelfold.datasets import make_closed_curve
    >>> X, y, coordinates = make_closed_curve(500, random_state=0)
    >>> X.shape, coordinates.shape
    ((500, 2), (500, 1))
    """
    check_integer("n_samples", n_samples, least=1, hint=": a curve needs a point")
    check_integer("n_half_turns", n_half_turns, least=1, hint=": each arm bends at least once")
    check_real("width", width, above=0, below=1, hint=": the ribbon's turns are 1 apart")
    _check_noise(noise)
    rng: np.random.RandomState = check_random_state(random_state)

    length = outline_length(n_half_turns, width)
    arc_length = rng.uniform(size=n_samples) * length
    X = _with_noise(outline_points(arc_length, n_half_turns, width), noise, rng)
    y = (arc_length >= length / 2).astype(np.int64)
    return X, y, arc_length[:, np.newaxis]


def make_concentric_circles(
    n_samples: int = 1000,
    *,
    n_classes: int = 2,
    gap: float = 1.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Draw points uniformly in angle from circles around the origin, one circle per class.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points; class sizes differ by at most one, the inner circles being the larger.
    n_classes : int, default=2
        Number of circles.
    gap : float, default=1.0
        Distance between neighboring circles; the innermost has radius 1.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to every feature.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same points in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        The circle of each point, 0 being the innermost.
    coordinates : ndarray of shape (n_samples, 2)
        Angle in [0, 2 pi), and radius.

    Examples
    --------
    >>> from labelfold.datasets import make_concentric_circles
    >>> X, y, coordinates = make_concentric_circles(300, n_classes=3, random_state=0)
    >>> X.shape, coordinates.shape
    ((300, 2), (300, 2))
    """
    _check_n_classes(n_classes)
    check_integer("n_samples", n_samples, least=n_classes, hint=": every class needs a point")
    check_real("gap", gap, above=0, hint=": it is the distance between neighboring circles")
    _check_noise(noise)
    rng: np.random.RandomState = check_random_state(random_state)

    angle = rng.uniform(size=n_samples) * 2 * np.pi
    y = _balanced_classes(n_samples, n_classes, rng)
    radius = 1.0 + gap * y
    circles = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return _with_noise(circles, noise, rng), y, np.column_stack([angle, radius])


def _check_n_classes(n_classes: int) -> None:
    check_integer("n_classes", n_classes, least=1, hint=": every point has a class")


def _check_noise(noise: float) -> None:
    check_real("noise", noise, at_least=0, hint=": it is a standard deviation, 0 for none")


def _with_noise(points: FloatArray, noise: float, rng: np.random.RandomState) -> FloatArray:
    # Drawn even for noise 0, so that later draws do not depend on its size.
    return points + noise * rng.standard_normal(points.shape)


def _balanced_classes(n_samples: int, n_classes: int, rng: np.random.RandomState) -> IntArray:
    return rng.permutation(np.arange(n_samples, dtype=np.int64) % n_classes)


def _alternate(shares: FloatArray, n_cells: tuple[int, int], n_classes: int) -> IntArray:
    """Return classes that take turns along both sides of the unit square, cut into equal cells."""
    n_shown = sum(n_cells) - 1
    if n_shown < n_classes:
        raise InputError(
            f"n_classes={n_classes} is more than the {n_shown} classes that n_bands={n_cells[0]} "
            f"by n_rows={n_cells[1]} cells can show: raise n_bands or lower n_classes."
        )
    cells = np.floor(shares * n_cells).astype(np.int64)
    return np.clip(cells, 0, np.array(n_cells) - 1).sum(axis=1) % n_classes


def _check_classes(classes: ArrayLike, n_points: int) -> IntArray:
    y = np.asarray(classes)
    if y.shape != (n_points,):
        raise InputError(
            f"pattern returned an array of shape {y.shape} for {n_points} points: it must return "
            f"one class per row, shape ({n_points},)."
        )
    if y.dtype.kind not in "biu":
        raise InputError(
            f"pattern returned values of type {y.dtype}: it must return integers or booleans, "
            "for instance by .astype(int)."
        )
    if y.min() < 0:
        raise InputError(
            f"pattern returned class {y.min()}: classes must be 0, 1, 2, ...; hide labels "
            "afterwards, since every generated point has a class."
        )
    return y.astype(np.int64)
