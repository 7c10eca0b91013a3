"""Search and labels on a real scheduler with two workers: right, and the same after kills."""

import json
import resource
import subprocess
import sys
import threading

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask_processes import ENVIRONMENT, Cluster, wait_until
from pyarrow import parquet
from sklearn.neighbors import NearestNeighbors

from labelfold import CCDR, FewLabelClassifier, ManifoldClassifier, load, save
from labelfold.distributed import (
    draw_sample,
    label_rows,
    label_rows_by_graph,
    open_rows,
    search_neighbors,
    store_rows,
)
from labelfold.exceptions import ApproximateSearchWarning, DisconnectedGraphWarning, InputError

N, D, K = 9_000, 30, 10
SEARCH = {"n_neighbors": K, "rows_per_block": 600}


def make_rows(n, d, n_classes=6):
    """Curved sheets of two dimensions, one per class, all far apart from each other."""
    rng = np.random.default_rng(0)
    classes = rng.integers(n_classes, size=n)
    flat = rng.uniform(-1, 1, (n, 2))
    curved = np.hstack([flat, np.sin(3 * flat), np.cos(2 * flat)])
    turns = rng.normal(size=(n_classes, curved.shape[1], d)) / 2
    X = np.einsum("ij,ijk->ik", curved, turns[classes]) + 0.02 * rng.normal(size=(n, d))
    return X.astype(np.float32), classes


X, CLASSES = make_rows(N, D)
LABELS = [f"class {c}" if row % 100 == 0 else None for row, c in enumerate(CLASSES)]


def write_rows(folder, X, labels, n_files=6):
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(X)), n_files)):
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(X[rows].ravel()), X.shape[1])
        cells = pa.array([labels[row] for row in rows], pa.string())
        table = pa.table({"id": rows, "vector": vectors, "kind": cells})
        parquet.write_table(table, folder / f"rows-{number}.parquet", row_group_size=750)
    return folder


def read(paths):
    return pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)


def arrays(folder):
    """Return what a search found, as bytes."""
    names = ("neighbors.npy", "distances.npy", "report.json")
    return [(folder / name).read_bytes() for name in names]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = write_rows(tmp_path_factory.mktemp("rows") / "data", X, LABELS)
    return open_rows(folder, labels="kind")


