"""What the rest of the library must know of an estimator, declared once, on the estimator.

Command line, comparisons, model files, documentation tables and shared tests read declarations and
keep no list of their own. A user's estimator that declares itself takes part on equal terms::

    @declare(Declaration("mine", "an embedding of my own", labels="ignores", produces="embedding"))
    class MyEmbedding(GraphEmbedder): ...
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args

from labelfold.exceptions import InputError

__all__ = [
    "Declaration",
    "Method",
    "PublishedMixin",
    "all_estimators",
    "all_methods",
    "all_stored",
    "declaration_of",
    "declare",
    "is_blind_to_labels",
    "known_methods",
    "stored",
    "takes_partial_labels",
]

HOMES = (
    "labelfold.spectral",
    "labelfold.semidefinite",
    "labelfold.classify",
    "labelfold.layout",
    "labelfold.ensemble",
    "labelfold.graph",
    "labelfold.tables.preparation",
    "labelfold.evaluate.search",
)

Class = TypeVar("Class", bound=type)
Labels = Literal["needs", "uses", "ignores", "complete"]
Product = Literal["embedding", "classification", "both", "neither"]

# By qualified name: a class that is defined again replaces itself.
_estimators: dict[str, type] = {}
_stored: dict[str, type] = {}


@dataclass(frozen=True)
class Declaration:
    """What an estimator is.

    Parameters
    ----------
    name : str
        Short name on the command line and in tables; "" for estimators that are not chosen by
        name, such as heads and searches.
    purpose : str
        One line for tables and help, without a full stop.
    labels : {"needs", "uses", "ignores", "complete"}
        What ``fit`` does with a y in which some rows are unlabeled; "complete" for one that needs a
        label for every row, such as a head.
    produces : {"embedding", "classification", "both", "neither"}
        Coordinates of all rows, from ``fit_transform``; a class for each, in ``transduction_``;
        both or neither.
    uses_graph : bool
        Whether ``fit`` takes ``graph=``, a :class:`NeighborGraph`.
    only_in_fit : tuple of str
        Fitted attributes that new rows do not need: a compact model file leaves them out.
    examples : tuple of dict
        Settings that fit a few hundred rows in about a second; the shared tests run each.
    quick : bool
        Whether ten thousand rows take seconds rather than minutes; comparisons take the quick
        methods unless others are named.
    agreement : float
        How closely fits agree whose rows were rotated, shifted, reordered or scaled, relative to
        the size of the result. Looser for solutions found by descent.
    scales_with_data : bool
        Whether the embedding of twice the rows is twice the embedding; if False, scale has no
        influence.
    rotates : bool
        Whether the result is the same for rotated rows; rows that are only shifted always give it.
    reorders : bool
        Whether the result is the same for rows in another order, up to that order.
    failed_checks : dict of str to str
        Checks of scikit-learn's ``check_estimator`` that it may fail, each with the reason.
    """

    name: str
    purpose: str
    labels: Labels
    produces: Product
    uses_graph: bool = True
    only_in_fit: tuple[str, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = ({},)
    quick: bool = True
    agreement: float = 1e-8
    scales_with_data: bool = False
    rotates: bool = True
    reorders: bool = True
    failed_checks: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind in (("labels", Labels), ("produces", Product)):
            value, choices = getattr(self, name), get_args(kind)
            if value not in choices:
                raise InputError(f"{name}={value!r} is unknown: use one of {choices}.")

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
    """An estimator class that has a short name."""

    estimator: type
    declaration: Declaration
    defaults: Mapping[str, Any] = field(default_factory=dict)  # that differ from the estimator's

    @property
    def parameters(self) -> list[str]:
        """Names of the estimator's parameters."""
        return list(inspect.signature(self.estimator).parameters)

    def make(self) -> Any:
        """Return an unfitted estimator."""
        return self.estimator(**self.defaults)


class PublishedMixin:
    """Mixin of estimators whose defaults differ from the settings of their paper."""

    _published: ClassVar[Mapping[str, Any]]

    @classmethod
    def as_published(cls, **changes: Any) -> Self:
        """Return an estimator with the settings of its paper, named in the class's Notes.

        Parameters
        ----------
        **changes : dict
            Parameters that are to differ from them.

        Returns
        -------
        estimator
            Unfitted.
        """
        return cls(**{**cls._published, **changes})


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
        Declaration("isomap", "keeps distances along the graph", "ignores", "embedding"),
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
            "mds",
            "keeps the distances of all pairs",
            "ignores",
            "embedding",
            uses_graph=False,
            quick=False,
        ),
        {},
    ),
    (
        "sklearn.manifold.TSNE",
        Declaration("tsne", "t-SNE, for pictures", "ignores", "embedding", quick=False),
        {},
    ),
)


def declare(declaration: Declaration) -> Callable[[Class], Class]:
    """Declare an estimator class under its short name, which no other class may have."""

    def register(estimator: Class) -> Class:
        for one in _estimators.values():
            if declaration.name == _name(one) != "" and _qualified(one) != _qualified(estimator):
                raise InputError(
                    f"The name {declaration.name!r} is taken by {_qualified(one)}: declare "
                    f"{estimator.__name__} under another."
                )
        estimator.declaration = declaration  # type: ignore[attr-defined]
        _estimators[_qualified(estimator)] = estimator
        return stored(estimator)

    return register


def stored(kind: Class) -> Class:
    """Allow objects of a class in model files.

    Only for classes whose objects are data: none of their methods may call something that a file
    names. An object that holds more than new rows need has a method ``for_new_rows``, which returns
    what a compact file keeps.
    """
    _stored[_qualified(kind)] = kind
    return kind


def declaration_of(estimator: Any) -> Declaration | None:
    """Return what an estimator, or its class, declares; None if it declares nothing."""
    return getattr(estimator, "declaration", None)


def takes_partial_labels(estimator: Any) -> bool:
    """Return whether an estimator declares that it uses a y with unlabeled rows."""
    declaration = declaration_of(estimator)
    return declaration is not None and declaration.labels in ("needs", "uses")


def is_blind_to_labels(estimator: Any) -> bool:
    """Return whether an estimator declares that its fit does not depend on labels."""
    declaration = declaration_of(estimator)
    return declaration is not None and declaration.labels == "ignores"


def all_estimators() -> list[type]:
    """Return every declared estimator class: labelfold's by package and module, then others."""
    _load()
    return sorted(_estimators.values(), key=_place)


def all_methods() -> dict[str, type]:
    """Return the declared estimators that have a short name, by that name."""
    return {_name(one): one for one in all_estimators() if _name(one)}


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


def all_stored() -> dict[str, type]:
    """Return the classes whose objects model files may hold, by qualified name."""
    _load()
    return dict(_stored)


def _load() -> None:
    for home in HOMES:
        importlib.import_module(home)


def _place(kind: type) -> tuple[int, str]:
    home = ".".join(kind.__module__.split(".")[:2])
    return HOMES.index(home) if home in HOMES else len(HOMES), _qualified(kind)


def _name(estimator: type) -> str:
    return str(estimator.declaration.name)  # type: ignore[attr-defined]


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
