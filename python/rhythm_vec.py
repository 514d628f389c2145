"""Scores and TRL rewards from a `rhythm-vec serve`: one file for Python 3.9 or later, without other packages.

    from rhythm_vec import Client, reward_funcs, score

    scores = score(seeds=[4242], action_histories=[["sleep"]], completions=["3 6 5 EXERCISE"])
    scores["total"]                                     # [1.249585509300232]: a float32, exact

    GRPOTrainer(..., reward_funcs=reward_funcs(Client("http://127.0.0.1:8000")))

docs/server.md describes the server's answers, docs/guides/replay-scoring.md the scores.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import logging
import os
import random
import re
import ssl
import time
import urllib.parse
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

__all__ = [
    "Backoff",
    "Client",
    "Fault",
    "RefusedError",
    "RewardStack",
    "RhythmError",
    "RowFaultWarning",
    "Scores",
    "ServerAwayError",
    "reward_funcs",
    "score",
]

DEFAULT_URL = "http://127.0.0.1:8000"
TOKEN_VARIABLE = "RHYTHM_TOKEN"
MIB = 2**20

_log = logging.getLogger("rhythm_vec")
# Not the global generator: a training that meets a busy server must draw the same numbers afterwards.
_random = random.SystemRandom()


# Errors


class RhythmError(Exception):
    """Base class of all errors of this module."""


class ServerAwayError(RhythmError):
    """No server, or no working one, answered even the last attempt."""


class RefusedError(RhythmError):
    """The server refused the request. A retry would not help.

    Attributes:
        status: the HTTP status, such as 422.
        detail: the server's answer: text, or a list of {type, loc, msg, input}.
    """

    def __init__(self, message: str, status: int, detail: Any) -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.status, self.detail)


class RowFaultWarning(UserWarning):
    """Invalid rows, which have no rewards."""


# HTTP client


def checked_url(url: str) -> str:
    """Returns a server's URL without a final slash. Raises ValueError for an invalid URL."""
    try:
        parts = urllib.parse.urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError(f"Expected url to be like {DEFAULT_URL}, got {url!r}. Pass the server's.")
    return url.rstrip("/")


def token_of(token: Optional[str]) -> Optional[str]:
    """Returns the given token, or else that of the environment variable; None without either."""
    found = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
    return found.strip() or None


def _jitter() -> float:
    return _random.random()


@dataclass(frozen=True)
class Backoff:
    """Retry policy: the wait doubles each time and is shortened by up to a half at random, so that trainers spread out.

    Attributes:
        attempts: the most attempts, including the first.
        first_s: seconds before the second attempt.
        longest_s: the longest wait in seconds. If the server asks for a longer one, the request fails.
        sleep: waits some seconds.
        jitter: draws a number in [0, 1).
    """

    attempts: int = 6
    first_s: float = 0.5
    longest_s: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = _jitter

    def wait_s(self, tries: int) -> float:
        """Returns the seconds to wait after this many attempts."""
        longest = min(self.first_s * 2.0 ** (tries - 1), self.longest_s)
        return longest * (1 - self.jitter() / 2)


@dataclass(frozen=True)
class _Answer:
    status: int
    reason: str
    retry_after: Optional[str]
    body: bytes


# Temporary failures. A retry would not change any other status.
_TRANSIENT = frozenset({429, 502, 503, 504})
_REMEDIES = {
    401: f"Pass token=, or set {TOKEN_VARIABLE}, to the server's token.",
    404: "Check that it is a rhythm-vec server of this release.",
    413: "Raise --body-limit of the server, or send less.",
    500: "See the server's standard error.",
}


