"""
LaplacianClassifier beside LabelSpreading
=========================================

:class:`~labelfold.LaplacianClassifier` fits the labels by the smoothest functions on
the neighbor graph. scikit-learn's ``LabelSpreading`` spreads labels along the edges
of such a graph. Both get 20 to 200 labels of the 1,797 digits and are scored on the
hidden ones.
"""

# %%
# The eigenvectors of the graph depend only on the rows: one basis serves all fits on
# that graph. The paper's has binary weights, the default the share of common neighbors.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from labelfold import LaplacianClassifier, draw_labeled, hide_labels

X, y = load_digits(return_X_y=True)
default, paper = LaplacianClassifier(), LaplacianClassifier.as_published()
bases = [model.build_basis(X, n_eigenvectors=100) for model in (default, paper)]


def error_on_hidden(model, y_partial, **shared):
    hidden = y_partial == -1
    return np.mean(model.fit(X, y_partial, **shared).transduction_[hidden] != y[hidden])


# %%
# ``LabelSpreading`` has a parameter that matters, alpha. Its default is 0.2. The best
# of three by the hidden labels is a best case, which a user without these labels does
# not have; labelfold chooses its penalty by leaving out given labels.

counts = (20, 50, 100, 200)
alphas = (0.2, 0.8, 0.99)
names = (
    "LaplacianClassifier",
    "the paper's rule",
    "LabelSpreading",
    "LabelSpreading, best case",
)
errors = np.zeros((len(names), len(counts)))
for column, n_labeled in enumerate(counts):
    for draw in range(5):
        y_partial = hide_labels(y, draw_labeled(y, n_labeled, random_state=draw))
        spreading = [
            error_on_hidden(
                LabelSpreading("knn", n_neighbors=8, alpha=alpha, max_iter=1000),
                y_partial,
            )
            for alpha in alphas
        ]
        errors[:, column] += (
            error_on_hidden(default, y_partial, basis=bases[0]) / 5,
            error_on_hidden(paper, y_partial, basis=bases[1]) / 5,
            spreading[0] / 5,
            min(spreading) / 5,
        )

print(f"{'labels':28s}" + "".join(f"{count:7d}" for count in counts))
for name, row in zip(names, errors, strict=True):
    print(f"{name:28s}" + "".join(f"{100 * error:6.1f}%" for error in row))

# %%
# The paper's rule takes a fifth as many eigenvectors as there are labels, which is too
# few when labels are few. The default has a penalty instead, and edges between classes
# are weaker.

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for name, row, style in zip(
    names, errors, ("C0o-", "C0o--", "C1s-", "C1s--"), strict=True
):
    ax.plot(counts, 100 * row, style, label=name)
ax.set(
    xscale="log",
    yscale="log",
    xlabel="labeled digits",
    ylabel="errors on hidden labels in %",
)
ax.set_xticks(counts, counts)
ax.set_xticks([], minor=True)
ax.set_yticks((2, 5, 10, 20, 50), (2, 5, 10, 20, 50))
ax.set_yticks([], minor=True)
ax.legend()
plt.show()
