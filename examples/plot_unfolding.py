"""
Unfolding the images of one digit
=================================

:class:`~labelfold.MaximumVarianceUnfolding` moves all points as far apart as it can
while neighbors keep their distances.
:class:`~labelfold.FurthestNeighborUnfolding` does so with each point and the one
furthest from it. The certificate bounds what any embedding could reach.
"""

# %%
# One image of a three, rotated in steps of four degrees: 256 pixels, but only the angle
# changes.

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import rotate, zoom
from sklearn.datasets import load_digits

from labelfold import (
    EmbeddingDisplay,
    FurthestNeighborUnfolding,
    MaximumVarianceUnfolding,
)

digits = load_digits()
three = zoom(digits.images[3], 2, order=1)
angles = np.arange(0, 360, 4)
turned = np.array(
    [rotate(three, angle, reshape=False, order=1).ravel() for angle in angles]
)

ring = MaximumVarianceUnfolding(n_neighbors=4, random_state=0).fit(turned)
print(ring.certificate_)

# %%
# The images lie on a closed curve, which the embedding opens into a ring. Colors show
# the angle, which the embedding does not use.

figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
EmbeddingDisplay(ring.embedding_, images=turned.reshape(-1, *three.shape)).plot(
    ax=ax, n_images=12
)
ax.scatter(*ring.embedding_.T, c=angles, cmap="twilight", s=15)

# %%
# The 183 threes of the data differ in more ways. Both unfoldings keep the distances of
# four neighbors to 0.1 %, in as many dimensions as that takes. The two with the most
# variance are drawn, and the printed shares say how much that is.

threes = digits.data[digits.target == 3]
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for ax, method in zip(
    axes, (MaximumVarianceUnfolding, FurthestNeighborUnfolding), strict=True
):
    unfolding = method(n_neighbors=4, random_state=0).fit(threes)
    shares = unfolding.spectrum_ / unfolding.spectrum_.sum()
    print(f"{method.__name__}: {unfolding.certificate_}")
    print(
        f"shares of the variance: {np.round(shares[:5], 2)}, {shares.size} dimensions\n"
    )
    EmbeddingDisplay(unfolding.embedding_, images=threes.reshape(-1, 8, 8)).plot(ax=ax)
    ax.set_title(method.__name__)