class Client:
    """A client of a server. Each request has its own connection, without a proxy.

    Args:
        url: the server's URL, as in its first line of output.
        token: the server's token; by default that of the variable RHYTHM_TOKEN.
        timeout_s: seconds without a byte after which an attempt fails.
        backoff: retry policy for failed connections and the statuses 429 and 502 to 504.
        body_limit: the most bytes of a request; larger batches are sent in parts.
        row_limit: the most rows of a request, likewise; the server accepts four times as many.

    Raises:
        ValueError: invalid URL.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        token: Optional[str] = None,
        timeout_s: float = 120.0,
        backoff: Backoff = Backoff(),
        body_limit: int = 32 * MIB,
        row_limit: int = 2**18,
    ) -> None:
        self.url = checked_url(url)
        self.token = token_of(token)
        self.timeout_s = timeout_s
        self.backoff = backoff
        self.body_limit = body_limit
        self.row_limit = row_limit

    def post(self, path: str, body: bytes) -> Any:
        """Posts JSON with retries, and returns the parsed answer.

        Raises:
            RefusedError: the server refused the request.
            ServerAwayError: no working server answered the last attempt.
        """
        tries = 0
        while True:
            tries += 1
            wait_s = self.backoff.wait_s(tries)
            try:
                answer = self._send("POST", path, body)
            except ssl.SSLCertVerificationError as error:
                raise self._away(error, tries) from error
            except (OSError, http.client.HTTPException) as error:
                if tries >= self.backoff.attempts:
                    raise self._away(error, tries) from error
                why = _named(error)
            else:
                if answer.status not in _TRANSIENT:
                    return self._read(path, answer)
                why = f"{answer.status} {_detail_text(_detail_of(answer))}"
                wait_s = max(wait_s, _seconds_of(answer.retry_after))
                if tries >= self.backoff.attempts or wait_s > self.backoff.longest_s:
                    raise self._busy(path, why, tries, answer.retry_after)
            _log.warning("%s%s: %s; trying again in %.1f s", self.url, path, why, wait_s)
            self.backoff.sleep(wait_s)

    def _send(self, method: str, path: str, body: bytes) -> _Answer:
        parts = urllib.parse.urlsplit(self.url)
        secure = parts.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = connect(parts.netloc.rpartition("@")[2], timeout=self.timeout_s)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            try:
                connection.request(method, parts.path + path, body, headers)
            except (BrokenPipeError, ConnectionResetError):
                # A server that refuses a body need not read it, and may have answered already.
                if connection.sock is None:
                    raise
            response = connection.getresponse()
            text = response.read()
            retry_after = response.getheader("Retry-After")
            return _Answer(response.status, response.reason, retry_after, text)
        finally:
            connection.close()

    def _read(self, path: str, answer: _Answer) -> Any:
        if answer.status == 200:
            try:
                return json.loads(answer.body)
            except (ValueError, RecursionError):
                pass
        detail = _detail_of(answer)
        remedy = _REMEDIES.get(answer.status, "The detail says what to change.")
        got = "invalid JSON" if answer.status == 200 else f"{answer.status} {answer.reason}"
        said = _detail_text(detail)
        message = f"Expected 200 and JSON from POST {self.url}{path}, got {got}: {said} {remedy}"
        raise RefusedError(message, answer.status, detail)

    def _away(self, error: Exception, tries: int) -> ServerAwayError:
        return ServerAwayError(
            f"Expected a rhythm-vec server at {self.url}, got {_named(error)} ({_times(tries)}). "
            "Start one with `npx rhythm-vec serve`, or pass the url= of a running one."
        )

    def _busy(self, path: str, why: str, tries: int, retry_after: Optional[str]) -> ServerAwayError:
        after = "" if retry_after is None else f", Retry-After: {retry_after}"
        return ServerAwayError(
            f"Expected 200 from POST {self.url}{path}, got {why}{after} ({_times(tries)}). "
            "Try again later, raise --batch-requests of the server, or allow more attempts with backoff=."
        )


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _times(tries: int) -> str:
    return "1 try" if tries == 1 else f"{tries} tries"


def _seconds_of(retry_after: Optional[str]) -> float:
    """Parses a Retry-After header: seconds or a date; 0 for neither."""
    if retry_after is None:
        return 0.0
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        date = email.utils.parsedate_to_datetime(retry_after)
    except (TypeError, ValueError):
        return 0.0
    return max(0.0, date.timestamp() - time.time())


def _detail_of(answer: _Answer) -> Any:
    text = answer.body[:2000].decode("utf-8", "replace")
    try:
        told = json.loads(answer.body)
    except (ValueError, RecursionError):
        return text
    return told.get("detail", text) if isinstance(told, dict) else text


def _detail_text(detail: Any) -> str:
    if not isinstance(detail, list):
        return str(detail)
    return "; ".join(
        f"{'.'.join(map(str, each.get('loc', [])))}: {each.get('msg')}"
        if isinstance(each, dict)
        else str(each)
        for each in detail
    )


# Scores

#: The columns of `score`, by default all.
SCORE_NAMES = (
    "format_valid",
    "action_legal",
    "env_reward",
    "belief_accuracy",
    "total",
    "step_reward",
    "belief_mae",
    "state_hash",
)

#: "v1", "v2", or {"name", "weights"} as in docs/guides/custom-graders.md.
Grader = Union[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Fault:
    """An invalid row and the reason."""

    index: int
    code: str
    message: str


@dataclass(frozen=True)
class Scores:
    """The scores of rows, in order.

    Attributes:
        rows: the number of rows.
        world_digest: the digest of the world.
        columns: lists by name, with one entry per row: a float32 value, or None for none; `state_hash` is
            hexadecimal.
        faults: the invalid rows, which have no scores.
    """

    rows: int
    world_digest: str
    columns: Dict[str, List[Any]]
    faults: List[Fault]

    def __getitem__(self, name: str) -> List[Any]:
        """Returns a column."""
        return self.columns[name]


def score(
    seeds: Sequence[int],
    action_histories: Sequence[Sequence[Union[str, int]]],
    *,
    completions: Optional[Sequence[str]] = None,
    actions: Optional[Sequence[Union[str, int, None]]] = None,
    beliefs: Optional[Sequence[Optional[Sequence[float]]]] = None,
    profile_modes: Union[str, Sequence[str], None] = None,
    grader: Optional[Grader] = None,
    weights: Optional[Mapping[str, float]] = None,
    shaping: Optional[Mapping[str, bool]] = None,
    scores: Optional[Sequence[str]] = None,
    client: Optional[Client] = None,
) -> Scores:
    """Scores completions or actions, each after the actions of its history.
    Lists have one entry per row; NumPy arrays and other objects with `tolist` are accepted. Large batches are sent in
    several requests.

    Args:
        seeds: u32, the seed of each row's episode.
        action_histories: names or codes of the earlier actions, at most 27.
        completions: texts, which the server parses. Pass either these
        actions: or these: names, codes, or None for no action.
        beliefs: only with actions: social, morning, work in [0, 1], or None for no belief.
        profile_modes: "sampled" (default), "discrete" or a profile's name, one for all rows or one per row.
        grader: "v2" by default.
        weights: the weight of each of the four rewards in the total; 1 by default.
        shaping: {"repetition": True, "exploration": True}: terms of `env_reward`, off by default.
        scores: the columns to return, of SCORE_NAMES; all by default.
        client: `Client()` by default: a server on this machine.

    Raises:
        RefusedError: the request is invalid. An invalid row is a fault in the result, not an error.
        ServerAwayError: no server answered, or it was busy for too long.
        ValueError: columns differ in length, or numbers are not finite.
    """
    rows = {
        "seeds": seeds,
        "action_histories": action_histories,
        "completions": completions,
        "actions": actions,
        "beliefs": beliefs,
        "profile_modes": None if isinstance(profile_modes, str) else profile_modes,
    }
    request = {
        "profile_modes": profile_modes if isinstance(profile_modes, str) else None,
        "grader": grader,
        "weights": weights,
        "shaping": shaping,
        "scores": None if scores is None else list(scores),
    }
    columns = {name: _listed(entries) for name, entries in rows.items() if entries is not None}
    options = {name: value for name, value in request.items() if value is not None}
    count = _count_of(columns)
    parts = list(_parts(client or Client(), columns, options, 0, count))
    return _joined(count, parts)


def _listed(entries: Any) -> List[Any]:
    return entries.tolist() if hasattr(entries, "tolist") else list(entries)


def _count_of(columns: Mapping[str, List[Any]]) -> int:
    count = len(columns["seeds"])
    for name, entries in columns.items():
        if len(entries) != count:
            raise ValueError(
                f"Expected {count} entries in {name} (one for each of seeds), got {len(entries)}. "
                "Pass one for each row."
            )
    return count


def _encoded(columns: Mapping[str, List[Any]], options: Mapping[str, Any], start: int, stop: int) -> bytes:
    request = {**{name: entries[start:stop] for name, entries in columns.items()}, **options}
    try:
        text = json.dumps(request, allow_nan=False, separators=(",", ":"), default=_plain)
    except ValueError as error:
        raise ValueError(
            f"Expected finite numbers in rows {start} to {stop - 1}, got others ({error}). "
            "Pass None for no belief."
        ) from error
    return text.encode()


def _plain(value: Any) -> Any:
    """Converts values that `json` does not support: NumPy arrays and numbers, and other mappings."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"Expected numbers, text and lists, got {type(value).__name__}. Pass JSON values.")


