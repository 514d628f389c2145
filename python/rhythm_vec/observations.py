"""Observations: their fields, and how the engine encodes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import check_flag, check_keys, check_mapping, check_name, describe, refuse
from .world import World

__all__ = ["ObservationField"]

Floats = npt.NDArray[np.float32]
_SOURCES = {row[0]: row for row in _world.OBSERVATION_FIELDS}
#: The fields of a past step in a history.
_RECORD_NAMES = ("last_action", "reward", "deltas", "anomalies")
_OPTIONS = ("fields", "one_hot", "scale", "history")
_NUM_RAW = sum(size for _, _, size, _, _, _ in _world.OBSERVATION_FIELDS)
_Part = Tuple[float, ...]


@dataclass(frozen=True)
class ObservationField:
    """A field of an observation: `size` numbers from `offset` on, each in [low, high]. `raw_low` and `raw_high` are the
    bounds before encoding."""

    name: str
    offset: int
    size: int
    low: float
    high: float
    raw_low: float
    raw_high: float


class Encoder:
    """Describes the encoding of raw observations [n, 22], and of the last seven steps [n, 84] if there is a history."""

    def __init__(self, world: World, options: Optional[Mapping[str, Any]]) -> None:
        chosen = _checked(options)
        self.has_history: bool = chosen["history"]
        pairs = _pairs_of(world, chosen)
        self.fields: Tuple[ObservationField, ...] = tuple(field for field, _ in pairs)
        #: f64 [fields, 6]: see `Encoder` in native/encoder.h.
        self.parts = np.array([part for _, part in pairs], np.float64)
        self.size = sum(field.size for field in self.fields)
        is_copied = not chosen["scale"] and not chosen["one_hot"]
        self.is_raw = is_copied and [field.name for field in self.fields] == list(_SOURCES)


def _checked(options: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    given = check_mapping("observation", options)
    check_keys("observation options", given, _OPTIONS)
    for name in _OPTIONS[1:]:
        given[name] = check_flag(f"observation[{name!r}]", given.get(name, False))
    given["fields"] = _checked_names(given.get("fields"))
    return given


def _checked_names(names: Optional[Sequence[str]]) -> List[str]:
    if names is None:
        return list(_SOURCES)
    where = "observation.fields"
    if not isinstance(names, (list, tuple)):
        refuse("wrong_type", f"{where} to be names", describe(names), f"Pass some of {', '.join(_SOURCES)}.")
    if len(names) == 0:
        refuse("wrong_length", f"at least one name in {where}", "none", "Leave out fields for all of them.")
    checked = [check_name(where, name, tuple(_SOURCES)) for name in names]
    if len(set(checked)) < len(checked):
        refuse("out_of_range", f"each name once in {where}", describe(names), "Remove it.")
    return checked


def _pairs_of(world: World, options: Mapping[str, Any]) -> List[Tuple[ObservationField, _Part]]:
    past = _RECORD_NAMES if options["history"] else ()
    offset = 0
    pairs = []
    for name, is_past in [*((name, False) for name in options["fields"]), *((name, True) for name in past)]:
        pairs.append(_pair_of(world, options, name, is_past, offset))
        offset += pairs[-1][0].size
    return pairs


def _pair_of(
    world: World, options: Mapping[str, Any], name: str, is_past: bool, offset: int
) -> Tuple[ObservationField, _Part]:
    """Returns a field, and the part that the compiled module needs."""
    _, source, size, _, raw_low, raw_high = _SOURCES[name]
    codes = _world.ONE_HOT_SIZES.get(name, 0) if options["one_hot"] else 0
    if options["scale"] and name in world.magnitudes:
        # The bounds of the field table hold in every world, so they are too wide to scale by.
        raw_low, raw_high = -world.magnitudes[name], world.magnitudes[name]
    low, high = (0, 1) if codes > 0 or options["scale"] else (raw_low, raw_high)
    public = f"history_{name[5:] if name.startswith('last_') else name}" if is_past else name
    if is_past:
        # Histories follow the raw observation, field by field.
        source = _NUM_RAW + (source - _world.RECORD_START) * _world.HISTORY_STEPS
        size *= _world.HISTORY_STEPS
    inverse_span = 1 / (raw_high - raw_low) if options["scale"] else 0
    field = ObservationField(public, offset, size * (codes or 1), low, high, raw_low, raw_high)
    return field, (source, size, offset, codes, raw_low, inverse_span)


class Histories:
    """f32 [n, 84]: the last steps of each environment: actions [7], rewards [7], deltas [7, 5] and anomalies [7, 5], each
    with the oldest step first. A missing step has action -1 and zeros."""

    def __init__(self, num_envs: int) -> None:
        self.rows: Floats = np.zeros((num_envs, _world.HISTORY_SIZE), np.float32)
        ends = np.cumsum([_world.HISTORY_STEPS * _SOURCES[name][2] for name in _RECORD_NAMES])
        #: Views of the parts, f32 [n, 7, size].
        self.actions, self.rewards, *_ = self._parts = [
            part.reshape(num_envs, _world.HISTORY_STEPS, -1) for part in np.split(self.rows, ends[:-1], axis=1)
        ]
        self.clear(None)

    def clear(self, mask: Optional[npt.NDArray[np.bool_]]) -> None:
        rows = slice(None) if mask is None else mask
        self.rows[rows] = 0
        self.actions[rows] = -1

    def append(self, trajectory: Sequence[npt.NDArray[Any]]) -> None:
        """Appends the taken steps (action >= 0) of a trajectory: actions, events, rewards, meters, deltas, anomalies.
        Events and meters may be None."""
        actions, _, rewards, _, deltas, anomalies = trajectory
        for env, taken in enumerate(actions >= 0):
            for part, column in zip(self._parts, (actions[..., None], rewards[..., None], deltas, anomalies)):
                part[env] = np.concatenate([part[env], column[env][taken]])[-_world.HISTORY_STEPS :]
