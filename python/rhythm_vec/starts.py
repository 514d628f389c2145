"""Validates start states: states in which episodes begin, usually with steps already taken. Computes the bounds of two sums
of an episode: `well`, the sum of the weighted meters, and `skill`, the sum of belief_skill's terms."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import as_array, check_integer, check_keys, describe, is_number, refuse, require, to_floats, to_given
from .choices import PROFILE_MODES, Profiles
from .world import World

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Doubles = npt.NDArray[np.float64]
#: Inclusive bounds, f64 [n] each.
Bounds = Tuple[Doubles, Doubles]

_KEYS = ("steps", "meters", "early", "late", "crashes", "returns", "well", "skill", "beliefs")
_SUMS = ("early", "late", "returns", "well", "skill")
_NUM_METERS = len(_world.METER_NAMES)
_UNCHANGED = "No episode has begun."


class Start(NamedTuple):
    """Valid start states (keys: see `VecEnv.reset`). The engine reads the fields in this order. A field that is
    None stands for zeros, or for no beliefs."""

    steps: Bytes  #: u8 [n], 0 to 27
    meters: Floats  #: f32 [n, 5]
    early: Optional[Floats]  #: f32 [n], as are the other sums
    late: Optional[Floats]
    returns: Optional[Floats]
    crashes: Optional[Bytes]  #: u8 [n]
    well: Optional[Floats]
    skill: Optional[Floats]
    beliefs: Optional[Floats]  #: f32 [n, 3] in [0, 1]; 0.5 for no belief
    given: Optional[Bytes]  #: u8 [n]: 1 for a belief, 0 for none


def to_start(start: Any, world: World, profiles: Profiles, mask: Optional[Bytes], num_envs: int) -> Start:
    """Validates the start states of the environments of a mask, with the keys that `VecEnv.reset` describes. Raises
    InputError `wrong_type`, `wrong_length`, `out_of_range`, `bad_belief`, `unknown_option`."""
    if not isinstance(start, Mapping):
        refuse("wrong_type", "start to be a mapping", describe(start), 'Pass {"steps": ..., "meters": ...}.', "start")
    check_keys("start", start, _KEYS)
    #: bool [n]: the environments that begin. The entries of the others are replaced by 0.
    begins = np.ones(num_envs, np.bool_) if mask is None else mask.view(np.bool_)
    last, steps = _world.NUM_STEPS - 1, start.get("steps")
    if is_number(steps):
        steps = np.full(num_envs, check_integer("start.steps", steps, 0, last))
    counts = _to_counts("steps", steps, np.full(num_envs, last), begins)
    shape, is_meter = (num_envs, _NUM_METERS), "a number from 0 to 1"
    meters = _to_floats("meters", start.get("meters"), shape, is_meter, 0.0, 1.0, begins)
    bounds = {
        "well": well_bounds(counts, _weights_of(world, profiles)),
        "skill": skill_bounds(world, counts, _world.SKILL_ROUNDING["start"]),
    }
    sums = {name: _to_sums(name, start.get(name), counts, bounds.get(name), begins) for name in _SUMS}
    most = _NUM_METERS * counts.astype(np.int64)
    crashes = None if start.get("crashes") is None else _to_counts("crashes", start["crashes"], most, begins)
    beliefs, given = _to_beliefs(start.get("beliefs"), world, counts, begins)
    return Start(counts, meters, crashes=crashes, beliefs=beliefs, given=given, **sums)


def _require_entries(name: str, legal: Any, values: Any, expected: Any) -> None:
    """Raises InputError `out_of_range` for the first entry of a key that is not legal."""
    is_tiny = (values != 0) & (np.abs(values) < _world.MIN_START)
    tiny = "Pass 0 or a magnitude of at least 2^-80."
    remedy = tiny if is_tiny[~legal].any() and is_tiny[~legal][0] else "Pass the expected number."
    require(legal, "out_of_range", f"start.{name}", expected, values, f"{_UNCHANGED} {remedy}")


def _to_counts(name: str, value: Any, highs: npt.NDArray[Any], begins: npt.NDArray[np.bool_]) -> Bytes:
    """Returns integers from 0 to `highs`, u8 [n]."""
    counts = np.where(begins, as_array(f"start.{name}", value, "iu", begins.shape, "integers"), 0)
    legal = (counts >= 0) & (counts <= highs)
    remedy = "Pass an integer in that range."
    require(legal, "out_of_range", f"start.{name}", lambda env: f"an integer from 0 to {highs[env]}", counts, remedy)
    return counts.astype(np.uint8)


def _to_floats(
    name: str, value: Any, shape: Tuple[int, ...], expected: str, low: float, high: float, begins: npt.NDArray[np.bool_]
) -> Floats:
    """Returns float32s from `low` to `high`, each 0 or at least MIN_START in magnitude."""
    floats = to_floats(as_array(f"start.{name}", value, "fiu", shape, "numbers"))
    floats[~begins] = 0
    # NaN fails all comparisons.
    legal = (floats >= low) & (floats <= high) & ((floats == 0) | (np.abs(floats) >= np.float32(_world.MIN_START)))
    _require_entries(name, legal, floats, expected)
    floats += np.float32(0)  # turns -0 into 0
    return floats


def _to_sums(
    name: str, value: Any, steps: Bytes, bounds: Optional[Bounds], begins: npt.NDArray[np.bool_]
) -> Optional[Floats]:
    """Returns sums of any sign, within `bounds` if given, else 0 before the step at which they may become nonzero."""
    if value is None:
        return None
    largest = _world.MAX_SUM
    sums = _to_floats(name, value, begins.shape, "a number from -2^64 to 2^64", -largest, largest, begins)
    if bounds is None:
        legal = (sums == 0) | (steps >= _world.FIRST_NONZERO[name])
        early = "0, because the episode begins at step {}, before anything was added to it,"
        _require_entries(name, legal, sums, lambda env: early.format(steps[env]))
    else:
        low, high = bounds
        legal = ((sums.astype(np.float64) >= low) & (sums <= high)) | ~begins
        within = "a number from {:.9g} to {:.9g}, as {} steps were taken,"
        _require_entries(name, legal, sums, lambda env: within.format(low[env], high[env], steps[env]))
    return sums


def _to_beliefs(
    value: Any, world: World, steps: Bytes, begins: npt.NDArray[np.bool_]
) -> Tuple[Optional[Floats], Optional[Bytes]]:
    """Returns the last beliefs, clamped, and which are given; None for none."""
    if value is None:
        return None, None
    where, shape = "start.beliefs", (len(steps), len(_world.BELIEF_NAMES))
    beliefs = to_floats(as_array(where, value, "fiu", shape, "numbers"))
    given = to_given(beliefs, begins, where, _UNCHANGED).view(np.bool_) & begins
    early = np.flatnonzero(given & (steps == 0))
    if early.size > 0:
        expected = f"three NaN (no belief) in {where} row {early[0]}, which begins at step 0,"
        refuse("bad_belief", expected, "a belief", f"{_UNCHANGED} Pass the belief with the first action.")
    beliefs[~given] = 0.5
    clamped: Floats = np.clip(beliefs, np.float32(0), np.float32(1))
    clamped[clamped < world.param("smallestBelief")] = 0
    return clamped + np.float32(0), given.astype(np.uint8)


def _weights_of(world: World, profiles: Profiles) -> Floats:
    """Returns the reward weights of the profiles, f32 [n, 5]. For a profile that the seed draws, returns placeholders
    that are not negative and sum to 1. If a named profile of a changed world has a negative weight, returns NaN
    (unknown weights) in mode "discrete" instead."""
    first = len(_world.TRAIT_NAMES)
    weights = np.tile(np.eye(1, _NUM_METERS, dtype=np.float32), (len(profiles.modes), 1))
    if (world.param("namedProfiles")[:, first:] < 0).any():
        weights[profiles.modes == PROFILE_MODES["discrete"]] = np.nan
    given = profiles.modes == PROFILE_MODES["given"]
    if profiles.floats is not None:
        weights[given] = profiles.floats[given, first:]
    return weights


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
