"""
A table of mixed columns
========================

:class:`~labelfold.tables.TablePreparation` makes features of a table with text, dates
and missing cells, and :class:`~labelfold.tables.AutoScaler` scales its numbers.
"""

# %%
# A table as people have it: 178 wines with an id, a country, a date and thirteen
# measurements, of which a few cells are empty. Twelve wines have a label.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline

from labelfold import CCDR, EmbeddingDisplay, LaplacianClassifier
from labelfold.evaluate import draw_labeled
from labelfold.labels import hide_labels
from labelfold.tables import AutoScaler, TablePreparation

rng = np.random.default_rng(0)
measured, y = load_wine(return_X_y=True, as_frame=True)
frame = measured.mask(rng.random(measured.shape) < 0.01)
frame["wine_id"] = [f"W{number}" for number in range(len(frame))]
frame["country"] = rng.choice(["France", "Italy", "Spain"], len(frame))
days = pd.to_timedelta(rng.integers(0, 900, len(frame)), unit="D")
frame["bottled"] = pd.Timestamp("2020-01-01") + days
y_partial = hide_labels(y, draw_labeled(y, 12, random_state=0))
hidden = y_partial == -1

# %%
# The preparation stands before the estimator, and is fitted and saved with it. Its
# report says what was done, in a line and column by column.

model = make_pipeline(TablePreparation(), LaplacianClassifier())
model.fit(frame, y_partial)
report = model[0].report_
print(report)
print(report.to_frame()[["name", "taken_for", "done", "n_missing"]].to_string())
error = np.mean(model[-1].transduction_[hidden] != y[hidden])
print(f"{100 * error:.1f} % of the hidden labels are wrong")

# %%
# For numbers alone the scaler is enough. As they are, the wines lie along the column
# with the largest numbers.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, method in zip(axes, ("none", "auto"), strict=True):
    scaler = AutoScaler(method)
    embedding = CCDR(random_state=0).fit_transform(
        scaler.fit_transform(measured.to_numpy()), y_partial
    )
    EmbeddingDisplay(embedding, labels=y).plot(ax=ax, s=15)
    ax.set_title(f'AutoScaler("{method}")')
    print(f"{method}: {scaler.method_}, {scaler.reason_}")

# %%
# New tables may have their columns in another order, new categories and empty cells.

new = frame.iloc[:3, ::-1].assign(country="Chile", alcohol=None)
print(model.predict(new))
