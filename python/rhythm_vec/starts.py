"""Validates start states: states in which episodes begin, usually with steps already taken."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, NoReturn, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import as_array, check_integer, describe, did_you_mean, find_beliefs, refuse, to_floats
from .choices import PROFILE_MODES, Profiles
from .sum_bounds import Bounds, skill_bounds, well_bounds
from .world import World

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]

_KEYS = ("steps", "meters", "early", "late", "crashes", "returns", "well", "skill", "beliefs")
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
    return _Reader(start, mask, num_envs).read(world, profiles)


class _Reader:
    """Reads start states. Entries of environments outside the mask are replaced by legal entries."""

    def __init__(self, start: Any, mask: Optional[Bytes], num_envs: int) -> None:
        self._start = _checked_keys(start)
        self._num_envs = num_envs
        #: bool [n]: the environments that begin.
        self._begins: Bools = np.ones(num_envs, np.bool_) if mask is None else mask.view(np.bool_)

    def read(self, world: World, profiles: Profiles) -> Start:
        steps = self._counts("steps", np.full(self._num_envs, _world.NUM_STEPS - 1))
        meters = self._floats("meters", (self._num_envs, _NUM_METERS), "a number from 0 to 1")
        sums = {name: self._reward_sums(name, steps) for name in ("early", "late", "returns")}
        crashes = None if self._is_absent("crashes") else self._counts("crashes", _NUM_METERS * steps.astype(np.int64))
        well = self._bounded("well", steps, well_bounds(steps, _weights_of(world, profiles)))
        skill = self._bounded("skill", steps, skill_bounds(world, steps, _world.SKILL_ROUNDING["start"]))
        beliefs, given = self._beliefs(world, steps)
        return Start(steps, meters, **sums, crashes=crashes, well=well, skill=skill, beliefs=beliefs, given=given)

    def _is_absent(self, name: str) -> bool:
        return self._start.get(name) is None

    def _counts(self, name: str, highs: npt.NDArray[Any]) -> Bytes:
        """Reads integers from 0 to `highs`, [n]. The steps may be one number for all environments."""
        value: Any = self._start.get(name)
        if name == "steps" and isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            value = np.full(self._num_envs, check_integer("start['steps']", value, 0, _world.NUM_STEPS - 1))
        counts = np.where(self._begins, as_array(f"start[{name!r}]", value, "iu", (self._num_envs,), "integers"), 0)
        invalid = np.flatnonzero((counts < 0) | (counts > highs))
        if invalid.size > 0:
            _refuse_entry(name, (int(invalid[0]),), f"an integer from 0 to {highs[invalid[0]]}", counts[invalid[0]])
        return counts.astype(np.uint8)

    def _floats(self, name: str, shape: Tuple[int, ...], expected: str, low: float = 0.0, high: float = 1.0) -> Floats:
        """Reads float32s from `low` to `high`, each 0 or at least MIN_START in magnitude."""
        floats = to_floats(as_array(f"start[{name!r}]", self._start.get(name), "fiu", shape, "numbers"))
        floats[~self._begins] = 0
        size = np.abs(floats)
        # NaN fails all comparisons.
        legal = (floats >= low) & (floats <= high) & ((size == 0) | (size >= np.float32(_world.MIN_START)))
        if not legal.all():
            _refuse_entry(name, tuple(int(k) for k in np.argwhere(~legal)[0]), expected, floats[~legal][0])
        floats += np.float32(0)  # turns -0 into 0
        return floats

    def _sums(self, name: str) -> Floats:
        bound = _world.MAX_SUM
        return self._floats(name, (self._num_envs,), "a number from -2^64 to 2^64", -bound, bound)

    def _reward_sums(self, name: str, steps: Bytes) -> Optional[Floats]:
        if self._is_absent(name):
            return None
        sums, first = self._sums(name), _world.FIRST_NONZERO[name]
        invalid = np.flatnonzero((sums != 0) & (steps < first) & self._begins)
        if invalid.size > 0:
            env = int(invalid[0])
            expected = f"0 for an episode that begins at step {steps[env]} ({name} can be nonzero from step {first} on)"
            _refuse_entry(name, (env,), expected, sums[env])
        return sums

    def _bounded(self, name: str, steps: Bytes, bounds: Bounds) -> Optional[Floats]:
        if self._is_absent(name):
            return None
        sums, (low, high) = self._sums(name), bounds
        outside = np.flatnonzero(((sums.astype(np.float64) < low) | (sums > high)) & self._begins)
        if outside.size > 0:
            env = int(outside[0])
            expected = f"a number from {low[env]:.9g} to {high[env]:.9g}, as {steps[env]} steps were taken,"
            _refuse_entry(name, (env,), expected, sums[env])
        return sums

    def _beliefs(self, world: World, steps: Bytes) -> Tuple[Optional[Floats], Optional[Bytes]]:
        if self._is_absent("beliefs"):
            return None, None
        shape = (self._num_envs, len(_world.BELIEF_NAMES))
        beliefs = to_floats(as_array("start['beliefs']", self._start["beliefs"], "fiu", shape, "numbers"))
        given, invalid = find_beliefs(beliefs)
        given &= self._begins
        before_first_step = given & (steps == 0)
        numbers = "three finite numbers or three NaN"
        for rows, expected, remedy in (
            (invalid & self._begins, f"{numbers} (no belief)", f"Pass {numbers}."),
            (before_first_step, "three NaN (no belief), because the episode begins at step 0,", "Pass three NaN."),
        ):
            if rows.any():
                env = int(np.argmax(rows))
                got = str(beliefs[env])
                refuse("bad_belief", f"{expected} at start['beliefs'][{env}]", got, f"{_UNCHANGED} {remedy}")
        beliefs[~given] = 0.5
        clamped: Floats = np.clip(beliefs, np.float32(0), np.float32(1))
        clamped[clamped < world.param("smallestBelief")] = 0
        return clamped + np.float32(0), given.astype(np.uint8)


def _checked_keys(start: Any) -> Mapping[str, Any]:
    if not isinstance(start, Mapping):
        refuse("wrong_type", "start to be a mapping", describe(start), 'Pass {"steps": ..., "meters": ...}.')
    for name in start:
        if name not in _KEYS:
            remedy = did_you_mean(str(name), _KEYS, "Leave it out.")
            refuse("unknown_option", f"keys of start among {', '.join(_KEYS)}", describe(name), remedy)
    return start


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


def _refuse_entry(name: str, at: Tuple[int, ...], expected: str, got: Any) -> NoReturn:
    is_tiny = isinstance(got, np.floating) and 0 < abs(float(got)) < _world.MIN_START
    remedy = "Pass 0 or a magnitude of at least 2^-80." if is_tiny else "Pass the expected number."
    refuse("out_of_range", f"{expected} at start[{name!r}]{list(at)}", str(got), f"{_UNCHANGED} {remedy}")