def _parts(
    client: Client,
    columns: Mapping[str, List[Any]],
    options: Mapping[str, Any],
    start: int,
    stop: int,
) -> Iterator[Tuple[int, Dict[str, Any]]]:
    """Yields answers with the row at which each begins. A batch that is too large is halved."""
    alone = stop - start <= 1
    body = _encoded(columns, options, start, stop) if stop - start <= max(client.row_limit, 1) else None
    if body is not None and (alone or len(body) <= client.body_limit):
        try:
            yield start, _checked(client.post("/v1/score", body), client, stop - start)
            return
        except RefusedError as error:
            # The server's limit is lower than the client's.
            if alone or error.status != 413:
                raise
    middle = (start + stop) // 2
    yield from _parts(client, columns, options, start, middle)
    yield from _parts(client, columns, options, middle, stop)


def _checked(answer: Any, client: Client, count: int) -> Dict[str, Any]:
    if _is_answer(answer, count):
        return answer
    raise RhythmError(
        f"Expected scores of {count} rows from POST {client.url}/v1/score, got other JSON: {_brief(answer)}. "
        f"{_REMEDIES[404]}"
    )


def _is_answer(answer: Any, count: int) -> bool:
    """Returns whether an answer has the form of /v1/score in docs/server.md."""
    if not isinstance(answer, dict) or not isinstance(answer.get("world_digest"), str):
        return False
    scores, faults = answer.get("scores"), answer.get("faults")
    if not isinstance(scores, dict) or not isinstance(faults, list):
        return False
    return all(_are_scores(values, count) for values in scores.values()) and all(
        _is_fault(fault, count) for fault in faults
    )


