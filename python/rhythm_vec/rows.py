"""Reads rows of texts, names and numbers into arrays. Invalid rows get the faults that a server reports."""

from __future__ import annotations

import json
import sys
from typing import Any, Callable, Dict, List, Mapping, NoReturn, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import did_you_mean, refuse
from .choices import MAX_U32, PROFILE_CHOICES
from .errors import InputError
from .texts import Parsed

#: Action codes by name, and by upper-case name as in completions.
_CODES = {spelling: code for code, name in enumerate(_world.ACTION_NAMES) for spelling in (name, name.upper())}
_NO_BELIEF = (float("nan"),) * len(_world.BELIEF_NAMES)
#: Smaller magnitudes round to a finite float32.
_FLOAT32_END = 2.0**128 - 2.0**103
#: The maximum number of characters of a text that an error quotes, as in src/shared/values.ts.
_MAX_TEXT = 100


class Rows:
    """Columns of rows. Invalid rows hold valid values.

    Args:
        columns: lists with one entry per row, by the name of an argument of `score`: `seeds`, `action_histories`, and
            optionally `profile_modes`, `actions`, `beliefs`, `belief_histories`, `completions`.

    Attributes:
        faults: the error of the first invalid entry of each invalid row, by the row's index.
        seeds: u32 [n].
        profiles: names [n].
        steps: u8 [n]: the number of earlier actions.
        histories: u8 [n, 28].
        actions: i8 [n], -1 for no action.
        beliefs: f32 [n, 3], three NaN for no belief; None if there are none.
        belief_histories: f32 [n, 28, 3], three NaN for no belief; None if there are none.
        texts: the completions; "" for one that is no text.
    """

    def __init__(self, columns: Mapping[str, List[Any]]) -> None:
        self.faults: Dict[int, InputError] = {}
        self._columns = columns
        count = len(columns["seeds"])
        # In the order of the server's checks: of several faults of a row, the first counts.
        self.seeds = np.array(self._read("seeds", _seed_of, 0), np.uint32)
        self.profiles: List[str] = self._read("profile_modes", _profile_of, "sampled")
        histories: List[bytes] = self._read("action_histories", _history_of, b"")
        self.steps = np.fromiter(map(len, histories), np.uint8, count)
        padded = b"".join(history.ljust(_world.NUM_STEPS, b"\0") for history in histories)
        self.histories = np.frombuffer(padded, np.uint8).reshape(count, _world.NUM_STEPS)
        self.actions = np.array(self._read("actions", _action_of, -1) or [-1] * count, np.int8)
        self.beliefs = self._floats("beliefs", _belief_of, _NO_BELIEF)
        lengths = map(len, histories)  # `_read` calls the function once for each row, in order
        self.belief_histories = self._floats(
            "belief_histories",
            lambda value, place: _beliefs_of(value, place, next(lengths)),
            (_NO_BELIEF,) * _world.NUM_STEPS,
        )
        self.texts: List[str] = self._read("completions", _text_of, "")

    def answers_of(self, parsed: Parsed) -> Tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
        """Returns the actions, i8 [n], and the beliefs, f32 [n, 3], of parsed completions."""
        beliefs = [_NO_BELIEF if belief is None else belief for belief in parsed.beliefs]
        return np.array(parsed.codes, np.int8), np.array(beliefs, np.float32).reshape(-1, len(_NO_BELIEF))

    def column_of(self, values: npt.NDArray[Any]) -> List[Any]:
        """Returns scores, f32 [n], as floats, with None for NaN and in invalid rows; or hashes, u64 [n], as hexadecimal
        texts, 0 in invalid rows."""
        invalid = list(self.faults)
        if values.dtype == np.uint64:
            values[invalid] = 0
            return [f"{value:016x}" for value in values.tolist()]
        values[invalid] = np.nan
        column: List[Any] = values.tolist()
        for row in np.flatnonzero(np.isnan(values)).tolist():
            column[row] = None
        return column

    def _read(self, name: str, read: Callable[[Any, str], Any], default: Any) -> List[Any]:
        """Returns the values that `read(entry, place)` returns; the default for an entry for which it raises InputError."""
        values = []
        for row, entry in enumerate(self._columns.get(name, ())):
            try:
                values.append(read(entry, f"{name}[{row}]"))
            except InputError as error:
                self.faults.setdefault(row, InputError(error.code, str(error), name, row))
                values.append(default)
        return values

    def _floats(self, name: str, read: Callable[[Any, str], Any], none: Any) -> Optional[npt.NDArray[np.float32]]:
        values = self._read(name, read, None)
        if all(value is None for value in values):
            return None
        return np.array([none if value is None else value for value in values], np.float32)


def _plain(value: Any) -> Any:
    """Returns an array as lists, and a number of NumPy as Python's; other values as they are."""
    return value.tolist() if hasattr(value, "tolist") else value


def _list_of(value: Any) -> Any:
    """Returns an array or a tuple as a list; other values as they are."""
    value = _plain(value)
    return list(value) if type(value) is tuple else value


