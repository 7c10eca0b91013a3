from __future__ import annotations

import pytest

from labelfold.plotting.lines import line_styles
from labelfold.plotting.palette import OKABE_ITO, class_styles, readable_on_white


def luminance(color: str) -> float:
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_eight_classes_need_no_shapes():
    styles = class_styles(8)
    assert [style.color for style in styles] == list(OKABE_ITO)
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