def _are_scores(values: Any, count: int) -> bool:
    kinds = (int, float, str, type(None))
    return isinstance(values, list) and len(values) == count and all(isinstance(value, kinds) for value in values)


def _is_fault(fault: Any, count: int) -> bool:
    if not isinstance(fault, dict) or type(fault.get("index")) is not int:
        return False
    return 0 <= fault["index"] < count and all(isinstance(fault.get(key), str) for key in ("code", "message"))


def _brief(answer: Any) -> str:
    try:
        return repr(answer)[:200]
    except RecursionError:
        return "lists in lists"


def _joined(count: int, parts: Sequence[Tuple[int, Dict[str, Any]]]) -> Scores:
    columns: Dict[str, List[Any]] = {}
    faults: List[Fault] = []
    for start, answer in parts:
        for name, values in answer["scores"].items():
            columns.setdefault(name, []).extend(_as_float(value) for value in values)
        for fault in answer["faults"]:
            message = _moved(fault["message"], start)
            faults.append(Fault(fault["index"] + start, fault["code"], message))
    return Scores(count, parts[0][1]["world_digest"], columns, faults)


def _as_float(value: Any) -> Any:
    """Converts integers of JSON to float; None and text stay."""
    return float(value) if isinstance(value, int) else value


_PLACE = re.compile(r"\b(seeds|action_histories|completions|actions|beliefs|profile_modes)\[(\d+)\]")


def _moved(message: str, start: int) -> str:
    """Changes row numbers in a message from those of a part to those of the whole batch."""
    return _PLACE.sub(lambda found: f"{found[1]}[{int(found[2]) + start}]", message)


# Rewards for TRL

#: What TRL passes for each completion: text, or the messages of a chat.
Completion = Union[str, Sequence[Mapping[str, Any]]]
RewardFunction = Callable[..., List[Optional[float]]]

_REWARDS = ("format_valid", "action_legal", "env_reward", "belief_accuracy", "total")
_FAULTS_TOLD = 5


