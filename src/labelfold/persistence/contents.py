"""What goes into a model file: an estimator as data, and known types only.

Search trees and scorers of scikit-learn are left out and rebuilt on loading, from their rows or
name. A compact file keeps only what ``transform`` and ``predict`` read: it leaves out what a
declaration lists as ``only_in_fit``, and of an object with a method ``for_new_rows`` it keeps what
that returns.

skops describes a model as a tree of nodes in JSON, each with the name of its type. All names must
be known before anything is built: those of classes marked as stored
(:func:`labelfold.methods.stored`), and those of NumPy, SciPy and scikit-learn that are listed here
or trusted by skops itself.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

import skops.io
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.neighbors import BallTree, KDTree

from labelfold.methods import all_stored, declaration_of

__all__ = ["SCHEMA", "find_foreign", "find_lost_keys", "rebuild", "to_storable", "trusted_names"]

SCHEMA = "schema.json"  # skops' name of the description
TREES = {"kd_tree": KDTree, "ball_tree": BallTree}

# JSON turns keys into text, from which skops restores these. Of False it would make True.
RESTORED_KEYS = {"str", "int", "float", "str_", "int8", "int16", "int32", "int64", "float64"}

# Types that skops does not trust by itself, although their objects are data. Not decision trees:
# they refer to their own nodes by unchecked numbers, so a file could crash the process.
OF_LIBRARIES = (
    *(
        f"scipy.sparse._{form}.{form}_{kind}"
        for form in ("bsr", "coo", "csc", "csr", "dia")
        for kind in ("array", "matrix")
    ),
    "builtins.range",
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.feature_selection._mutual_info.mutual_info_classif",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    *(
        f"sklearn.model_selection._split.{kind}"
        for kind in (
            "GroupKFold",
            "KFold",
            "LeaveOneOut",
            "RepeatedKFold",
            "RepeatedStratifiedKFold",
            "ShuffleSplit",
            "StratifiedGroupKFold",
            "StratifiedKFold",
            "StratifiedShuffleSplit",
        )
    ),
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
)


def trusted_names() -> list[str]:
    """Return the names of all types that a model file may hold besides those that skops trusts."""
    return [*all_stored(), *OF_LIBRARIES]


def to_storable(estimator: Any, *, compact: bool) -> Any:
    """Return a copy of an estimator that shares its arrays, without trees and scorers.

    A compact copy has only what new rows need.
    """
    return _Copier(compact).copy(estimator)


class _Copier:
    def __init__(self, compact: bool) -> None:
        self._compact = compact
        self._stored = set(all_stored().values())
        self._copies: dict[int, tuple[Any, Any]] = {}  # with the original, which keeps its id taken

    def copy(self, value: Any) -> Any:
        """Return the copy of a value; one copy for all places that hold the same object."""
        if id(value) not in self._copies:
            self._copies[id(value)] = value, self._make_copy(value)
        return self._copies[id(value)][1]

    def _make_copy(self, value: Any) -> Any:
        if type(value) in (list, tuple):
            return type(value)(self.copy(one) for one in value)
        if type(value) is dict:
            return {key: self.copy(one) for key, one in value.items()}
        if isinstance(value, BaseEstimator) and not isinstance(value, type):
            return self._copy_estimator(value)
        if self._compact and type(value) in self._stored:
            has_less = hasattr(value, "for_new_rows")
            return self._copy_parts(value.for_new_rows() if has_less else value)
        return value

    def _copy_estimator(self, estimator: Any) -> Any:
        declaration = declaration_of(estimator) if self._compact else None
        result = self._copy_parts(estimator, declaration.only_in_fit if declaration else ())
        attributes = vars(result)
        if attributes.get("_fit_method") in TREES:
            attributes["_tree"] = None
        if "scorer_" in attributes and isinstance(attributes.get("scoring"), str | None):
            attributes["scorer_"] = None
        return result

    def _copy_parts(self, value: Any, left_out: tuple[str, ...] = ()) -> Any:
        kind: Any = type(value)
        result = kind.__new__(kind)
        parts = {name: part for name, part in vars(value).items() if name not in left_out}
        result.__dict__.update({name: self.copy(part) for name, part in parts.items()})
        return result


def rebuild(estimator: Any) -> Any:
    """Rebuild in place what :func:`to_storable` left out of every file; return the estimator."""
    for one in _estimators(estimator, set()):
        kind = getattr(one, "_fit_method", None)
        if kind in TREES and getattr(one, "_tree", 0) is None:
            metric, parameters = one.effective_metric_, one.effective_metric_params_
            one._tree = TREES[kind](one._fit_X, one.leaf_size, metric=metric, **parameters)
        if getattr(one, "scorer_", 0) is None:
            one.scorer_ = check_scoring(one.estimator, scoring=one.scoring)
    return estimator


def _estimators(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the estimators in a value, those inside others first."""
    if id(value) in seen:
        return
    seen.add(id(value))
    parts: Any = ()
    if isinstance(value, list | tuple):
        parts = value
    elif isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, BaseEstimator):
        parts = vars(value).values()
    for part in list(parts):
        yield from _estimators(part, seen)
    if isinstance(value, BaseEstimator):
        yield value


def find_foreign(schema: bytes, members: Iterable[str]) -> dict[str, str]:
    """Return types that are not trusted, by name, each with the place of one object.

    ``schema`` is the description in JSON, ``members`` the names of the files it refers to. Empty
    files replace them here, so that nothing large is read before the types are known.
    """
    empty = BytesIO()
    with zipfile.ZipFile(empty, "w") as file:
        for name in members:
            file.writestr(name, schema if name == SCHEMA else b"")
    foreign = set(skops.io.get_untrusted_types(data=empty.getvalue())) - set(trusted_names())
    if not foreign:
        return {}
    found = dict.fromkeys(sorted(foreign), "")
    places = sorted(_places(json.loads(schema), ""), key=lambda one: one[0].count("."))
    for place, node in reversed(places):  # the least nested place comes last and is kept
        name = f"{node['__module__']}.{node['__class__']}"
        if name in found:
            found[name] = place
    return found


def find_lost_keys(schema: bytes) -> list[str]:
    """Return the places of dictionaries whose keys would not be restored as they are."""
    return [
        place
        for place, node in _places(json.loads(schema), "")
        if node["__loader__"] == "DictNode"
        and (
            len(node["key_types"]["content"]) != len(node["content"])
            or not {kind["__class__"] for kind in node["key_types"]["content"]} <= RESTORED_KEYS
        )
    ]


def _places(node: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all nodes, each with the expression that a user would write for it."""
    if not isinstance(node, dict):
        return
    if "__loader__" in node:
        yield place, node
    content = node.get("content")
    if isinstance(content, list):
        for number, child in enumerate(content):
            yield from _places(child, f"{place}[{number}]")
    elif isinstance(content, dict) and "__loader__" in content:
        yield from _places(content, place)
    elif isinstance(content, dict):
        for name, child in content.items():
            yield from _places(child, f"{place}.{name}".lstrip("."))
