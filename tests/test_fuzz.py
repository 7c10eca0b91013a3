"""The first 2,000 cases of ``make fuzz``, which take milliseconds, and what the fuzzer promises."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from tools.fuzz import case as fuzz
from tools.fuzz import worker
from tools.fuzz.__main__ import main
from tools.fuzz.subjects import SUBJECTS, Case, Subject

PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_bad_and_extreme_input_gives_a_right_answer_or_names_what_is_wrong(part):
    cases = (fuzz.make(number) for number in range(part, fuzz.N_QUICK, PARTS))
    faults = [(found, fuzz.snippet(case)) for case in cases if (found := fuzz.run(case)).fault]
    assert not faults, "\n\n".join(f"{one.fault}\n{one.detail}\n{text}" for one, text in faults)


def test_changed_model_files_are_refused_or_open_without_running_code():
    faults = [fuzz.run(fuzz.make(number, subject="model file")).fault for number in range(150)]
    assert set(faults) == {None}


def test_a_number_is_always_the_same_case():
    assert repr(fuzz.make(4321)) == repr(fuzz.make(4321))
    assert repr(fuzz.make(4321)) != repr(fuzz.make(4321, seed=1))


def fail(case):
    if len(case.rows) > 2 and "bad" in case.parameters:
        return [][len(case.rows)]
    return {"values": np.array(case.rows)}


OUTCOMES = {
    "answered": lambda case: 1.0,
    "not finite": lambda case: {"value_": np.array([1.0, np.nan])},
    "warning": lambda case: np.log(np.zeros(2) - 1)[:0],
    "unmeant": lambda case: int("x"),
    "internal words": lambda case: np.linalg.inv(np.zeros((2, 2))),
    "IndexError": lambda case: [][1],
    "refused": lambda case: SUBJECTS["PartialLabels"].run(Case("PartialLabels", labels=[0.5])),
}


@pytest.mark.parametrize("answer", OUTCOMES)
def test_outcomes(answer, monkeypatch):
    monkeypatch.setitem(SUBJECTS, "mine", Subject(OUTCOMES[answer]))
    found = fuzz.run(Case("mine"))
    assert found.answer == answer
    assert (found.fault is None) == (answer in ("answered", "refused"))


def test_a_failing_case_is_made_as_small_as_it_can_be(monkeypatch):
    monkeypatch.setitem(SUBJECTS, "mine", Subject(fail))
    rows = np.random.default_rng(0).random((20, 4)).tolist()
    parameters = {"good": 1, "bad": 2}
    large = Case("mine", rows, 4, "csr array", list(range(20)), "array", parameters)
    small = fuzz.shrink(large, fuzz.run(large).fault)
    assert (len(small.rows), small.n_columns, small.form) == (3, 1, "array")
    assert small.parameters == {"bad": 2}
    assert "Case(subject='mine'" in fuzz.snippet(small)


def crash_or_hang(pipe, seed, subject):
    pipe.send("ready")
    while True:
        number, _ = pipe.recv()
        if number == 1:
            os._exit(3)
        if number == 2:
            time.sleep(99)
        pipe.send({"answer": "answered", "fault": None})


def test_a_crash_and_a_hang_are_reported_and_the_next_case_runs(monkeypatch):
    monkeypatch.setattr(worker, "serve", crash_or_hang)
    monkeypatch.setattr(worker, "HANG", 0.5)
    monkeypatch.setattr(worker, "METHOD", "fork")
    one = worker.Worker(0)
    try:
        answers = [one.ask(number, set())["answer"] for number in range(4)]
    finally:
        one.stop()
    assert answers == ["answered", "crash", "hang", "answered"]


def test_a_killed_run_continues_where_it_ended(tmp_path, monkeypatch, capsys):
    log, asked = tmp_path / "log.jsonl", []

    class Counting:
        def __init__(self, seed, subject):
            pass

        def ask(self, number, is_known):
            asked.append(number)
            if len(asked) == 250:
                raise KeyboardInterrupt
            fault = "mine" if number == 7 and len(asked) < 100 else None
            return {"answer": "answered", "fault": fault, "detail": "", "snippet": ""}

        def stop(self):
            pass

    monkeypatch.setattr("tools.fuzz.__main__.Worker", Counting)
    arguments = ["--cases", "400", "--log", str(log)]
    with pytest.raises(KeyboardInterrupt):
        main(arguments)
    with log.open("a") as stream:
        stream.write('{"cut by')
    asked.extend([0] * 100)
    assert main(arguments) == 0  # the hundred with a fault is repeated
    assert asked[350:] == [*range(100), *range(200, 400)]
    assert "400 cases" in capsys.readouterr().out
