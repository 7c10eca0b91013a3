"""Round trips of every estimator, and files that must not be opened."""

import contextlib
import dataclasses
import importlib
import inspect
import io
import json
import os
import pickle
import stat
import subprocess
import sys
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
from command_line import refused, run, write_csv
from method_cases import cases
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import Isomap
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import labelfold
from labelfold import (
    CCDR,
    LabeledKFold,
    LaplacianClassifier,
    LaplacianEigenmaps,
    LeastSquaresClassifier,
    ManifoldClassifier,
    MarginalFisherAnalysis,
    MaximumVarianceUnfolding,
    SupervisedLLE,
    TransductiveSearchCV,
)
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import ModelFileError, ModelVersionWarning
from labelfold.methods import declaration_of
from labelfold.persistence import contents, model_file

OUTPUTS = ("transform", "predict", "predict_proba", "decision_function")

POINTS, CLASSES, _ = make_swiss_roll(60, random_state=0)
POINTS[3] = POINTS[2]  # equal rows share their values
PARTIAL = np.where(np.arange(60) % 4 == 0, CLASSES, -1)
NEW = np.vstack([POINTS[:4], POINTS[4:40] + 0.05, [[100.0, -50.0, 20.0]]])
NAMES = np.array(["left", "right", "third", "fourth"], dtype=object)[CLASSES]
NAMED = np.where(PARTIAL == -1, None, NAMES)
MANY = np.random.default_rng(0).normal(size=(1500, 12))
FRAME = pd.DataFrame(POINTS, columns=["x", "height", "z"])
WITH_ZEROS = np.where(np.abs(POINTS) < 4, 0, POINTS)
DISTANCES = KNeighborsTransformer(mode="distance", n_neighbors=20).fit(POINTS)


def case(estimator, y=PARTIAL, X=POINTS, new=NEW):
    """An estimator, what it is fitted on, and new rows."""
    return estimator, X, y, new


def declared_cases():
    """Return every declared estimator with each of its examples."""
    found = {param.id: param.values[0] for param in cases()}
    complete = {name for name, one in found.items() if one.declaration.labels == "complete"}
    return {
        name: case(one, CLASSES if name in complete else PARTIAL) for name, one in found.items()
    }


def classifier(embedder, head):
    return case(ManifoldClassifier(embedder=embedder, head=head))


CASES = declared_cases() | {
    "eigenmaps, density": case(LaplacianEigenmaps(density_exponent=0.5, diffusion_time=2), None),
    "ccdr, cosine": case(CCDR(metric="cosine")),
    "ccdr, manhattan": case(CCDR(metric="manhattan", weights="binary")),
    "ccdr, in components": case(CCDR(n_neighbors=2)),
    "ccdr, radius": case(CCDR(radius=8.0, scale=np.linspace(1, 2, 60))),
    "ccdr, names": case(CCDR(), NAMED, FRAME, FRAME[:20] + 0.1),
    "ccdr, sparse": case(
        CCDR(), X=sp.csr_matrix(WITH_ZEROS), new=sp.csr_matrix(WITH_ZEROS[:9] * 1.01)
    ),
    "ccdr, given distances": case(
        CCDR(metric="precomputed", n_neighbors=8),
        X=DISTANCES.transform(POINTS),
        new=DISTANCES.transform(NEW),
    ),
    "ccdr, approximate": case(
        CCDR(neighbor_search="approximate", random_state=0, n_neighbors=6),
        np.arange(1500) % 3,
        MANY,
        MANY[:50] + 0.1,
    ),
    "lle, generator": case(SupervisedLLE(random_state=np.random.RandomState(3))),
    "fisher, kernel": case(MarginalFisherAnalysis(kernel="rbf"), CLASSES),
    "variance, manhattan": case(MaximumVarianceUnfolding(metric="manhattan", tol=0.1), None),
    "laplacian, names": case(LaplacianClassifier(penalty="auto"), NAMED.astype(object)),
    "laplacian, degree": case(
        LaplacianClassifier(normalization="degree", n_neighbors=2, metric="cosine")
    ),
    "manifold, neighbors": classifier(LaplacianEigenmaps(), KNeighborsClassifier(3)),
    "manifold, of others": classifier(make_pipeline(StandardScaler(), Isomap()), SVC()),
    "manifold, perceptron": classifier(PCA(2), MLPClassifier((4,), max_iter=20)),
    "manifold, selected": classifier(
        make_pipeline(SimpleImputer(), SelectKBest(k=2), CCDR()),
        CalibratedClassifierCV(LogisticRegression(), cv=2),
    ),
    "search": case(
        TransductiveSearchCV(
            ManifoldClassifier(embedder=CCDR(3)), {"embedder__beta": [0.1, 1.0]}, cv=LabeledKFold(3)
        )
    ),
    "search, other rows": case(
        GridSearchCV(
            make_pipeline(PCA(2), LaplacianClassifier()),
            {"laplacianclassifier__n_neighbors": range(4, 6), "pca": [PCA(2), StandardScaler()]},
            cv=StratifiedKFold(2),
            scoring="f1_macro",
        ),
        CLASSES,
    ),
    "pipeline": case(make_pipeline(StandardScaler(), CCDR(), SVC()), CLASSES),
}


