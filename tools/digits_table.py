"""Write scikit-learn's digits as a table with images, for `make demo-page`."""

import io
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image
from sklearn.datasets import load_digits


def as_png(pixels: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray((pixels * (255 / 16)).astype(np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def main(path: Path) -> None:
    digits = load_digits()
    columns = {f"pixel{number}": digits.data[:, number] for number in range(64)}
    images = [as_png(pixels) for pixels in digits.images]
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"image": images, **columns}), path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
