"""
How many dimensions do the digits have?
=======================================

:class:`~labelfold.IntrinsicDimension` estimates the dimension of the rows from how the
length of their neighbor graph grows with their number, for all rows and for every
class.
"""

# %%
# The images have 64 pixels. How many numbers would describe them locally?

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from labelfold import CCDR, IntrinsicDimension, draw_labeled, hide_labels

X, y = load_digits(return_X_y=True)
estimate = IntrinsicDimension(random_state=0).fit(X, y)
low, high = estimate.interval_
print(f"all digits: {estimate.dimension_:.1f}, 80 % interval {low:.1f} to {high:.1f}")

# %%
# By this estimate ones vary in fewer ways than zeros. The bars are 80 % intervals: how
# much the estimate depends on the choice of images, about 180 per digit. They do not
# include bias.

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
below = estimate.class_dimensions_ - estimate.class_intervals_[:, 0]
above = estimate.class_intervals_[:, 1] - estimate.class_dimensions_
ax.errorbar(
    estimate.classes_, estimate.class_dimensions_, (below, above), fmt="o", capsize=3
)
ax.axhline(estimate.dimension_, color="0.5", linestyle="--", label="all digits")
ax.set(
    xticks=estimate.classes_,
    xlabel="digit",
    ylabel="intrinsic dimension",
    ylim=(0, None),
)
ax.legend(loc="lower right")

# %%
# ``n_components="auto"`` of :class:`~labelfold.CCDR` is the largest dimension of a
# class plus one. A class needs some labeled rows for an estimate, and with few of them
# it is rough.

y_partial = hide_labels(y, draw_labeled(y, 500, random_state=0))
model = CCDR(n_components="auto", random_state=0).fit(X, y_partial)
print(f"CCDR takes {model.n_components_} dimensions")
assert np.isfinite(estimate.class_dimensions_).all()
