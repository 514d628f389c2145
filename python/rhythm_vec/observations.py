"""Observations: their fields, and how the engine encodes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import check_flag, check_keys, check_mapping, check_name, describe, refuse
from .kernels import native
from .world import World

__all__ = ["ObservationField"]

Floats = npt.NDArray[np.float32]
_SOURCES = {row[0]: row for row in _world.OBSERVATION_FIELDS}
#: The fields of a past step in a history.
_RECORD_NAMES = ("last_action", "reward", "deltas", "anomalies")
_OPTIONS = ("fields", "one_hot", "scale", "history")
_NUM_RAW = sum(size for _, _, size, _, _, _ in _world.OBSERVATION_FIELDS)


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


@dataclass(frozen=True)
class _Encoding:
    """How a field is made from a part of the raw observation, or of a past step."""

    field: ObservationField
    source: int  #: the offset in a raw observation
    size: int  #: the number of elements of the source
    codes: int  #: the size of a one-hot block; 0 for numbers that are copied or scaled
    is_past: bool


class Encoder:
    """Describes the encoding of raw observations [n, 22], and of the last seven steps [n, 7, 12] if there is a history."""

    def __init__(self, world: World, options: Optional[Mapping[str, Any]]) -> None:
        chosen = _checked(options)
        self.has_history: bool = chosen["history"]
        self._is_scaled: bool = chosen["scale"]
        self._encodings = _encodings_of(world, chosen)
        self.fields: Tuple[ObservationField, ...] = tuple(encoding.field for encoding in self._encodings)
        self.size = sum(field.size for field in self.fields)
        is_copied = not self._is_scaled and all(encoding.codes == 0 for encoding in self._encodings)
        self.is_raw = is_copied and [field.name for field in self.fields] == list(_SOURCES)

    def compile(self) -> Any:
        """Returns the encoder that `Batch.encode` of the compiled module needs."""
        # The first entry of a one-hot block stands for the number first_codes[source].
        first_codes, low, inverse_span = np.zeros(_NUM_RAW, np.float32), np.zeros(_NUM_RAW), np.zeros(_NUM_RAW)
        for encoding in self._encodings:
            field, source = encoding.field, slice(encoding.source, encoding.source + encoding.size)
            first_codes[source] = low[source] = field.raw_low
            inverse_span[source] = 1 / (field.raw_high - field.raw_low)
        parts = [(each.source, each.size, each.field.offset, each.codes, each.is_past) for each in self._encodings]
        scales = (low, inverse_span) if self._is_scaled else (None, None)
        return native().Encoder(self.size, _world.HISTORY_STEPS, parts, first_codes, *scales)


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


def _encodings_of(world: World, options: Mapping[str, Any]) -> List[_Encoding]:
    past = _RECORD_NAMES if options["history"] else ()
    offset = 0
    encodings = []
    for name, is_past in [*((name, False) for name in options["fields"]), *((name, True) for name in past)]:
        encoding = _encoding_of(world, options, name, is_past, offset)
        offset += encoding.field.size
        encodings.append(encoding)
    return encodings


def _encoding_of(world: World, options: Mapping[str, Any], name: str, is_past: bool, offset: int) -> _Encoding:
    _, source, size, _, raw_low, raw_high = _SOURCES[name]
    codes = _world.ONE_HOT_SIZES.get(name, 0) if options["one_hot"] else 0
    if options["scale"] and name in world.magnitudes:
        # The bounds of the field table hold in every world, so they are too wide to scale by.
        raw_low, raw_high = -world.magnitudes[name], world.magnitudes[name]
    low, high = (0, 1) if codes > 0 or options["scale"] else (raw_low, raw_high)
    public = f"history_{name[5:] if name.startswith('last_') else name}" if is_past else name
    total = (codes or size) * (_world.HISTORY_STEPS if is_past else 1)
    return _Encoding(ObservationField(public, offset, total, low, high, raw_low, raw_high), source, size, codes, is_past)


class Histories:
    """f32 [n, 7, 12]: the last steps of each environment, the oldest first; a missing step has action -1 and zeros."""

    def __init__(self, num_envs: int) -> None:
        self.rows: Floats = np.zeros((num_envs, _world.HISTORY_STEPS, _world.RECORD_SIZE), np.float32)
        self.clear(None)

    def clear(self, mask: Optional[npt.NDArray[np.bool_]]) -> None:
        rows = slice(None) if mask is None else mask
        self.rows[rows] = 0
        self.rows[rows, :, 0] = -1

    def append(self, trajectory: Sequence[npt.NDArray[Any]]) -> None:
        """Appends the taken steps (action >= 0) of a trajectory: actions, events, rewards, meters, deltas, anomalies.
        Events and meters may be None."""
        actions, _, rewards, _, deltas, anomalies = trajectory
        records = np.concatenate(
            [actions[..., None].astype(np.float32), rewards[..., None], deltas, anomalies], axis=-1
        )
        for env, taken in enumerate(actions >= 0):
            steps = records[env][taken][-_world.HISTORY_STEPS :]
            if len(steps) > 0:
                self.rows[env] = np.concatenate([self.rows[env], steps])[-_world.HISTORY_STEPS :]
