"""CCDR-MC Table I: three classifiers on raw, PCA and CCDR features of Landsat.

Beside them the features that section III.B reviews, LDA and marginal Fisher analysis (MFA).
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from labelfold.classify import LeastSquaresClassifier, ManifoldClassifier
from labelfold.spectral import CCDR
from reproductions.ccdr_mc.landsat import N_TRAIN, Landsat, landsat_of
from reproductions.ccdr_mc.names import (
    CCDR_MAP,
    CLASSIFIERS,
    FISHER,
    KERNEL_FISHER,
    LDA,
    LINEAR,
    NETWORK,
    PCA_MAP,
    PRINTED,
    RAW,
    REVIEWED,
)
from reproductions.ccdr_mc.nested_fisher import NestedFisherAnalysis
from reproductions.ccdr_mc.searches import (
    BEST_CASE,
    CROSS_VALIDATED,
    Grid,
    derive_gaps,
    error_of_choice,
    errors_of_choices,
)
from reproductions.ccdr_mc.table_1_claims import judge_table_1
from reproductions.ccdr_mc.table_1_picture import draw_table_1
from reproductions.entry import Entry, Measurement, Printed, Task

__all__ = ["TABLE_1"]

N_SEEDS = 3
N_FEATURES, N_CLASSES = 36, 6
N_STEPS = 2000
ENERGY = 0.999
DIMENSIONS = (5, 6, 8, 10, 12, 14, 17, 20, 24)

# The kernel's are where maps of a third of the training rows predicted the others best.
KERNELS: Grid = {"embedder__gamma": (1e-4, 3e-4)}
KERNEL_RIDGE = 1e-5
KERNEL_DIMENSIONS = (5, 10, 14, 20, 30, 40)

GRIDS: dict[tuple[str, str], Grid] = {
    ("raw", "network"): {},
    ("raw", "linear"): {},
    ("raw", "k-NN"): {"head__n_neighbors": range(1, 12)},
    ("PCA", "network"): {},
    ("PCA", "linear"): {"embedder__n_components": range(1, N_FEATURES + 1)},
    ("PCA", "k-NN"): {
        "embedder__n_components": (3, 4, *DIMENSIONS, 28, 33, 36),
        "head__n_neighbors": range(1, 12),
    },
    ("CCDR", "network"): {
        "embedder__n_neighbors": (3, 4),
        "embedder__beta": (0.05, 0.1, 0.2, 0.3, 0.5, 1.0),
    },
    ("CCDR", "linear"): {
        "embedder__n_neighbors": (3, 4, 5, 6),
        "embedder__beta": (0.001, 0.01, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0),
        "embedder__n_components": DIMENSIONS,
    },
    ("CCDR", "k-NN"): {
        "embedder__n_neighbors": (3, 4, 5),
        "embedder__beta": (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0),
        "embedder__n_components": (5, 8, 10, 12, 14, 17),
        "head__n_neighbors": (1, 3, 5, 7),
    },
    ("LDA", "network"): {},
    ("LDA", "linear"): {"embedder__n_components": range(1, N_CLASSES)},
    ("LDA", "k-NN"): {
        "embedder__n_components": range(1, N_CLASSES),
        "head__n_neighbors": range(1, 12),
    },
    ("MFA", "network"): {"embedder__n_neighbors_between": (20, 100)},
    ("MFA", "linear"): {
        "embedder__n_neighbors_within": (3, 5, 10),
        "embedder__n_neighbors_between": (5, 20, 100),
        "embedder__n_components": range(1, N_FEATURES + 1),
    },
    ("MFA", "k-NN"): {
        "embedder__n_neighbors_between": (5, 20, 100),
        "embedder__n_components": DIMENSIONS,
        "head__n_neighbors": (1, 3, 5, 7),
    },
    ("kernel MFA", "network"): KERNELS,
    ("kernel MFA", "linear"): {**KERNELS, "embedder__n_components": KERNEL_DIMENSIONS},
    ("kernel MFA", "k-NN"): {
        **KERNELS,
        "embedder__n_components": KERNEL_DIMENSIONS,
        "head__n_neighbors": (1, 3, 5, 7),
    },
}

PROCEDURE = """
Each classifier is fitted on the 4,435 training rows and scored on the 2,000 test rows, as in the
paper. PCA sees the training rows; CCDR's map is made of all rows with the training rows' labels.
"best case" is the least test error over a grid of parameters, chosen with the test labels known, as
in the paper; "cross-validated" chooses by five-fold cross-validation on the training labels, for
three draws of the folds, and is the figure to expect on data of one's own.

