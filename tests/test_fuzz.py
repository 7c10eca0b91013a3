"""The first 2,000 cases of ``make fuzz``, which take milliseconds, and what the fuzzer promises."""

import pytest

from tools.fuzz.case import N_QUICK, make, run, snippet

PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_bad_and_extreme_input_gives_a_right_answer_or_names_what_is_wrong(part):
    cases = (make(number) for number in range(part, N_QUICK, PARTS))
    faults = [(found, snippet(case)) for case in cases if (found := run(case)).fault]
    assert not faults, "\n\n".join(f"{one.fault}\n{one.detail}\n{text}" for one, text in faults)
