"""Fits that are stopped, by SIGKILL too, go on from their folder to the same bits."""

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import labelfold
from labelfold import (
    CCDR,
    FewLabelClassifier,
    GraphLayout,
    LaplacianClassifier,
    LaplacianEigenmaps,
    ManifoldClassifier,
    NeighborGraph,
    checkpoint_folder,
    checks,
)
from labelfold.exceptions import CheckpointWarning, InputError
from labelfold.graph.search import InvertedFileIndex
from labelfold.layout.descent import is_available
from labelfold.solvers.eigen import chebyshev
from labelfold.solvers.eigen.operator import LaplacianOperator

ROWS = 9000


def make_rows(n=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    X = np.sin(rng.random((n, 3)) @ rng.normal(size=(3, 12)) * 2).astype(np.float32)
    y = np.full(n, -1)
    y[:60] = np.argmax(X[:60, :3], axis=1)
    return X, y


@pytest.fixture(scope="module")
def data():
    return make_rows()


@pytest.fixture
def often(monkeypatch):
    """Save after every step, of blocks of 4,096 rows."""
    monkeypatch.setattr(checkpoint_folder, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint_folder, "LEAST_RATIO", 0.0)
    monkeypatch.setattr(checks, "ENTRIES_AT_ONCE", 1)


@pytest.fixture(scope="module", autouse=True)
def as_large():
    """Take the paths of large graphs: the compiled kernel, and blocks in float32."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chebyshev, "COMPILE_ENTRIES", 0)
        patch.setattr(chebyshev, "LONG", 0)
        yield


class Stopped(BaseException):
    pass


@contextlib.contextmanager
def stopped_after(n_saves):
    """Stop the work in the block right after so many files were saved."""
    save, left = checkpoint_folder._Folder.save, n_saves

    def save_and_stop(folder, name, arrays):
        nonlocal left
        is_saved = save(folder, name, arrays)
        left -= 1
        if left == 0:
            raise Stopped
        return is_saved

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Stopped):
        patch.setattr(checkpoint_folder._Folder, "save", save_and_stop)
        yield


@contextlib.contextmanager
def counted():
    """Count blocks of rows that are searched, and panels that are filtered."""
    counts, search, filter_ = Counter(), InvertedFileIndex.search_lists, LaplacianOperator.filter

    def counting_search(self, *args, own):
        counts["blocks"] += 1
        return search(self, *args, own=own)

    def counting_filter(self, *args):
        counts["filters"] += 1
        return filter_(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InvertedFileIndex, "search_lists", counting_search)
        patch.setattr(LaplacianOperator, "filter", counting_filter)
        yield counts


def embed(X, y, folder=None, *, solver="chebyshev", **parameters):
    model = CCDR(
        12, n_neighbors=8, neighbor_search="approximate", eigen_solver=solver, **parameters
    )
    with contextlib.nullcontext() if folder is None else labelfold.checkpoints(folder):
        return model.fit(X, y)


def assert_same(model, expected):
    graph, other = model.graph_, expected.graph_
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(
            getattr(graph.distances, name), getattr(other.distances, name)
        )
    np.testing.assert_array_equal(graph.adjacency.data, other.adjacency.data)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    np.testing.assert_array_equal(model.eigenvalues_, expected.eigenvalues_)
    assert model.certificate_.n_products == expected.certificate_.n_products
    assert graph.search == other.search


@pytest.fixture(scope="module")
def uninterrupted(data, as_large):
    return {solver: embed(*data, solver=solver) for solver in ("chebyshev", "arpack")}


@pytest.mark.parametrize("solver", ["chebyshev", "arpack"])
def test_stopped_again_and_again_no_work_is_repeated(solver, data, uninterrupted, often, tmp_path):
    with counted() as whole, labelfold.checkpoints(tmp_path / "whole"):
        assert_same(embed(*data, tmp_path / "whole", solver=solver), uninterrupted[solver])
    with counted() as parts:
        model = None
        for _ in range(100):
            with stopped_after(9):
                model = embed(*data, tmp_path / "parts", solver=solver)
            if model is not None:
                break
    assert_same(model, uninterrupted[solver])
    assert parts == whole


def test_a_finished_run_leaves_two_files_and_a_rerun_neither_searches_nor_filters(
    data, uninterrupted, often, tmp_path
):
    embed(*data, tmp_path)
    names = sorted(path.name.partition("-")[0] for path in tmp_path.iterdir())
    assert names == ["eigenpairs", "graph"]
    with counted() as counts:
        model = embed(*data, tmp_path)
    assert not counts
    assert_same(model, uninterrupted["chebyshev"])
    # New rows are searched in lists that are filled now.
    np.testing.assert_array_equal(
        model.transform(data[0][:5] + 0.01),
        uninterrupted["chebyshev"].transform(data[0][:5] + 0.01),
    )


def change_a_row(X, y):
    X = X.copy()
    X[5, 3] += 1e-6
    return X, y, {}


def change_the_type(X, y):
    return X.astype(np.float64), y, {}


def change_the_order(X, y):
    return X[::-1].copy(), y, {}


def change_the_neighbors(X, y):
    return X, y, {"n_neighbors": 9}


def change_the_seed(X, y):
    return X, y, {"random_state": 5}


def change_the_metric(X, y):
    return X, y, {"metric": "cosine"}


@pytest.mark.parametrize(
    "change",
    [
        change_a_row,
        change_the_type,
        change_the_order,
        change_the_neighbors,
        change_the_seed,
        change_the_metric,
    ],
)
def test_lists_of_other_rows_or_parameters_are_not_found(change, data, often, tmp_path):
    settings = {"n_neighbors": 8, "neighbor_search": "approximate"}
    with labelfold.checkpoints(tmp_path):
        NeighborGraph.build(data[0], **settings)
        X, _, changed = change(*data)
        with counted() as counts:
            graph = NeighborGraph.build(X, **{**settings, **changed})
    assert counts["blocks"]
    expected = NeighborGraph.build(X, **{**settings, **changed})
    np.testing.assert_array_equal(graph.adjacency.data, expected.adjacency.data)


def test_eigenpairs_of_other_labels_or_numbers_are_not_found(data, often, tmp_path):
    X, y = data
    embed(X, y, tmp_path)
    other = y.copy()
    other[200] = 1
    for labels, parameters in ((other, {}), (y, {"beta": 0.5})):
        with counted() as counts:
            model = embed(X, labels, tmp_path, **parameters)
        assert counts["filters"]
        assert not counts["blocks"]
        np.testing.assert_array_equal(model.embedding_, embed(X, labels, **parameters).embedding_)


def test_another_version_finds_nothing(data, often, tmp_path, monkeypatch):
    embed(*data, tmp_path)
    monkeypatch.setattr(checkpoint_folder, "_versions", lambda: ("another",))
    with counted() as counts:
        embed(*data, tmp_path)
    assert counts["blocks"]
    assert counts["filters"]


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 4
    path.write_bytes(content)


def shorten_an_array(path):
    with np.load(path) as file:
        arrays = dict(file)
    shape = f"({max(arrays.values(), key=np.size).shape[0]},".encode()
    assert path.read_bytes().count(shape)
    shorter = b"(" + b"1" + shape[2:]
    path.write_bytes(path.read_bytes().replace(shape, shorter))


def pickle_something(path):
    with np.load(path) as file:
        names = list(file)
    np.savez(path, **{name: np.array([{}], dtype=object) for name in names})


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("damage", "n_saves"),
    [
        (truncate, 12),
        (truncate, 1000),
        (flip_a_bit, 5),
        (flip_a_bit, 12),
        (flip_a_bit, 1000),
        (shorten_an_array, 12),
        (pickle_something, 1000),
        (empty, 1000),
    ],
)
def test_damaged_files_are_not_used(damage, n_saves, data, uninterrupted, often, tmp_path):
    with stopped_after(n_saves):
        embed(*data, tmp_path)
    for path in tmp_path.iterdir():
        if "part" not in path.name or path.stat().st_size > 2000:
            damage(path)
    assert_same(embed(*data, tmp_path), uninterrupted["chebyshev"])


def test_two_runs_at_once_share_a_folder(data, uninterrupted, often, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(embed, *data, tmp_path) for _ in range(2)]
    for run in runs:
        assert_same(run.result(), uninterrupted["chebyshev"])
    with counted() as counts:
        assert_same(embed(*data, tmp_path), uninterrupted["chebyshev"])
    assert not counts
    assert len(list(tmp_path.iterdir())) == 2


def test_files_that_a_kill_left_behind_are_removed_and_others_kept(tmp_path):
    left = tmp_path / "graph-0123.npz.89ab.tmp"
    own = tmp_path / "notes.tmp"
    left.write_bytes(b"")
    own.write_bytes(b"")
    with labelfold.checkpoints(tmp_path):
        assert not left.exists()
    assert list(tmp_path.iterdir()) == [own]


def test_quick_fits_leave_nothing(data, tmp_path):
    with labelfold.checkpoints(tmp_path):
        LaplacianEigenmaps().fit(data[0][:300])
    assert not list(tmp_path.iterdir())


def test_after_the_block_nothing_is_saved(data, often, tmp_path):
    with labelfold.checkpoints(tmp_path):
        pass
    LaplacianEigenmaps().fit(data[0][:300])
    assert not list(tmp_path.iterdir())


def test_a_metric_of_the_users_is_not_kept(data, often, tmp_path):
    with labelfold.checkpoints(tmp_path):
        NeighborGraph.build(data[0][:50], metric=lambda a, b: np.abs(a - b).sum())
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file, file / "folder"):
        refused = pytest.raises(InputError, match="checkpoints cannot be written to")
        with refused, labelfold.checkpoints(folder):
            pass


def test_too_little_room_is_an_error_before_the_search(data, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    with labelfold.checkpoints(tmp_path):
        monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10**6))
        with counted() as counts, pytest.raises(InputError, match=r"0\.001 GB are free"):
            embed(*data)
    assert not counts


def test_a_disk_that_fills_up_ends_saving_with_one_warning(
    data, uninterrupted, often, tmp_path, monkeypatch
):
    write, n_writes = checkpoint_folder._Folder._write, 0

    def fill_up(*args, **options):
        nonlocal n_writes
        n_writes += 1
        if n_writes > 3:
            raise OSError(28, "No space left on device")
        write(*args, **options)

    monkeypatch.setattr(checkpoint_folder._Folder, "_write", fill_up)
    with pytest.warns(CheckpointWarning, match="No space left on device") as warned:
        model = embed(*data, tmp_path)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert n_writes == 4
    assert_same(model, uninterrupted["chebyshev"])
    monkeypatch.setattr(checkpoint_folder._Folder, "_write", write)
    assert_same(embed(*data, tmp_path), uninterrupted["chebyshev"])


def test_saves_are_rare_if_they_take_long(tmp_path, monkeypatch):
    now, saved = 0.0, []
    monkeypatch.setattr(time, "monotonic", lambda: now)

    def save(folder, name, arrays):
        nonlocal now
        saved.append(now)
        now += 1.0
        return True

    monkeypatch.setattr(checkpoint_folder._Folder, "save", save)
    with labelfold.checkpoints(tmp_path), checkpoint_folder.task("work", 1):
        for _ in range(100):
            now += 0.5
            checkpoint_folder.save_state(dict)
    assert saved[0] == checkpoint_folder.LEAST_SECONDS
    assert np.all(np.diff(saved) >= 1 + checkpoint_folder.LEAST_RATIO)


def fit_few_labels(X, y):
    model = FewLabelClassifier(candidates=("mutual", "linear"), neighbor_search="approximate")
    return model.fit(X[:2000], y[:2000])


def fit_laplacian(X, y):
    return LaplacianClassifier(50, neighbor_search="approximate").fit(X[:2500], y[:2500])


def fit_manifold(X, y):
    embedder = CCDR(6, neighbor_search="approximate")
    return ManifoldClassifier(embedder).fit(X[:3000], y[:3000])


def fit_eigenmaps(X, y):
    return LaplacianEigenmaps(6, neighbor_search="approximate").fit(X[:3000])


def fit_layout(X, y):
    return GraphLayout(neighbor_search="approximate", random_state=0).fit(X[:500])


@pytest.mark.parametrize(
    "fit", [fit_few_labels, fit_laplacian, fit_manifold, fit_eigenmaps, fit_layout]
)
def test_every_estimator_goes_on(fit, data, often, tmp_path):
    if fit is fit_layout and not is_available():
        pytest.skip("needs openTSNE")
    expected, model = fit(*data), None
    for n_saves in (3, 6, 1000):
        with labelfold.checkpoints(tmp_path), stopped_after(n_saves):
            model = fit(*data)
    for name in ("embedding_", "label_distributions_"):
        if hasattr(expected, name):
            np.testing.assert_array_equal(getattr(model, name), getattr(expected, name))


# Fits whenever asked, each in a child that may be killed: it need not start Python.
PROGRAM = """
import hashlib, os, sys
import labelfold
from labelfold import checkpoint_folder, checks
from labelfold.solvers.eigen import chebyshev
from test_checkpoints import make_rows, result_of

checkpoint_folder.LEAST_SECONDS, checks.ENTRIES_AT_ONCE = 0.02, 1
chebyshev.COMPILE_ENTRIES = chebyshev.LONG = 0
X, y = make_rows()
for folder in sys.stdin:
    child = os.fork()
    if child == 0:
        print(os.getpid(), flush=True)
        print(result_of(X, y, folder.strip()), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


def result_of(X, y, folder=None):
    model = embed(X, y, folder)
    digest = hashlib.sha256(model.embedding_.tobytes())
    digest.update(model.graph_.distances.data.tobytes() + model.graph_.adjacency.data.tobytes())
    return digest.hexdigest()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no SIGKILL here")
def test_killed_at_random_moments(data, tmp_path):
    expected = result_of(*data)
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    rng = np.random.default_rng(0)
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as program:

        def run(folder, seconds=None):
            print(folder, file=program.stdin, flush=True)
            child = int(program.stdout.readline())
            if seconds is not None:
                time.sleep(seconds)
                with contextlib.suppress(ProcessLookupError):  # it was faster
                    os.kill(child, signal.SIGKILL)
            result = program.stdout.readline().strip()
            if result != "ended":
                assert program.stdout.readline().strip() == "ended"
            return result

        begin = time.monotonic()
        assert run(tmp_path / "whole") == expected
        longest = time.monotonic() - begin
        for folder in ("one", "two"):  # five kills each
            for seconds in rng.uniform(0.05, 0.5 * longest, 5):
                assert run(tmp_path / folder, seconds) in ("ended", expected)
            assert run(tmp_path / folder) == expected
        program.stdin.close()
