"""Two small fits by Newton's method: a logistic regression and a conditional logit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

RIDGE = 3.0
"""Weight of the penalty on squared coefficients, of columns scaled to deviation 1."""

STEPS = 60
TOLERANCE = 1e-7


def logistic(rows: Numbers, labels: Numbers, weights: Numbers) -> tuple[Numbers, float]:
    """Coefficients, (columns,), and intercept of the weighted logistic regression of ``labels``.

    ``rows`` is (n, columns); ``labels`` are 0 or 1, ``weights`` how much each row counts, (n,).
    """
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    scaled = np.column_stack([(rows - mean) / scale, np.ones(len(rows))])
    penalty = RIDGE * np.diag([1.0] * rows.shape[1] + [0.0])
    found = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        chance = (1 + np.tanh(scaled @ found / 2)) / 2
        gradient = scaled.T @ (weights * (labels - chance)) - penalty @ found
        curvature = (scaled * (weights * chance * (1 - chance))[:, None]).T @ scaled + penalty
        step = np.linalg.solve(curvature, gradient)
        found += step
        if np.abs(step).max() < TOLERANCE:
            break
    coefficients = found[:-1] / scale
    return coefficients, float(found[-1] - coefficients @ mean)


def conditional_logit(groups: Sequence[tuple[Numbers, int]], weights: Sequence[float]) -> Numbers:
    """Coefficients, (columns,), under which the right row of each group is the likeliest choice.

    A group is its rows, (n, columns), and the place of the right one (McFadden 1974; also known as
    ListNet with one relevant item). ``weights`` is how much each group counts.
    """
    scale = np.concatenate([rows for rows, _ in groups]).std(axis=0) + 1e-9
    scaled = [(rows / scale, right) for rows, right in groups]
    found = np.zeros(len(scale))
    for _ in range(STEPS):
        gradient = -RIDGE * found
        curvature = RIDGE * np.eye(len(scale))
        for (rows, right), weight in zip(scaled, weights, strict=True):
            values = rows @ found
            share = np.exp(values - values.max())
            share /= share.sum()
            mean = share @ rows
            gradient += weight * (rows[right] - mean)
            curvature += weight * ((rows * share[:, None]).T @ rows - np.outer(mean, mean))
        step = np.linalg.solve(curvature, gradient)
        found += np.clip(step, -2, 2)
        if np.abs(step).max() < TOLERANCE:
            break
    return np.asarray(found / scale)
