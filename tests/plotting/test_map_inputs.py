from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from labelfold.labels import PartialLabels
from labelfold.plotting import EmbeddingDisplay

EMBEDDING = np.arange(6.0).reshape(3, 2)


def test_everything_is_stored_in_one_form():
    display = EmbeddingDisplay(
        EMBEDDING.tolist(),
        labels=["b", None, None],
        predictions=["b", "a", "c"],
        confidence=[1, 0, 0.5],
        is_new=[False, False, True],
        images=np.zeros((3, 2, 2), dtype=np.uint8).tolist(),
        components=(1, 0),
    )
    np.testing.assert_array_equal(display.embedding, EMBEDDING)
    assert display.labels.to_y().tolist() == ["b", None, None]
    assert display.predictions.to_y().tolist() == ["b", "a", "c"]
    assert display.confidence.tolist() == [1.0, 0.0, 0.5]
    assert display.is_new.tolist() == [False, False, True]
    assert display.images.shape == (3, 2, 2)
    assert display.classes == display.class_names == ["a", "b", "c"]
    assert display.components == [1, 0]


def test_what_is_not_given_is_none():
    display = EmbeddingDisplay(EMBEDDING)
    for name in ("labels", "predictions", "confidence", "is_new", "images", "class_centers"):
        assert getattr(display, name) is None
    assert display.classes == display.class_names == []


KINDS = {
    "integers": [0, 1, 1],
    "text": ["a", "b", "b"],
    "floats": [0.0, 1.0, 1.0],
    "booleans": [False, True, True],
    "pandas": pd.Series(["a", "b", "b"], dtype="category"),
    "labels": PartialLabels.from_y(["a", "b", "b"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_of_every_kind(kind):
    assert len(EmbeddingDisplay(EMBEDDING, predictions=KINDS[kind]).classes) == 2


def test_classes_of_labels_and_predictions_are_sorted_together():
    display = EmbeddingDisplay(EMBEDDING, labels=[5, -1, -1], predictions=[5, 2, 9])
    assert display.class_names == ["2", "5", "9"]


def test_labels_with_nan_and_whole_predictions_are_the_same_classes():
    display = EmbeddingDisplay(EMBEDDING, labels=[1.0, np.nan, 2.0], predictions=[1, 2, 2])
    assert display.class_names == ["1", "2"]


def test_given_classes_lead_and_predictions_may_hold_others():
    display = EmbeddingDisplay(EMBEDDING, predictions=["z", "a", "b"], classes=["b", "c"])
    assert display.classes == ["b", "c", "a", "z"]


def test_centers_count_against_predictions_too():
    display = EmbeddingDisplay(EMBEDDING, predictions=[0, 1, 1], class_centers=np.eye(2))
    assert display.classes == [0, 1]
    with pytest.raises(ValueError, match="class_centers has 2 rows but labels hold 3 classes"):
        EmbeddingDisplay(EMBEDDING, predictions=[0, 1, 2], class_centers=np.eye(2))


SURE = {"predictions": [0, 1, 1]}
COLORS = (3, 2, 2, 3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"predictions": [0, 1]}, "predictions has 2 entries but the embedding has 3 rows"),
        ({"predictions": [0.5, 1.2, 3.3]}, "predictions: Unknown label type: continuous"),
        (
            {"labels": [0, 1, -1], "predictions": ["0", "1", "1"]},
            "labels hold classes such as .*0.* but predictions such as '0'",
        ),
        ({"confidence": [1.0, 1.0, 1.0]}, "confidence is given without predictions"),
        ({**SURE, "confidence": [1.0, 1.0]}, r"confidence has shape \(2,\).* 3 rows"),
        ({**SURE, "confidence": [[1.0], [1.0], [1.0]]}, r"confidence has shape \(3, 1\)"),
        ({**SURE, "confidence": [0.0, 1.1, 1.0]}, r"confidence\[1\]=1.1 is not between 0 and 1"),
        ({**SURE, "confidence": [0.0, 1.0, -0.1]}, r"confidence\[2\]=-0.1 is not between"),
        ({**SURE, "confidence": [np.nan, 1.0, 1.0]}, r"confidence\[0\]=nan is not between"),
        ({"is_new": [True, False]}, r"is_new has dtype bool and shape \(2,\) for 3 points"),
        ({"is_new": [0, 1, 2]}, "is_new has dtype int64"),
        ({"images": np.zeros((2, 4, 4))}, r"images has shape \(2, 4, 4\) for 3 points"),
        ({"images": np.zeros((3, 16))}, r"images has shape \(3, 16\) for 3 points"),
        ({"images": np.zeros((3, 4, 4, 2))}, "with 3 or 4 channels"),
        ({"images": np.zeros((3, 0, 4))}, r"images has shape \(3, 0, 4\)"),
        ({"images": np.full((3, 2, 2), np.nan)}, "images contains NaN"),
        ({"images": np.full((3, 2, 2), "a")}, "bytes/strings"),
        ({"images": np.full(COLORS, 2.0)}, r"go from 2.0 to 2.0: rescale to 0 to 1 for floats"),
        ({"images": np.full(COLORS, 256)}, "rescale to 0 to 1 for floats, to 0 to 255"),
        ({"images": np.full(COLORS, -1)}, "go from -1 to -1"),
    ],
)
def test_bad_arguments(given, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingDisplay(EMBEDDING, **given)


@pytest.mark.parametrize("top", [1.0, 255])
def test_images_in_colors_up_to_the_top(top):
    images = np.full(COLORS, top)
    assert EmbeddingDisplay(EMBEDDING, images=images).images.max() == top
