"""
All displays of one embedding
=============================

Every display of :mod:`labelfold.plotting` draws a fitted estimator with
``from_estimator``, on your axes or new ones, like scikit-learn's displays.
"""

# %%
# Ones, fours, sevens and nines of the digits: 20 labels for 519 images, and 200 new
# ones.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from labelfold import (
    CCDR,
    ManifoldClassifier,
    MaximumVarianceUnfolding,
    TransductiveSearchCV,
    draw_labeled,
    hide_labels,
)
from labelfold.plotting import (
    ConvergenceDisplay,
    EmbeddingDisplay,
    GraphDisplay,
    SpectrumDisplay,
    SweepDisplay,
)

X, y = load_digits(return_X_y=True)
alike = np.isin(y, (1, 4, 7, 9))
X, X_new, y, _ = train_test_split(X[alike], y[alike], test_size=200, random_state=0)
y_partial = hide_labels(y, draw_labeled(y, 20, random_state=0))
ccdr = CCDR(n_components=2, beta=0.1).fit(X, y_partial)

# %%
# The map and its graph: heavy edges are darker.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
EmbeddingDisplay.from_estimator(ccdr, y=y_partial, ax=left)
GraphDisplay.from_estimator(ccdr, y=y_partial, ax=right)

# %%
# Predictions for the unlabeled points, fainter where the confidence is low, with new
# rows among them.

model = ManifoldClassifier(CCDR(n_components=4, beta=0.1)).fit(X, y_partial)
figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
EmbeddingDisplay.from_estimator(
    model, y=y_partial, show_predictions=True, X_new=X_new, ax=ax
)

# %%
# Images in place of some points.

figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
EmbeddingDisplay.from_estimator(ccdr, y=y_partial, images=X.reshape(-1, 8, 8), ax=ax)

# %%
# Eigenvalues show how many dimensions are worth having: look for wide gaps.

many = CCDR(n_components=15).fit(X, y_partial)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
SpectrumDisplay.from_estimator(many, ax=ax)

# %%
# The errors of a search, with intervals over its folds.

grid = {"embedder__n_components": [2, 3, 4, 6, 9], "embedder__beta": [0.1, 1.0]}
search = TransductiveSearchCV(ManifoldClassifier(CCDR()), grid, cv=5)
search.fit(X, y_partial)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
SweepDisplay.from_estimator(search, param="embedder__n_components", ax=ax)

# %%
# How an unfolding converged: the distance error, and the objective with its upper
# bound.

unfolding = MaximumVarianceUnfolding(n_neighbors=4, random_state=0).fit(X[y == 4])
ConvergenceDisplay.from_estimator(unfolding)