@pytest.fixture(scope="module")
def lists(cluster, rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("search") / "graph"
    return search_neighbors(rows, folder, client=cluster.client, **SEARCH)


@pytest.fixture(scope="module")
def model(cluster, rows, tmp_path_factory):
    sample = draw_sample(rows, 500, client=cluster.client)
    path = tmp_path_factory.mktemp("model") / "model.skops"
    fitted = FewLabelClassifier(candidates=["mutual"]).fit(sample.to_matrix(), sample.labels)
    save(fitted, path, compact=True)
    return path


@pytest.fixture(scope="module")
def labels(cluster, rows, model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels") / "labels"
    return label_rows(model, rows, folder, client=cluster.client, coverage=0.9)


def test_partitions_are_row_groups(rows):
    assert rows.n_rows == N
    assert [one.n_rows for one in rows.partitions] == [1500] * 6
    assert (rows.choice.features, rows.choice.row_id) == (["vector"], "id")
    small = open_rows([one.path for one in rows.partitions], rows_per_partition=750)
    assert [one.first for one in small.partitions] == list(range(0, N, 750))
    assert rows.read_labels().tolist() == LABELS


def test_lists_hold_the_true_neighbors(lists):
    true = NearestNeighbors(n_neighbors=K + 1).fit(X).kneighbors(X)
    found = np.load(lists.folder / "neighbors.npy")
    lengths = np.load(lists.folder / "distances.npy")
    hits = lengths <= true[0][:, -1:] * (1 + 1e-5)
    assert hits.mean() >= 0.98
    assert lists.recall == pytest.approx(hits.mean(), abs=0.005)
    assert lists.n_checked == 300
    assert not np.any(found == np.arange(N)[:, None])
    measured = np.linalg.norm(X[found].astype(float) - X[:, None], axis=2)
    np.testing.assert_allclose(lengths, measured, rtol=1e-6)
    assert (found.dtype, lengths.dtype) == (np.int32, np.float32)


def test_blocks_hold_twice_the_rows(lists):
    starts = [np.load(one)["starts"] for one in (lists.folder / "sorted").glob("*.npz")]
    assert sum(one[-1] for one in starts) == pytest.approx(2 * N, rel=0.05)


def test_components_are_joined_by_bridges(lists):
    assert lists.n_connected_components == 6
    n_more = lists.distances().nnz - N * K
    assert n_more == 2 * 5


def test_labels_equal_those_of_one_process_on_the_same_graph(cluster, rows, lists, tmp_path):
    model = ManifoldClassifier(CCDR(6, n_neighbors=K, metric="precomputed"))
    arguments = (model, lists, rows, tmp_path / "labels")
    paths = label_rows_by_graph(*arguments, client=cluster.client)
    table = read(paths)
    alone = ManifoldClassifier(CCDR(6, n_neighbors=K, metric="precomputed"))
    with pytest.warns(DisconnectedGraphWarning, match="Added 5 bridging edges"):
        alone.fit(lists.distances(), rows.read_labels())
    assert table["label"].tolist() == alone.transduction_.tolist()
    np.testing.assert_allclose(table.filter(regex="^x").to_numpy(), alone.embedding_, atol=1e-8)
    assert table["id"].tolist() == list(range(N))
    assert table["given"].sum() == N // 100
    assert np.mean(table["label"] != [f"class {c}" for c in CLASSES]) <= 0.001
    times = [path.stat().st_mtime_ns for path in paths]
    label_rows_by_graph(*arguments, client=cluster.client)
    assert [path.stat().st_mtime_ns for path in paths] == times


def test_labels_equal_those_of_one_process_with_the_same_model(model, labels):
    table, fitted = read(labels), load(model)
    expected = fitted.predict(X)
    expected[::100] = LABELS[::100]
    assert table["label"].tolist() == expected.tolist()
    assert table["given"].tolist() == [one is not None for one in LABELS]
    distributions = fitted.predict_proba(X)
    chosen = distributions[np.arange(N), np.searchsorted(fitted.classes_, expected)]
    np.testing.assert_allclose(table["confidence"], chosen, atol=1e-12)
    assert set(table.columns) == {"id", "label", "confidence", "set", "given"}


def test_a_worker_killed_during_the_search(cluster, rows, lists, tmp_path):
    folder = tmp_path / "graph"
    thread = start(search_neighbors, rows, folder, client=cluster.client, **SEARCH)
    blocks = folder / "lists"
    wait_until(lambda: any(blocks.glob("block-*")))
    cluster.kill_worker()
    n_done = len(list(blocks.glob("block-*")))
    thread.join()
    assert arrays(folder) == arrays(lists.folder)
    assert n_done > 0


def test_a_worker_killed_during_labeling(cluster, rows, model, labels, tmp_path):
    folder = tmp_path / "labels"
    how = {"client": cluster.client, "coverage": 0.9}
    cluster.add_workers(2 - len(cluster.workers))
    thread = start(label_rows, model, rows, folder, **how)
    wait_until(lambda: any(folder.glob("part-*")))
    cluster.kill_worker()
    thread.join()
    assert [(folder / one.name).read_bytes() for one in labels] == [
        one.read_bytes() for one in labels
    ]


def start(function, *arguments, **named):
    """Call a function in a thread."""
    thread = threading.Thread(target=function, args=arguments, kwargs=named)
    thread.start()
    return thread


CLIENT = """
import sys
from distributed import Client
from labelfold.distributed import open_rows, search_neighbors
file, data, folder = sys.argv[1:]
search_neighbors(
    open_rows(data, labels="kind"), folder, client=Client(scheduler_file=file),
    n_neighbors={n_neighbors}, rows_per_block={rows_per_block},
)
""".format(**SEARCH)


def test_a_client_killed_and_started_again(cluster, rows, lists, tmp_path):
    folder, data = tmp_path / "graph", rows.partitions[0].path.rpartition("/")[0]
    command = [sys.executable, "-c", CLIENT, str(cluster.file), data, str(folder)]
    process = subprocess.Popen(command, env=ENVIRONMENT)
    wait_until(lambda: len(list((folder / "lists").glob("block-*"))) >= 3)
    process.kill()
    process.wait()
    wait_until(lambda: not any(cluster.client.processing().values()))
    done = {path: path.stat().st_mtime_ns for path in folder.rglob("[a-z]*-*.*")}
    n_done = sum("block-" in path.name for path in done)
    assert 3 <= n_done < 15
    again = search_neighbors(rows, folder, client=cluster.client, **SEARCH)
    assert arrays(folder) == arrays(lists.folder)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert again.recall == lists.recall
    assert not list(folder.rglob("*.tmp"))


def test_a_full_disk_on_one_worker(cluster, rows, lists, tmp_path):
    folder = tmp_path / "graph"
    [address, process], *_ = cluster.workers.items()
    before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
    # A file of the sorted rows has 400 kB.
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (200_000, before[1]))
    try:
        with pytest.raises(InputError, match=r"rows-\d.parquet.* no room to write") as error:
            search_neighbors(rows, folder, client=cluster.client, **SEARCH)
    finally:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)
    assert address in str(error.value)
    search_neighbors(rows, folder, client=cluster.client, **SEARCH)
    assert arrays(folder) == arrays(lists.folder)


