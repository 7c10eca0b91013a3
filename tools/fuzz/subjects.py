"""What a case runs: estimators, functions on rows, labels and evidence, the command line, files.

A subject takes a case and returns the results, which have to be finite. The names of the parameters
that a case may set stand beside it.
"""

from __future__ import annotations

import inspect
import io
import math
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from typer.testing import CliRunner

import labelfold
from labelfold import evaluate, evidence, intervals, tables
from labelfold.cli.app import app
from labelfold.methods import all_estimators
from tools import malformed_files
from tools.fuzz.inputs import FORMS, LABEL_FORMS

# A single method that takes new rows, for each kind of answer.
ANSWERS = ("transform", "predict", "predict_proba", "decision_function", "transform_jointly")


@dataclass(frozen=True)
class Case:
    """Everything that determines what is run."""

    subject: str
    rows: list[list[float]] = field(default_factory=list)
    n_columns: int = 0
    form: str = "array"
    labels: list[Any] | None = None
    label_form: str = "list"
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int = 0  # of what is drawn when it runs: files, mutations, new rows

    def X(self) -> Any:
        """Return the rows in their form."""
        return FORMS[self.form](self.base())

    def base(self) -> NDArray[np.float64]:
        """Return the rows as an array."""
        return np.array(self.rows, dtype=float).reshape(len(self.rows), self.n_columns)

    def new(self) -> Any:
        """Return new rows: some of the rows again, moved, or far away."""
        X = self.base()[:6]
        factor = [1, 1 + 1e-3, -1, 1e3, 0][self.seed % 5]
        with np.errstate(all="ignore"):
            X = np.clip(X * factor, -1e300, 1e300)
        return X if self.form == "distances" else FORMS[self.form](X)

    def y(self) -> Any:
        """Return the labels in their form."""
        return None if self.labels is None else LABEL_FORMS[self.label_form](self.labels)


class CannotBeMadeError(Exception):
    """The form cannot hold such rows or labels; nothing of the library has run."""


@dataclass(frozen=True)
class Subject:
    """Something to run; `weight` is how often, beside others."""

    run: Callable[[Case], Any]
    parameters: tuple[str, ...] = ()
    weight: float = 1.0
    is_quick: bool = True


def made(case: Case) -> tuple[Any, Any]:
    """Return rows and labels as they are given to the library."""
    try:
        return case.X(), case.y()
    except Exception as error:
        raise CannotBeMadeError(str(error)) from error


# Estimators


def _example(kind: Any, case: Case) -> Any:
    examples = kind.declaration.examples
    return kind(**{**examples[case.seed % len(examples)], **case.parameters})


def _fit(kind: Any) -> Callable[[Case], Any]:
    def run(case: Case) -> Any:
        X, y = made(case)
        model = _example(kind, case).fit(X, y)
        results = {name: getattr(model, name, None) for name in _attributes(model)}
        try:
            new = case.new()
        except Exception:
            return results
        for name in ANSWERS:
            if hasattr(model, name):
                results[name] = answer = getattr(model, name)(new)
                n_new = new.shape[0] if hasattr(new, "shape") else len(new)
                assert len(answer) == n_new, f"{name} gives {len(answer)} answers to {n_new} rows"
        for name in ("predict_proba", "label_distributions_"):
            shares: Any = results.get(name)
            is_given = shares is not None
            assert not is_given or np.allclose(np.sum(shares, axis=1), 1), f"{name} sums not to 1"
        return results

    return run


def _attributes(model: Any) -> list[str]:
    return [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]


def _estimators() -> dict[str, Subject]:
    return {
        kind.__name__: Subject(
            _fit(kind),
            tuple(inspect.signature(kind).parameters),
            weight=0.5 if kind.__name__ in SLOW else 3.0,
            is_quick=kind.__name__ not in SLOW,
        )
        for kind in all_estimators()
    }


