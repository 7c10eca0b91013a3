"""Checks of the generators' arguments, with messages that name argument, value and way out."""

from __future__ import annotations

import math
from numbers import Integral, Real

from labelfold.exceptions import InputError


def check_count(name: str, value: object, *, minimum: int, purpose: str) -> None:
    """Refuse anything but an integer of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r} must be an integer of at least {minimum}: {purpose}.")
    if value < minimum:
        raise InputError(f"{name}={value!r} must be at least {minimum}: {purpose}.")


def check_real(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float = math.inf,
    purpose: str,
) -> None:
    """Refuse anything but a finite real number in the range that the bounds describe."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} must be a real number: {purpose}.")
    number = float(value)
    wanted = ["finite"]
    fits = math.isfinite(number)
    if above is not None:
        wanted.append(f"greater than {above:g}")
        fits = fits and number > above
    if at_least is not None:
        wanted.append(f"at least {at_least:g}")
        fits = fits and number >= at_least
    if below < math.inf:
        wanted.append(f"less than {below:g}")
        fits = fits and number < below
    if not fits:
        raise InputError(f"{name}={value!r} must be {' and '.join(wanted)}: {purpose}.")
