"""Checks numbers, names, mappings and arrays. The parameter `what` is the name of the checked value in errors."""

from __future__ import annotations

import difflib
import sys
from typing import Any, Dict, Iterable, Mapping, NoReturn, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from .errors import InputError

#: The largest finite float64.
MAX_FLOAT = sys.float_info.max
#: What to do about data of another version.
MAKE_AGAIN = "Make it again with this release."


def refuse(code: str, expected: str, got: str, remedy: str) -> NoReturn:
    """Raises InputError."""
    raise InputError(code, f"Expected {expected}, got {got}. {remedy}")


def describe(value: Any) -> str:
    """Returns the dtype and shape of an array, else a short repr."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {list(value.shape)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


#: The length of the longest text that gets a suggestion. A longer text is not a misspelled name, and comparing it takes long.
_MAX_GUESS_LENGTH = 100


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "Pass one of these names.") -> str:
    """Returns the remedy for an unknown name: the nearest known one, or `otherwise` if none or several are nearest."""
    close = difflib.get_close_matches(name, list(known), 2) if len(name) <= _MAX_GUESS_LENGTH else []
    ratios = [difflib.SequenceMatcher(None, each, name).ratio() for each in close]
    return f'Did you mean "{close[0]}"?' if close and ratios.count(ratios[0]) == 1 else otherwise


def check_integer(what: str, value: Any, low: int, high: int) -> int:
    """Returns an integer from `low` to `high` as an int. Raises InputError `out_of_range` for any other value."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and low <= value <= high:
        return int(value)
    refuse("out_of_range", f"{what} to be an integer from {low} to {high}", describe(value), "Pass an integer in this range.")


def check_number(what: str, value: Any, low: float, high: float) -> float:
    """Returns a number from `low` to `high` as a float. Raises InputError `out_of_range` for any other value."""
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and low <= value <= high:
        return float(value)
    refuse("out_of_range", f"{what} to be a number from {low:g} to {high:g}", describe(value), "Pass a number in this range.")


def check_flag(what: str, value: Any) -> bool:
    """Returns a bool of Python or NumPy as a bool. Raises InputError `wrong_type` for any other value."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    refuse("wrong_type", f"{what} to be a bool", describe(value), "Pass True or False.")


def check_mapping(what: str, value: Any) -> Dict[Any, Any]:
    """Returns a copy of a mapping; an empty dictionary for None. Raises InputError `wrong_type` for any other value."""
    if value is None or isinstance(value, Mapping):
        return dict(value or {})
    refuse("wrong_type", f"{what} to be a mapping", describe(value), "Pass a dictionary, such as {}.")


def check_name(what: str, value: Any, known: Sequence[str]) -> str:
    """Returns a known name. Raises InputError `unknown_name` for any other value."""
    if isinstance(value, str) and value in known:
        return value
    refuse("unknown_name", f"{what} to be one of {', '.join(known)}", describe(value), did_you_mean(str(value), known))


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
    array = to_array(value)
    if array.dtype.kind not in kinds:
        refuse("wrong_type", f"{what} to be {entries} {list(shape)}", describe(value), f"Pass an array of {entries}.")
    if array.shape != shape and array.shape != (int(np.prod(shape)),):
        refuse("wrong_length", f"{what} to be {entries} {list(shape)}", describe(value), "Pass an array of this shape.")
    return array.reshape(shape)


def to_codes(
    what: str, value: Any, shape: Tuple[int, ...], high: int, code: str = "out_of_range"
) -> npt.NDArray[np.uint8]:
    """Returns integers from 0 to `high` as a new u8 array of a shape. Raises InputError with `code` for other
    integers, and as `as_array`."""
    array = as_array(what, value, "iu", shape, "integers")
    invalid = np.argwhere((array < 0) | (array > high))
    if invalid.size > 0:
        at = invalid[0].tolist()
        refuse(code, f"{what} from 0 to {high}", f"{array[tuple(at)]} at {what}{at}", "Pass integers in this range.")
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


def to_given(beliefs: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    """Returns which rows of [..., 3] hold a belief, u8 [...]. Raises InputError `bad_belief` for an invalid row."""
    given, invalid = find_beliefs(beliefs)
    if invalid.any():
        at = tuple(int(k) for k in np.argwhere(invalid)[0])
        refuse(
            "bad_belief",
            f"three finite numbers or three NaN (no belief) at beliefs{list(at)}",
            str(beliefs[at]),
            "Pass three finite numbers or three NaN.",
        )
    return given.astype(np.uint8)
