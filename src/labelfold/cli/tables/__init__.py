"""People's data files: read into what the library takes, and results written from it.

Nothing here knows of a command line, except that messages name its options.
"""

from labelfold.cli.tables.errors import TableError
from labelfold.cli.tables.formats import FORMATS
from labelfold.cli.tables.reading import read_table
from labelfold.cli.tables.source import DEFAULT_MAX_BYTES, STANDARD_INPUT
from labelfold.cli.tables.table import Table
from labelfold.cli.tables.writing import OUTPUT_FORMATS, output_format, write_table

__all__ = [
    "DEFAULT_MAX_BYTES",
    "FORMATS",
    "OUTPUT_FORMATS",
    "STANDARD_INPUT",
    "Table",
    "TableError",
    "output_format",
    "read_table",
    "write_table",
]