def _number(value: Any) -> Any:
    """Returns an int or a float; None for another value."""
    if type(value) not in (int, float):
        value = _plain(value)
    return value if type(value) in (int, float) else None


def _seed_of(value: Any, place: str) -> int:
    number = _number(value)
    if number is None or not 0 <= number <= MAX_U32 or number % 1:
        _refuse("bad_seed", f"a u32 (an integer from 0 to {MAX_U32}) at {place}", value, "Pass an integer in that range.")
    return int(number)


def _profile_of(value: Any, place: str) -> str:
    if not isinstance(value, str):
        _refuse("wrong_type", f"{place} to be a name", value, "Pass a string.")
    if value not in PROFILE_CHOICES:
        remedy = did_you_mean(value, PROFILE_CHOICES)
        _refuse("unknown_name", f"{place} to be one of {', '.join(PROFILE_CHOICES)}", value, remedy)
    return value


def _history_of(value: Any, place: str) -> bytes:
    """Returns the codes of a history."""
    history = _list_of(value)
    if type(history) is not list:
        _refuse("wrong_type", f"{place} to be an array", history, "Pass codes or names of actions.")
    if len(history) >= _world.NUM_STEPS:
        remedy = "Pass only the actions before the scored one."
        refuse("wrong_length", f"at most {_world.NUM_STEPS - 1} actions in {place}", str(len(history)), remedy)
    try:
        return bytes(map(_CODES.__getitem__, history))
    except (KeyError, TypeError):  # there are codes, or invalid entries
        return bytes([_code_of(action, f"{place}[{at}]", " or its name") for at, action in enumerate(history)])


def _action_of(value: Any, place: str) -> int:
    return -1 if value is None else _code_of(value, place, ", its name, or null for none,")


def _code_of(action: Any, place: str, others: str) -> int:
    code = _CODES.get(action) if isinstance(action, str) else _number(action)
    high = len(_world.ACTION_NAMES) - 1
    if code is None or not 0 <= code <= high or code % 1:
        remedy = f"Pass a code from 0 to {high}, or a name."
        if isinstance(action, str):
            remedy = did_you_mean(action, _world.ACTION_NAMES)
        expected = f"an action code from 0 to {high} ({', '.join(_world.ACTION_NAMES)}){others} at {place}"
        _refuse("illegal_action", expected, action, remedy)
    return int(code)


def _belief_of(value: Any, place: str, *at: int) -> Optional[Tuple[float, ...]]:
    """Returns a belief, or None. `at`: its step in the history at this place."""
    if value is None:
        return None
    belief = value if type(value) is list else _list_of(value)
    if type(belief) is not list or len(belief) != len(_NO_BELIEF):
        size = f"{len(_NO_BELIEF)} numbers"
        _refuse("wrong_type", f"{_entry(place, *at)} to be {size}", belief, f"Pass {size}, or null for no belief.")
    for k, level in enumerate(belief):
        number = level if type(level) is float else _number(level)
        if number is None or not -_FLOAT32_END < number < _FLOAT32_END:
            _refuse("bad_belief", f"a finite number at {_entry(place, *at, k)}", level, "Pass null for no belief.")
    return tuple(belief)


def _entry(place: str, *indices: int) -> str:
    return place + "".join(f"[{index}]" for index in indices)


def _beliefs_of(value: Any, place: str, steps: int) -> Any:
    """Returns the beliefs of a history of some steps, with three NaN for each later step."""
    if value is None:
        return None
    history = _list_of(value)
    if type(history) is not list:
        _refuse("wrong_type", f"{place} to be an array", history, "Pass a belief or null per action.")
    if len(history) not in (steps, _world.NUM_STEPS):
        size = f"{steps} beliefs in {place} (one for each action of the history) or {_world.NUM_STEPS}"
        refuse("wrong_length", size, str(len(history)), "Pass null for an action without a belief.")
    beliefs = [_belief_of(belief, place, at) or _NO_BELIEF for at, belief in enumerate(history[:steps])]
    return beliefs + [_NO_BELIEF] * (_world.NUM_STEPS - steps)


def _text_of(value: Any, place: str) -> str:
    if isinstance(value, str):
        return value
    _refuse("illegal_action", f"a string at {place}", value, "Pass the completion's text alone.")


def _refuse(code: str, expected: str, got: Any, remedy: str) -> NoReturn:
    refuse(code, expected, _described(got), remedy)


def _described(value: Any) -> str:
    """Describes a value as the server describes its JSON."""
    value = _list_of(value)
    if isinstance(value, str):
        return json.dumps(value if len(value) <= _MAX_TEXT else f"{value[:_MAX_TEXT]}...", ensure_ascii=False)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            return "Infinity" if value > 0 else "-Infinity"  # as JSON is read
        return str(int(value)) if abs(value) < 1e21 and value % 1 == 0 else repr(float(value))
    return f"an array of {len(value)}" if isinstance(value, list) else "an object"