@pytest.fixture(scope="module")
def fitted():
    """Models by name, each fitted once."""
    models = {}

    def fit(name):
        if name not in models:
            estimator, X, y, _ = CASES[name]
            models[name] = estimator.fit(X, y)
        return models[name]

    return fit


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.fixture
def saved(fitted, path):
    labelfold.save(fitted("CCDR-0"), path)
    return path


def cannot_load(path, words=None):
    with pytest.raises(ModelFileError, match=words):
        labelfold.load(path)


def assert_same(a, b, place="model"):
    """Compare everything that two objects are made of, to the last bit."""
    assert type(a) is type(b), place
    if isinstance(a, np.ma.MaskedArray):
        assert_same(a.mask, b.mask, place)
        assert_same(a.data, b.data, place)
    elif isinstance(a, np.ndarray) and a.dtype == object:
        assert_same(a.tolist(), b.tolist(), place)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, place
        np.testing.assert_array_equal(a, b, err_msg=place)
    elif sp.issparse(a):
        for part in ("data", "indices", "indptr"):  # SciPy chooses the integers of the latter two
            np.testing.assert_array_equal(getattr(a, part), getattr(b, part), err_msg=place)
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), place
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_same(one, other, f"{place}[{i}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), place
        for key in a:
            assert_same(a[key], b[key], f"{place}[{key!r}]")
    elif isinstance(a, np.random.RandomState):
        assert_same(a.get_state(), b.get_state(), place)
    elif hasattr(a, "__dict__") and not inspect.isroutine(a):
        for name in attributes_of(a):
            assert_same(getattr(a, name), getattr(b, name), f"{place}.{name}")
    elif isinstance(a, float) and np.isnan(a):
        assert np.isnan(b), place
    elif type(a).__name__ not in ("KDTree", "BallTree"):
        assert a == b, place


def attributes_of(value):
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    # Computed when first asked for, and what a scorer without a metric was made with.
    others = ("_lists", "extension", "_estimator", "_metadata_request")
    return [name for name in vars(value) if name not in others]


def outputs(model, X):
    """Return what a model says of rows, by method."""
    return {name: getattr(model, name)(X) for name in OUTPUTS if hasattr(model, name)}


# ---- round trips


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_round_trip(fitted, path, name):
    model, X = fitted(name), CASES[name][3]
    labelfold.save(model, path)
    again = labelfold.load(path)
    assert_same(model, again)
    assert_same(outputs(model, X), outputs(again, X), name)
    labelfold.save(again, path)  # by now with all that is computed when first asked for
    assert_same(outputs(model, X), outputs(labelfold.load(path), X), name)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_compact_says_the_same_of_new_rows(fitted, path, name):
    model, X = fitted(name), CASES[name][3]
    before = dict(vars(model))
    labelfold.save(model, path)
    size = path.stat().st_size
    labelfold.save(model, path, compact=True)
    again = labelfold.load(path)
    assert_same(outputs(model, X), outputs(again, X), name)
    declaration = declaration_of(model)
    has_less = declaration is None or declaration.only_in_fit
    if has_less and name not in ("manifold, of others", "manifold, perceptron"):
        assert path.stat().st_size < 0.95 * size
    if hasattr(model, "certificate_"):
        assert str(again.certificate_) == str(model.certificate_)
    assert vars(model).keys() >= before.keys()
    assert all(vars(model)[key] is value for key, value in before.items())
    labelfold.save(again, path)
    assert_same(outputs(model, X), outputs(labelfold.load(path), X), name)


@pytest.mark.parametrize("name", contents.OF_LIBRARIES)
def test_trusted_names_exist(name):
    module, _, kind = name.rpartition(".")
    found = getattr(importlib.import_module(module), kind)
    assert inspect.isclass(found) or module.startswith("sklearn.feature_selection.")


def test_another_process_says_the_same(fitted, path, tmp_path):
    model = fitted("LaplacianClassifier-0")
    labelfold.save(model, path)
    np.save(tmp_path / "new.npy", NEW)
    code = (
        "import sys, numpy, labelfold; assert 'skops' not in sys.modules;"
        "model = labelfold.load(sys.argv[1]); X = numpy.load(sys.argv[2]);"
        "numpy.save(sys.argv[2], model.decision_function(X))"
    )
    subprocess.run([sys.executable, "-c", code, path, tmp_path / "new.npy"], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "new.npy"), model.decision_function(NEW))


