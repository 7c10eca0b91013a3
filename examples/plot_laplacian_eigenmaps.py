"""
Laplacian eigenmaps with a transform
====================================

:class:`~labelfold.LaplacianEigenmaps` computes the embedding of scikit-learn's
``SpectralEmbedding`` and also has a ``transform`` for new rows.
"""

# %%
# Both embed 700 digits from zero to four on the same graph, with edges of weight 1.

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
theirs.fit(ours.graph_.adjacency)

# %%
# Coordinates agree up to sign and scale.

for column in range(2):
    correlation = np.corrcoef(ours.embedding_[:, column], theirs.embedding_[:, column])[
        0, 1
    ]
    print(f"coordinate {column}: correlation {abs(correlation):.6f}")
print("SpectralEmbedding has a transform:", hasattr(theirs, "transform"))

# %%
# The 201 other images are added without another fit. Labels only color the map; the
# embedding does not use them.

placed = ours.transform(X_new)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4.6), sharex=True, sharey=True, layout="constrained"
)
EmbeddingDisplay(ours.embedding_, labels=y_fit).plot(ax=left, s=10)
left.set_title("700 fitted images")
EmbeddingDisplay(placed, labels=y_new).plot(ax=right, s=10)
right.set_title("201 new images, by transform")

# %%
# How good is ``transform``, compared with a new fit of all images? In five random
# splits of all ten digits, the three nearest fitted images classify the new ones, in
# nine dimensions:

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
print(f"by transform:          {by_transform:.1f} % errors")
print(f"by an embedding of all: {by_refit:.1f} %")
