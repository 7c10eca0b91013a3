"""CCDR-MC Table I: three classifiers on raw, PCA and CCDR features of Landsat.

Also the features that section III.B reviews, LDA and marginal Fisher analysis (MFA).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from labelfold.classify import LeastSquaresClassifier
from labelfold.plotting import readable_on_white
from labelfold.spectral import CCDR, MarginalFisherAnalysis
from reproductions.ccdr_mc import landsat
from reproductions.ccdr_mc.landsat import BEST_CASE, CROSS_VALIDATED, Grid, landsat_of, list_errors
from reproductions.curves import OKABE_ITO, new_figure
from reproductions.entry import Entry, Measurement, Printed, Task, Verdict, judge_all, judge_if
from reproductions.summary import Summary
from reproductions.tables import format_value

CLASSIFIERS = ("network", "linear", "k-NN")
PRINTED = {
    "raw": (0.83, 0.227, 0.0965),
    "PCA": (0.0975, 0.23, 0.0935),
    "CCDR": (0.0895, 0.0895, 0.081),
}
REVIEWED = ("LDA", "MFA", "kernel MFA")  # in section III.B, where the paper has no figures
FEATURES = (*PRINTED, *REVIEWED)
COLORS = dict(zip(FEATURES, OKABE_ITO, strict=False))

N_SEEDS = 3
N_FEATURES, N_CLASSES = 36, 6
N_STEPS = 2000
ENERGY = 0.999
DIMENSIONS = (5, 6, 8, 10, 12, 14, 17, 20, 24)
# The kernel's are those at which a third of the training rows predicted the others best.
KERNELS: Grid = {"gamma": (1e-4, 3e-4)}
KERNEL_RIDGE = 1e-5
KERNEL_DIMENSIONS = (5, 10, 14, 20, 30, 40)
GRIDS: dict[tuple[str, str], Grid] = {
    ("raw", "network"): {},
    ("raw", "linear"): {},
    ("raw", "k-NN"): {"voters": range(1, 12)},
    ("PCA", "network"): {},
    ("PCA", "linear"): {"dimension": range(1, N_FEATURES + 1)},
    ("PCA", "k-NN"): {"dimension": (3, 4, *DIMENSIONS, 28, 33, 36), "voters": range(1, 12)},
    ("CCDR", "network"): {"neighbors": (3, 4), "beta": (0.05, 0.1, 0.2, 0.3, 0.5, 1.0)},
    ("CCDR", "linear"): {
        "neighbors": (3, 4, 5, 6),
        "beta": (0.001, 0.01, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0),
        "dimension": DIMENSIONS,
    },
    ("CCDR", "k-NN"): {
        "neighbors": (3, 4, 5),
        "beta": (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0),
        "dimension": (5, 8, 10, 12, 14, 17),
        "voters": (1, 3, 5, 7),
    },
    ("LDA", "network"): {},
    ("LDA", "linear"): {"dimension": range(1, N_CLASSES)},
    ("LDA", "k-NN"): {"dimension": range(1, N_CLASSES), "voters": range(1, 12)},
    ("MFA", "network"): {"between": (20, 100)},
    ("MFA", "linear"): {
        "within": (3, 5, 10),
        "between": (5, 20, 100),
        "dimension": range(1, N_FEATURES + 1),
    },
    ("MFA", "k-NN"): {"between": (5, 20, 100), "dimension": DIMENSIONS, "voters": (1, 3, 5, 7)},
    ("kernel MFA", "network"): KERNELS,
    ("kernel MFA", "linear"): {**KERNELS, "dimension": KERNEL_DIMENSIONS},
    ("kernel MFA", "k-NN"): {**KERNELS, "dimension": KERNEL_DIMENSIONS, "voters": (1, 3, 5, 7)},
}

PROCEDURE = """
Each classifier is fitted on the 4,435 training rows and scored on the 2,000 test rows, as in the
paper. PCA uses the training rows; CCDR embeds all rows with the training rows' labels.
"best case" is the least test error over a grid of parameters, chosen with the test labels, as in
the paper; "cross-validated" chooses by five-fold cross-validation on the training labels, for three
draws of the folds, and is the figure to expect on your own data.

