"""Pictures of maps, graphs, spectra, solves and errors, after scikit-learn's Display convention."""

from labelfold.plotting.comparison_display import ComparisonDisplay
from labelfold.plotting.convergence_display import ConvergenceDisplay
from labelfold.plotting.embedding_display import EmbeddingDisplay
from labelfold.plotting.graph_display import GraphDisplay
from labelfold.plotting.interactive_map import InteractiveMap
from labelfold.plotting.palette import ClassStyle, class_styles, readable_on_white
from labelfold.plotting.spectrum_display import SpectrumDisplay
from labelfold.plotting.sweep_display import SweepDisplay

__all__ = [
    "ClassStyle",
    "ComparisonDisplay",
    "ConvergenceDisplay",
    "EmbeddingDisplay",
    "GraphDisplay",
    "InteractiveMap",
    "SpectrumDisplay",
    "SweepDisplay",
    "class_styles",
    "readable_on_white",
]