SLOW = (
    *("IsometricSeparationMap", "SupervisedSemidefiniteEmbedding", "FurthestNeighborUnfolding"),
    *("MaximumVarianceUnfolding", "TransductiveSearchCV", "GraphLayout", "ResampledEmbedding"),
    *("ManifoldClassifier", "IntrinsicDimension"),
)

# Functions


def graph(case: Case) -> Any:
    X, _ = made(case)
    found = labelfold.NeighborGraph.build(X, **case.parameters)
    bridged = found.bridged()
    return [
        *(found.adjacency, found.distances, bridged.adjacency, found.statistics, found.nearest),
        evidence.suggest_rows(found, 3),
    ]


def classifier(case: Case) -> Any:
    """All evidence of a fitted classifier, with wrong arguments."""
    X, y = made(case)
    model = labelfold.FewLabelClassifier(candidates=("graph-10", "linear")).fit(X, y)
    given = case.parameters
    coverage = given.get("coverage", 0.9)
    return [
        evidence.suggest_rows(model, given.get("n", 3), exclude=given.get("exclude")),
        evidence.draw_audit(model, given.get("n", 1), labeled=given.get("exclude")),
        evidence.suspect_labels(model, least_score=given.get("least_score", 0.5)),
        model.label_sets(coverage),
        model.predict_sets(X, coverage),
        model.refit(y, audit=given.get("audit")).error_estimate_,
    ]


def partial_labels(case: Case) -> Any:
    _, y = made(case)
    labels = labelfold.PartialLabels.from_y(y, n_samples=len(case.rows))
    again = labelfold.PartialLabels.from_y(labels.to_y())
    assert (again.codes == labels.codes).all(), "labels read back are others"
    return labels.membership


def hidden_labels(case: Case) -> Any:
    _, y = made(case)
    size = case.parameters.get("n", 3)
    keep = evaluate.draw_labeled(y, size, random_state=case.parameters.get("random_state"))
    labelfold.hide_labels(y, keep=case.parameters.get("exclude", keep))
    return keep


def folds(case: Case) -> Any:
    X, y = made(case)
    return list(labelfold.LabeledKFold(**case.parameters).split(X, y))


def quality(name: str) -> Callable[[Case], Any]:
    def run(case: Case) -> Any:
        X, y = made(case)
        second = y if name == "knn_error" else case.new()
        return getattr(evaluate, name)(X, second, **case.parameters)

    return run


def calibrate(case: Case) -> Any:
    X, y = made(case)
    found = evidence.calibrate(X, y, **case.parameters)
    return found, found.distributions(X)


def error_estimate(case: Case) -> Any:
    X, y = made(case)
    classes = np.arange(case.n_columns)
    return evidence.estimate_error(X, y, case.parameters.get("counts", 3 * classes), classes)


def class_sizes(case: Case) -> Any:
    X, y = made(case)
    n = case.parameters.get("n", 3)
    return evidence.estimate_class_sizes(X, y, np.arange(case.n_columns), n)


def label_sets(case: Case) -> Any:
    X, y = made(case)
    threshold = evidence.find_threshold(X, y, case.parameters.get("coverage", 0.5))
    return threshold, evidence.choose_sets(X, y, case.parameters.get("least_score", threshold))


def interval(case: Case) -> Any:
    values = [value for row in case.rows for value in row]
    share, n = case.parameters.get("share", 0.5), case.parameters.get("n", 9)
    return intervals.wilson_interval(share, n), intervals.student_interval(values)


def scaler(case: Case) -> Any:
    X, _ = made(case)
    model = tables.AutoScaler(**case.parameters).fit(X)
    return model.transform(X), model.transform(case.new())


def preparation(case: Case) -> Any:
    X, _ = made(case)
    model = tables.make_preparation(X, **case.parameters)
    return model.fit_transform(X), model.transform(case.new())


# Files and the command line