The grids: k-NN with 1 to 11 neighbors (1, 3, 5, 7 on CCDR); PCA with 1 to 36 dimensions; CCDR with
3 to 6 neighbors in the graph, β from 0.001 to 1, 5 to 24 dimensions.

The network has three layers, d inputs, 2 d logistic hidden units and 6 outputs, trained by 2,000
steps of gradient descent on all training rows (rate 0.1, momentum 0.9, cross-entropy, inputs of
unit variance), the mean over three initializations. The paper takes for d the dimension that keeps
99.9 % of the energy; we do so for PCA and CCDR, with the sum of squares about the origin as energy,
which gives 10. (Of the variance, 33 of the 36 dimensions would be needed.) On raw features d = 36;
the paper's 83 % there looks like failed training.

LDA and marginal Fisher analysis (MFA) are reviewed in section III.B and are not in the paper's
table: their rows are ours, and have no printed value. Both are fitted on the training rows. LDA has
1 to 5 dimensions (5 for the network). MFA is `MarginalFisherAnalysis` with 5, 20 or 100 neighbors
between classes, and for the linear classifier 3, 5 or 10 within and 1 to 36 dimensions; for k-NN 5
within and 5 to 24 dimensions, 1, 3, 5 or 7 of whose neighbors vote; for the network 10 dimensions,
and 20 or 100 between. Kernel MFA has a Gaussian kernel. A solve with 4,435 rows takes about a
minute, so its grid is small: gamma 0.0001 or 0.0003, 5 to 40 dimensions (10 for the network), k-NN
with 1, 3, 5 or 7; ridge 1e-5, 5 neighbors within and 20 between; one draw of the folds and one
initialization of the network. Gamma and ridge are those at which 1,600 training rows predicted the
other training rows best. The larger a grid, the lower its best case: for the linear classifier
CCDR's has 360 points and kernel MFA's 12, so compare the cross-validated figures.