The grids: k-NN with 1 to 11 neighbours (1, 3, 5, 7 on CCDR); PCA with 1 to 36 dimensions; CCDR with
3 to 6 neighbours in the graph, β from 0.001 to 1, 5 to 24 dimensions.

The network has three layers, d inputs, 2 d logistic hidden units and 6 outputs, trained by 2,000
steps of gradient descent on all training rows (rate 0.1, momentum 0.9, cross-entropy, inputs of
unit variance), the mean over three initialisations. The paper takes for d the dimension that keeps
99.9 % of the energy; so here for PCA and CCDR, with the sum of squares about the origin for energy,
which gives 10. (Of the variance, 33 of the 36 dimensions would be needed.) On raw features d = 36;
the paper's 83 % there looks like a training that failed.

LDA and marginal Fisher analysis (MFA) are reviewed in section III.B and are not in the paper's
table: their rows are ours, and have no printed value. Both are fitted on the training rows. LDA has
1 to 5 dimensions (5 for the network). MFA is `MarginalFisherAnalysis` with 5, 20 or 100 neighbours
between classes, and for the linear classifier 3, 5 or 10 within and 1 to 36 dimensions; for k-NN 5
within and 5 to 24 dimensions, 1, 3, 5 or 7 of whose neighbours vote; for the network 10 dimensions,
and 20 or 100 between. Kernel MFA has a Gaussian kernel. A solve with 4,435 rows takes about a
minute, which is why its grid is small: gamma 0.0001 or 0.0003, 5 to 40 dimensions (10 for the
network), k-NN with 1, 3, 5 or 7; ridge 1e-5, 5 neighbours within and 20 between; one draw of the
folds and one initialisation of the network. Gamma and ridge are those whose maps of 1,600 training
rows predicted the other training rows best. The more a grid has to offer, the lower its best case:
for the linear classifier CCDR's has 360 points and kernel MFA's 12, so compare what was
cross-validated.