def test_neighbor_searches_are_stored_as_arrays(fitted, path):
    for name in ("CCDR-0", "ccdr, approximate", "manifold, neighbors"):
        labelfold.save(fitted(name), path)
        schema = zipfile.ZipFile(path).read("schema.json")
        for library_object in (b"KDTree", b"NearestNeighbors", b"faiss", b"DistanceMetric"):
            assert library_object not in schema


def test_rebuilt_tree_finds_the_same(path):
    for metric in ({"metric": "minkowski", "p": 3}, {"algorithm": "ball_tree"}):
        model = KNeighborsClassifier(4, leaf_size=7, **metric).fit(POINTS, CLASSES)
        labelfold.save(model, path)
        assert_same(model.kneighbors(NEW), labelfold.load(path).kneighbors(NEW))


def test_keys_of_dictionaries(path):
    for keys in ([0, 1, 2], ["a", "b", "1"], np.arange(3), [0.5, 1.5, 2.5]):
        weight = dict(zip(keys, (1.0, 2.0, 3.0), strict=True))
        model = LogisticRegression().fit(POINTS, CLASSES).set_params(class_weight=weight)
        labelfold.save(model, path)
        assert_same(labelfold.load(path).class_weight, weight)


def test_search_scores_after_loading(fitted, path):
    for name in ("search", "search, other rows"):
        model = fitted(name)
        labelfold.save(model, path)
        assert labelfold.load(path).score(POINTS, CLASSES) == model.score(POINTS, CLASSES)


def test_loaded_graph_serves_another_fit(fitted, path):
    model = fitted("CCDR-0")
    labelfold.save(model, path)
    graph = labelfold.load(str(path)).graph_
    assert not graph.adjacency.data.flags.writeable
    assert_same(CCDR().fit(POINTS, PARTIAL, graph=graph).embedding_, model.embedding_)


def test_new_rows_join_a_loaded_embedding(fitted, path):
    for name in ("CCDR-0", "ccdr, approximate", "eigenmaps, density"):
        model, X = fitted(name), CASES[name][3]
        labelfold.save(model, path)
        assert_same(labelfold.load(path).transform_jointly(X), model.transform_jointly(X), name)


# ---- the compact form


def test_compact_graph_says_what_is_missing(fitted, path):
    labelfold.save(fitted("ccdr, in components"), path, compact=True)
    graph = labelfold.load(path).graph_
    missing = [
        "distances",
        "adjacency",
        "occurrences",
        "bridges",
        "unbridged",
        "connected_components",
    ]
    for name in [*missing, "statistics"]:
        with pytest.raises(AttributeError, match=f"{name} of the graph .* compact=False"):
            getattr(graph, name)
    with pytest.raises(AttributeError, match="compact=False"):
        graph.bridged()
    with pytest.raises(AttributeError, match="compact=False"):
        labelfold.load(path).transform_jointly(NEW)
    assert graph.n_points == 60
    assert "n_points=60" in repr(graph)
    assert graph.search == fitted("ccdr, in components").graph_.search


def test_compact_model_can_be_fitted_again(fitted, path):
    for name in ("CCDR-0", "IsometricSeparationMap-0", "LaplacianClassifier-0"):
        labelfold.save(fitted(name), path, compact=True)
        again = labelfold.load(path)
        assert not hasattr(again, "gram_factor_")
        assert not hasattr(again, "transduction_")
        assert_same(again.fit(*CASES[name][1:3]).graph_.adjacency, fitted(name).graph_.adjacency)


