"""Draws spread.png: supervised semidefinite embedding of four classes by class_spread."""

from pathlib import Path

import matplotlib.pyplot as plt

from labelfold import EmbeddingDisplay, SupervisedSemidefiniteEmbedding
from labelfold.datasets import make_swiss_roll

SPREADS = (1.0, 3.0, 10.0, 30.0)

roll, bands, _ = make_swiss_roll(600, n_classes=4, n_bands=4, random_state=0)
figure, axes = plt.subplots(1, 1 + len(SPREADS), figsize=(15, 3.2), layout="constrained")
EmbeddingDisplay(roll[:, [0, 2]], labels=bands).plot(ax=axes[0])
axes[0].set_title("the roll from the side")
for ax, spread in zip(axes[1:], SPREADS, strict=True):
    model = SupervisedSemidefiniteEmbedding(class_spread=spread, n_neighbors=5, random_state=0)
    EmbeddingDisplay(model.fit_transform(roll, bands), labels=bands).plot(ax=ax)
    ax.set_title(f"class_spread = {spread:g}")
for ax in axes:
    ax.set(aspect="equal", adjustable="datalim", xlabel="", ylabel="")
figure.savefig(Path(__file__).with_suffix(".png"), dpi=90)
