"""The inputs of a student's network, from public observations.

The module makes the same float32 operations in the same order as src/agents/student/features.ts, for all episodes at once.
LAYOUT of that file says what each input is, and SCALE has the factors of some.
"""

from __future__ import annotations

from typing import Any, Dict, Tuple

import numpy as np
import numpy.typing as npt

from . import _world
from .world import World

__all__ = ["FEATURES_VERSION", "FEATURE_COUNT", "Features"]

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

FEATURES_VERSION = 1
FEATURE_COUNT = 76

_F32 = np.float32
_STEPS = _world.NUM_STEPS
_METERS = len(_world.METER_NAMES)
_VITALITY, _COGNITION, _PROGRESS, _SERENITY = 0, 1, 2, 3
_SLOTS, _ACTIONS = 4, len(_world.ACTION_NAMES)
_AT: Dict[str, int] = {name: offset for name, offset, *_ in _world.OBSERVATION_FIELDS}
#: The traits that anomalies bound, as indices of TRAIT_NAMES.
_BOUNDED = [
    _world.TRAIT_NAMES.index(name)
    for name in (
        "social_vitality_multiplier",
        "social_serenity_bonus",
        "morning_focus",
        "night_focus",
        "work_vitality_recovery",
        "progress_serenity_bonus",
        "solo_serenity_bonus",
        "leisure_guilt",
        "stress_threshold",
    )
]
#: The positions of these traits in _BOUNDED.
_SOCIAL_VITALITY, _SOCIAL_SERENITY, _MORNING, _NIGHT, _RECOVERY, _PROGRESS_BONUS, _SOLO, _GUILT, _THRESHOLD = range(9)
_METABOLIC_RATE = _world.TRAIT_NAMES.index("metabolic_rate")
#: Marks a meter that no trait affects.
_NONE = -1
#: Bound on the float32 rounding of an anomaly in the published world, with a wide margin.
_ROUNDING = _F32(2**-18)

#: The prior of the reward weights, Dirichlet(2, 2, 2, 2, 2): mean, variance, covariance. The divisor is 2 * 5 + 1.
_PRIOR = (_F32(0.2), _F32(0.2 * (1 - 0.2) / 11), _F32(-(0.2 * 0.2) / 11))
#: A smaller variance of the weighted sum of deltas counts as 0: then the reward says nothing about the weights.
_LEAST_VARIANCE = _F32(2**-40)
#: The largest share of this variance that one reward removes: 1 - LEAST_SHARE of weight-filter.ts.
_LARGEST_CUT = _F32(1) - _F32(0.05)


