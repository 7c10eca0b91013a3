"""The types that a model file may hold, by name: no other is ever built from a file.

skops adds what it trusts by itself: Python's containers, NumPy's arrays and scikit-learn's
estimators. A name stands here if objects of the type are data that no method of theirs turns into
a call of something the file chose.
"""

from __future__ import annotations

__all__ = ["TRUSTED_TYPES"]

ESTIMATORS = (
    "labelfold.classify.heads.LeastSquaresClassifier",
    "labelfold.classify.laplacian_classifier.LaplacianClassifier",
    "labelfold.classify.manifold_classifier.ManifoldClassifier",
    "labelfold.ensemble.resampled_embedding.ResampledEmbedding",
    "labelfold.evaluate.search.TransductiveSearchCV",
    "labelfold.graph.intrinsic_dimension.IntrinsicDimension",
    "labelfold.semidefinite.separation_map.IsometricSeparationMap",
    "labelfold.semidefinite.supervised_embedding.SupervisedSemidefiniteEmbedding",
    "labelfold.semidefinite.unfolding.FurthestNeighborUnfolding",
    "labelfold.semidefinite.unfolding.MaximumVarianceUnfolding",
    "labelfold.spectral.ccdr.CCDR",
    "labelfold.spectral.laplacian_eigenmaps.LaplacianEigenmaps",
    "labelfold.spectral.marginal_fisher.MarginalFisherAnalysis",
    "labelfold.spectral.supervised_lle.SupervisedLLE",
)

PARTS_OF_ESTIMATORS = (
    "labelfold.classify.laplacian_certificate.LaplacianCertificate",
    "labelfold.classify.laplacian_columns.LaplacianColumns",
    "labelfold.ensemble.alignment.Motion",
    "labelfold.ensemble.resampling_certificate.ResamplingCertificate",
    "labelfold.evaluate.splits.LabeledKFold",
    "labelfold.extend.local_average.LocalAverage",
    "labelfold.extend.new_points.NewPoints",
    "labelfold.extend.regression.KernelRegression",
    "labelfold.extend.regression._Frame",
    "labelfold.graph.inverted_file.InvertedFileIndex",
    "labelfold.graph.neighbor_graph.GraphRecipe",
    "labelfold.graph.neighbor_graph.NeighborGraph",
    "labelfold.graph.neighbors.ExactIndex",
    "labelfold.graph.point_space.PointSpace",
    "labelfold.graph.precomputed.PrecomputedIndex",
    "labelfold.graph.query_graph.QueryGraph",
    "labelfold.labels.partial_labels.PartialLabels",
    "labelfold.semidefinite.separation.Separation",
    "labelfold.semidefinite.separation_certificate.SeparationCertificate",
    "labelfold.solvers.certificates.EigenCertificate",
    "labelfold.solvers.distance_certificate.DistanceErrors",
    "labelfold.solvers.distance_certificate.UnfoldingCertificate",
    "labelfold.spectral.laplacian_basis.LaplacianBasis",
)

# Read as arrays, with scipy.sparse.load_npz.
SPARSE_MATRICES = tuple(
    f"scipy.sparse._{form}.{form}_{kind}"
    for form in ("bsr", "coo", "csc", "csr", "dia")
    for kind in ("array", "matrix")
)

# What scikit-learn's estimators hold that skops does not trust by itself, since it knows estimators
# only. Decision trees are left out on purpose: they point into themselves by numbers that nobody
# checks, so that a file could crash the process.
PARTS_OF_SCIKIT_LEARN = (
    "builtins.range",
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.feature_selection._mutual_info.mutual_info_classif",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.model_selection._split.GroupKFold",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.LeaveOneOut",
    "sklearn.model_selection._split.RepeatedKFold",
    "sklearn.model_selection._split.RepeatedStratifiedKFold",
    "sklearn.model_selection._split.ShuffleSplit",
    "sklearn.model_selection._split.StratifiedGroupKFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.model_selection._split.StratifiedShuffleSplit",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
)

TRUSTED_TYPES = (*ESTIMATORS, *PARTS_OF_ESTIMATORS, *SPARSE_MATRICES, *PARTS_OF_SCIKIT_LEARN)
