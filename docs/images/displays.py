"""Draws displays.png: six displays in six panels."""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from labelfold import (
    CCDR,
    ManifoldClassifier,
    MaximumVarianceUnfolding,
    TransductiveSearchCV,
    draw_labeled,
    hide_labels,
)
from labelfold.datasets import make_swiss_roll
from labelfold.plotting import EmbeddingDisplay, GraphDisplay, SpectrumDisplay, SweepDisplay

roll, bands, _ = make_swiss_roll(400, n_classes=3, n_bands=3, random_state=0)
roll, bands, new = roll[:370], bands[:370], roll[370:]
some_bands = hide_labels(bands, draw_labeled(bands, 30, random_state=0))
unfolding = ManifoldClassifier(MaximumVarianceUnfolding(n_neighbors=7, random_state=0), head="knn")
unfolding.fit(roll, some_bands)

digits = load_digits()
some_digits = hide_labels(digits.target, draw_labeled(digits.target, 50, random_state=0))
digits_map = CCDR(11, random_state=0).fit(digits.data, some_digits)
grid = {"embedder__beta": [0.01, 0.1, 1.0, 10.0], "embedder__n_components": [5, 10, 15]}
search = TransductiveSearchCV(ManifoldClassifier(CCDR()), grid).fit(digits.data, some_digits)

figure, axes = plt.subplots(2, 3, figsize=(14, 8.5), layout="constrained")
first, second, third, fourth, fifth, sixth = axes.flat
EmbeddingDisplay.from_estimator(unfolding, y=some_bands, components=(0, 1), ax=first)
first.set_title("labels")
EmbeddingDisplay.from_estimator(
    unfolding, y=some_bands, X_new=new, show_predictions=True, components=(0, 1), ax=second
)
second.set_title("predictions, and new rows")
EmbeddingDisplay.from_estimator(
    digits_map, y=some_digits, images=digits.images, n_images=25, components="classes", ax=third
)
third.set_title("ten classes, with images")
GraphDisplay.from_estimator(unfolding, y=some_bands, ax=fourth)
fourth.set_title("the graph")
SpectrumDisplay.from_estimator(unfolding.embedder_, ax=fifth)
SweepDisplay.from_estimator(search, param="embedder__beta", ax=sixth)
for ax in (first, second, third, fourth):
    ax.set(xticks=[], yticks=[])
figure.savefig(Path(__file__).with_suffix(".png"), dpi=80)
