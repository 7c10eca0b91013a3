"""
Supervised semidefinite embedding of the wines
==============================================

:class:`~labelfold.SupervisedSemidefiniteEmbedding` keeps the distances within every
class and moves the classes apart, up to ``class_spread`` times as far as they are.
"""

# %%
# Wines of three growers by 13 measurements. Every other wine is fitted with its label;
# the rest are new rows for ``transform``, which sees no label. Scaling uses all rows
# and no label.

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale

from labelfold import EmbeddingDisplay, SupervisedSemidefiniteEmbedding

X, y = load_wine(return_X_y=True)
X = scale(X)
X_fit, y_fit, X_new, y_new = X[::2], y[::2], X[1::2], y[1::2]

# %%
# Small dots are the fitted wines, large ones the new. As the spread grows the embedding
# shows the class and little else, while the certificate confirms that distances within
# classes are kept.

figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for ax, spread in zip(axes, (1.0, 3.0, 10.0), strict=True):
    model = SupervisedSemidefiniteEmbedding(class_spread=spread, random_state=0).fit(
        X_fit, y_fit
    )
    placed = model.transform(X_new)
    EmbeddingDisplay(model.embedding_, labels=y_fit).plot(ax=ax, s=8)
    EmbeddingDisplay(placed, labels=y_new).plot(
        ax=ax, s=30, alpha=0.5, show_names=False
    )
    ax.set_title(f"class_spread = {spread:g}")
    error = 1 - KNeighborsClassifier(3).fit(model.embedding_, y_fit).score(
        placed, y_new
    )
    print(f"class_spread {spread:g}: {100 * error:.1f} % errors of 3-NN on new wines")
    print(f"    {model.certificate_}")

# %%
# The same classifier on the measurements themselves: an embedding that separates the
# fitted classes need not give a better classifier.

error = 1 - KNeighborsClassifier(3).fit(X_fit, y_fit).score(X_new, y_new)
print(f"measurements: {100 * error:.1f} % errors of 3-NN on new wines")
