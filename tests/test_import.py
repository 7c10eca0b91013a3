"""What ``import labelfold`` loads, and which names it offers."""

import subprocess
import sys

import pytest

import labelfold


def modules_loaded_by(statement: str) -> set[str]:
    """Modules that a fresh interpreter loads for the statement, beyond those of its own start."""
    script = (
        "import sys\n"
        "before = set(sys.modules)\n"
        f"{statement}\n"
        "print('\\n'.join(sorted(set(sys.modules) - before)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True
    )
    return set(result.stdout.split())


def packages_of(modules: set[str]) -> set[str]:
    """Top-level packages outside the standard library.

    Extension modules register helper modules of their own (Cython's shared state); these are not
    packages anyone installed, and start with an underscore or carry the name cython.
    """
    names = {name.partition(".")[0] for name in modules}
    return {
        name
        for name in names - sys.stdlib_module_names
        if not name.startswith("_") and "cython" not in name
    }


def test_import_labelfold_loads_only_itself():
    loaded = modules_loaded_by("import labelfold")
    assert packages_of(loaded) == {"labelfold"}
    assert {name for name in loaded if name.startswith("labelfold")} == {
        "labelfold",
        "labelfold._version",
    }


@pytest.fixture(scope="module")
def scikit_learn_packages():
    # Where pandas and rich are installed, scikit-learn itself loads them.
    return packages_of(modules_loaded_by("import sklearn.neighbors"))


@pytest.mark.parametrize(
    "name",
    [
        "CCDR",
        "EmbeddingDisplay",
        "IsometricSeparationMap",
        "LaplacianEigenmaps",
        "NeighborGraph",
        "PartialLabels",
        "datasets",
    ],
)
def test_a_public_name_loads_nothing_beyond_scikit_learn(name, scikit_learn_packages):
    loaded = packages_of(modules_loaded_by(f"from labelfold import {name}"))
    assert loaded - scikit_learn_packages == {"labelfold"}


def test_a_splitter_loads_neither_classifiers_nor_pictures():
    loaded = modules_loaded_by("from labelfold.evaluate import LabeledKFold")
    ours = {name for name in loaded if name.partition(".")[0] == "labelfold"}
    assert len(ours) <= 30
    assert not any(name.startswith("labelfold.plotting") for name in ours)
    assert "matplotlib" not in packages_of(loaded)


@pytest.mark.parametrize("package", ["faiss", "matplotlib", "numba", "tqdm", "typer", "umap"])
def test_scikit_learn_brings_no_optional_package(package, scikit_learn_packages):
    # Or the test above would not notice that labelfold loads it.
    assert package not in scikit_learn_packages


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Isomap'"):
        _ = labelfold.Isomap
    with pytest.raises(ImportError, match="Isomap"):
        from labelfold import Isomap  # noqa: F401


def test_star_import_and_dir_give_the_public_names():
    namespace: dict[str, object] = {}
    exec("from labelfold import *", namespace)
    assert set(labelfold.__all__) <= set(namespace)
    assert set(labelfold.__all__) <= set(dir(labelfold))
