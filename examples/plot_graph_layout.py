"""
A picture of the digits, with and without labels
================================================

:class:`~labelfold.GraphLayout` places rows so that neighbors lie together and groups
apart. Labels weaken edges between classes, but only as far as they predict left-out
labels: the certificate says what they added, and permuted labels add nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from labelfold import EmbeddingDisplay, GraphLayout, draw_labeled, hide_labels

digits = load_digits()
X, y = digits.data, digits.target
y_partial = hide_labels(y, draw_labeled(y, 50, random_state=0))
layout = GraphLayout().fit(X, y_partial)
print(layout.certificate_)

# %%
# The picture without the labels' force is kept, to put both side by side. Gray points
# have no label; rings mark the fifty that do.

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, coordinates, title in (
    (axes[0], layout.base_embedding_, "the graph alone"),
    (axes[1], layout.embedding_, "with the labels' force"),
):
    EmbeddingDisplay(coordinates, labels=y_partial, is_layout=True).plot(ax)
    ax.set_title(title)

# %%
# Permuted labels predict each other no better than chance, so they have no force.

permuted = y_partial.copy()
given = np.flatnonzero(y_partial != -1)
permuted[given] = np.random.default_rng(0).permutation(permuted[given])
layout.refit(permuted)
print(layout.certificate_.label_effect)

# %%
# Images at some of the points show what the groups are.

display = EmbeddingDisplay(
    layout.base_embedding_, labels=y_partial, images=digits.images, is_layout=True
)
display.plot(n_images=60, image_kwargs={"cmap": "gray_r"})
