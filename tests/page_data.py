"""What the page of a map holds, read back as the viewer reads it."""

from __future__ import annotations

import base64
import json
import re
import zlib

import numpy as np


def unpack(block):
    """Header and arrays of a block that `interactive_map.pack` wrote, in one dictionary."""
    end = 4 + int.from_bytes(block[:4], "little")
    header = json.loads(block[4:end])
    arrays = header.pop("arrays")
    for name, (dtype, start, size) in arrays.items():
        header[name] = np.frombuffer(block, np.dtype(dtype).newbyteorder("<"), size, end + start)
    return header


def read_page(page, block="map-data"):
    """Data of a page, None for an empty block; each column of details is a list of texts."""
    [text] = re.findall(rf'<script type="text/plain" id="{block}">(.*?)</script>', page.decode())
    if text == "":
        return None
    data = unpack(zlib.decompress(base64.b64decode(text)))
    data["details"] = {
        column["name"]: [dict(enumerate(column["texts"])).get(code) for code in data[f"column{k}"]]
        for k, column in enumerate(data.get("columns", []))
    }
    return data
