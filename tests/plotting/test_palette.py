from __future__ import annotations

import numpy as np
import pytest

from labelfold.plotting.lines import line_styles
from labelfold.plotting.palette import COLORS, OKABE_ITO, class_styles, readable_on_white

# Machado, Oliveira and Fernandes (2009): linear sRGB as seen by people without one kind of cone.
DEFICIENCIES = {
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def in_oklab(colors: list[str], seen_by: object = np.eye(3)) -> np.ndarray:
    channels = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colors])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(seen_by).T, 0, 1)
    cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.cbrt(seen @ np.array(cones).T) @ np.array(to_lab).T


def least_distance(colors: list[str], seen_by: object = np.eye(3)) -> float:
    lab = in_oklab(colors, seen_by)
    apart = np.linalg.norm(lab[:, None] - lab, axis=2)
    return float(apart[np.triu_indices(len(lab), 1)].min())


@pytest.mark.parametrize("name", DEFICIENCIES)
def test_colors_of_one_shape_are_as_distinct_as_those_of_okabe_and_ito(name):
    matrix = DEFICIENCIES[name]
    bound = min(least_distance(list(OKABE_ITO), one) for one in DEFICIENCIES.values())
    styles = class_styles(30)
    for shape in {style.marker for style in styles}:
        group = [style.color for style in styles if style.marker == shape]
        assert len(group) == 10
        assert least_distance(group, matrix) >= bound - 1e-9


def test_thirty_colors_are_distinct_to_most_eyes():
    assert len(COLORS) == 30
    assert least_distance(list(COLORS)) > 0.1


def luminance(color: str) -> float:
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_ten_classes_need_no_shapes():
    styles = class_styles(10)
    assert [style.color for style in styles[:8]] == list(OKABE_ITO)
    assert {style.marker for style in styles} == {"o"}
    assert len({style.marker for style in line_styles(8)}) == 8  # of lines also in print
    assert len(class_styles(200)) == 200  # more classes than pairs


@pytest.mark.parametrize("styles", [class_styles(64), line_styles(64)])
def test_color_and_shape_together_stay_unique(styles):
    assert len({(style.color, style.marker) for style in styles}) == 64
    assert [style.color for style in styles[:8]] == list(OKABE_ITO)


def test_names_reach_the_contrast_of_body_text():
    for color in OKABE_ITO:
        assert 1.05 / (luminance(readable_on_white(color)) + 0.05) >= 4.5
