"""Checks numbers, names, mappings and arrays. The parameter `what` is the name of the checked value in errors."""

from __future__ import annotations

import re
import sys
from typing import Any, Callable, Dict, Iterable, List, Mapping, NoReturn, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from .errors import InputError

#: The largest finite float64.
MAX_FLOAT = sys.float_info.max
#: What to do about data of another version.
MAKE_AGAIN = "Make it again with this release."


def refuse(
    code: str, expected: str, got: str, remedy: str, field: Optional[str] = None, row: Optional[int] = None
) -> NoReturn:
    """Raises InputError. A `field` that is a phrase or a path, such as start.steps, names no field."""
    is_name = field is not None and field.isidentifier()
    raise InputError(code, f"Expected {expected}, got {got}. {remedy}", field if is_name else None, row)


def require(legal: npt.NDArray[Any], code: str, what: str, expected: Any, values: Any, remedy: str) -> None:
    """Raises InputError for the first entry that is not legal, of arrays of the same shape. `expected` is the text for the
    error, or returns it for a row."""
    if legal.all():
        return
    at = tuple(int(k) for k in np.argwhere(~legal)[0])
    text = expected(at[0]) if callable(expected) else expected
    refuse(code, f"{text} at {what}{list(at)}", str(values[at]), remedy, what, at[0] if what.isidentifier() else None)


def check_length(what: str, got: Any, expected: int, unit: str = "num_envs") -> None:
    """Raises InputError `wrong_length` if a length is not the expected one, which `unit` explains. `got`: a length, or an array
    for the error, whose shape is wrong."""
    if not isinstance(got, int) or got != expected:
        refuse("wrong_length", f"{expected} {what} ({unit})", describe(got), f"Pass exactly {expected}.")


def check_keys(what: str, given: Iterable[Any], known: Iterable[str]) -> None:
    """Raises InputError `unknown_option` for a key that is not known."""
    names = list(known)
    for name in given:
        if name not in names:
            remedy = did_you_mean(str(name), names)
            refuse("unknown_option", f"{what} among {', '.join(names)}", describe(name), remedy, str(name))


def describe(value: Any) -> str:
    """Returns the dtype and shape of an array, else a short repr."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {list(value.shape)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


#: The length of the longest text that gets a suggestion. A longer text is not a misspelled name, and comparing it takes long.
_MAX_GUESS_LENGTH = 100


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "Use one of these names.") -> str:
    """Returns the remedy for an unknown name: a known one that is near, as in src/shared/names.ts, or `otherwise`."""
    names, guess = list(known), "".join(_words_of(name))
    if len(name) > _MAX_GUESS_LENGTH or not names:
        return otherwise
    best, edits = _only_best(names, lambda each: -_distance(guess, "".join(_words_of(each))))
    length = len("".join(_words_of(best or "")))
    if best is None or -edits > min(length / 2, max(2, length / 3)):
        words = _words_of(name)
        contained = [each for each in names if set(_words_of(each)) <= set(words)]
        best = _only_best(contained, lambda each: len(_words_of(each)))[0] if contained else None
    return otherwise if best is None else f'Did you mean "{best}"?'


def _words_of(name: str) -> List[str]:
    return re.split(r"[\s_-]+", re.sub("([a-z0-9])([A-Z])", r"\1 \2", name).lower())


def _only_best(names: Sequence[str], rank_of: Callable[[str], int]) -> Tuple[Optional[str], int]:
    """Returns the name with the highest rank, None if several have it, and the rank."""
    ranks = [rank_of(name) for name in names]
    highest = max(ranks)
    return names[ranks.index(highest)] if ranks.count(highest) == 1 else None, highest


def _distance(a: str, b: str) -> int:
    """Returns the edit distance (Levenshtein)."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            diagonal, row[j] = row[j], min(diagonal + (letter != other), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def is_number(value: Any) -> bool:
    """Returns whether a value is a number of Python or NumPy, and no bool."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def check_integer(what: str, value: Any, low: int, high: int) -> int:
    """Returns an integer from `low` to `high` as an int. Raises InputError `out_of_range` for another number, `wrong_type` for
    any other value."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and low <= value <= high:
        return int(value)
    code = "out_of_range" if is_number(value) else "wrong_type"
    expected, remedy = f"{what} to be an integer from {low} to {high}", "Pass an integer in that range."
    refuse(code, expected, describe(value), remedy, what)