def test_compact_leaves_given_distances_out(path):
    between = np.linalg.norm(MANY[:400, None] - MANY[:400], axis=2)
    model = CCDR(metric="precomputed").fit(between, np.arange(400) % 3)
    labelfold.save(model, path, compact=True)
    assert path.stat().st_size < 0.05 * between.nbytes
    again = labelfold.load(path)
    assert_same(again.transform(between[:9] + 0.1), model.transform(between[:9] + 0.1))
    with pytest.raises(ValueError, match="other rows"):
        CCDR(metric="precomputed").fit(between, graph=again.graph_)


# ---- what cannot be saved


def nearness(a, b):
    return float(np.abs(a - b).max())


class Doubler(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return 2 * X


REFUSED = {
    "function": (CCDR(metric=nearness), "^CCDR cannot be saved with .*nearness as metric: "),
    "lambda": (
        CCDR(weights=lambda d, s: 1 / (1 + d)),
        "^CCDR cannot be saved with .*<lambda> as weights: ",
    ),
    "ufunc of others": (CCDR(weights=np.frompyfunc(max, 2, 1)), "^CCDR cannot be saved"),
    "step": (
        make_pipeline(Doubler(), CCDR()),
        r"^Pipeline cannot be saved with .*Doubler as steps\[0\]\[1\]: ",
    ),
    "head": (
        ManifoldClassifier(embedder=PCA(2), head=RandomForestClassifier(2)),
        r"^ManifoldClassifier .* sklearn.tree._tree.Tree as head_.estimators_\[0\].tree_: ",
    ),
    "scoring": (
        GridSearchCV(
            LeastSquaresClassifier(), {"fit_intercept": [True]}, scoring=lambda e, X, y: 0.0
        ),
        "^GridSearchCV .* as scoring: ",
    ),
    "keys": (
        LogisticRegression(class_weight={False: 1.0, True: 2.0}),
        "^LogisticRegression .* the keys of class_weight, ",
    ),
    "subclass": (type("Mine", (CCDR,), {})(), "^Mine cannot be saved with .*Mine: "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_what_only_code_can_restore(path, name):
    estimator, message = REFUSED[name]
    y = CLASSES == 1 if name == "keys" else CLASSES
    path.write_bytes(b"old")
    with pytest.raises(TypeError, match=message):
        labelfold.save(estimator.fit(POINTS, y), path)
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == [path.name]


def test_refuses_what_is_not_fitted(path):
    with pytest.raises(NotFittedError):
        labelfold.save(CCDR(), path)
    with pytest.raises(TypeError, match="type NeighborGraph: save takes fitted estimators"):
        labelfold.save(CCDR().build_graph(POINTS), path)
    assert not path.exists()


# ---- writing


def test_interrupted_save_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def stop(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(OSError, match="disk full"):
        labelfold.save(LeastSquaresClassifier().fit(POINTS, CLASSES), saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_replaces_the_file_behind_a_link(saved):
    link = saved.with_name("link")
    link.symlink_to(saved)
    saved.chmod(0o640)
    labelfold.save(LeastSquaresClassifier().fit(POINTS, CLASSES), str(link))
    assert link.is_symlink()
    assert stat.S_IMODE(saved.stat().st_mode) == 0o640
    assert isinstance(labelfold.load(saved), LeastSquaresClassifier)


def test_says_where_it_cannot_write(fitted, tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        labelfold.save(fitted("CCDR-0"), tmp_path)
    with pytest.raises(FileNotFoundError, match="folder that does not exist"):
        labelfold.save(fitted("CCDR-0"), tmp_path / "no" / "model.skops")


# ---- files that are not as they were written


@pytest.fixture(scope="module")
def content(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "model.skops"
    labelfold.save(fitted("CCDR-0"), path, compact=True)
    return path.read_bytes()


def test_truncated_file(content, path):
    rng = np.random.default_rng(0)
    for length in {0, 1, 3, 4, len(content) - 1, *rng.integers(len(content), size=150).tolist()}:
        path.write_bytes(content[:length])
        cannot_load(path, r"truncated or damaged|not a file that")


def test_damaged_file(content, path, fitted):
    # Some bits mean nothing, such as the dates of members.
    rng = np.random.default_rng(1)
    expected, refused = fitted("CCDR-0").transform(NEW), 0
    for place in {0, len(content) - 1, *rng.integers(len(content), size=250).tolist()}:
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            assert_same(labelfold.load(path).transform(NEW), expected)
        except ModelFileError:
            refused += 1
    assert refused > 200


def test_other_kinds(fitted, path):
    model = fitted("CCDR-0")
    joblib.dump(model, path)
    cannot_load(path, "is a pickle")
    path.write_bytes(pickle.dumps(model, protocol=2))
    cannot_load(path, "is a pickle")
    skops.io.dump(PCA().fit(POINTS), path)
    cannot_load(path, r"no readable labelfold\.json")
    np.savez(path.with_suffix(".npz"), POINTS)
    cannot_load(path.with_suffix(".npz"), r"no readable labelfold\.json")
    for text in (b"x,y\n1,2\n", b"\x93NUMPY", b"\0" * 5000):
        path.write_bytes(text)
        cannot_load(path)
    with pytest.raises(FileNotFoundError):
        labelfold.load(path.with_name("none"))


# ---- files that somebody made


def members_of(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def forge(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, value in members.items():
            file.writestr(name, value)


def with_root(members, root):
    schema = json.loads(members["schema.json"])
    root = {"protocol": schema["protocol"], "_skops_version": schema["_skops_version"], **root}
    return {**members, "schema.json": json.dumps(root).encode()}


def node(name, loader, **more):
    """What a file says of one object."""
    module, _, kind = name.rpartition(".")
    return {"__module__": module, "__class__": kind, "__loader__": loader, **more}


def text(value):
    return node("builtins.str", "JsonNode", content=json.dumps(value))


def row(*nodes):
    return node("builtins.tuple", "TupleNode", content=list(nodes))


def harm(sentinel):
    """Descriptions that would make a file if what they name were called."""
    command, called = row(text(f"touch {sentinel}")), "ConstructorFromReduceNode"
    place = row(text(str(sentinel)))
    function = node("os.system", "FunctionNode")
    keys = node("builtins.list", "ListNode", content=[])
    empty = node("builtins.dict", "DictNode", content={}, key_types=keys)
    yield node("os.system", called, content=command)
    yield function
    yield node("os.system", "TypeNode")
    yield node("os.system", "ObjectNode", content=empty)
    yield node("builtins.eval", called, content=row(text(f"open({str(sentinel)!r}, 'w')")))
    path = node("pathlib.PosixPath", called, content=place)
    yield node("pathlib.PosixPath", "MethodNode", content={"func": "touch", "obj": path})
    attributes = row(function, text(f"touch {sentinel}"))
    yield node("operator.call", "OperatorFuncNode", attrs=attributes)
    parts = {"func": function, "args": command, "kwds": empty, "namespace": empty}
    yield node("functools.partial", "PartialNode", content=parts)
    yield node("os.system", "NoSuchNode")
    # A function of ours that writes files, and a class that is not on the list.
    yield node("labelfold.persistence.save", "FunctionNode")
    yield node("labelfold.cli.output.OutputFiles", called, content=place)


@pytest.mark.parametrize("protocol", [0, 1, None])
def test_no_code_runs(saved, tmp_path, protocol):
    members, sentinel = members_of(saved), tmp_path / "sentinel"
    for node in harm(sentinel):
        hidden = json.loads(members["schema.json"])
        hidden["content"]["content"]["beta"] = node
        for root in (node, {**hidden, "__id__": 1}):
            forged = with_root(members, root)
            if protocol is not None:
                schema = {**json.loads(forged["schema.json"]), "protocol": protocol}
                forged["schema.json"] = json.dumps(schema).encode()
            forge(saved, forged)
            cannot_load(saved)
            assert not sentinel.exists()


def test_what_is_no_estimator_is_named(saved, tmp_path):
    members = members_of(saved)
    forge(saved, with_root(members, row(text("harmless"))))
    cannot_load(saved, "holds a tuple, not an estimator")
    forge(saved, with_root(members, next(harm("x"))))
    cannot_load(saved, r"holds os\.system, which labelfold does not know")
    rows = write_csv(tmp_path / "new.csv", NEW, names=["x", "height", "z"])
    refused(run("transform", saved, rows, "-o", tmp_path / "out.csv"), saved.name, "os.system")


def test_forged_description(saved):
    members = members_of(saved)
    rng = np.random.default_rng(2)
    schema = members["schema.json"]
    for _ in range(120):
        altered = bytearray(schema)
        for place in rng.integers(len(schema), size=3):
            altered[place] = rng.integers(32, 127)
        forge(saved, {**members, "schema.json": bytes(altered)})
        with contextlib.suppress(ModelFileError):  # a digit that nothing reads may be another
            labelfold.load(saved)
    for broken in (b"", b"[]", b"{}", b"null", b"[" * 10**5, b'{"protocol": 1e9}', b"\xff"):
        forge(saved, {**members, "schema.json": broken})
        cannot_load(saved)


def test_bombs(saved, monkeypatch):
    members = members_of(saved)
    monkeypatch.setattr(model_file.skops.io, "load", lambda *a, **k: pytest.fail("was opened"))
    forge(saved, {**members, "bomb.npy": bytes(2**27)}, zipfile.ZIP_DEFLATED)
    cannot_load(saved, "would unpack to more than")
    packed = io.BytesIO()
    np.savez_compressed(packed, np.zeros(2**24))
    forge(saved, {**members, "bomb.npz": packed.getvalue()})
    cannot_load(saved, "would unpack to more than")


def test_arrays_that_lie(saved):
    members = members_of(saved)
    array = next(name for name in members if name.endswith(".npy"))
    lies = [("<f8", 10**13, "says that its shape is"), ("<f8", -1, "says that its shape is")]
    for kind, length, message in [*lies, ("|O", 1, "cannot be restored")]:
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({length},), }}"
        header = header.ljust(117) + "\n"
        lie = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
        forge(saved, {**members, array: lie})
        cannot_load(saved, message)


# ---- versions


def with_manifest(saved, **changes):
    members = members_of(saved)
    manifest = json.loads(members["labelfold.json"])
    manifest["versions"].update(changes.pop("versions", {}))
    forge(saved, {**members, "labelfold.json": json.dumps({**manifest, **changes}).encode()})


def test_other_formats(saved):
    with_manifest(saved, format=99, versions={"labelfold": "9.1.0"})
    cannot_load(saved, r"labelfold 9\.1\.0 in format 99.*upgrade labelfold")
    with_manifest(saved, format=1)
    cannot_load(saved, r"in format 1.*fit and save again")


@pytest.mark.parametrize("name", ["labelfold", "scikit-learn"])
@pytest.mark.parametrize("version", ["0.0.7", "99.0"])
def test_another_release_is_reported(saved, fitted, name, version):
    with_manifest(saved, versions={name: version})
    with pytest.warns(ModelVersionWarning, match=f"with {name} {version} and .* Install") as record:
        model = labelfold.load(saved)
    assert record[0].filename == __file__
    assert_same(model.transform(NEW), fitted("CCDR-0").transform(NEW))


@pytest.mark.filterwarnings("error")
def test_a_bug_fix_release_is_not(saved):
    here = json.loads(members_of(saved)["labelfold.json"])["versions"]["labelfold"]
    with_manifest(saved, versions={"labelfold": here + ".post9", "numpy": "1.0", "scipy": "1.0"})
    labelfold.load(saved)


def test_newer_skops(saved):
    members = members_of(saved)
    schema = {**json.loads(members["schema.json"]), "protocol": 1000}
    forge(saved, {**members, "schema.json": json.dumps(schema).encode()})
    cannot_load(saved, r"schema\.json.*protocol 1000.*saved with labelfold")


def test_what_no_longer_fits_is_reported_with_versions(saved):
    members = members_of(saved)
    schema = json.loads(members["schema.json"])
    schema["content"]["content"]["graph_"]["__class__"] = "GraphRecipe"
    schema["content"]["content"]["graph_"]["content"] = text("no state")
    forge(saved, {**members, "schema.json": json.dumps(schema).encode()})
    cannot_load(saved, r"cannot be restored here .* numpy .*install these")


def test_broken_or_missing_manifest(saved):
    members = members_of(saved)
    for broken in (b"", b"[]", b"{}", b'{"format": "1", "versions": {}}'):
        forge(saved, {**members, "labelfold.json": broken})
        cannot_load(saved, r"labelfold\.json")
    del members["labelfold.json"]
    forge(saved, members)
    cannot_load(saved, r"no readable labelfold\.json")
