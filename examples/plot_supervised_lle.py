"""
Supervised locally linear embedding
===================================

:class:`~labelfold.SupervisedLLE` reconstructs every row from its neighbors;
``alpha`` decides how strongly these must have the same class.
"""

# %%
# Six hundred labeled digits are fitted, and 600 others are new.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from labelfold import EmbeddingDisplay, SupervisedLLE

X, y = load_digits(return_X_y=True)
X_fit, y_fit, X_new, y_new = X[:600], y[:600], X[600:1200], y[600:1200]

# %%
# With ``alpha=0`` labels have no effect: this is locally linear embedding. With
# ``alpha=1`` every class is a connected component, and the first nine coordinates
# shrink each to a point. That the fitted digits are separated only shows the given
# labels; what matters is where new digits go.

figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
for row, alpha in zip(axes, (0.0, 1.0), strict=True):
    model = SupervisedLLE(n_components=9, alpha=alpha, random_state=0).fit(X_fit, y_fit)
    placed = model.transform(X_new)
    EmbeddingDisplay(model.embedding_, labels=y_fit).plot(ax=row[0], s=10)
    EmbeddingDisplay(placed, labels=y_new).plot(ax=row[1], s=10)
    row[0].set_title(f"alpha = {alpha:g}, fitted")
    row[1].set_title(f"alpha = {alpha:g}, new")
    error = 1 - KNeighborsClassifier(3).fit(model.embedding_, y_fit).score(
        placed, y_new
    )
    print(f"alpha {alpha:g}: {100 * error:4.1f} % errors of 3-NN on new digits")

# %%
# These are errors in nine dimensions. The same classifier on the 64 pixels has:

error = 1 - KNeighborsClassifier(3).fit(X_fit, y_fit).score(X_new, y_new)
print(f"pixels : {100 * error:4.1f} % errors")
