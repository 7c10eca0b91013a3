"""The version, as the build and ``labelfold.__version__`` read it."""

__version__ = "0.1.0"
