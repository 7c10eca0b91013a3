"""
ManifoldClassifier: labels with a confidence
============================================

:class:`~labelfold.ManifoldClassifier` embeds all rows, fits a classifier on the
labeled ones and predicts the rest. Its confidence says which predictions to check
first.
"""

# %%
# Fifty labels for 1,500 digits; 297 others, drawn at random, are the new rows.

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from labelfold import EmbeddingDisplay, ManifoldClassifier, draw_labeled, hide_labels

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, train_size=1500, random_state=0)
y_partial = hide_labels(y, draw_labeled(y, 50, random_state=0))
hidden = np.flatnonzero(y_partial == -1)

model = ManifoldClassifier().fit(X, y_partial)
wrong = model.transduction_ != y
print(f"hidden labels of the fit: {100 * wrong[hidden].mean():.1f} % errors")
print(f"new rows: {100 * (1 - model.score(X_new, y_new)):.1f} % errors")

# %%
# The map, in a projection that separates the ten digits: labeled points are large, the
# others have the color of their predicted digit, and new rows have a ring.

figure, ax = plt.subplots(figsize=(7.5, 6), layout="constrained")
EmbeddingDisplay.from_estimator(
    model,
    y=y_partial,
    X_new=X_new[:60],
    show_predictions=True,
    components="classes",
    ax=ax,
)

# %%
# The confidence is the largest entry of a row's distribution. It is not a
# calibrated probability, but its order is useful: few confident predictions are wrong.

confidence = model.label_distributions_.max(axis=1)
edges = np.array([0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
band = np.clip(np.digitize(confidence[hidden], edges) - 1, 0, len(edges) - 2)
rates = [100 * wrong[hidden[band == number]].mean() for number in range(len(edges) - 1)]
sizes = np.bincount(band, minlength=len(edges) - 1)

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
bars = ax.bar(range(len(rates)), rates, color="tab:blue")
ax.bar_label(bars, [f"{size} rows" for size in sizes])
labels = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
ax.set_xticks(range(len(rates)), labels)
ax.set(xlabel="confidence", ylabel="errors on hidden labels in %")
ax.margins(y=0.12)

# %%
# The twelve least confident predictions, which a person should check.

figure, axes = plt.subplots(2, 6, figsize=(8, 3.4), layout="constrained")
for ax, row in zip(axes.flat, hidden[np.argsort(confidence[hidden])], strict=False):
    ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"says {model.transduction_[row]}, is {y[row]}", fontsize="small")
    ax.axis("off")
plt.show()
