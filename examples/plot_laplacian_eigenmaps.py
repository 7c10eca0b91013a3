"""
Laplacian eigenmaps with a transform
====================================

:class:`~labelfold.LaplacianEigenmaps` makes the map of scikit-learn's
``SpectralEmbedding`` and can place new points in it, which ``SpectralEmbedding`` can
not.
"""

# %%
# Both make a map of 700 digits from zero to four, of the same graph: neighbours joined
# with weight 1.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import SpectralEmbedding
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from labelfold import EmbeddingDisplay, LaplacianEigenmaps

X, y = load_digits(n_class=5, return_X_y=True)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, train_size=700, random_state=0)

ours = LaplacianEigenmaps(n_components=2, weights="binary").fit(X_fit)
theirs = SpectralEmbedding(n_components=2, affinity="precomputed", random_state=0)
theirs.fit(ours.graph_.weights)

# %%
# Coordinates agree up to sign and scale.

for column in range(2):
    correlation = np.corrcoef(ours.embedding_[:, column], theirs.embedding_[:, column])[
        0, 1
    ]
    print(f"coordinate {column}: correlation {abs(correlation):.6f}")
print("SpectralEmbedding has a transform:", hasattr(theirs, "transform"))

# %%
# The 201 other images join the map without a new fit. Labels only colour the picture:
# the map knows none.

placed = ours.transform(X_new)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4.6), sharex=True, sharey=True, layout="constrained"
)
EmbeddingDisplay(ours.embedding_, labels=y_fit).plot(ax=left, s=10)
left.set_title("700 images of the fit")
EmbeddingDisplay(placed, labels=y_new).plot(ax=right, s=10)
right.set_title("201 new images, placed by transform")

# %%
# How good are the places? ``transform`` stands in for a new fit with all images. In
# five random splits of all ten digits, the three nearest images of the fit name the
# new ones, in nine dimensions:

X, y = load_digits(return_X_y=True)
refitted = LaplacianEigenmaps(n_components=9, weights="binary").fit(X).embedding_
errors = []
for split in range(5):
    fit, new = train_test_split(np.arange(len(y)), test_size=300, random_state=split)
    eigenmaps = LaplacianEigenmaps(n_components=9, weights="binary").fit(X[fit])
    head = KNeighborsClassifier(3).fit(eigenmaps.embedding_, y[fit])
    errors_placed = np.mean(head.predict(eigenmaps.transform(X[new])) != y[new])
    head = KNeighborsClassifier(3).fit(refitted[fit], y[fit])
    errors.append((errors_placed, np.mean(head.predict(refitted[new]) != y[new])))
by_transform, by_refit = 100 * np.mean(errors, axis=0)
print(f"placed by transform: {by_transform:.1f} % errors")
print(f"in a map of all:     {by_refit:.1f} %")
