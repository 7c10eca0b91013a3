"""What the rest of the library must know of an estimator, declared once, on the estimator.

Command line, comparisons, model files, documentation tables and shared tests read declarations and
keep no list of their own. A user's estimator that declares itself takes part on equal terms::

    @declare(Declaration("mine", "An embedding of my own.", labels="ignores", produces="embedding"))
    class MyEmbedding(GraphEmbedder): ...
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

__all__ = [
    "Declaration",
    "Method",
    "all_estimators",
    "all_methods",
    "declaration_of",
    "declare",
    "known_methods",
    "stored",
]

HOMES = (
    "labelfold.graph",
    "labelfold.spectral",
    "labelfold.semidefinite",
    "labelfold.classify",
    "labelfold.ensemble",
    "labelfold.evaluate",
)

Class = TypeVar("Class", bound=type)
Product = Literal["embedding", "classification", "both", "neither"]

_estimators: list[type] = []
_stored: list[type] = []


@dataclass(frozen=True)
class Declaration:
    """What an estimator is.

    Parameters
    ----------
    name : str
        Short name on the command line and in tables; "" for estimators that serve others, such as
        heads and searches.
    purpose : str
        One line for tables and help.
    labels : {"needs", "uses", "ignores"}
        What ``fit`` does with a partial y.
    produces : {"embedding", "classification", "both", "neither"}
        ``embedding_``, ``transduction_``, both or neither.
    uses_graph : bool
        Whether ``fit`` takes ``graph=``, a :class:`NeighborGraph`.
    only_in_fit : tuple of str
        Fitted attributes that new rows do not need: a compact model file leaves them out.
    examples : tuple of dict
        Settings that fit a few hundred rows in about a second; the shared tests run each.
    quick : bool
        Whether ten thousand rows take seconds rather than minutes; comparisons take the quick
        methods unless others are named.
    """

    name: str
    purpose: str
    labels: Literal["needs", "uses", "ignores"]
    produces: Product
    uses_graph: bool = True
    only_in_fit: tuple[str, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = ({},)
    quick: bool = True

    @property
    def embeds(self) -> bool:
        """Whether a fit gives coordinates."""
        return self.produces in ("embedding", "both")

    @property
    def classifies(self) -> bool:
        """Whether a fit gives every row a class."""
        return self.produces in ("classification", "both")


@dataclass(frozen=True)
class Method:
    """An estimator class that has a short name.

    Parameters
    ----------
    estimator : type
        The class.
    declaration : Declaration
        What it is.
    defaults : mapping
        Parameters whose default here is not the estimator's own.
    """

    estimator: type
    declaration: Declaration
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> list[str]:
        """Names of the estimator's parameters."""
        return list(inspect.signature(self.estimator).parameters)

    def make(self) -> Any:
        """Return an unfitted estimator."""
        return self.estimator(**self.defaults)


# scikit-learn's embedders cannot declare themselves: home, declaration, defaults.
BORROWED: tuple[tuple[str, Declaration, Mapping[str, Any]], ...] = (
    (
        "sklearn.decomposition.PCA",
        Declaration("pca", "principal components", "ignores", "embedding", uses_graph=False),
        {"n_components": 2},
    ),
    (
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        Declaration("lda", "linear discriminants", "needs", "embedding", uses_graph=False),
        {},
    ),
    (
        "sklearn.manifold.Isomap",
        Declaration("isomap", "geodesic distances", "ignores", "embedding"),
        {"n_neighbors": 12},
    ),
    (
        "sklearn.manifold.LocallyLinearEmbedding",
        Declaration("locally-linear", "locally linear embedding", "ignores", "embedding"),
        {"n_neighbors": 12},
    ),
    (
        "sklearn.manifold.MDS",
        Declaration(
            "mds", "distances of all pairs", "ignores", "embedding", uses_graph=False, quick=False
        ),
        {},
    ),
    (
        "sklearn.manifold.TSNE",
        Declaration("tsne", "neighborhoods, for pictures", "ignores", "embedding", quick=False),
        {},
    ),
)


def declare(declaration: Declaration) -> Callable[[Class], Class]:
    """Declare an estimator class, which becomes known under its short name."""

    def register(estimator: Class) -> Class:
        estimator.declaration = declaration  # type: ignore[attr-defined]
        _estimators.append(estimator)
        return stored(estimator)

    return register


def stored(kind: Class) -> Class:
    """Allow objects of a class in model files.

    Only for classes whose objects are data: nothing that their methods do may call what a file
    chose.
    """
    _stored.append(kind)
    return kind


def declaration_of(estimator: Any) -> Declaration | None:
    """Return what an estimator, or its class, declares; None for one that declares nothing."""
    return getattr(estimator, "declaration", None)


def all_estimators() -> list[type]:
    """Return every declared estimator class: labelfold's in a fixed order, then others."""
    for home in HOMES:
        importlib.import_module(home)

    def place(estimator: type) -> int:
        package = ".".join(estimator.__module__.split(".")[:2])
        return HOMES.index(package) if package in HOMES else len(HOMES)

    return sorted(_estimators, key=place)


def all_methods() -> dict[str, type]:
    """Return the declared estimators that have a short name, by that name."""
    return {one.declaration.name: one for one in all_estimators() if one.declaration.name}  # type: ignore[attr-defined]


def known_methods() -> dict[str, Method]:
    """Return all declared methods and scikit-learn's embedders, by their short names."""
    known = {
        name: Method(kind, kind.declaration)  # type: ignore[attr-defined]
        for name, kind in all_methods().items()
    }
    for home, declaration, defaults in BORROWED:
        module, _, title = home.rpartition(".")
        kind = getattr(importlib.import_module(module), title)
        known.setdefault(declaration.name, Method(kind, declaration, defaults))
    return known
