"""
Embeddings of subsamples, and where they disagree
=================================================

:class:`~labelfold.ResampledEmbedding` embeds several subsamples and aligns them. How
much they disagree at a row is its ``embedding_std_``, a measure of doubt.
"""

# %%
# Eight subsamples of 600 digits; every one has the 50 labeled rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from labelfold import (
    CCDR,
    LeastSquaresClassifier,
    ResampledEmbedding,
    draw_labeled,
    hide_labels,
)

X, y = load_digits(return_X_y=True)
y_partial = hide_labels(y, draw_labeled(y, 50, random_state=0))
hidden = np.flatnonzero(y_partial == -1)

resampled = ResampledEmbedding(
    CCDR(9), n_subsamples=8, subsample_size=600, random_state=0
)
resampled.fit(X, y_partial)
print(resampled.certificate_)

# %%
# A linear classifier on the mean embedding predicts the hidden digits. Rows on which
# the subsamples agree are hardly ever wrong; the fifth with the largest standard
# deviation has the most errors.

points = resampled.embedding_
head = LeastSquaresClassifier().fit(
    np.delete(points, hidden, axis=0), np.delete(y, hidden)
)
wrong = head.predict(points) != y
fifths = np.array_split(hidden[np.argsort(resampled.embedding_std_[hidden])], 5)
rates = [100 * wrong[rows].mean() for rows in fifths]

figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4.4), layout="constrained", width_ratios=(3, 2)
)
drawn = left.scatter(*points[:, :2].T, c=resampled.embedding_std_, s=10, cmap="viridis")
figure.colorbar(drawn, ax=left, label="standard deviation")
left.set(
    xlabel="coordinate 0",
    ylabel="coordinate 1",
    title="the mean embedding, first two of nine",
)
right.bar(range(5), rates)
right.set_xticks(range(5), ["least", "", "middle", "", "largest"])
right.set(
    xlabel="standard deviation, in fifths of the hidden rows", ylabel="errors in %"
)

# %%
# One embedding of all rows is better if time and memory allow it, as they do here.

whole = CCDR(9).fit(X, y_partial).embedding_
head = LeastSquaresClassifier().fit(
    np.delete(whole, hidden, axis=0), np.delete(y, hidden)
)
print(f"mean of eight: {100 * wrong[hidden].mean():.1f} % errors on hidden labels")
error = 1 - head.score(whole[hidden], y[hidden])
print(f"one of all:    {100 * error:.1f} %")