class Features:
    """Reads the observations of n episodes, step by step, and returns the inputs."""

    def __init__(self, world: World, num_envs: int) -> None:
        self._params = {name: world.param(name) for name, *_ in _world.BLOCK}
        self._bounds = _Bounds(self._params)
        n = num_envs
        self._low: Floats = np.zeros((n, len(_BOUNDED)), _F32)
        self._high: Floats = np.zeros((n, len(_BOUNDED)), _F32)
        self._weights: Floats = np.zeros((n, _METERS), _F32)
        self._covariance: Floats = np.zeros((n, _METERS, _METERS), _F32)
        self._meters: Floats = np.zeros((n, _METERS), _F32)
        self._middle: Floats = np.zeros((n, _METERS), _F32)
        self._sums: Floats = np.zeros((n, _METERS), _F32)
        self._metabolism: Floats = np.zeros(n, _F32)
        self._crashes: Floats = np.zeros(n, _F32)

    def observe(self, observations: Floats, playing: Flags) -> Floats:
        """Adds observations to the memory of the episodes, and returns their inputs.

        Args:
            observations: f32 [n, 22]. An observation at step 0 begins an episode.
            playing: [n]: the episodes to observe; their steps are below 28.

        Returns:
            f32 [n, 76]; 0 for the other episodes.
        """
        steps = observations[:, _AT["step"]].astype(np.int64)
        self._begin(np.flatnonzero(playing & (steps == 0)))
        later = np.flatnonzero(playing & (steps > 0))
        if later.size:
            self._record(later, observations[later], steps[later])
        rows = np.flatnonzero(playing)
        self._meters[rows] = observations[rows, _AT["meters"] : _AT["meters"] + _METERS]
        halves = np.flatnonzero(playing & (steps == _STEPS // 2))
        self._middle[halves] = self._meters[halves]
        inputs: Floats = np.zeros((len(observations), FEATURE_COUNT), _F32)
        inputs[rows] = self._inputs(rows, steps[rows])
        return inputs

    def _begin(self, rows: npt.NDArray[np.int64]) -> None:
        low = self._params["traitLow"][_BOUNDED]
        self._low[rows] = low
        self._high[rows] = low + self._params["traitSpan"][_BOUNDED]
        mean, variance, covariance = _PRIOR
        self._weights[rows] = mean
        self._covariance[rows] = np.where(np.eye(_METERS, dtype=bool), variance, covariance)
        self._middle[rows] = 0.5  # gives the input 0
        self._sums[rows] = 0
        self._metabolism[rows] = self._params["traitNeutral"][_METABOLIC_RATE]
        self._crashes[rows] = 0

    def _record(self, rows: npt.NDArray[np.int64], seen: Floats, steps: npt.NDArray[np.int64]) -> None:
        """Updates memories with the steps that led to the observations `seen`."""
        p = self._params

        def part(name: str) -> Floats:
            return seen[:, _AT[name] : _AT[name] + _METERS]

        slots = (steps - 1) % _SLOTS
        actions = seen[:, _AT["last_action"]].astype(np.int64)
        before = self._meters[rows]
        anomalies, after, deltas = part("anomalies"), part("meters"), part("deltas")
        self._low[rows], self._high[rows] = self._bounds.narrowed(
            slots * _ACTIONS + actions, before, anomalies, self._low[rows], self._high[rows]
        )
        self._sums[rows] += after
        crashed = (after < p["crashThreshold"]).sum(axis=1).astype(_F32)
        self._crashes[rows] += crashed
        self._weights[rows], self._covariance[rows] = _filtered(
            p, self._weights[rows], self._covariance[rows], deltas, seen[:, _AT["reward"]], crashed
        )
        # The decay is visible if vitality was not clamped and there was no event.
        vitality = after[:, _VITALITY]
        is_visible = (vitality > 0) & (vitality < 1) & (seen[:, _AT["event"]] < 0)
        stressed = (before[:, _SERENITY] < p["traitNeutral"][_BOUNDED[_THRESHOLD]]).astype(_F32)
        neutral = p["effect"][slots, actions, _VITALITY] + p["stress"][_VITALITY] * stressed
        rate = (neutral + anomalies[:, _VITALITY] - deltas[:, _VITALITY]) / p["decay"][_VITALITY]
        self._metabolism[rows] = np.where(is_visible, rate, self._metabolism[rows])

    def _inputs(self, rows: npt.NDArray[np.int64], steps: npt.NDArray[np.int64]) -> Floats:
        p = self._params
        one_hot = (np.arange(_STEPS) == steps[:, None]).astype(_F32)
        low, high = self._low[rows], self._high[rows]
        from_low = low + high - _F32(2) * p["traitLow"][_BOUNDED]
        inverse = p["traitInverseSpan"][_BOUNDED]
        metabolism = _F32(2.5) * (self._metabolism[rows] - p["traitNeutral"][_METABOLIC_RATE])
        diagonal = self._covariance[rows][:, np.arange(_METERS), np.arange(_METERS)]
        return np.concatenate(
            (
                one_hot,
                _F32(2) * self._meters[rows] - _F32(1),
                from_low * inverse - _F32(1),
                (high - low) * inverse,
                metabolism[:, None],
                _F32(5) * (self._weights[rows] - _F32(0.2)),
                _F32(60) * diagonal,
                _F32(2) * self._middle[rows] - _F32(1),
                self._sums[rows] * _F32(1 / _STEPS),
                _F32(0.1) * self._crashes[rows][:, None],
                np.zeros((len(rows), 3), _F32),  # padding
            ),
            axis=1,
        )


class _Bounds:
    """Narrows the bounds of the traits that affect anomalies, as src/agents/student/trait-bounds.ts does."""

    def __init__(self, params: Dict[str, npt.NDArray[Any]]) -> None:
        self._params = params
        self._neutral: Floats = params["traitNeutral"][_BOUNDED]
        self._margin: Floats = params["noiseMeters"] + _ROUNDING
        # [40, 5], by slot * 10 + action: the index in _BOUNDED of the trait that affects each meter, and its slope.
        self._affecting = np.full((_SLOTS * _ACTIONS, _METERS), _NONE)
        self._slopes: Floats = np.zeros((_SLOTS * _ACTIONS, _METERS), _F32)
        for slot in range(_SLOTS):
            for action in range(_ACTIONS):
                self._fill(slot, action)

    def _fill(self, slot: int, action: int) -> None:
        """Fills the tables for a slot and an action, from rule 2 of docs/world.md."""
        effect = self._params["effect"][slot, action]
        productive, social, solo, guilty = ((int(tag) >> action) & 1 for tag in self._params["tagged"])

        def affect(meter: int, trait: int, slope: Any) -> None:
            self._affecting[slot * _ACTIONS + action, meter] = trait
            self._slopes[slot * _ACTIONS + action, meter] = slope

        if productive:
            if slot != 1:
                focus = _MORNING if slot == 0 else _NIGHT
                affect(_PROGRESS, focus, effect[_PROGRESS])
                affect(_COGNITION, focus, self._params["focusCognition"])
            affect(_VITALITY, _RECOVERY, 1)
            affect(_SERENITY, _PROGRESS_BONUS, 1)
        if social:
            affect(_VITALITY, _SOCIAL_VITALITY, effect[_VITALITY])
            affect(_SERENITY, _SOCIAL_SERENITY, 1)
        if solo:
            affect(_SERENITY, _SOLO, 1)
        if guilty:
            affect(_SERENITY, _GUILT, -1)

    def narrowed(
        self, cases: npt.NDArray[np.int64], before: Floats, anomalies: Floats, low: Floats, high: Floats
    ) -> Tuple[Floats, Floats]:
        """Narrows the bounds by the anomalies of a step of each episode. Overwrites `low` and `high`, and returns them.

        Args:
            cases: [n]: the row of the tables for each episode: slot * 10 + action of the step.
            before: [n, 5]: the meters before the step.
        """
        affecting = self._affecting[cases]
        slopes = self._slopes[cases]
        vigour = self._params["vitalityFactorBase"] + self._params["vitalityFactorSlope"] * before[:, _VITALITY]
        slopes[:, _PROGRESS] = slopes[:, _PROGRESS] * vigour
        serenity = before[:, _SERENITY]
        neutral = (serenity < self._neutral[_THRESHOLD]).astype(_F32)
        # A profile is stressed if serenity is below its stress threshold, and calm otherwise.
        # The anomalies without the part that stress adds, for a calm and for a stressed profile.
        rests = [
            anomalies - self._params["stress"] * (_F32(stressed) - neutral)[:, None] for stressed in (0, 1)
        ]
        # Whether the bounds of the stress threshold allow a calm and a stressed profile. If both, anomalies may exclude one.
        calm, stressed = low[:, _THRESHOLD] <= serenity, serenity < high[:, _THRESHOLD]
        both = calm & stressed
        calm_fits, stressed_fits = (self._fits(rest, affecting, slopes, low, high) for rest in rests)
        is_calm, is_stressed = both & calm_fits & ~stressed_fits, both & stressed_fits & ~calm_fits
        high[is_calm, _THRESHOLD] = serenity[is_calm]
        low[is_stressed, _THRESHOLD] = serenity[is_stressed]
        calm, stressed = calm & ~is_stressed, stressed & ~is_calm
        for meter in range(_METERS):
            self._narrow(meter, affecting[:, meter], slopes[:, meter], rests, (calm, stressed), low, high)
        return low, high

    def _fits(
        self, rest: Floats, affecting: npt.NDArray[np.int64], slopes: Floats, low: Floats, high: Floats
    ) -> Flags:
        """Returns whether a profile within the bounds can have the anomalies, [n]. `rest` is the anomalies without the part
        that stress adds, [n, 5]."""
        affected = affecting != _NONE
        at = np.where(affected, affecting, 0)
        neutral = self._neutral[at]
        # The anomalies at the two bounds.
        at_low = np.where(affected, slopes * (np.take_along_axis(low, at, 1) - neutral), _F32(0))
        at_high = np.where(affected, slopes * (np.take_along_axis(high, at, 1) - neutral), _F32(0))
        above = rest + self._margin >= np.minimum(at_low, at_high)
        below = rest - self._margin <= np.maximum(at_low, at_high)
        return np.asarray((above & below).all(axis=1), np.bool_)

    def _narrow(
        self,
        meter: int,
        affecting: npt.NDArray[np.int64],
        slope: Floats,
        rests: Any,
        may_be: Tuple[Flags, Flags],
        low: Floats,
        high: Floats,
    ) -> None:
        """Narrows the bounds of the trait that affects a meter. `rests` are the anomalies without the part of stress, for a
        calm and for a stressed profile; `may_be` says for each of the two whether it is possible."""
        rows = np.flatnonzero(affecting != _NONE)
        if rows.size == 0:
            return
        at, margin = affecting[rows], self._margin[meter]
        calm, stressed = (flags[rows] for flags in may_be)
        calm_rest, stressed_rest = (rest[rows, meter] for rest in rests)
        least = np.where(stressed, np.where(calm, np.minimum(calm_rest, stressed_rest), stressed_rest), calm_rest)
        most = np.where(stressed, np.where(calm, np.maximum(calm_rest, stressed_rest), stressed_rest), calm_rest)
        with np.errstate(divide="ignore", invalid="ignore"):
            a = self._neutral[at] + (least - margin) / slope[rows]
            b = self._neutral[at] + (most + margin) / slope[rows]
        new_low = np.maximum(low[rows, at], np.minimum(a, b))
        new_high = np.minimum(high[rows, at], np.maximum(a, b))
        # Observations that contradict the bounds change nothing.
        holds = new_low <= new_high
        low[rows[holds], at[holds]] = new_low[holds]
        high[rows[holds], at[holds]] = new_high[holds]


def _filtered(
    p: Dict[str, npt.NDArray[Any]], mean: Floats, covariance: Floats, deltas: Floats, reward: Floats, crashed: Floats
) -> Tuple[Floats, Floats]:
    """Returns the mean and covariance of the reward weights after a reward, as src/agents/student/weight-filter.ts does. That
    file describes the filter."""
    # Without noise, a reward is the sum of (bias + weight) * x, minus the penalty of crashes.
    x = p["rewardScale"] * deltas
    error = reward + p["crashPenalty"] * crashed
    for k in range(_METERS):
        error = error - (p["rewardBias"][k] + mean[:, k]) * x[:, k]
    product: Floats = np.zeros_like(x)
    variance: Floats = np.zeros_like(error)
    for k in range(_METERS):
        for j in range(_METERS):
            product[:, k] += covariance[:, k, j] * x[:, j]
        variance = variance + product[:, k] * x[:, k]
    is_informative = variance > _LEAST_VARIANCE
    divisor = np.where(is_informative, variance, _F32(1))
    spread = np.sqrt(divisor)
    low = (error - p["noiseReward"]) / spread
    high = (error + p["noiseReward"]) / spread
    from_low, from_high = _inverse_mills_ratio(low), _inverse_mills_ratio(-high)
    shift = (from_low - from_high) / spread
    cut = from_low * (from_low - low) + from_high * (from_high + high)
    lost = np.minimum(np.maximum(cut, _F32(0)), _LARGEST_CUT) / divisor
    new_mean = mean + product * shift[:, None]
    new_covariance = covariance - (lost[:, None] * product)[:, :, None] * product[:, None, :]
    return (
        np.where(is_informative[:, None], new_mean, mean),
        np.where(is_informative[:, None, None], new_covariance, covariance),
    )


def _inverse_mills_ratio(x: Floats) -> Floats:
    """Returns a lower bound (Sampford 1953) of the mean of a standard normal number above `x`; 0 for `x` below -1."""
    ratio: Floats = np.maximum(_F32(0), (_F32(3) * x + np.sqrt(x * x + _F32(8))) * _F32(0.25))
    return ratio
