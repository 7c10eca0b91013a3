"""
Few labels, nothing to tune
===========================

:class:`~labelfold.FewLabelClassifier` labels all rows from a few labels. It averages
graphs of neighbors and features by how well they predict left-out labels, so there is
nothing to choose. Three data sets show what it takes from each.
"""

# %%
# Handwritten digits lie along curved surfaces, where neighbors count. Wines and tumors
# are tables with columns in different units, which are not scaled here.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelfold import FewLabelClassifier, draw_labeled, hide_labels
from labelfold.plotting import class_styles
from labelfold.tables import AutoScaler

sets = {
    "digits": (*load_digits(return_X_y=True), 50),
    "wines": (*load_wine(return_X_y=True), 15),
    "tumors": (*load_breast_cancer(return_X_y=True), 20),
}
models = {}
for name, (X, y, n_labeled) in sets.items():
    y_partial = hide_labels(y, draw_labeled(y, n_labeled, random_state=0))
    models[name] = FewLabelClassifier().fit(X, y_partial)
    print(f"{name}: {models[name].candidates_}")

# %%
# The weights, summed over kinds of candidates. The digits are left to graphs; in the
# tables standardized features take part, which 15 or 20 labels are enough to show.

families = {
    "graphs": lambda name: "linear" not in name and "gaussian" not in name,
    "graphs and features": lambda name: " + " in name,
    "features": lambda name: "standardized" not in name,
    "standardized features": lambda name: True,
}
weights = np.zeros((len(families), len(models)))
for column, model in enumerate(models.values()):
    for candidate in model.candidates_:
        family = [test(candidate.name) for test in families.values()].index(True)
        weights[family, column] += candidate.weight

figure, ax = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
left = np.zeros(len(models))
styles = class_styles(len(families))
for family, row, style in zip(families, weights, styles, strict=True):
    ax.barh(list(models), row, 0.6, left=left, label=family, color=style.color)
    left += row
ax.invert_yaxis()
ax.set(xlim=(0, 1), xlabel="weight in the average")
figure.legend(loc="outside upper center", ncols=4, fontsize=8, frameon=False)
plt.show()

# %%
# Errors on the unlabeled rows over five draws of the labels: of rows as they are, of
# rows scaled by :class:`~labelfold.tables.AutoScaler`, as the command line does it, and
# of a logistic regression on standardized columns, which sees labeled rows only.
# Scaling columns in different units helps more than any average can: prepare tables.

for name, (X, y, n_labeled) in sets.items():
    scaled = FewLabelClassifier()
    rows = AutoScaler().fit_transform(X)
    plain = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    errors = np.zeros((5, 3))
    for draw in range(5):
        y_partial = hide_labels(y, draw_labeled(y, n_labeled, random_state=draw))
        hidden = y_partial == -1
        # The graphs of the first fit serve all draws.
        as_is = models[name].refit(y_partial)
        scaled = scaled.fit(rows, y_partial) if draw == 0 else scaled.refit(y_partial)
        predictions = (
            as_is.transduction_[hidden],
            scaled.transduction_[hidden],
            plain.fit(X[~hidden], y[~hidden]).predict(X[hidden]),
        )
        errors[draw] = [np.mean(found != y[hidden]) for found in predictions]
    as_is, scaled, plain = 100 * errors.mean(axis=0)
    print(
        f"{name:6s} {n_labeled} labels: {as_is:4.1f} % wrong, scaled {scaled:4.1f} %, "
        f"logistic regression {plain:4.1f} %"
    )
