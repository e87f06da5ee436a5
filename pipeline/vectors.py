"""What makes an array of vectors usable: their number, their length, and finite values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipeline.errors import InvalidVectorError
from pipeline.ports import Vectors

LEAST_NORM = 1e-12


def unit(rows: npt.ArrayLike | Sequence[object], *, count: int, dimension: int) -> Vectors:
    """``rows`` as (count, dimension) float32 with rows of length 1.

    Raises InvalidVectorError that says what they are instead: another number, another length, a
    value that is not finite, or a vector without direction.
    """
    try:
        values = np.asarray(rows, dtype=np.float64)
    except (ValueError, TypeError):
        raise InvalidVectorError(
            "The embedder returned vectors of different lengths, or values that are no numbers."
        ) from None
    if count == 0 and values.size == 0:
        return np.empty((0, dimension), dtype=np.float32)
    if values.ndim != 2 or len(values) != count:
        raise InvalidVectorError(f"The embedder returned {len(values)} vectors for {count} texts.")
    if values.shape[1] != dimension:
        raise InvalidVectorError(
            f"The embedder returned vectors of {values.shape[1]} dimensions, not {dimension}: "
            "set LASTRO_EMBEDDER_DIMENSION to the model's, and start on a new database."
        )
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or (norms < LEAST_NORM).any():
        raise InvalidVectorError("The embedder returned a vector that is zero or not finite.")
    return np.asarray(values / norms, dtype=np.float32)
