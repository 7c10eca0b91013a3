"""`labelfold classify` on a file of digits with 50 labels: labels, error, reports and refusals."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from command_line import DIGITS, NAMES, PIXELS, read_csv, refused, some_labels, write_csv
from command_line import run as run_command
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import labelfold
from labelfold import (
    CCDR,
    FewLabelClassifier,
    LaplacianClassifier,
    ManifoldClassifier,
    TransductiveSearchCV,
)
from labelfold.evaluate import LabeledKFold
from labelfold.intervals import wilson_interval

N_ROWS, N_NEW = 300, 40
X, NEW = PIXELS[:N_ROWS], PIXELS[N_ROWS : N_ROWS + N_NEW]
LABELS = some_labels(N_ROWS)
SIZES = {k: int(size) for k, size in enumerate(np.bincount(DIGITS[:N_ROWS]))}
NEW_FRAME = pd.DataFrame(NEW, columns=NAMES)
VARIES = np.ptp(X, axis=0) > 0  # the preparation drops pixels that are constant in the fit


def run(*arguments, **options):
    return run_command("classify", *arguments, **options)


def keep(n_each):
    """Labels of the first few rows of every class: a dict of numbers, or one for all."""
    counts = n_each if isinstance(n_each, dict) else dict.fromkeys(range(10), n_each)
    labels = np.full(N_ROWS, None)
    for digit, count in counts.items():
        rows = np.flatnonzero(DIGITS[:N_ROWS] == digit)[:count]
        labels[rows] = digit
    return labels


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("data") / "digits.csv", X, digit=LABELS)


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """New rows with the columns in another order, and one more that is not for the model."""
    path = tmp_path_factory.mktemp("new") / "new.csv"
    return write_csv(path, NEW[:, ::-1], names=NAMES[::-1], digit=["text"] * N_NEW)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, digits, new):
    folder = tmp_path_factory.mktemp("out")
    out, saved = folder / "labels.csv", folder / "model.skops"
    result = run(digits, "--labels", "digit", "--new", new, "-o", out, "--save", saved)
    return result, folder


def check_rows(rows, model):
    """Check labels and confidences of the rows of fit against a fitted classifier."""
    assert [int(row["label"]) for row in rows] == model.transduction_.tolist()
    codes = np.searchsorted(model.classes_, model.transduction_)
    expected = model.label_distributions_[np.arange(len(rows)), codes]
    np.testing.assert_allclose([float(row["confidence"]) for row in rows], expected)
    assert [row["given"] == "True" for row in rows] == [v is not None for v in LABELS]


# Values


def test_labels_are_those_of_the_library(finished, digits):
    result, folder = finished
    assert result.exit_code == 0, result.stderr
    rows = read_csv(folder / "labels.csv")
    assert list(rows[0]) == ["file", "row", "label", "confidence", "set", "suspect", "given"]
    own = rows[:N_ROWS]
    assert {row["file"] for row in own} == {str(digits)}
    assert [int(row["row"]) for row in own] == list(range(1, N_ROWS + 1))
    model = FewLabelClassifier(random_state=0).fit(X[:, VARIES], LABELS)
    check_rows(own, model)
    sets = [[int(one) for one in row["set"].split("|")] for row in own]
    assert sets == [np.flatnonzero(row).tolist() for row in model.label_sets(0.9)]
    for row in np.flatnonzero(LABELS != None):  # noqa: E711
        assert int(rows[row]["label"]) == DIGITS[row]


def test_new_rows_are_those_of_predict(finished, new):
    _, folder = finished
    rows = read_csv(folder / "labels.csv")[N_ROWS:]
    assert [(row["file"], int(row["row"])) for row in rows] == [
        (str(new), number) for number in range(1, N_NEW + 1)
    ]
    model = FewLabelClassifier(random_state=0).fit(X[:, VARIES], LABELS)
    labels = model.predict(NEW[:, VARIES]).tolist()
    assert [int(row["label"]) for row in rows] == labels
    found = [float(row["confidence"]) for row in rows]
    np.testing.assert_allclose(found, model.predict_proba(NEW[:, VARIES]).max(axis=1))
    sets = [[int(one) for one in row["set"].split("|")] for row in rows]
    assert sets == [np.flatnonzero(row).tolist() for row in model.predict_sets(NEW[:, VARIES])]
    assert {row["given"] for row in rows} == {"False"}
    saved = labelfold.load(folder / "model.skops")
    assert saved.predict(NEW_FRAME).tolist() == labels


@pytest.mark.parametrize(
    ("options", "model"),
    [
        (
            ["--head", "knn", "--dims", 4, "--beta", 0.1],
            ManifoldClassifier(CCDR(4, beta=0.1), head="knn"),
        ),
        (["--method", "laplacian", "--set", "penalty=0"], LaplacianClassifier(penalty=0.0)),
        (
            ["--method", "laplacian", "--set", "n_eigenvectors=15", "--neighbors", 6],
            LaplacianClassifier(15, n_neighbors=6),
        ),
        (
            ["--set", "candidates=mutual, shared"],
            FewLabelClassifier(candidates=["mutual", "shared"]),
        ),
        (
            ["--set", f"class_sizes={','.join(f'{k}:{size}' for k, size in SIZES.items())}"],
            FewLabelClassifier(class_sizes=SIZES),
        ),
    ],
)
def test_options_reach_the_classifier(tmp_path, digits, options, model):
    out = tmp_path / "labels.csv"
    result = run(digits, "--labels", "digit", "-o", out, *options)
    assert result.exit_code == 0, result.stderr
    check_rows(read_csv(out), model.fit(X, LABELS))


@pytest.mark.parametrize("method", ["eigenmaps", "lle", "mfa", "resampled", "pca"])
def test_other_embeddings_label_every_row(tmp_path, digits, method):
    out = tmp_path / "labels.csv"
    result = run(digits, "--labels", "digit", "-o", out, "--method", method, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["n_components"] == 11
    wrong = [int(row["label"]) != digit for row, digit in zip(read_csv(out), DIGITS, strict=False)]
    assert np.mean(wrong) < 0.5


def test_scaling_is_part_of_the_model(tmp_path, digits, new):
    out, saved = tmp_path / "labels.csv", tmp_path / "model.skops"
    options = ["--method", "ccdr", "--scale", "standard", "--save", saved, "--compact"]
    result = run(digits, "--labels", "digit", "-o", out, "--new", new, *options)
    assert result.exit_code == 0, result.stderr
    scaler = StandardScaler().fit(X)
    expected = ManifoldClassifier(CCDR(30)).fit(scaler.transform(X), LABELS)
    rows = read_csv(out)
    check_rows(rows[:N_ROWS], expected)
    answers = expected.predict(scaler.transform(NEW)).tolist()
    assert [int(row["label"]) for row in rows[N_ROWS:]] == answers
    model = labelfold.load(saved)
    assert isinstance(model, Pipeline)
    assert model.predict(NEW_FRAME).tolist() == answers


# The error


@pytest.mark.parametrize("seed", [0, 4])
def test_the_error_is_that_of_a_search_over_nothing(tmp_path, digits, seed):
    options = ["-o", tmp_path / "labels.csv", "--seed", seed, "--folds", 5, "--json"]
    result = run(digits, "--labels", "digit", *options)
    estimate = json.loads(result.stdout)["estimate"]
    cv = LabeledKFold(5, shuffle=True, random_state=seed)
    model = FewLabelClassifier(random_state=seed)
    search = TransductiveSearchCV(model, {}, cv=cv).fit(X[:, VARIES], LABELS)
    # Every fold has ten of the fifty labels.
    assert estimate["error"] == pytest.approx(1 - search.best_score_)
    assert (estimate["n_hidden"], estimate["n_folds"]) == (50, 5)
    assert estimate["interval"] == pytest.approx(wilson_interval(estimate["error"], 50))
    assert estimate["chance"] == pytest.approx(0.9)
    assert estimate["notes"] == []


@pytest.mark.parametrize(("seed", "expected"), [(0, 0), (1, 1)])
def test_folds_of_different_sizes_count_by_their_labels(tmp_path, seed, expected):
    labels = keep({0: 7, 1: 7, 2: 4})
    data = write_csv(tmp_path / "data.csv", X, digit=labels)
    options = ["--method", "ccdr", "--head", "linear", "-o", tmp_path / "labels.csv"]
    options += ["--folds", 3, "--seed", seed, "--json"]
    result = run(data, "--labels", "digit", *options)
    facts = json.loads(result.stdout)
    n_wrong = 0
    model = ManifoldClassifier(CCDR(facts["n_components"]), head="linear")
    for train, test in LabeledKFold(3, shuffle=True, random_state=seed).split(X, labels):
        hidden = np.where(np.isin(np.arange(N_ROWS), train), labels, None)
        n_wrong += int((model.fit(X, hidden).transduction_[test] != labels[test]).sum())
    assert (facts["estimate"]["n_wrong"], facts["estimate"]["n_hidden"]) == (n_wrong, 18)
    assert n_wrong == expected  # the seed makes a difference


def test_the_error_of_one_fit_is_printed_with_its_interval(finished):
    result, _ = finished
    text = " ".join(result.stdout.split())
    model = FewLabelClassifier(random_state=0).fit(X[:, VARIES], LABELS)
    assert f"Error: {model.error_estimate_} It holds for labels of rows that were drawn" in text
    assert "Estimated class sizes: 0 " in text
    assert "Sets with coverage 90%: one label in " in text
    assert "hidden labels" not in text
    assert "Predicted labels of 290 rows: " in text


def test_the_error_on_hidden_labels_is_printed_with_its_interval(tmp_path, digits):
    options = ["--method", "laplacian", "-o", tmp_path / "labels.csv"]
    text = " ".join(run(digits, "--labels", "digit", *options).stdout.split())
    assert "Error on hidden labels: " in text
    assert " of 50 wrong), 80% interval " in text
    assert "5 folds, each fitted with about 40 labels." in text


@pytest.mark.parametrize("marks", [("yes", ""), ("1", "0"), ("True", "False")])
def test_audit_rows_alone_are_the_evidence(tmp_path, marks):
    labeled = np.flatnonzero(LABELS != None)  # noqa: E711
    drawn = np.isin(np.arange(N_ROWS), labeled[::2])
    data = write_csv(tmp_path / "data.csv", X, drawn=np.where(drawn, *marks), digit=LABELS)
    options = ["-o", tmp_path / "labels.csv", "--audit", "drawn", "--json"]
    result = run(data, "--labels", "digit", *options)
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)["evidence"]
    assert facts["calibration"]["sample"] == "audit"
    assert facts["calibration"]["n_labels"] == len(labeled[::2])
    assert facts["promise"] == "It rests on the audit rows alone, which were drawn at random."


def test_given_labels_that_look_wrong_are_marked(tmp_path):
    labels = LABELS.copy()
    wrong = int(np.flatnonzero(labels == 0)[0])
    labels[wrong] = 4
    data = write_csv(tmp_path / "data.csv", X, digit=labels)
    result = run(data, "--labels", "digit", "-o", tmp_path / "labels.csv")
    marked = [
        k for k, row in enumerate(read_csv(tmp_path / "labels.csv")) if row["suspect"] == "True"
    ]
    assert wrong in marked
    assert len(marked) < 8
    assert f"Worth a second look: {len(marked)} given label" in " ".join(result.stdout.split())


def test_evidence_is_part_of_the_facts(tmp_path, digits):
    options = ["-o", tmp_path / "labels.csv", "--coverage", 0.8, "--json"]
    facts = json.loads(run(digits, "--labels", "digit", *options).stdout)["evidence"]
    model = FewLabelClassifier(random_state=0).fit(X[:, VARIES], LABELS)
    assert facts["error"]["error"] == pytest.approx(model.error_estimate_.error)
    assert facts["calibration"]["n_labels"] == 50
    assert [one["label"] for one in facts["class_sizes"]["classes"]] == list(range(10))
    assert facts["n_single"] == int((model.label_sets(0.8).sum(axis=1) == 1).sum())


@pytest.mark.parametrize(
    ("n_each", "options", "words"),
    [
        (1, ["--folds", 2], ["from 0 left-out labels.", "this is a rough guess."]),
        (1, ["--method", "ccdr"], ["not estimated. Every class has only one label"]),
        (5, ["--method", "ccdr", "--folds", 0], ["Error: not estimated"]),
        (
            {0: 3, 1: 3, 7: 1},
            ["--folds", 5],
            [
                "There are 3 folds because no class has more labels.",
                "The only label of a class (7) counts as wrong",
            ],
        ),
        # Without the one 7 there is one class left, for which this method raises an error.
        (
            {0: 6, 7: 1},
            ["--method", "mfa"],
            ["not estimated. With some labels hidden the method fails: y holds one class"],
        ),
    ],
)
def test_errors_that_say_little_say_why(tmp_path, n_each, options, words):
    data = write_csv(tmp_path / "data.csv", X, digit=keep(n_each))
    out = tmp_path / "labels.csv"
    result = run(data, "--labels", "digit", "-o", out, *options)
    assert result.exit_code == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert all(word in text for word in words)
    assert len(read_csv(out)) == N_ROWS


def test_shuffled_labels_show_that_there_is_something_to_learn(tmp_path, digits):
    options = ["--permutations", 19, "--folds", 2, "--json"]
    result = run(digits, "--labels", "digit", "-o", tmp_path / "labels.csv", *options)
    facts = json.loads(result.stdout)
    assert facts["permutations"]["error"] == facts["estimate"]["error"]
    assert facts["permutations"]["shuffled_error"] > 0.8
    assert facts["permutations"]["p_value"] == 1 / 20


# Reports and streams


def test_json_has_the_same_facts(tmp_path, digits, new):
    out = tmp_path / "labels.parquet"
    result = run(digits, "--labels", "digit", "--new", new, "-o", out, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    facts = json.loads(result.stdout)
    assert facts["new"] == {"file": str(new), "n_rows": N_NEW}
    assert (facts["method"], facts["head"], facts["n_components"]) == ("auto", None, None)
    predicted = facts["predicted"]
    assert predicted["n_rows"] == N_ROWS - 50 + N_NEW
    assert sum(one["n_rows"] for one in predicted["classes"]) == predicted["n_rows"]
    assert 0 <= predicted["n_low_confidence"] < predicted["n_rows"]
    assert facts["versions"]["labelfold"] == labelfold.__version__
    assert out.exists()


def test_the_weights_of_the_average_are_reported(tmp_path, digits, finished):
    result = run(digits, "--labels", "digit", "-o", tmp_path / "labels.csv", "--json")
    facts = json.loads(result.stdout)
    table = FewLabelClassifier().fit(X[:, VARIES], LABELS).candidates_
    assert facts["candidates"]["text"] == str(table)
    assert [row["name"] for row in facts["candidates"]["rows"]] == [one.name for one in table]
    assert sum(row["weight"] for row in facts["candidates"]["rows"]) == pytest.approx(1)
    assert facts["certificate"]["ok"]
    assert f"Candidates by weight: {table}" in " ".join(finished[0].stdout.split())


def test_other_methods_report_no_weights(tmp_path, digits):
    result = run(
        digits, "--labels", "digit", "-o", tmp_path / "labels.csv", "--method", "laplacian"
    )
    assert result.exit_code == 0, result.stderr
    assert "Candidates" not in result.stdout


# Refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--ignore", "digit"], ["a classifier needs labels", "--labels"]),
        (["--method", "tsne"], ["--method tsne is unknown", "laplacian"]),
        (["--head", "svm"], ["--head svm is unknown", "linear, knn"]),
        (["--method", "laplacian", "--head", "knn"], ["--head needs an embedding"]),
        (["--method", "laplacian", "--dims", 2], ["--dims: --method laplacian has no parameter"]),
        (["--method", "laplacian", "--permutations", 19], ["needs an embedding"]),
        (["--method", "auto", "--head", "knn"], ["--head needs an embedding"]),
        (["--neighbors", 5], ["--neighbors: --method auto has no", "or name another --method"]),
        (["--set", "candidates=mutul"], ["candidates=('mutul',)", "'mutual'"]),
        (["--set", "class_sizes=0:0.5,1:many"], ["class_sizes='0:0.5,1:many'", "a mapping"]),
        (["--set", "class_sizes=0:0.5,1:0.5"], ["class_sizes lacks [2, 3"]),
        (["--set", "beta=1"], ["has no parameter beta"]),
        (["--folds", 1], ["--folds 1"]),
        (["--audit", "color"], ["--audit color", "no such column"]),
        (["--audit", "pixel0", "--method", "ccdr"], ["--audit needs --method auto"]),
        (["--folds", 0, "--permutations", 3], ["--folds of 2 or more, got 0"]),
        (["--new", "no-such-file.csv"], ["no-such-file.csv"]),
    ],
)
def test_bad_options_leave_nothing(tmp_path, digits, options, words):
    given = [] if "--ignore" in options else ["--labels", "digit"]
    refused(run(digits, "-o", tmp_path / "new" / "labels.csv", *given, *options), *words)
    assert list(tmp_path.iterdir()) == []


def test_new_rows_without_a_column_leave_nothing(tmp_path, digits):
    short = write_csv(tmp_path / "short.csv", NEW[:, 1:], names=NAMES[1:])
    out = tmp_path / "labels.csv"
    result = run(digits, "--labels", "digit", "--new", short, "-o", out)
    refused(result, "'pixel0'", "which the model was fitted on")
    assert not out.exists()


def test_data_and_new_rows_from_one_stream():
    refused(run("-", "--labels", "digit", "--new", "-", "-o", "-"), "standard input")


def test_a_checkpoint_folder_is_made_and_a_file_is_refused(tmp_path, digits, monkeypatch):
    monkeypatch.setattr("labelfold.checkpoint_folder.LEAST_SECONDS", 0.0)
    options = ["--labels", "digit", "-o", tmp_path / "labels.csv", "--method", "laplacian"]
    options += ["--folds", 0, "--force", "--checkpoint"]
    assert run(digits, *options, tmp_path / "kept").exit_code == 0
    assert any((tmp_path / "kept").glob("graph-*.npz"))
    refused(run(digits, *options, digits), "checkpoints cannot be written to")