def test_an_error_names_the_partition(cluster, tmp_path):
    bad = X[:3000].copy()
    bad[2500, 3] = np.inf
    rows = open_rows(write_rows(tmp_path / "data", bad, LABELS, 3), labels="kind")
    with pytest.raises(
        InputError, match=r"rows-2.parquet, row groups 0 to 1: row 2,501 of all.*inf"
    ):
        search_neighbors(rows, tmp_path / "graph", client=cluster.client, **SEARCH)


def test_text_is_not_a_vector(cluster, rows, tmp_path):
    data = [one.path for one in rows.partitions]
    with pytest.raises(InputError, match=r"rows-\d.parquet, .*: column 'kind' holds string"):
        search_neighbors(open_rows(data), tmp_path / "graph", client=cluster.client, **SEARCH)


def test_cosine_lists(cluster, tmp_path):
    some = X[:3000] * np.linspace(0.5, 2, 3000, dtype=np.float32)[:, None]
    rows = open_rows(write_rows(tmp_path / "data", some, LABELS, 2), labels="kind")
    how = {"n_neighbors": 5, "rows_per_block": 1500, "metric": "cosine"}
    found = search_neighbors(rows, tmp_path / "graph", client=cluster.client, **how)
    true = NearestNeighbors(n_neighbors=6, metric="cosine").fit(some).kneighbors(some)[0]
    lengths = np.sort(np.load(found.folder / "distances.npy"), axis=1)
    assert np.mean(np.isclose(lengths, true[:, 1:], rtol=1e-3, atol=1e-7)) >= 0.98


def test_cosines_of_zeros_are_an_error(cluster, tmp_path):
    some = X[:1000].copy()
    some[700] = 0
    rows = open_rows(write_rows(tmp_path / "data", some, LABELS, 1), labels="kind")
    how = {"n_neighbors": 5, "rows_per_block": 500, "metric": "cosine"}
    with pytest.raises(InputError, match="such as row 701 of all"):
        search_neighbors(rows, tmp_path / "graph", client=cluster.client, **how)


def test_too_few_copies_are_warned_of(cluster, rows, tmp_path):
    how = {"n_neighbors": K, "rows_per_block": 300, "copies": 1.0}
    with pytest.warns(ApproximateSearchWarning, match="raise copies above 1 or rows_per_block"):
        found = search_neighbors(rows, tmp_path / "graph", client=cluster.client, **how)
    assert found.recall < 0.98


def test_dask_collections_become_files(cluster, tmp_path):
    some, given = X[:3000], np.array(LABELS[:3000], dtype=object)
    array = da.from_array(some, chunks=(1000, 20))
    rows = store_rows(array, tmp_path / "a", client=cluster.client, labels=given)
    assert [one.n_rows for one in rows.partitions] == [1000] * 3
    stored = np.vstack([one.read_matrix(rows.choice) for one in rows.partitions])
    np.testing.assert_array_equal(stored, some)
    assert rows.read_labels().tolist() == given.tolist()
    frame = pd.DataFrame(some[:, :3], columns=list("abc")).assign(kind=given, id=range(3000))
    rows = store_rows(
        dd.from_pandas(frame, npartitions=2), tmp_path / "b", client=cluster.client, labels="kind"
    )
    assert (rows.choice.features, rows.choice.row_id) == (["a", "b", "c"], "id")
    stored = np.vstack([one.read_matrix(rows.choice) for one in rows.partitions])
    np.testing.assert_array_equal(stored, some[:, :3])


def test_a_sample_has_all_labeled_rows(cluster, rows):
    sample = draw_sample(rows, 1000, client=cluster.client, seed=3)
    labeled = [one for one, label in zip(sample.ids, sample.labels, strict=True) if label]
    assert labeled == list(range(0, N, 100))
    assert 1000 <= len(sample.ids) <= 1000 + N // 100
    again = draw_sample(rows, 1000, client=cluster.client, seed=3)
    assert again.ids == sample.ids != draw_sample(rows, 1000, client=cluster.client).ids


def test_other_work_in_the_folder_is_refused(cluster, rows, lists, labels, model, tmp_path):
    with pytest.raises(InputError, match="n_neighbors was 10, now 11"):
        search_neighbors(
            rows, lists.folder, client=cluster.client, **{**SEARCH, "n_neighbors": K + 1}
        )
    with pytest.raises(InputError, match=r"coverage was 0\.9, now None"):
        label_rows(model, rows, labels[0].parent, client=cluster.client)
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        search_neighbors(rows, tmp_path, client=cluster.client, **SEARCH)
    assert json.loads((lists.folder / "plan.json").read_text())["n_neighbors"] == K


def test_more_than_a_worker_holds_is_refused_before_work(cluster, rows, tmp_path):
    how = {"n_neighbors": K, "rows_per_block": 10**6}
    with pytest.raises(InputError, match=r"takes about 2.2 GB, and a worker has 1 GB per thread"):
        search_neighbors(rows, tmp_path / "graph", client=cluster.client, **how)