@cache
def _model_file(number: int) -> bytes:
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = [
        PCA(2),
        labelfold.CCDR(1, n_neighbors=3),
        labelfold.LaplacianClassifier(n_neighbors=3),
    ][number]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.skops")
        labelfold.save(model.fit(X, np.arange(20) % 2), path, feature_names=list("abc"))
        return path.read_bytes()


def malformed_file(case: Case) -> Any:
    """A malformed file of tools/malformed_files.py and a command on it."""
    rng = np.random.default_rng(case.seed)
    kind, given = malformed_files.make(rng)
    command = given.commands[rng.integers(len(given.commands))]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.skops")
        model.write_bytes(_model_file(0))
        problem = malformed_files.check(given, command, model)
    assert problem is None, f"{kind}, {command}: {problem}"


def command(name: str) -> Callable[[Case], Any]:
    """A command on a table of the rows, which must end with a result or with one line."""

    def run(case: Case) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            data, out = Path(folder, "data.csv"), Path(folder, "out.csv")
            frame = pd.DataFrame(case.base())
            if case.labels is not None:
                column = pd.Series(case.labels, dtype=object)
                frame = pd.concat([frame, column.rename("kind")], axis=1)
            frame.to_csv(data, index=False)
            options = {"--labels": "kind"} if case.labels is not None else {}
            if name != "inspect":
                options["-o"] = str(out)
            options |= {"--methods": "pca,ccdr"} if name == "compare" else {}
            options |= {key: str(value) for key, value in case.parameters.items()}
            given = [part for pair in options.items() for part in pair]
            result = CliRunner().invoke(app, [name, str(data), "-q", *given])
            error = result.stderr
            assert result.exit_code in (0, 2), f"exit code {result.exit_code}: {error[-300:]}"
            assert "Traceback" not in error, error[-300:]
            assert "fault in" not in error, error[-300:]
            if result.exit_code == 2:
                assert not out.exists(), "a file is left by a command that failed"
                assert error, "no word of what failed"
                raise labelfold.exceptions.InputError(error)
            if not out.exists():
                return result.stdout
            table = pd.read_csv(out, keep_default_na=False)
            return [str(value) for value in table.filter(regex="^[a-z]+[0-9]+$").to_numpy().ravel()]

    return run


OPTIONS = {
    "--dims": ("0", "1", "2", "3", "auto", "-1", "x", "1e3", "99999", ""),
    "--neighbors": ("0", "1", "3", "12", "-5", "x", "99999999999999999999"),
    "--beta": ("0", "1", "-1", "nan", "inf", "1e300", "1e-300", "x"),
    "--set": (
        "weights=binary",
        "radius=nan",
        "metric=cosine",
        "x=1",
        "=",
        "scale=-1",
        "a",
        "rank=x",
    ),
    "--scale": ("auto", "none", "standard", "quantile", "x"),
    "--seed": ("0", "-1", "4294967296", "x"),
    "--jobs": ("1", "0", "-1", "-100000", "x"),
    "--folds": ("2", "3", "1", "0", "-1", "x"),
    "--head": ("ridge", "linear", "knn", "x"),
    "--labels": ("kind", "0", "1", "2", "-1", "none", ""),
    "--features": ("0", "1", "*", "[", "", "kind"),
    "--ignore": ("0", "1", "*", "9", ""),
    "--id-column": ("0", "kind", "9", ""),
    "--coverage": ("0.9", "0", "1", "2", "nan", "x"),
    "--permutations": ("1", "0", "-1", "x"),
    "--least-score": ("0", "0.5", "1", "2", "nan"),
    "-n": ("1", "0", "-1", "1000", "x"),
    "--audit": ("1", "0", "-1", "1000", "kind"),
    "--format": ("csv", "tsv", "parquet", "npy", "x"),
    "--method": ("ccdr", "laplacian", "pca", "lda", "lle", "mfa", "isomap", "x", "auto"),
}
OF_COMMANDS = {
    "embed": ("--dims", "--neighbors", "--beta", "--set", "--jobs", "--method", "--seed"),
    "classify": ("--method", "--head", "--dims", "--set", "--folds", "--coverage", "--seed"),
    "compare": ("--head", "--dims", "--neighbors", "--folds", "--seed"),
    "inspect": ("--neighbors",),
    "suggest": ("-n", "--audit", "--seed"),
    "review": ("--least-score", "--seed"),
}
OF_TABLES = ("--scale", "--labels", "--features", "--ignore", "--id-column", "--format")


