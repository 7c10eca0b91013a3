"""
A separation map from twenty labels
===================================

:class:`~labelfold.IsometricSeparationMap` keeps the distances of neighbors while a
hyperplane separates two classes. Unlabeled rows get the class of their side.
"""

# %%
# Tumors, benign or malignant, by 30 measurements. Ten of each class are labeled.
# Scaling uses all rows and no label.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from labelfold import IsometricSeparationMap, draw_labeled, hide_labels

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
labeled = draw_labeled(y, 20, random_state=0)
y_partial = hide_labels(y, labeled)
hidden = np.setdiff1d(np.arange(len(y)), labeled)

separation = IsometricSeparationMap(random_state=0).fit(X, y_partial)
print(separation.certificate_)

# %%
# The first axis decides. The dashed line is the hyperplane, and labeled points, filled,
# keep a margin from it. Unlabeled points have the color of their true class.

figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
for label, (name, color) in enumerate(
    (("malignant", "tab:orange"), ("benign", "tab:blue"))
):
    rest, known = hidden[y[hidden] == label], labeled[y[labeled] == label]
    ax.scatter(*separation.embedding_[rest].T, s=9, color=color, alpha=0.4)
    ax.scatter(
        *separation.embedding_[known].T, s=45, color=color, edgecolor="k", label=name
    )
ax.axvline(0, color="0.3", linestyle="--")
ax.set(xlabel="decision axis", ylabel="next axis", aspect="equal")
ax.legend()

# %%
# Many embeddings keep these distances, and the labels choose one: with so few labels
# the result depends on the draw. Five draws, beside a support vector machine that sees
# only the labeled rows.

for draw in range(5):
    labeled = draw_labeled(y, 20, random_state=draw)
    hidden = np.setdiff1d(np.arange(len(y)), labeled)
    model = IsometricSeparationMap(random_state=0, tol=0.01).fit(
        X, hide_labels(y, labeled)
    )
    error = np.mean(model.transduction_[hidden] != y[hidden])
    machine = 1 - SVC().fit(X[labeled], y[labeled]).score(X[hidden], y[hidden])
    print(f"draw {draw}: map {100 * error:4.1f} %, SVC {100 * machine:4.1f} % errors")
