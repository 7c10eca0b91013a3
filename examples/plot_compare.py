"""
Seven methods on the same splits
================================

:func:`labelfold.evaluate.compare` embeds the same rows by several methods, hides the
same labels from each, and counts the errors of the same classifier on every embedding.
"""

# %%
# Five hundred digits, 150 of them labeled. Unlabeled rows are embedded and never
# scored.

from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import Isomap

from labelfold import (
    CCDR,
    LaplacianEigenmaps,
    MarginalFisherAnalysis,
    SupervisedLLE,
    draw_labeled,
    hide_labels,
)
from labelfold.evaluate import compare

X, y = load_digits(return_X_y=True)
X, y = X[:500], y[:500]
y_partial = hide_labels(y, draw_labeled(y, 150, random_state=0))

methods = {
    "PCA": PCA(),
    "LDA": LinearDiscriminantAnalysis(),
    "Isomap": Isomap(n_neighbors=12),
    "eigenmaps": LaplacianEigenmaps(),
    "CCDR": CCDR(),
    "supervised LLE": SupervisedLLE(),
    "marginal Fisher": MarginalFisherAnalysis(),
}
comparison = compare(X, y_partial, methods, dims=(2, 5, 9), cv=3, random_state=0)
print(comparison)

# %%
# Bars are 80 % intervals over the splits, which share rows: a guide, not a test. All
# methods have their default parameters. To compare each at its best, choose its
# parameters first, on labels other than the ones scored here.

comparison.plot()