def model_file(case: Case) -> Any:
    """A real model file of which something was changed, opened within bounded memory."""
    rng = np.random.default_rng(case.seed)
    content = mutated(_model_file(int(rng.integers(3))), rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.skops")
        path.write_bytes(content)
        with _watched():
            try:
                labelfold.load(path)
            except labelfold.exceptions.ModelFileError as error:
                if "MemoryError" in str(error):
                    raise MemoryError(error) from error
                raise


# What only code that a file brings along would do while the file is loaded.
FORBIDDEN = (
    *("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.remove", "os.rename"),
    *("socket.", "shutil.", "pickle.find_class", "ctypes."),
)
_watching: list[str] | None = None


@contextmanager
def _watched() -> Iterator[None]:
    """Raise AssertionError if code of a file ran."""
    global _watching
    _install_hook()
    _watching = []
    try:
        yield
    finally:
        seen, _watching = _watching, None
        assert not seen, f"code ran: {seen[0]}"


@cache
def _install_hook() -> None:
    def hook(event: str, arguments: Any) -> None:
        if _watching is not None and event.startswith(FORBIDDEN):
            _watching.append(event)

    sys.addaudithook(hook)


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with bits, sizes, members, types or nesting changed."""
    kind = rng.integers(6)
    if kind == 0:  # bits
        changed = bytearray(content)
        for place in rng.integers(len(content), size=int(rng.integers(1, 9))).tolist():
            changed[place] ^= 1 << int(rng.integers(8))
        return bytes(changed)
    if kind == 1:  # size
        start, end = sorted(rng.integers(len(content) + 1, size=2).tolist())
        return [content[:end], content[:start] + content[end:], content + content[start:end]][
            rng.integers(3)
        ]
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    names = sorted(members)
    name = names[rng.integers(len(names))]
    if kind == 2:  # a member that is missing, empty, of other content, or doubled
        if rng.random() < 0.5:
            del members[name]
        else:
            members[name] = [b"", members[names[0]], rng.bytes(50), members[name] * 2][
                rng.integers(4)
            ]
    elif kind == 3:  # arrays whose header lies
        arrays = [name for name in names if name.endswith(".npy")]
        if arrays:
            name = arrays[rng.integers(len(arrays))]
            shape = [b"(99999999999,)", b"(-1, 3)", b"(2, 2, 2)", b"((),)", b"(9" * 30][
                rng.integers(5)
            ]
            head, _, rest = members[name].partition(b"'shape': ")
            _, _, rest = rest.partition(b")")
            members[name] = head + b"'shape': " + shape + rest
    else:  # types, values and nesting in the description
        name = "schema.json" if kind == 4 or rng.random() < 0.7 else "labelfold.json"
        members[name] = _changed_text(members[name], rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(
        stream, "w", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED][rng.integers(2)]
    ) as file:
        for name, value in members.items():
            file.writestr(name, value)
    return stream.getvalue()


TOKENS = (
    *(
        b"null",
        b"[]",
        b"{}",
        b"-1",
        b"1e999",
        b"NaN",
        b'"builtins"',
        b'"eval"',
        b'"os"',
        b'"system"',
    ),
    *(
        b'"__reduce__"',
        b'"subprocess"',
        b'"Popen"',
        b'"ReduceNode"',
        b'"TypeNode"',
        b'"FunctionNode"',
    ),
    *(
        b'"ObjectNode"',
        b'"NdArrayNode"',
        b'"MethodNode"',
        b'"ListNode"',
        b'"SliceNode"',
        b"99999999999",
    ),
    *(b"[" * 3000 + b"]" * 3000, b'{"a":' * 3000 + b"1" + b"}" * 3000, b'"\\ud800"', b"true"),
)


def _changed_text(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace values of a JSON text by others."""
    parts = content.replace(b"\n", b" ").split(b": ")
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(1, len(parts))) if len(parts) > 1 else 0
        value, comma, rest = parts[place].partition(b",")
        if rng.random() < 0.3 and place:
            value = parts[int(rng.integers(1, len(parts)))].partition(b",")[0]
        else:
            value = TOKENS[rng.integers(len(TOKENS))]
        parts[place] = value + comma + rest
    return b": ".join(parts)


