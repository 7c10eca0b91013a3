"""
Saving a model and loading it
=============================

:func:`labelfold.save` writes a fitted model to a file, and :func:`labelfold.load`
reads it without running code from the file. The loaded model transforms
new rows to the same coordinates, to the last bit.
"""

# %%
# An embedding of 700 digits from zero to four is saved, complete and compact. Compact
# files have what new rows need, without the results for the training rows.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import labelfold
from labelfold import CCDR, EmbeddingDisplay, draw_labeled, hide_labels

X, y = load_digits(n_class=5, return_X_y=True)
y_partial = hide_labels(y[:700], draw_labeled(y[:700], 25, random_state=0))
model = CCDR(n_components=2).fit(X[:700], y_partial)

folder = tempfile.TemporaryDirectory()
for name, compact in (("whole.skops", False), ("compact.skops", True)):
    path = Path(folder.name, name)
    labelfold.save(model, path, compact=compact)
    again = labelfold.load(path)
    same = (again.transform(X[700:]) == model.transform(X[700:])).all()
    print(
        f"{name}: {path.stat().st_size / 1e6:.1f} MB, same places for new rows: {same}"
    )
    print(f"    {again.certificate_}")

# %%
# The loaded model embeds the other 201 digits. Its class centers, the stars, are those
# of the fit.

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
EmbeddingDisplay(
    again.transform(X[700:]),
    labels=y[700:],
    class_centers=again.class_centers_,
    classes=again.classes_,
).plot(ax=ax)
ax.set_title("new digits, embedded by a loaded model")

# %%
# A modified file raises an error.

content = bytearray(path.read_bytes())
content[len(content) // 2] ^= 1
path.write_bytes(content)
try:
    labelfold.load(path)
except labelfold.exceptions.ModelFileError as error:
    print(str(error).replace(folder.name, "..."))
folder.cleanup()
