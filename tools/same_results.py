"""Whether two versions of labelfold give the same results on a fixed set of fits.

Run it under one version to record every estimator's fits, under the other to compare:

    python tools/same_results.py --record before.npz
    python tools/same_results.py --compare before.npz

Graphs and labels must be identical, eigenspaces within ten times the solver's tolerance,
semidefinite objectives within 1e-6, everything else within 1e-10. Public names only, so that one
script serves both versions.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_digits, make_blobs
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsTransformer

from labelfold import (
    CCDR,
    FurthestNeighborUnfolding,
    IntrinsicDimension,
    IsometricSeparationMap,
    LaplacianClassifier,
    LaplacianEigenmaps,
    LeastSquaresClassifier,
    ManifoldClassifier,
    MarginalFisherAnalysis,
    MaximumVarianceUnfolding,
    ResampledEmbedding,
    SupervisedLLE,
    SupervisedSemidefiniteEmbedding,
    TransductiveSearchCV,
    hide_labels,
)
from labelfold.datasets import make_swiss_roll

Result = dict[str, Any]
MOVED, OBJECTIVE, EIGENSPACE = 1e-10, 1e-6, 1e-7
EXACT = ("graph", "labels", "new_labels", "ok", "chosen")


def fits() -> Iterator[tuple[str, Any, Any, Any, Any]]:
    """Yield name, estimator, rows, labels and new rows."""
    roll, roll_y, _ = make_swiss_roll(400, n_classes=3, random_state=0)
    roll_y = hide_labels(roll_y, keep=np.arange(0, 400, 8))
    new_roll = roll[:40] + 0.3
    digits, digits_y = load_digits(return_X_y=True)
    digits_few = hide_labels(digits_y, keep=np.arange(0, 1797, 20))
    new_digits = digits[:40] + 0.5
    blobs, blobs_y = make_blobs([400, 300, 200, 100], 5, random_state=0, cluster_std=0.3)
    blobs_y = hide_labels(blobs_y, keep=np.arange(0, 1000, 25))
    new_blobs = blobs[:40] + 0.05
    distances = KNeighborsTransformer(n_neighbors=12, mode="distance").fit_transform(roll)
    words: Any = sp.random_array((500, 80), density=0.1, random_state=0, format="csr")
    words_y = hide_labels(np.arange(500) % 4, keep=np.arange(0, 500, 10))
    many = (
        np.random.default_rng(0).normal(size=(40_000, 20)) + 6 * np.eye(20)[np.arange(40_000) % 4]
    )
    many_y = hide_labels(np.arange(40_000) % 4, keep=np.arange(0, 40_000, 400))

    for solver in ("dense", "arpack", "chebyshev"):
        for normalization in ("degree", "none"):
            model = LaplacianEigenmaps(4, normalization=normalization, eigen_solver=solver)
            yield f"eigenmaps {solver} {normalization}", model, roll, None, new_roll
        yield (
            f"ccdr {solver}",
            CCDR(5, beta=0.5, eigen_solver=solver),
            digits,
            digits_few,
            new_digits,
        )
    yield (
        "diffusion maps",
        LaplacianEigenmaps(3, density_exponent=1.0, diffusion_time=2),
        roll,
        None,
        new_roll,
    )
    yield "ccdr default", CCDR(), roll, roll_y, new_roll
    yield "ccdr auto", CCDR("auto", random_state=0), digits, digits_few, new_digits
    yield "ccdr bridged", CCDR(4), blobs, None, new_blobs
    yield "ccdr class nodes join", CCDR(4), blobs, blobs_y, new_blobs
    yield "ccdr radius", CCDR(3, radius=4.0), roll, roll_y, new_roll
    yield "ccdr cosine", CCDR(3, metric="cosine"), digits, digits_few, new_digits
    yield "ccdr manhattan", CCDR(3, metric="manhattan"), roll, roll_y, new_roll
    yield "ccdr precomputed", CCDR(3, metric="precomputed"), distances, roll_y, distances[:40]
    yield "ccdr sparse", CCDR(3), words, words_y, words[:40]
    model = CCDR(5, neighbor_search="approximate", random_state=0)
    yield "ccdr approximate", model, many, many_y, many[:40] + 0.1
    yield "lle", SupervisedLLE(3, alpha=0.05), roll, roll_y, new_roll
    yield "lle arpack", SupervisedLLE(2, eigen_solver="arpack"), digits, digits_few, new_digits
    yield "mfa", MarginalFisherAnalysis(3), digits, digits_few, new_digits
    yield "mfa kernel", MarginalFisherAnalysis(2, kernel="rbf"), roll, roll_y, new_roll
    yield "mvu", MaximumVarianceUnfolding(2, random_state=0), roll, None, new_roll
    yield "mvu conic", MaximumVarianceUnfolding(2, solver="conic"), roll[:40], None, new_roll[:10]
    yield "mfnu", FurthestNeighborUnfolding(2, random_state=0), roll, None, new_roll
    yield "ssde", SupervisedSemidefiniteEmbedding(2, random_state=0), roll, roll_y, new_roll
    yield "ism", IsometricSeparationMap(3, random_state=0), roll, roll_y, new_roll
    model = IsometricSeparationMap(3, objective="none", label_weight=1.0, random_state=0)
    yield "ism soft", model, roll, roll_y, new_roll
    model = IsometricSeparationMap(3, normals="anchors", random_state=0)
    yield "ism anchors", model, roll, roll_y, new_roll
    yield "laplacian", LaplacianClassifier(), digits, digits_few, new_digits
    yield (
        "laplacian auto",
        LaplacianClassifier("auto", penalty="auto"),
        digits,
        digits_few,
        new_digits,
    )
    yield "laplacian components", LaplacianClassifier(penalty="auto"), blobs, blobs_y, new_blobs
    model = LaplacianClassifier(
        60, normalization="degree", weights="heat", eigen_solver="chebyshev"
    )
    yield "laplacian degree", model, digits, digits_few, new_digits
    yield "manifold", ManifoldClassifier(), digits, digits_few, new_digits
    yield "manifold knn", ManifoldClassifier(PCA(8), head="knn"), digits, digits_few, new_digits
    yield "least squares", LeastSquaresClassifier(), digits, digits_y, new_digits
    model = ResampledEmbedding(CCDR(4), n_subsamples=3, subsample_size=500, random_state=0)
    yield "resampled", model, digits, digits_few, new_digits
    yield "dimension", IntrinsicDimension(random_state=0), roll, roll_y, None
    grid = {
        "embedder__beta": [0.1, 1.0],
        "embedder__n_components": [3, 6],
        "head": ["linear", "knn"],
    }
    search = TransductiveSearchCV(ManifoldClassifier(CCDR()), grid, cv=3)
    yield "search", search, digits[:600], digits_few[:600], new_digits
    grid = {"n_eigenvectors": [10, 30], "penalty": [0.0, "auto"]}
    search = TransductiveSearchCV(LaplacianClassifier(), grid, cv=3)
    yield "search laplacian", search, digits[:600], digits_few[:600], new_digits


def results_of(model: Any, X: Any, y: Any, new: Any) -> Result:
    """Fit, and return what is to be the same."""
    seeds = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
    model.set_params(**dict.fromkeys(seeds, 0)).fit(X, y)
    result: Result = {}
    graph = getattr(model, "graph_", None)
    if graph is not None:
        for matrix in (graph.adjacency, graph.distances):
            matrix = matrix.sorted_indices()
            result.setdefault("graph", []).extend([matrix.indptr, matrix.indices, matrix.data])
        result["graph"] = np.concatenate(
            [np.asarray(part, dtype=float) for part in result["graph"]]
        )
    for name, attribute in (
        ("labels", "transduction_"),
        ("embedding", "embedding_"),
        ("eigenvalues", "eigenvalues_"),
        ("distributions", "label_distributions_"),
        ("dimension", "local_dimensions_"),
        ("coefficients", "coef_"),
    ):
        value = getattr(model, attribute, None)
        if value is not None:
            result[name] = np.asarray(value)
    if hasattr(model, "dimension_"):
        result["figures"] = np.array([model.dimension_, model.entropy_, *model.interval_])
    if hasattr(model, "cv_results_"):
        result["figures"] = np.asarray(model.cv_results_["mean_test_score"])
        result["chosen"] = np.array(model.best_index_)
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        result["ok"] = np.array(certificate.ok)
        if hasattr(certificate, "objective"):
            result["objective"] = np.array(certificate.objective)
            result["distance_error"] = np.array(certificate.errors.rms)
    if new is not None:
        if hasattr(model, "transform"):
            result["new_rows"] = np.asarray(model.transform(new))
        if hasattr(model, "predict"):
            result["new_labels"] = np.asarray(model.predict(new))
    return result


def difference(name: str, before: NDArray[Any], after: NDArray[Any]) -> float:
    """Return 0 for identical results, otherwise how far they are apart, relative to their size."""
    if before.shape != after.shape:
        return np.inf
    if name in EXACT:
        return 0.0 if np.array_equal(before, after) else np.inf
    finite = np.isfinite(before)
    if not np.array_equal(finite, np.isfinite(after)):
        return np.inf
    before, after = np.where(finite, before, 0), np.where(finite, after, 0)
    if name in ("embedding", "new_rows"):
        after = after * np.where(np.sum(before * after, axis=0) < 0, -1, 1)
    return float(np.max(np.abs(before - after), initial=0) / max(np.max(np.abs(before)), 1e-300))


def angle(before: NDArray[Any], after: NDArray[Any]) -> float:
    """Return the sine of the largest principal angle between two column spaces."""
    bases = [np.linalg.qr(space)[0] for space in (before, after)]
    return float(np.linalg.norm(bases[1] - bases[0] @ (bases[0].T @ bases[1]), 2))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--record", metavar="FILE", help="write the results of this version")
    action.add_argument("--compare", metavar="FILE", help="compare this version with a record")
    parser.add_argument("--only", default="", help="only fits whose name contains this")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    recorded = dict(np.load(options.compare)) if options.compare else {}
    kept: Result = {}
    failed = 0
    for name, model, X, y, new in fits():
        if options.only not in name:
            continue
        result = results_of(model, X, y, new)
        if options.record:
            kept |= {f"{name}/{part}": value for part, value in result.items()}
            continue
        differences, is_good = [], True
        for part, value in result.items():
            before = recorded[f"{name}/{part}"]
            gap = difference(part, before, value)
            # Signs, rotations within an eigenspace and the last digits of an iteration may differ.
            bound = OBJECTIVE if "objective" in result else MOVED
            good = gap <= bound
            if not good and part == "embedding" and "eigenvalues" in result:
                gap = angle(before, value)
                good = gap <= EIGENSPACE
            is_good &= good
            if gap:
                differences.append(f"{part} {gap:.1e}{'' if good else ' (!)'}")
        failed += not is_good
        print(f"{'same' if is_good else 'DIFFERS':8}{name:24}{', '.join(differences)}", flush=True)
    if options.record:
        np.savez_compressed(options.record, **kept)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