OF_DISTRIBUTIONS = ("calibrate", "estimate_error", "estimate_class_sizes", "label_sets")
EVIDENCE = ("n", "exclude", "least_score", "coverage", "audit")
SUBJECTS: dict[str, Subject] = {
    **_estimators(),
    "NeighborGraph": Subject(
        graph,
        ("n_neighbors", "radius", "metric", "weights", "scale", "one_sided", "random_state"),
        3,
    ),
    "evidence": Subject(classifier, EVIDENCE, 1, is_quick=False),
    "PartialLabels": Subject(partial_labels, (), 3),
    "hide_labels": Subject(hidden_labels, ("n", "exclude", "random_state"), 2),
    "LabeledKFold": Subject(folds, ("n_splits", "shuffle", "random_state")),
    **{
        name: Subject(quality(name), ("n_neighbors", "metric", "n_rows", "random_state"))
        for name in ("trustworthiness", "continuity")
    },
    "knn_error": Subject(quality("knn_error"), ("n_neighbors",)),
    "calibrate": Subject(calibrate, ("sample",)),
    "estimate_error": Subject(error_estimate, ("counts",)),
    "estimate_class_sizes": Subject(class_sizes, ("n",)),
    "label_sets": Subject(label_sets, ("coverage", "least_score")),
    "intervals": Subject(interval, ("share", "n")),
    "AutoScaler": Subject(scaler, ("method",), 2),
    "make_preparation": Subject(preparation, ("labels", "scale"), 2),
    "malformed file": Subject(malformed_file, (), 2, is_quick=False),
    "model file": Subject(model_file, (), 3),
    **{
        f"labelfold {name}": Subject(command(name), (*options, *OF_TABLES), 0.5, is_quick=False)
        for name, options in OF_COMMANDS.items()
    },
}


def numbers_in(results: Any, name: str = "", depth: int = 6) -> list[tuple[str, Any]]:
    """Return all arrays and numbers that results hold, each with its place."""
    if isinstance(results, np.ndarray) and results.dtype.kind in "fc":
        return [(name, results)]
    if isinstance(results, float):
        return [(name, results)]
    if isinstance(results, str) and results.lower() in ("nan", "inf", "-inf"):
        return [(name, math.nan)]
    if depth == 0 or isinstance(results, (str, bytes, type)):
        return []
    inner: list[tuple[str, Any]] = []
    if isinstance(results, dict):
        inner = [(str(key), value) for key, value in results.items()]
    elif isinstance(results, (list, tuple)) or (
        isinstance(results, np.ndarray) and results.dtype == object
    ):
        inner = [("", value) for value in results]
    elif hasattr(results, "tocsr"):
        inner = [("data", results.tocoo().data)]
    elif type(results).__module__.startswith("labelfold") and hasattr(results, "__dict__"):
        inner = list(vars(results).items())
    return [
        found
        for key, value in inner
        for found in numbers_in(value, f"{name}.{key}" if key else name, depth - 1)
    ]
