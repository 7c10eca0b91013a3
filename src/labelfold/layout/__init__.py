"""A picture of a neighbor graph in two or three dimensions."""

from labelfold.layout.graph_layout import GraphLayout
from labelfold.layout.layout_certificate import LabelEffect, LayoutCertificate

__all__ = ["GraphLayout", "LabelEffect", "LayoutCertificate"]