About 2 % of the rows have ties at the last neighbor, where the k-d tree's order decides: another
search may move k-NN on raw features by a row or two.
"""


class NestedFisherAnalysis(MarginalFisherAnalysis):
    """Marginal Fisher analysis that `TransductiveSearchCV` can cut to fewer dimensions.

    Its directions come in the order of their ratios, and each is scaled by itself.
    """

    embedding_: NDArray[np.float64]

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
        """Find the directions, and return the embedding of all rows, labeled or not."""
        self.embedding_ = self.fit(X, y).transform(X)
        return self.embedding_

    def truncated(self, n_components: int) -> Self:
        """Return the fitted embedding in fewer dimensions, without another solve."""
        kept = copy.copy(self)
        kept.n_components = n_components
        kept.eigenvalues_ = self.eigenvalues_[:n_components]
        kept.embedding_ = self.embedding_[:, :n_components]
        if self.kernel is None:
            kept.components_ = self.components_[:n_components]
        else:
            kept.dual_coef_ = self.dual_coef_[:, :n_components]
        return kept


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each cell, choice and draw; all cells of kernel MFA share costly maps."""
    tasks = []
    for features, classifier in GRIDS:
        is_slow = classifier == "network" or features in ("CCDR", "MFA")
        if features == "kernel MFA" or (quick and is_slow):
            continue
        setting = {"features": features, "classifier": classifier}
        best_seeds = range(N_SEEDS) if classifier == "network" else [None]
        fold_seeds = range(1 if quick else N_SEEDS)
        tasks += [Task({**setting, "choice": BEST_CASE}, seed) for seed in best_seeds]
        tasks += [Task({**setting, "choice": CROSS_VALIDATED}, seed) for seed in fold_seeds]
    if not quick:
        tasks.append(Task({"features": "kernel MFA", "choice": BEST_CASE}))
        tasks.append(Task({"features": "kernel MFA", "choice": CROSS_VALIDATED}, 0))
    return tasks


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Choose the parameters of one cell, or of all with one kind of map, and measure the error."""
    data, features = landsat_of(task, data_home), str(task.setting["features"])
    # The number of the network's inputs, unless a grid sets it.
    dimension = {"raw": N_FEATURES, "LDA": N_CLASSES - 1}.get(features)
    dimension = dimension or energy_dimension(data.X[data.train])
    embedder = {
        "raw": FunctionTransformer(),
        "PCA": PCA(dimension),
        "CCDR": CCDR(dimension),
        "LDA": LinearDiscriminantAnalysis(n_components=dimension),
        "MFA": NestedFisherAnalysis(dimension),
        "kernel MFA": NestedFisherAnalysis(dimension, kernel="rbf", ridge=KERNEL_RIDGE),
    }[features]
    heads = {
        "network": make_network(dimension, seed=task.seed or 0),
        "linear": LeastSquaresClassifier(),
        # By brute force, ties at the last neighbor would depend on the thread count.
        "k-NN": KNeighborsClassifier(algorithm="kd_tree"),
    }
    classifiers = [str(task.setting["classifier"])] if "classifier" in task.setting else CLASSIFIERS
    with warnings.catch_warnings():
        # Take all steps, and all rows of a fold in each.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Got `batch_size`")
        return landsat.search(
            data,
            embedder,
            {name: (heads[name], GRIDS[features, name]) for name in classifiers},
            choice=str(task.setting["choice"]),
            # LDA and MFA ignore the test rows; this search shares MFA's embeddings.
            transductive=features in ("CCDR", *REVIEWED),
            seed=task.seed,
        )


def energy_dimension(X: NDArray[np.float64]) -> int:
    """Return the least dimension that keeps 99.9 % of the sum of squares."""
    energy = np.linalg.svd(X, compute_uv=False) ** 2
    return int(np.searchsorted(np.cumsum(energy), ENERGY * energy.sum())) + 1


def make_network(n_inputs: int, *, seed: int) -> Any:
    """Return the network of CCDR-MC section V.A, on inputs of unit variance."""
    network = MLPClassifier(
        (2 * n_inputs,),
        activation="logistic",
        solver="sgd",
        alpha=0,
        batch_size=landsat.N_TRAIN,
        learning_rate_init=0.1,
        momentum=0.9,
        nesterovs_momentum=False,
        max_iter=N_STEPS,
        tol=0,
        n_iter_no_change=N_STEPS,
        shuffle=False,  # each step sees all rows
        random_state=seed,
    )
    return make_pipeline(StandardScaler(), network)


def judge(summary: Summary) -> list[Verdict]:
    """Judge the paper's conclusions from its table, then compare CCDR with what it reviews."""
    verdicts, ours = [], []
    for choice in (BEST_CASE, CROSS_VALIDATED):
        for place, classifier in enumerate(CLASSIFIERS):
            printed = ", ".join(f"{name} {100 * row[place]:g} %" for name, row in PRINTED.items())
            claim = f"CCDR lowers the error of the {classifier} classifier ({choice})"
            if errors := _errors(summary, (*PRINTED,), classifier, choice):
                word = judge_if(errors["CCDR"] < min(errors["raw"], errors["PCA"]))
                source = _source(printed, choice)
                verdicts.append(Verdict(claim, source, list_errors(errors), word))
            claim = f"Ours: the {classifier} classifier has a smaller error on CCDR than on "
            claim += f"{', '.join(REVIEWED)} ({choice})"
            if errors := _errors(summary, (*REVIEWED, "CCDR"), classifier, choice):
                word = judge_all([errors["CCDR"] < errors[name] for name in REVIEWED])
                ours.append(Verdict(claim, "not in the paper", list_errors(errors), word))
        if errors := _errors(summary, ("raw", "CCDR"), "k-NN", choice):
            gain = 1 - errors["CCDR"] / errors["raw"]
            word = judge_if(gain >= 0.1, gain > 0)
            raw, ccdr = (format_value(error, "share") for error in errors.values())
            found = f"{100 * gain:.0f} %, from {raw} to {ccdr}"
            claim = f"CCDR lowers the error of k-NN by a tenth ({choice})"
            verdicts.append(Verdict(claim, _source("10 %", choice), found, word))
    return verdicts + ours