class RewardStack:
    """Reward functions for TRL's GRPO: `reward(prompts, completions, **dataset_columns)`.

    They take the dataset's columns `seed`, `action_history`, `profile_mode` and `step_index`, as
    `rhythm-vec dataset grpo` writes them, and ignore others. All five share one request: the function that is called
    first for a batch sends it, and the others reuse its answer. An invalid row has the reward None, which TRL leaves
    out, and a RowFaultWarning reports it.

    Args:
        client: `Client()` by default: a server on this machine.
        grader, weights, shaping: as in `score`. The weights are those of `total`; TRL's own are `reward_weights`.
    """

    def __init__(
        self,
        client: Optional[Client] = None,
        *,
        grader: Optional[Grader] = None,
        weights: Optional[Mapping[str, float]] = None,
        shaping: Optional[Mapping[str, bool]] = None,
    ) -> None:
        self._client = client or Client()
        self._options: Dict[str, Any] = {"grader": grader, "weights": weights, "shaping": shaping}
        # The last batch and its scores: the same rows have the same scores.
        self._last: Optional[Tuple[Dict[str, Any], Scores]] = None

    @property
    def functions(self) -> List[RewardFunction]:
        """The four rewards of the stack, for `reward_funcs`."""
        return [self.format_valid, self.action_legal, self.env_reward, self.belief_accuracy]

    def format_valid(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """1 if belief and action both parsed, else -2."""
        return self._rewards("format_valid", completions, columns)

    def action_legal(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """0.5 if the action is one of the ten, else -1."""
        return self._rewards("action_legal", completions, columns)

    def env_reward(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """The step's reward plus the shaping terms; -3 if no action parsed."""
        return self._rewards("env_reward", completions, columns)

    def belief_accuracy(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """0.5 minus the belief's mean absolute error; -0.5 if no belief was given."""
        return self._rewards("belief_accuracy", completions, columns)

    def total(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """The weighted sum of the four, as one reward."""
        return self._rewards("total", completions, columns)

    def _rewards(
        self, name: str, completions: Sequence[Completion], columns: Mapping[str, Any]
    ) -> List[Optional[float]]:
        rows = _rows_of(completions, columns)
        last = self._last
        if last is None or last[0] != rows:
            scores = score(**rows, **self._options, scores=_REWARDS, client=self._client)
            _warn(scores)
            self._last = last = (rows, scores)
        return list(last[1][name])


def reward_funcs(
    client: Optional[Client] = None,
    *,
    grader: Optional[Grader] = None,
    shaping: Optional[Mapping[str, bool]] = None,
) -> List[RewardFunction]:
    """Returns the four rewards of the stack for TRL's `reward_funcs`: `RewardStack(...).functions`."""
    return RewardStack(client, grader=grader, shaping=shaping).functions


def _rows_of(completions: Sequence[Completion], columns: Mapping[str, Any]) -> Dict[str, Any]:
    missing = [name for name in ("seed", "action_history") if name not in columns]
    if missing:
        raise TypeError(
            "Expected the dataset to have columns seed and action_history, "
            f"got none called {' or '.join(missing)}. "
            "Make its rows with `rhythm-vec dataset grpo`, and keep their columns."
        )
    histories = [list(history) for history in columns["action_history"]]
    _check_steps(histories, columns.get("step_index"))
    rows = {
        "seeds": list(columns["seed"]),
        "action_histories": histories,
        "completions": [_text_of(completion) for completion in completions],
    }
    if columns.get("profile_mode") is not None:
        rows["profile_modes"] = list(columns["profile_mode"])
    return rows


def _check_steps(histories: Sequence[Sequence[Any]], steps: Optional[Sequence[int]]) -> None:
    for row, (history, step) in enumerate(zip(histories, steps or [])):
        if len(history) != step:
            raise ValueError(
                f"Expected as many actions in action_history[{row}] as step_index[{row}] says, {step}, "
                f"got {len(history)}. Make the dataset again."
            )


def _text_of(completion: Completion) -> str:
    """Returns the text of a completion; for a chat, that of its last message, or "" without one."""
    if isinstance(completion, str):
        return completion
    content = completion[-1].get("content") if completion else None
    if isinstance(content, (list, tuple)):
        return "".join(str(part.get("text", "")) for part in content)
    return content or ""


def _warn(scores: Scores) -> None:
    faults = scores.faults
    if not faults:
        return
    told = "; ".join(f"row {fault.index}: {fault.message}" for fault in faults[:_FAULTS_TOLD])
    more = len(faults) - _FAULTS_TOLD
    rest = f"; and {more} more" if more > 0 else ""
    message = f"{len(faults)} of {scores.rows} rows have no rewards. {told}{rest}"
    warnings.warn(message, RowFaultWarning, stacklevel=4)