About 2 % of the rows tie at the neighbour cut-off, where the k-d tree's order decides: another
search may move k-NN on raw features by a row or two.
"""


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each cell of the table, choice, and draw of folds or of the network.

    All classifiers of kernel MFA share a task, since its maps are what costs.
    """
    tasks = []
    for features, classifier in GRIDS:
        if features == KERNEL_FISHER or (
            quick and (classifier == NETWORK or features in (CCDR_MAP, FISHER))
        ):
            continue
        setting = {"features": features, "classifier": classifier}
        best_seeds = range(N_SEEDS) if classifier == NETWORK else [None]
        fold_seeds = range(1 if quick else N_SEEDS)
        tasks += [Task({**setting, "choice": BEST_CASE}, seed) for seed in best_seeds]
        tasks += [Task({**setting, "choice": CROSS_VALIDATED}, seed) for seed in fold_seeds]
    if not quick:
        tasks.append(Task({"features": KERNEL_FISHER, "choice": BEST_CASE}))
        tasks.append(Task({"features": KERNEL_FISHER, "choice": CROSS_VALIDATED}, 0))
    return tasks


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Choose the parameters of one cell, or of all with one kind of map, and measure the error."""
    features, choice = str(task.setting["features"]), str(task.setting["choice"])
    data = landsat_of(task, data_home)
    dimension = _dimension(features, data)
    embedder = _make_embedder(features, dimension)
    classifiers = [str(task.setting["classifier"])] if "classifier" in task.setting else CLASSIFIERS
    heads = {name: _make_head(name, dimension, task) for name in classifiers}
    with warnings.catch_warnings():
        # All steps are meant to be taken, and all rows of a fold are meant to be in each.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Got `batch_size`")
        if features == KERNEL_FISHER:
            searches = {name: (head, GRIDS[features, name]) for name, head in heads.items()}
            return errors_of_choices(data, embedder, searches, choice=choice, seed=task.seed)
        ((classifier, head),) = heads.items()
        return error_of_choice(
            data,
            ManifoldClassifier(embedder, head=head),
            GRIDS[features, classifier],
            choice=choice,
            # Test rows do not count in a map by LDA or MFA; this search shares MFA's maps.
            transductive=features in (CCDR_MAP, *REVIEWED),
            seed=task.seed,
        )


def energy_dimension(X: NDArray[np.float64]) -> int:
    """Return the least dimension that keeps 99.9 % of the sum of squares."""
    energy = np.linalg.svd(X, compute_uv=False) ** 2
    return int(np.searchsorted(np.cumsum(energy), ENERGY * energy.sum())) + 1


def make_network(n_inputs: int, *, seed: int) -> Any:
    """Return the network of CCDR-MC section V.A, on inputs of unit variance."""
    return make_pipeline(
        StandardScaler(),
        MLPClassifier(
            (2 * n_inputs,),
            activation="logistic",
            solver="sgd",
            alpha=0,
            batch_size=N_TRAIN,
            learning_rate_init=0.1,
            momentum=0.9,
            nesterovs_momentum=False,
            max_iter=N_STEPS,
            tol=0,
            n_iter_no_change=N_STEPS,
            shuffle=False,  # each step sees all rows
            random_state=seed,
        ),
    )


def _dimension(features: str, data: Landsat) -> int:
    """Return the number of the network's inputs, where a grid does not set another."""
    if features == RAW:
        return N_FEATURES
    return N_CLASSES - 1 if features == LDA else energy_dimension(data.X[data.train])


def _make_embedder(features: str, dimension: int) -> Any:
    return {
        RAW: FunctionTransformer(),
        PCA_MAP: PCA(dimension),
        CCDR_MAP: CCDR(dimension),
        LDA: LinearDiscriminantAnalysis(n_components=dimension),
        FISHER: NestedFisherAnalysis(dimension),
        KERNEL_FISHER: NestedFisherAnalysis(dimension, kernel="rbf", reg=KERNEL_RIDGE),
    }[features]


def _make_head(classifier: str, dimension: int, task: Task) -> Any:
    if classifier == NETWORK:
        return make_network(dimension, seed=task.seed or 0)
    if classifier == LINEAR:
        return LeastSquaresClassifier()
    # By brute force, ties at the neighbour cut-off would fall differently for each thread count.
    return KNeighborsClassifier(algorithm="kd_tree")


TABLE_1 = Entry(
    name="table-1",
    title="Errors of three classifiers on raw, PCA, CCDR, LDA and MFA features of Landsat",
    procedure=PROCEDURE,
    edition=2,
    tasks=list_tasks,
    run=run,
    judge=judge_table_1,
    printed=tuple(
        Printed(value, {"features": features, "classifier": classifier, "choice": BEST_CASE})
        for features, values in PRINTED.items()
        for classifier, value in zip(CLASSIFIERS, values, strict=True)
    ),
    derive=derive_gaps,
    draw=draw_table_1,
    needs_data=True,
    why=(
        "Least squares on raw and PCA features and the network on PCA features err more here than "
        "printed; why is not known. The network's printed 83 % on raw features looks like a "
        "training that failed."
    ),
)
