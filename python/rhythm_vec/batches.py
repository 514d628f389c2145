"""Sends batches of rows, large ones in parts and to several servers at the same time. Returns the answers in order."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Tuple

from .client import REMEDIES, Client
from .errors import InputError, RefusedError, RhythmError

#: The minimum number of rows of a part, if a batch is split for several servers. Chosen by hand: smaller parts need more
#: requests.
_MIN_ROWS = 512
#: The maximum number of parts per server: several, so that a faster server computes more of them. Chosen by hand: more parts
#: need more requests.
_PARTS_PER_SERVER = 4


@dataclass(frozen=True)
class Batch:
    """A request with a list for each column, and the same options for all rows.

    Attributes:
        path: the route.
        columns: lists with one entry per row, by name.
        options: other keys of the request.
        form_of: returns the form (see `has_form`) of an answer for a number of rows.
        row_limit: the maximum number of rows of a request to the route.
    """

    path: str
    columns: Mapping[str, List[Any]]
    options: Mapping[str, Any]
    form_of: Callable[[int], Any]
    row_limit: int = 2**17


@dataclass(frozen=True)
class Part:
    """The answer for the rows from `start` on."""

    start: int
    url: str
    answer: Dict[str, Any]


def has_form(value: Any, form: Any) -> bool:
    """Returns whether JSON has a form: a function that tests it, a tuple of types, a dictionary of the forms of required keys,
    or a list [form of the entries, number of entries or None]. A bool is no number."""
    if isinstance(form, dict):
        return isinstance(value, dict) and all(has_form(value.get(key), each) for key, each in form.items())
    if isinstance(form, list):
        each, count = form
        is_list = isinstance(value, list) and count in (None, len(value))
        return is_list and all(has_form(entry, each) for entry in value)
    return type(value) in form if isinstance(form, tuple) else bool(form(value))


def as_list(name: str, entries: Any) -> List[Any]:
    """Returns a column as a list. Raises InputError `wrong_type` for text, a mapping or what is not iterable."""
    try:
        if not isinstance(entries, (str, bytes, Mapping)):
            return list(entries.tolist() if hasattr(entries, "tolist") else entries)
    except (TypeError, ValueError):
        pass
    raise InputError(
        "wrong_type",
        f"Expected {name} to be a list with one entry per row, got {type(entries).__name__}. Pass a list or an array.",
    )


def count_rows(columns: Mapping[str, List[Any]]) -> int:
    """Returns the number of rows. Raises InputError `wrong_length` if columns differ in length from the first."""
    first, count = next((name, len(entries)) for name, entries in columns.items())
    for name, entries in columns.items():
        if len(entries) != count:
            raise InputError(
                "wrong_length",
                f"Expected {count} entries in {name} (as many as {first}), got {len(entries)}. Pass one entry per row.",
            )
    return count


def send_batch(client: Client, batch: Batch) -> List[Part]:
    """Returns the answers of all rows, in order.

    Raises:
        RefusedError: a server refused the request, or its answer was not JSON. The message has the row numbers of the
            whole batch.
        RhythmError: an answer has an unexpected form, or the servers have different worlds.
        ServerUnavailableError: no server answered.
        InputError: the columns differ in length, numbers are not finite, or a value cannot be written as JSON.
    """
    count = count_rows(batch.columns)
    ranges = split_rows(count, len(client.urls))
    if len(ranges) == 1:
        parts = list(_send(client, batch, 0, count))
    else:
        with ThreadPoolExecutor(len(client.urls)) as threads:
            sent = threads.map(lambda rows: list(_send(client, batch, *rows)), ranges)
            parts = [part for several in sent for part in several]
    _check_worlds(parts)
    return parts


def split_rows(count: int, servers: int, min_rows: int = _MIN_ROWS) -> List[Tuple[int, int]]:
    """Splits rows for several servers or processes. Returns (start, stop) of each part, in order."""
    parts = 1 if servers == 1 else max(1, min(_PARTS_PER_SERVER * servers, count // min_rows))
    bounds = [count * part // parts for part in range(parts + 1)]
    return list(zip(bounds, bounds[1:]))


def _send(client: Client, batch: Batch, start: int, stop: int) -> Iterator[Part]:
    """Yields the answers for the rows [start, stop). Halves a part that is too large."""
    single = stop - start <= 1
    limit = max(min(client.row_limit, batch.row_limit), 1)
    body = _encode(batch, start, stop) if stop - start <= limit else None
    if body is not None and (single or len(body) <= client.body_limit):
        try:
            yield Part(start, *_exchange(client, batch, body, stop - start))
            return
        except RefusedError as error:
            # 413: the server's limit is lower than the client's. Halves are sent below.
            if single or error.status != 413:
                raise _in_batch(error, start) from error
    middle = (start + stop) // 2
    yield from _send(client, batch, start, middle)
    yield from _send(client, batch, middle, stop)


def _exchange(client: Client, batch: Batch, body: bytes, count: int) -> Tuple[str, Dict[str, Any]]:
    url, answer = client.exchange(batch.path, body)
    if has_form(answer, {"world_digest": (str,), **batch.form_of(count)}):
        return url, answer
    raise RhythmError(
        f"Expected an answer for {count} rows from POST {url}{batch.path}, got other JSON: {_brief(answer)}. "
        f"{REMEDIES[404]}"
    )


def _encode(batch: Batch, start: int, stop: int) -> bytes:
    request = {**{name: entries[start:stop] for name, entries in batch.columns.items()}, **batch.options}
    try:
        text = json.dumps(request, allow_nan=False, separators=(",", ":"), default=to_json)
    except InputError:  # from `to_json`; InputError is a ValueError too
        raise
    except ValueError as error:
        raise InputError(
            "out_of_range",
            f"Expected finite numbers in rows {start} to {stop - 1}, got others ({error}). Pass None for no belief.",
        ) from error
    return text.encode()


def to_json(value: Any) -> Any:
    """Converts values that `json` does not support: NumPy arrays and numbers, and mappings other than dict."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if type(plain) is not type(value):
        return plain
    if isinstance(value, Mapping):
        return dict(value)
    got = type(value).__name__
    raise InputError("wrong_type", f"Expected numbers, text and lists, got {got}. Pass JSON values.")


def _brief(answer: Any) -> str:
    try:
        return repr(answer)[:200]
    except RecursionError:
        return "deeply nested lists"


def _check_worlds(parts: List[Part]) -> None:
    first = parts[0]
    for part in parts:
        ours, theirs = first.answer["world_digest"], part.answer["world_digest"]
        if theirs != ours:
            raise RhythmError(
                f"Expected servers of the same world, got {ours} from {first.url} and {theirs} from {part.url}. "
                "Run the same release on all servers."
            )


def renumber(message: str, row: int, start: int) -> str:
    """Replaces the number of a row of a part by its number in the whole batch, in the message of its fault."""
    return message.replace(f"[{row}]", f"[{row + start}]", 1)


def _in_batch(error: RefusedError, start: int) -> RefusedError:
    """Returns the refusal of a part, with the number of its invalid row in the whole batch."""
    message = str(error)
    for each in error.detail if isinstance(error.detail, list) else []:
        loc = each.get("loc") if isinstance(each, dict) else None
        if isinstance(loc, list) and len(loc) == 3 and isinstance(loc[2], int):
            message = renumber(message, loc[2], start)
    return RefusedError(message, error.status, error.detail)


def join_column(parts: List[Part], values_of: Callable[[Dict[str, Any]], List[Any]]) -> List[Any]:
    """Returns the values of all parts as one list."""
    return [value for part in parts for value in values_of(part.answer)]
