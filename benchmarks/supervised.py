"""Supervised embeddings: SSDE on the alphadigits, and SLLE against scikit-learn's LLE on a roll."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from measure import environment, in_child, repeat, write_results

RESULTS = Path(__file__).parent / "results"
ROLL_SIZES = (1_000, 5_000, 20_000)


def time_ssde(n_repeats: int, n_components: int) -> dict[str, Any]:
    """From 1,123 training images to their embedding, without the extension to new rows."""
    from sklearn.model_selection import train_test_split

    from labelfold import SupervisedSemidefiniteEmbedding
    from reproductions.data import load_alphadigits

    X, y = load_alphadigits()
    X, _, y, _ = train_test_split(X, y, test_size=0.2, random_state=0)
    model = SupervisedSemidefiniteEmbedding(n_components, random_state=0)
    model.fit(X[:200], y[:200])  # warm-up

    def work() -> dict[str, Any]:
        R = model.fit(X, y).gram_factor_
        i, j = model.edges_.T
        d, q = (np.sum((rows[i] - rows[j]) ** 2, axis=1) for rows in (X, R))
        return {
            "distance_error": float(np.linalg.norm(q - d) / np.linalg.norm(d)),
            "gap": model.certificate_.gap,
            "rank": model.certificate_.rank,
            "n_iter": model.n_iter_,
        }

    return repeat(work, n_repeats)


def time_lle(n_repeats: int, n: int, ours: bool) -> dict[str, Any]:
    """Locally linear embedding of a roll, without labels; the angle between both embeddings."""
    from scipy.linalg import subspace_angles
    from sklearn.manifold import LocallyLinearEmbedding

    from labelfold import SupervisedLLE
    from labelfold.datasets import make_swiss_roll

    X, _, _ = make_swiss_roll(n, random_state=0)
    mine = SupervisedLLE(2, n_neighbors=12, random_state=0)
    theirs = LocallyLinearEmbedding(n_neighbors=12, n_components=2, random_state=0, n_jobs=-1)
    model = mine if ours else theirs
    model.fit(X[:200])  # warm-up
    measured = repeat(lambda: {"done": model.fit(X) is model}, n_repeats)
    other = theirs.fit(X) if ours else mine.fit(X)
    angles = subspace_angles(model.embedding_, other.embedding_)
    return {**measured, "angle": float(np.max(angles))}


def run(n_repeats: int, n_threads: int) -> list[str]:
    """Measure both, the second as a ratio."""
    before = environment(n_threads)
    measured: dict[str, Any] = {}

    def measure(title: str, task: str, **arguments: Any) -> dict[str, Any]:
        measured[title] = in_child("supervised", task, n_threads, n_repeats=n_repeats, **arguments)
        write_results(RESULTS / "supervised.json", {"environment": before, **measured})
        return dict(measured[title])

    lines = [
        "## Supervised embeddings",
        "",
        "SSDE, 1,123 alphadigits in 36 classes, 4 neighbors, spread 10:",
        "",
        "| dimensions | seconds (median) | squared distances within classes kept to | gap | rank |",
        "| --- | --- | --- | --- | --- |",
    ]
    for n_components in (2, 30, 60):
        m = measure(f"SSDE, {n_components}", "ssde", n_components=n_components)
        lines.append(
            f"| {n_components} | {m['seconds']:.1f} | {m['distance_error']:.3%} | {m['gap']:.2%} | "
            f"{m['rank']} |"
        )
    lines += [
        "",
        "LLE of a roll, 12 neighbors, 2 dimensions (SupervisedLLE without labels):",
        "",
        "| points | labelfold s | scikit-learn s | scikit-learn / labelfold | angle of the maps |",
        "| --- | --- | --- | --- | --- |",
    ]
    for n in ROLL_SIZES:
        mine = measure(f"LLE, {n}, labelfold", "lle", n=n, ours=True)
        peer = measure(f"LLE, {n}, scikit-learn", "lle", n=n, ours=False)
        ratio = peer["seconds"] / mine["seconds"]
        lines.append(
            f"| {n:,} | {mine['seconds']:.2f} | {peer['seconds']:.2f} | {ratio:.1f} | "
            f"{mine['angle']:.0e} |"
        )
    return lines


TASKS = {"ssde": time_ssde, "lle": time_lle}