def check_number(what: str, value: Any, low: float, high: float) -> float:
    """Returns a number from `low` to `high` as a float. Raises InputError `out_of_range` for any other value."""
    if is_number(value) and low <= value <= high:
        return float(value)
    expected, remedy = f"{what} to be a number from {low:g} to {high:g}", "Pass a number in that range."
    refuse("out_of_range", expected, describe(value), remedy, what)


def check_flag(what: str, value: Any) -> bool:
    """Returns a bool of Python or NumPy as a bool. Raises InputError `wrong_type` for any other value."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    refuse("wrong_type", f"{what} to be a bool", describe(value), "Pass True or False.", what)


def check_mapping(what: str, value: Any) -> Dict[Any, Any]:
    """Returns a copy of a mapping; an empty dictionary for None. Raises InputError `wrong_type` for any other value."""
    if value is None or isinstance(value, Mapping):
        return dict(value or {})
    refuse("wrong_type", f"{what} to be a mapping", describe(value), "Pass a dictionary, such as {}.", what)


def check_name(what: str, value: Any, known: Sequence[str], field: Optional[str] = None) -> str:
    """Returns a known name. Raises InputError `unknown_name` for any other value; its field is `field`, else `what`."""
    if isinstance(value, str) and value in known:
        return value
    expected, remedy = f"{what} to be one of {', '.join(known)}", did_you_mean(str(value), known)
    refuse("unknown_name", expected, describe(value), remedy, field or what)


def to_array(value: Any) -> npt.NDArray[Any]:
    """Converts a value to an array. Returns an array as it is, without a copy. Returns an array of dtype object for a
    value that NumPy cannot convert."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        return np.empty((), object)


def as_array(what: str, value: Any, kinds: str, shape: Tuple[int, ...], entries: str) -> npt.NDArray[Any]:
    """Returns a value as an array of a shape. The value may be flat. Its dtype's kind must be one of `kinds`, such as
    "iu". `entries` is the word for the array's entries in errors. Raises InputError `wrong_type`, `wrong_length`."""
    array, length = to_array(value), int(np.prod(shape))
    if array.dtype.kind not in kinds:
        expected = f"{what} to be {entries} {list(shape)}"
        refuse("wrong_type", expected, describe(value), f"Pass an array of {entries}.", what)
    if array.shape not in (shape, (length,)):
        check_length(f"entries in {what}", array, length, f"{list(shape)}")
    return array.reshape(shape)


def to_codes(
    what: str, value: Any, shape: Tuple[int, ...], high: int, code: str = "out_of_range", remedy: str = ""
) -> npt.NDArray[np.uint8]:
    """Returns integers from 0 to `high` as a new u8 array of a shape. Raises InputError with `code` for other
    integers, and as `as_array`."""
    array = as_array(what, value, "iu", shape, "integers")
    legal = (array >= 0) & (array <= high)
    require(legal, code, what, f"an integer from 0 to {high}", array, remedy or "Pass an integer in that range.")
    return np.array(array, np.uint8, order="C")


def to_floats(array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Returns a new f32 array. Numbers beyond its range become infinite, without a warning."""
    with np.errstate(over="ignore"):
        return np.array(array, np.float32, order="C")


def find_beliefs(beliefs: npt.NDArray[np.float32]) -> Tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Returns which rows of [..., 3] hold a belief (three finite numbers), bool [...]; and which are invalid, because
    they hold neither a belief nor three NaN."""
    given: npt.NDArray[np.bool_] = np.isfinite(beliefs.astype(np.float64).sum(axis=-1))
    invalid: npt.NDArray[np.bool_] = ~given & ~np.isnan(beliefs).all(axis=-1)
    return given, invalid


def to_given(
    beliefs: npt.NDArray[np.float32],
    used: Any = True,
    where: str = "beliefs",
    unchanged: str = "No episode was stepped.",
) -> npt.NDArray[np.uint8]:
    """Returns which rows of [..., 3] hold a belief, u8 [...]. Raises InputError `bad_belief` for an invalid row that is
    `used`, bool [...]."""
    given, invalid = find_beliefs(beliefs)
    if (invalid & used).any():
        row = int(np.flatnonzero(invalid & used)[0])
        numbers = "three finite numbers or three NaN"
        got = str(beliefs.reshape(-1, beliefs.shape[-1])[row])
        expected, remedy = f"{numbers} (no belief) in {where} row {row}", f"{unchanged} Pass {numbers}."
        refuse("bad_belief", expected, got, remedy, where, row)
    return given.astype(np.uint8)