def _source(printed: str, choice: str) -> str:
    """Say what the paper has, which is best cases only."""
    return printed if choice == BEST_CASE else f"not in the paper; best case {printed}"


def _errors(
    summary: Summary, features: Sequence[str], classifier: str, choice: str
) -> dict[str, float]:
    """Return the errors of the features, or nothing if one of them was not run."""
    errors = {
        name: row.estimate.mean
        for name in features
        for row in summary.rows_with(features=name, classifier=classifier, choice=choice)
    }
    return errors if len(errors) == len(features) else {}


BAR_WIDTH = 0.14  # where classifiers are 1 apart
TOP = 33  # percent


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the table as bars, the paper's figures as diamonds, except its 83 %."""
    figure = new_figure(2, width=7.5, height=5.5)
    for ax, choice in zip(figure.axes, (BEST_CASE, CROSS_VALIDATED), strict=True):
        ax.set_axisbelow(True)
        for place, classifier in enumerate(CLASSIFIERS):
            _draw_bars(ax, summary, place, classifier, choice)
        for features, color in COLORS.items():
            ax.bar(0, 0, color=color, label=features)
        ax.legend(frameon=False, ncols=2, loc="upper left")
        ax.set_xticks(range(len(CLASSIFIERS)), CLASSIFIERS)
        ax.set(ylim=(0, TOP), ylabel="error on test rows, %")
        is_best = choice == BEST_CASE
        ax.set_title(choice + "; diamonds: the paper (raw network: 83 %)" * is_best, fontsize=11)
    return figure


def _draw_bars(ax: Axes, summary: Summary, place: int, classifier: str, choice: str) -> None:
    for number, features in enumerate(FEATURES):
        for row in summary.rows_with(choice=choice, classifier=classifier, features=features):
            x = place + BAR_WIDTH * (number - (len(FEATURES) - 1) / 2)
            height = top = 100 * row.estimate.mean
            ax.bar(x, height, 0.9 * BAR_WIDTH, color=COLORS[features])
            printed = 100 * row.printed.value if row.printed and row.printed.value else TOP
            if printed < TOP:
                ax.plot(x, printed, "kD", fillstyle="none", markersize=5)
                top = max(top, printed + 0.4)  # the number stands above the diamond
            color = readable_on_white(COLORS[features])
            style: dict[str, Any] = {"ha": "center", "va": "bottom", "rotation": 90, "fontsize": 8}
            ax.annotate(f"{height:.2f}", (x, top + 0.3), color=color, **style)


TABLE_1 = Entry(
    name="table-1",
    title="Errors of three classifiers on raw, PCA, CCDR, LDA and MFA features of Landsat",
    procedure=PROCEDURE,
    edition=2,
    tasks=list_tasks,
    run=run,
    judge=judge,
    printed=tuple(
        Printed(value, {"features": features, "classifier": classifier, "choice": BEST_CASE})
        for features, values in PRINTED.items()
        for classifier, value in zip(CLASSIFIERS, values, strict=True)
    ),
    derive=landsat.derive_gaps,
    draw=draw,
    needs_data=True,
    why=(
        "Least squares on raw and PCA features and the network on PCA features have larger errors "
        "here than printed; the reason is not known. The network's printed 83 % on raw features "
        "looks like failed training."
    ),
)
