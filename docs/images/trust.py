"""Draw docs/images/trust.png: whether probabilities and estimated errors hold.

    python docs/images/trust.py

The left half is of 20 draws of 50 labels of scikit-learn's digits, the right half of
benchmarks/results/evidence.json.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from labelfold import FewLabelClassifier, draw_labeled, hide_labels

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "benchmarks" / "results" / "evidence.json"


def draw_calibration(axes: plt.Axes) -> None:
    """Draw the share of right labels against their probability, pooled over draws."""
    X, y = load_digits(return_X_y=True)
    model, right, confidence = None, [], []
    for seed in range(20):
        partial = hide_labels(y, draw_labeled(y, 50, random_state=seed))
        model = model.refit(partial) if model else FewLabelClassifier().fit(X, partial)
        hidden = partial == -1
        right.append(model.transduction_[hidden] == y[hidden])
        confidence.append(model.label_distributions_[hidden].max(axis=1))
    rows, shares = np.concatenate(confidence), np.concatenate(right)
    bins = np.minimum((10 * rows).astype(int), 9)
    count = np.bincount(bins, minlength=10)
    used = count > 20
    mean, share = (
        np.bincount(bins, one, minlength=10)[used] / count[used] for one in (rows, shares)
    )
    axes.plot([0, 1], [0, 1], ":", color="k", lw=1)
    axes.scatter(mean, share, s=4 + 900 * count[used] / count.sum(), color="C0", alpha=0.7)
    for x, y_, n in zip(mean, share, count[used] / count.sum(), strict=True):
        axes.annotate(f"{n:.1%}", (x, y_), xytext=(9, -9), textcoords="offset points", size=8)
    axes.set(
        xlabel="probability of the label",
        ylabel="share of labels that are right",
        title="Digits, 50 labels; areas are shares of the rows",
        xlim=(0.15, 1.1),
        ylim=(0, 1.08),
    )


def draw_errors(axes: plt.Axes) -> None:
    """Draw the estimated error of each set against the true one, at 10 labels per class."""
    for cell in json.loads(RESULTS.read_text()):
        name, draws = cell["set"], cell["draws"]
        if cell["per_class"] != 10 or "-thin" in name:
            continue
        truth = 100 * np.mean(draws["error"])
        low, middle, high = 100 * np.quantile(draws["estimate"], [0.1, 0.5, 0.9])
        axes.plot([truth, truth], [low, high], color="C0", alpha=0.5)
        axes.plot(truth, middle, "o", color="C0", ms=5)
        if truth > 20:
            axes.annotate(name, (truth, middle), xytext=(5, -9), textcoords="offset points", size=8)
    axes.plot([0, 55], [0, 55], ":", color="k", lw=1)
    axes.set(
        xlabel="true error, %",
        ylabel="estimated error, %",
        title="17 sets, 10 labels per class; bars hold 8 of 10 draws",
    )


def main() -> None:
    """Draw both."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    draw_calibration(left)
    draw_errors(right)
    figure.savefig(HERE / "trust.png", dpi=110)


if __name__ == "__main__":
    main()
