"""Tables as people bring them: 20 Newsgroups as a CSV of texts, and as Parquet with vectors.

Files are read and prepared without an option. LaplacianClassifier with an automatic penalty and a
nearest-neighbor rule get the same features and labels.
"""

from __future__ import annotations

import csv
import json
import os
import re
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from measure import environment, in_child, write_results

RESULTS = Path(__file__).parent / "results"
N_DRAWS = 10
VECTORS = "newsgroups8k-vectors.parquet"


def write_articles(path: Path, n_rows: int) -> None:
    """Write subjects and bodies of articles, as many of each group, as a CSV."""
    from reproductions.data.newsgroups import FILE

    articles = [json.loads(line) for line in FILE.read().splitlines()]
    groups = np.array([article["group"] for article in articles], dtype=object)
    draw = np.random.default_rng(0)
    classes = np.unique(groups)
    chosen = [
        draw.choice(np.flatnonzero(groups == one), n_rows // len(classes), replace=False)
        for one in classes
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["article_id", "subject", "body", "group"])
        for number, row in enumerate(draw.permutation(np.concatenate(chosen))):
            article = articles[row]
            subject = re.search(r"^Subject: *(.*)$", article["header"], re.MULTILINE)
            # A CSV file holds no zero bytes.
            body = article["body"].replace("\x00", " ")
            writer.writerow([f"a{number:04d}", subject[1] if subject else "", body, groups[row]])


def measure_errors(source: str, per_class: int) -> dict[str, Any]:
    """Return errors on unlabeled rows with the features that a table gives by itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "articles.csv")
        if source == "csv":
            write_articles(path, 2000)
        else:
            path = Path(os.environ["LABELFOLD_DATA"], VECTORS)
        return {"n_draws": N_DRAWS, "per_class": per_class, **_measure(path, per_class)}


def _measure(path: Path, per_class: int) -> dict[str, Any]:
    from sklearn.neighbors import KNeighborsClassifier

    from labelfold import LaplacianClassifier, draw_labeled, hide_labels
    from labelfold.tables import make_preparation, read

    warnings.simplefilter("ignore")  # of rows that no label reaches: their errors count
    start = time.perf_counter()
    table = read(path, labels="group")
    seconds_read = time.perf_counter() - start
    preparation = make_preparation(table.features)
    X, y = preparation.fit_transform(table.features), np.asarray(table.labels, dtype=object)
    seconds_prepared = time.perf_counter() - start - seconds_read
    model, basis = LaplacianClassifier.as_published(penalty="auto", random_state=0), None
    errors: dict[str, list[float]] = {"laplacian": [], "nearest": []}
    for draw in range(N_DRAWS):
        keep = draw_labeled(y, per_class * len(set(y)), random_state=draw)
        hidden = np.setdiff1d(np.arange(len(y)), keep)
        basis = model.fit(X, hide_labels(y, keep), basis=basis).basis_
        nearest = KNeighborsClassifier(1).fit(X[keep], y[keep]).predict(X[hidden])
        errors["laplacian"].append(float(np.mean(model.transduction_[hidden] != y[hidden])))
        errors["nearest"].append(float(np.mean(nearest != y[hidden])))
    return {
        "n_rows": len(y),
        "report": str(preparation.report_),
        "seconds_read": seconds_read,
        "seconds_prepared": seconds_prepared,
        "errors": errors,
    }


def run(n_repeats: int, n_threads: int) -> list[str]:
    """Measure both files."""
    jobs = {
        "subjects and bodies, CSV, 10 labels per group": {"source": "csv", "per_class": 10},
        "text and vectors, Parquet, 10 labels per group": {"source": "parquet", "per_class": 10},
    }
    results: dict[str, Any] = {"environment": environment(n_threads)}
    lines = [
        f"## 20 Newsgroups as tables, read and prepared without options: error, {N_DRAWS} draws",
        "",
        "| table | rows | read s | prepare s | LaplacianClassifier | nearest neighbor |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for title, arguments in jobs.items():
        figures = in_child("tables", "errors", n_threads, **arguments)
        results[title] = figures
        write_results(RESULTS / "tables.json", results)
        means = [f"{np.mean(figures['errors'][one]):.1%}" for one in ("laplacian", "nearest")]
        lines.append(
            f"| {title} | {figures['n_rows']:,} | {figures['seconds_read']:.2f} | "
            f"{figures['seconds_prepared']:.1f} | {' | '.join(means)} |"
        )
    return [*lines, "", *(f"{title}: {results[title]['report']}" for title in jobs)]


TASKS = {"errors": measure_errors}
