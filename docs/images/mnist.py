"""Draws mnist.png: 60,000 images of handwritten digits, 100 of them labeled, on one map.

PYTHONPATH=. LABELFOLD_DATA=... python docs/images/mnist.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from labelfold import FewLabelClassifier, draw_labeled, hide_labels
from labelfold.plotting import EmbeddingDisplay
from reproductions.data import load_mnist

images, y = load_mnist("train")
X = PCA(100, random_state=0).fit_transform(images.astype(np.float64))
y_partial = hide_labels(y, draw_labeled(y, 100, random_state=0))
model = FewLabelClassifier().fit(X, y_partial)
hidden = y_partial == -1
error = np.mean(model.transduction_[hidden] != y[hidden])

figure, ax = plt.subplots(figsize=(10, 6.5), layout="constrained")
EmbeddingDisplay.from_estimator(
    model,
    y=y_partial,
    show_predictions=True,
    images=images.reshape(-1, 28, 28),
    n_images=70,
    image_kwargs={"cmap": "gray_r"},
    ax=ax,
)
figure.supxlabel(
    f"60,000 images, 100 labeled (rings); {error:.1%} of the predicted labels of the others are "
    "wrong",
    fontsize=10,
)
figure.savefig(Path(__file__).with_suffix(".png"), dpi=90)
print(f"{error:.2%}")
