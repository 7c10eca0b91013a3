"""Neighbors, fits and labels over many machines, on a Dask cluster.

Rows are Parquet files on storage that all workers share. Every task writes a file, and a call that
is started again does what is not done yet.
"""

from labelfold.distributed.labeling import label_rows, label_rows_by_graph
from labelfold.distributed.neighbor_lists import NeighborLists, search_neighbors
from labelfold.distributed.row_files import RowFiles, draw_sample, open_rows, store_rows

__all__ = [
    "NeighborLists",
    "RowFiles",
    "draw_sample",
    "label_rows",
    "label_rows_by_graph",
    "open_rows",
    "search_neighbors",
    "store_rows",
]
