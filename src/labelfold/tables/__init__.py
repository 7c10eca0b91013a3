"""People's tables: read from files, and mixed columns made into features."""

from labelfold.tables.columns import ColumnReport
from labelfold.tables.frames import as_table
from labelfold.tables.preparation import TablePreparation, make_preparation
from labelfold.tables.reading import read
from labelfold.tables.scaling import AutoScaler
from labelfold.tables.table import Table

__all__ = [
    "AutoScaler",
    "ColumnReport",
    "Table",
    "TablePreparation",
    "as_table",
    "make_preparation",
    "read",
]
