"""``save`` and ``load``: fitted estimators to and from files that run no code when opened.

A model file is a skops file, a zip of arrays and a description of the objects they belong to, with
one more member: ``labelfold.json``, which has format, versions and names of features.
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import skops.io
from numpy.lib.format import read_array_header_1_0, read_array_header_2_0, read_magic
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from labelfold._version import __version__
from labelfold.exceptions import InputError, ModelFileError, ModelVersionWarning, warn_user
from labelfold.persistence.contents import (
    SCHEMA,
    find_foreign,
    find_lost_keys,
    rebuild,
    to_storable,
    trusted_names,
)
from labelfold.whole_file import replacing

__all__ = ["load", "read_feature_names", "save"]

MANIFEST = "labelfold.json"
FORMAT = 2  # raised when files of other formats can no longer be read
# Sparse arrays are compressed, and no real one shrinks to a hundredth: a file that would unpack to
# more was made to fill the memory.
LARGEST_RATIO, HARMLESS_BYTES = 100, 2**26

HEADERS = {(1, 0): read_array_header_1_0, (2, 0): read_array_header_2_0}

LIBRARIES = ("scikit-learn", "numpy", "scipy", "skops")
VERSIONS = {
    "labelfold": __version__,
    **{name: version(name) for name in LIBRARIES},
    "python": platform.python_version(),
}
WARNED_ABOUT = ("labelfold", "scikit-learn")  # whose releases change what attributes mean


def save(
    estimator: Any,
    path: str | os.PathLike[str],
    *,
    compact: bool = False,
    feature_names: Sequence[str] | None = None,
) -> None:
    """Write a fitted estimator to a file that :func:`load` opens without running code.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of labelfold or scikit-learn, also a pipeline or search of these.
    path : str or path-like
        The file; ".skops" is the usual ending. An existing file is replaced, or left as it was if
        anything goes wrong.
    compact : bool, default=False
        Keep only what ``transform`` and ``predict`` need, and the certificate: not the graph's
        edges, nor results for the rows of fit such as ``transduction_``. The rows themselves stay,
        since new ones need them as neighbors. Methods that extend by kernel regression fit it now,
        if they have not yet.
    feature_names : sequence of str, default=None
        Names of the columns of X, for an estimator fitted on an array, which has none;
        :func:`labelfold.persistence.model_file.read_feature_names` returns them. The estimator
        itself does not get them.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted: parameters alone are better kept as code.
    TypeError
        If it holds something that cannot be restored without running code from the file, such as a
        function as metric or an estimator of another library.
    ValueError
        If there are more or fewer names than features.

    See Also
    --------
    load : Open such a file.

    Notes
    -----
    The file is a skops file: arrays, and a description of the objects they belong to. Neighbor
    searches are stored as the rows they search and rebuilt deterministically on loading.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import labelfold
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(300, random_state=0)
    >>> model = labelfold.CCDR().fit(X[:200], y[:200])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     labelfold.save(model, Path(folder, "roll.skops"))
    ...     again = labelfold.load(Path(folder, "roll.skops"))
    >>> bool((again.transform(X[200:]) == model.transform(X[200:])).all())
    True
    """
    if not isinstance(estimator, BaseEstimator):
        raise TypeError(
            f"estimator is of type {type(estimator).__name__}: save takes fitted estimators of "
            "labelfold and scikit-learn."
        )
    check_is_fitted(estimator)
    names = _check_names(feature_names, estimator)
    content = _describe(to_storable(estimator, compact=compact), type(estimator).__name__)
    manifest = {
        "format": FORMAT,
        "estimator": type(estimator).__name__,
        "compact": bool(compact),
        "versions": VERSIONS,
    }
    if names is not None:
        manifest["feature_names"] = names
    with zipfile.ZipFile(content, "a") as file:
        file.writestr(MANIFEST, json.dumps(manifest, indent=1))
    with replacing(Path(path)) as stream:
        stream.write(content.getbuffer())


def load(path: str | os.PathLike[str]) -> Any:
    """Open a file that :func:`save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        The fitted estimator; with the same versions of the libraries its predictions are those of
        the saved one, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is not a model file, truncated, damaged, of another format, or holds an unknown
        type: not of NumPy, SciPy or scikit-learn, nor declared or marked as stored in an imported
        module.

    Warns
    -----
    ModelVersionWarning
        If it was saved with another release of labelfold or scikit-learn.

    See Also
    --------
    save : Write such a file, with an example.

    Notes
    -----
    No code from the file runs. A malicious file can still hold wrong numbers, or numbers that crash
    the process when the estimator is used. Import the module that declares a class of your own
    before loading a model of it.
    """
    path = Path(path)
    with _opened(path) as file:
        manifest = _read_manifest(path, file)
        _check_types(path, file, manifest["versions"])
        _compare_versions(path, manifest["versions"])
        try:
            estimator = rebuild(skops.io.load(file.fp, trusted=trusted_names()))
        except zipfile.BadZipFile:
            raise
        except Exception as error:  # of any library that has changed since
            raise ModelFileError(
                f"{path} cannot be restored here ({type(error).__name__}: {error}). It was saved "
                f"with {_listed(manifest['versions'])}: install these, or fit again."
            ) from error
    if not isinstance(estimator, BaseEstimator):
        raise ModelFileError(f"{path} holds a {type(estimator).__name__}, not an estimator.")
    return estimator


def read_feature_names(path: str | os.PathLike[str]) -> list[str] | None:
    """Return the names of the columns on which a saved estimator was fitted.

    Parameters
    ----------
    path : str or path-like
        A file that :func:`save` wrote.

    Returns
    -------
    list of str or None
        Those given to :func:`save`; None if there were none.

    Raises
    ------
    ModelFileError
        If the file is not a model file, truncated or damaged.
    """
    path = Path(path)
    with _opened(path) as file:
        names = _read_manifest(path, file).get("feature_names")
    if names is not None and not _are_names(names):
        raise ModelFileError(f"{path} has a {MANIFEST} whose feature_names are not a list of text.")
    return names


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip that does not unpack to far more than its size; raise for all other files."""
    with open(path, "rb") as stream:
        start = stream.read(4)
        if start[:1] == b"\x80" and start[1:2] in b"\2\3\4\5":
            raise ModelFileError(
                f"{path} is a pickle, such as joblib.dump writes, and not a file of "
                "labelfold.save: opening it runs any code it holds; joblib.load does that."
            )
        if start != b"PK\x03\x04":
            raise ModelFileError(
                f"{path} is not a file that labelfold.save wrote: name one that is."
            )
        limit = LARGEST_RATIO * os.fstat(stream.fileno()).st_size + HARMLESS_BYTES
        try:
            with zipfile.ZipFile(stream) as file:
                with _zip_errors():
                    size = _unpacked_size(file)
                if size > limit:
                    raise ModelFileError(
                        f"{path} would unpack to more than {limit} bytes, as no file of "
                        "labelfold.save does: do not open it."
                    )
                with _zip_errors():
                    _check_arrays(file)
                yield file
        except (zipfile.BadZipFile, EOFError) as error:
            raise ModelFileError(
                f"{path} is truncated or damaged ({error}): copy it again from its source."
            ) from error


@contextmanager
def _zip_errors() -> Iterator[None]:
    """Turn whatever else zipfile raises on damaged bytes into BadZipFile."""
    try:
        yield
    except Exception as error:  # OSError, NotImplementedError, RuntimeError, zlib.error ...
        raise zipfile.BadZipFile(str(error)) from error


def _unpacked_size(file: zipfile.ZipFile) -> int:
    """Return the declared number of bytes of all members, those inside archives included."""
    size = 0
    for member in file.infolist():
        size += member.file_size
        if member.filename.endswith(".npz") and member.compress_type == zipfile.ZIP_STORED:
            with file.open(member) as part, zipfile.ZipFile(part) as arrays:
                size += sum(one.file_size for one in arrays.infolist())
        elif member.filename.endswith(".npz"):
            raise zipfile.BadZipFile(f"{member.filename} is compressed twice")
    return size


def _check_arrays(file: zipfile.ZipFile) -> None:
    """Raise BadZipFile for an array that says it is larger than its member of the file."""
    for member in file.infolist():
        if member.filename.endswith(".npz"):
            with file.open(member) as part, zipfile.ZipFile(part) as arrays:
                _check_arrays(arrays)
        elif member.filename.endswith(".npy"):
            with file.open(member) as part:
                try:
                    head = HEADERS[read_magic(part)]
                    shape, _, dtype = head(part)
                    is_sound = min(shape, default=0) >= 0
                except Exception as error:  # of a parser of Python's syntax
                    raise zipfile.BadZipFile(f"the head of {member.filename}: {error}") from error
            if not is_sound or math.prod(shape) * dtype.itemsize > member.file_size:
                raise zipfile.BadZipFile(f"{member.filename} says that its shape is {shape}")


def _check_names(names: Sequence[str] | None, estimator: Any) -> list[str] | None:
    """Return the names as a list, if there is one for each feature."""
    if names is None:
        return None
    listed = names if isinstance(names, str) else list(names)
    if not _are_names(listed):
        raise InputError(f"feature_names={names!r} must be a list of text, one for each feature.")
    n_features = getattr(estimator, "n_features_in_", len(listed))
    if len(listed) != n_features:
        raise InputError(
            f"feature_names has {len(listed)} entries for {n_features} features: give one each."
        )
    return list(listed)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _describe(estimator: Any, name: str) -> BytesIO:
    """Return the estimator as a file of skops, or say what in it cannot be one."""
    advice = (
        "model files hold no functions and only types known to be harmless. Replace it (a metric "
        "by its name), declare a class of your own with labelfold.methods.declare, or use "
        "joblib.dump for readers who trust you."
    )
    buffer = BytesIO()
    try:
        skops.io.dump(estimator, buffer)
    except Exception as error:
        raise TypeError(f"{name} cannot be saved ({error}): {advice}") from error
    with zipfile.ZipFile(buffer) as file:
        schema = file.read(SCHEMA)
        foreign = find_foreign(schema, file.namelist())
    for kind, place in foreign.items():
        where = f" as {place}" if place else ""
        raise TypeError(f"{name} cannot be saved with {kind}{where}: {advice}")
    for place in find_lost_keys(schema):
        raise TypeError(
            f"{name} cannot be saved with the keys of {place}, which are neither text nor plain "
            "numbers and would be changed: use others."
        )
    return buffer


def _read_manifest(path: Path, file: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest = json.loads(file.read(MANIFEST))
        number, versions = manifest["format"], manifest["versions"]
        is_valid = isinstance(number, int) and all(
            isinstance(versions[name], str) for name in VERSIONS
        )
    except Exception as error:
        raise ModelFileError(f"{path} has no readable {MANIFEST}: {error!r}") from error
    if not is_valid:
        raise ModelFileError(f"{path} has a {MANIFEST} without format and versions.")
    if number != FORMAT:
        remedy = "upgrade labelfold" if number > FORMAT else "fit and save again"
        raise ModelFileError(
            f"{path} was saved by labelfold {versions['labelfold']} in format {number}, and "
            f"labelfold {__version__} reads format {FORMAT}: {remedy}."
        )
    return dict(manifest)


def _check_types(path: Path, file: zipfile.ZipFile, versions: dict[str, str]) -> None:
    try:
        foreign = find_foreign(file.read(SCHEMA), file.namelist())
    except Exception as error:
        raise ModelFileError(
            f"{path} has a {SCHEMA} that cannot be read here ({error}). It was saved with "
            f"{_listed(versions)}: install these, or fit again."
        ) from error
    if foreign:
        raise ModelFileError(
            f"{path} holds {', '.join(foreign)}, which labelfold does not know: import the module "
            "that declares it if it is a class of your own; otherwise open the file with nothing "
            "else unless you trust its author."
        )


def _compare_versions(path: Path, saved: dict[str, str]) -> None:
    different = [name for name in WARNED_ABOUT if _release(saved[name]) != _release(VERSIONS[name])]
    if different:
        here = {name: VERSIONS[name] for name in different}
        there = {name: saved[name] for name in different}
        warn_user(
            f"{path} was saved with {_listed(there)} and is opened with {_listed(here)}: results "
            "may differ. Install the former, or fit and save again.",
            ModelVersionWarning,
        )


def _release(number: str) -> list[str]:
    """Return the first two numbers of a version."""
    return re.findall(r"\d+", number)[:2]


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())
