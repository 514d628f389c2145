"""Computes the bounds of two sums of an episode, by its step count: `well`, the sum of the weighted meters, and
`skill`, the sum of belief_skill's terms."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np
import numpy.typing as npt

from . import _world
from .world import World

Doubles = npt.NDArray[np.float64]
#: Inclusive bounds, f64 [n] each.
Bounds = Tuple[Doubles, Doubles]


def well_bounds(steps: npt.NDArray[Any], weights: npt.NDArray[np.float32]) -> Bounds:
    """Returns the bounds of `well`. If no weight is negative and the weights sum to 1, `well` is from 0 to the step
    count plus a tolerance, because meters are in [0, 1]. Else the bounds are -MAX_SUM and MAX_SUM, which no sum
    reaches. After 0 steps both are 0.

    The tolerance allows weights that sum to 1 + SUM_TOLERANCE, and as much again for rounding.

    Args:
        steps: [n].
        weights: f32 [n, 5]: reward weights; NaN for unknown weights.
    """
    doubles = weights.astype(np.float64)
    is_average = (np.abs(doubles.sum(axis=1) - 1) <= _world.SUM_TOLERANCE) & (doubles >= 0).all(axis=1)
    high = np.where(is_average, steps * (1 + 2 * _world.SUM_TOLERANCE), _world.MAX_SUM)
    low = np.where(is_average, 0.0, -_world.MAX_SUM)
    return np.where(steps == 0, 0.0, low), np.where(steps == 0, 0.0, high)


def skill_bounds(world: World, steps: npt.NDArray[Any], min_error: float) -> Bounds:
    """Returns the bounds of `skill`. A term is 1 minus beliefSkillScale times a number in [0, 1]; without a belief it
    is 0.

    Args:
        steps: [n].
        min_error: the least bound of the rounding error of `skill`, an entry of SKILL_ROUNDING, which
            src/engine/validate/sum-bounds.ts explains.
    """
    terms = np.maximum(0.0, steps.astype(np.float64) - float(world.param("beliefSkillFrom")))
    lowest = 1 - float(world.param("beliefSkillScale"))
    error = np.where(terms > 0, np.maximum(min_error, terms * abs(lowest) * _world.SKILL_ROUNDING_SHARE), 0.0)
    return terms * min(0.0, lowest) - error, terms * max(1.0, lowest) + error
