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
    "ServerUnavailableError",
    "reward_funcs",
    "score",
]

DEFAULT_URL = "http://127.0.0.1:8000"
TOKEN_VARIABLE = "RHYTHM_TOKEN"
MIB = 2**20

_log = logging.getLogger("rhythm_vec")
# Retries must not change the draws of a training, so they do not use the global generator.
_random = random.SystemRandom()


# Errors


class RhythmError(Exception):
    """Base class of all errors of this module."""


class ServerUnavailableError(RhythmError):
    """No working server answered, even at the last attempt."""


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
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"Expected url to be like {DEFAULT_URL}, got {url!r}. Pass the URL of the server.")
    return url.rstrip("/")


def token_of(token: Optional[str]) -> Optional[str]:
    """Returns the token, by default that of the environment variable; None without both."""
    found = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
    return found.strip() or None


def _jitter() -> float:
    return _random.random()


@dataclass(frozen=True)
class Backoff:
    """Retry policy. The wait doubles with each attempt, and is shortened at random by up to a half to spread trainers.

    Attributes:
        attempts: the maximum number of attempts, including the first.
        first_s: seconds before the second attempt.
        longest_s: the longest wait in seconds. If the server demands a longer one, the request fails.
        sleep: waits some seconds.
        jitter: draws a number in [0, 1).
    """

    attempts: int = 6
    first_s: float = 0.5
    longest_s: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = _jitter

    def wait_s(self, attempts: int) -> float:
        """Returns the seconds to wait after this many attempts."""
        longest = min(self.first_s * 2.0 ** (attempts - 1), self.longest_s)
        return longest * (1 - self.jitter() / 2)


@dataclass(frozen=True)
class _Answer:
    status: int
    reason: str
    retry_after: Optional[str]
    body: bytes


# Statuses of temporary failures. Requests with other statuses are not retried.
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
        body_limit: the maximum bytes of a request. Larger batches are sent in parts.
        row_limit: the maximum rows of a request, likewise. The server accepts four times as many.

    Raises:
        ValueError: the URL is invalid.
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
            ServerUnavailableError: no working server answered the last attempt.
        """
        attempt = 0
        while True:
            attempt += 1
            wait_s = self.backoff.wait_s(attempt)
            try:
                answer = self._send("POST", path, body)
            except ssl.SSLCertVerificationError as error:
                raise self._unavailable(error, attempt) from error
            except (OSError, http.client.HTTPException) as error:
                if attempt >= self.backoff.attempts:
                    raise self._unavailable(error, attempt) from error
                reason = _error_text(error)
            else:
                if answer.status not in _TRANSIENT:
                    return self._read(path, answer)
                reason = f"{answer.status} {_detail_text(_detail_of(answer))}"
                wait_s = max(wait_s, _seconds_of(answer.retry_after))
                if attempt >= self.backoff.attempts or wait_s > self.backoff.longest_s:
                    raise self._busy(path, reason, attempt, answer.retry_after)
            _log.warning("%s%s: %s; retrying in %.1f s", self.url, path, reason, wait_s)
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
                # A server that refuses a body may answer and close before it has read all of it.
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
        text = _detail_text(detail)
        message = f"Expected 200 and JSON from POST {self.url}{path}, got {got}: {text} {remedy}"
        raise RefusedError(message, answer.status, detail)

    def _unavailable(self, error: Exception, attempts: int) -> ServerUnavailableError:
        return ServerUnavailableError(
            f"Expected a rhythm-vec server at {self.url}, got {_error_text(error)} ({_attempts_text(attempts)}). "
            "Start one with `npx rhythm-vec serve`, or pass the url= of a running one."
        )

    def _busy(self, path: str, reason: str, attempts: int, retry_after: Optional[str]) -> ServerUnavailableError:
        after = "" if retry_after is None else f", Retry-After: {retry_after}"
        return ServerUnavailableError(
            f"Expected 200 from POST {self.url}{path}, got {reason}{after} ({_attempts_text(attempts)}). "
            "Try again later, raise --batch-requests of the server, or allow more attempts with backoff=."
        )


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _attempts_text(attempts: int) -> str:
    return "1 attempt" if attempts == 1 else f"{attempts} attempts"


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
        parsed = json.loads(answer.body)
    except (ValueError, RecursionError):
        return text
    return parsed.get("detail", text) if isinstance(parsed, dict) else text


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

#: The names of the columns that `score` returns.
SCORE_NAMES = (
    "format_valid",
    "action_legal",
    "env_reward",
    "belief_accuracy",
    "belief_skill",
    "total",
    "step_reward",
    "belief_mae",
    "state_hash",
)

#: "v1", "v2", "v3", or a custom grader {"name", "weights"} as in docs/guides/custom-graders.md. Weights that are left out are 0.
Grader = Union[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Fault:
    """An invalid row, and why it is invalid."""

    index: int
    code: str
    message: str


@dataclass(frozen=True)
class Scores:
    """The scores of rows, in order.

    Attributes:
        rows: the number of rows.
        world_digest: the digest of the world.
        columns: lists by name, with one entry per row: a float32 value, or None if the row has none;
            `state_hash` is hexadecimal.
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
    belief_histories: Optional[Sequence[Optional[Sequence[Optional[Sequence[float]]]]]] = None,
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
        completions: texts, which the server parses. Pass either completions or actions.
        actions: names, codes, or None for no action.
        beliefs: social, morning, work in [0, 1], or None for no belief. Only with actions.
        belief_histories: the belief given with each action of the history, None for no belief. A row has as many beliefs
            as actions, or 28, of which the later ones are ignored; or it is None. Only the reward of an episode's 28th
            step depends on them: without them a grader that weighs belief_skill, such as v3, counts that step's
            belief alone.
        profile_modes: "sampled" (default), "discrete" or a profile's name, one for all rows or one per row.
        grader: "v2" by default.
        weights: the weight of each of the five rewards in the total; 1 by default, but 0 for `belief_skill` if the
            grader does not weigh it, as v1 and v2.
        shaping: terms of `env_reward`, such as {"repetition": True, "exploration": True}; off by default.
        scores: the columns to return, of SCORE_NAMES; all by default.
        client: `Client()` by default: a server on this machine.

    Raises:
        RefusedError: the request is invalid. An invalid row is a fault in the result, not an error.
        ServerUnavailableError: no server answered, or it was busy for too long.
        ValueError: columns differ in length, or numbers are not finite.
    """
    rows = {
        "seeds": seeds,
        "action_histories": action_histories,
        "completions": completions,
        "actions": actions,
        "beliefs": beliefs,
        "belief_histories": belief_histories,
        "profile_modes": None if isinstance(profile_modes, str) else profile_modes,
    }
    request = {
        "profile_modes": profile_modes if isinstance(profile_modes, str) else None,
        "grader": grader,
        "weights": weights,
        "shaping": shaping,
        "scores": None if scores is None else list(scores),
    }
    columns = {name: _as_list(entries) for name, entries in rows.items() if entries is not None}
    options = {name: value for name, value in request.items() if value is not None}
    count = _count_of(columns)
    parts = list(_parts(client or Client(), columns, options, 0, count))
    return _join(count, parts)


def _as_list(entries: Any) -> List[Any]:
    return entries.tolist() if hasattr(entries, "tolist") else list(entries)


def _count_of(columns: Mapping[str, List[Any]]) -> int:
    count = len(columns["seeds"])
    for name, entries in columns.items():
        if len(entries) != count:
            raise ValueError(
                f"Expected {count} entries in {name} (as many as seeds), got {len(entries)}. "
                "Pass one per row."
            )
    return count


def _encode(columns: Mapping[str, List[Any]], options: Mapping[str, Any], start: int, stop: int) -> bytes:
    request = {**{name: entries[start:stop] for name, entries in columns.items()}, **options}
    try:
        text = json.dumps(request, allow_nan=False, separators=(",", ":"), default=_to_json)
    except ValueError as error:
        raise ValueError(
            f"Expected finite numbers in rows {start} to {stop - 1}, got others ({error}). "
            "Pass None for no belief."
        ) from error
    return text.encode()


def _to_json(value: Any) -> Any:
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
    """Yields answers, each with the index of its first row. Halves a batch that is too large."""
    single = stop - start <= 1
    body = _encode(columns, options, start, stop) if stop - start <= max(client.row_limit, 1) else None
    if body is not None and (single or len(body) <= client.body_limit):
        try:
            yield start, _check_answer(client.post("/v1/score", body), client, stop - start)
            return
        except RefusedError as error:
            # The server's limit is lower than the client's: send halves.
            if single or error.status != 413:
                raise
    middle = (start + stop) // 2
    yield from _parts(client, columns, options, start, middle)
    yield from _parts(client, columns, options, middle, stop)


def _check_answer(answer: Any, client: Client, count: int) -> Dict[str, Any]:
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
    types = (int, float, str, type(None))
    return isinstance(values, list) and len(values) == count and all(isinstance(value, types) for value in values)


def _is_fault(fault: Any, count: int) -> bool:
    if not isinstance(fault, dict) or type(fault.get("index")) is not int:
        return False
    return 0 <= fault["index"] < count and all(isinstance(fault.get(key), str) for key in ("code", "message"))


def _brief(answer: Any) -> str:
    try:
        return repr(answer)[:200]
    except RecursionError:
        return "deeply nested lists"


def _join(count: int, parts: Sequence[Tuple[int, Dict[str, Any]]]) -> Scores:
    columns: Dict[str, List[Any]] = {}
    faults: List[Fault] = []
    for start, answer in parts:
        for name, values in answer["scores"].items():
            columns.setdefault(name, []).extend(_as_float(value) for value in values)
        for fault in answer["faults"]:
            message = _renumber(fault["message"], start)
            faults.append(Fault(fault["index"] + start, fault["code"], message))
    return Scores(count, parts[0][1]["world_digest"], columns, faults)


def _as_float(value: Any) -> Any:
    """Converts integers of JSON to float; None and text stay."""
    return float(value) if isinstance(value, int) else value


_ROW_NUMBER = re.compile(r"\b(seeds|action_histories|completions|actions|beliefs|belief_histories|profile_modes)\[(\d+)\]")


def _renumber(message: str, start: int) -> str:
    """Replaces the row numbers of a part by those of the whole batch, in a message."""
    return _ROW_NUMBER.sub(lambda match: f"{match[1]}[{int(match[2]) + start}]", message)


# Rewards for TRL

#: A completion as TRL passes it: text, or the messages of a chat.
Completion = Union[str, Sequence[Mapping[str, Any]]]
RewardFunction = Callable[..., List[Optional[float]]]

_REWARDS = ("format_valid", "action_legal", "env_reward", "belief_accuracy", "belief_skill", "total")
_MAX_LISTED = 5


class RewardStack:
    """Reward functions for TRL's GRPO: `reward(prompts, completions, **dataset_columns)`.

    They use the columns `seed`, `action_history`, `profile_mode` and `step_index` that `rhythm-vec dataset grpo`
    writes, and `belief_history` (see `score`) if there is one, and ignore others. All six share one request per batch:
    the function that is called first sends it, and the others reuse its answer. An invalid row has the reward None, which TRL ignores, and a RowFaultWarning reports
    it.

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
        # The last batch and its scores, which the other functions reuse.
        self._last: Optional[Tuple[Dict[str, Any], Scores]] = None

    @property
    def functions(self) -> List[RewardFunction]:
        """The rewards of the stack, for `reward_funcs`. `belief_skill` is the fifth if the grader weighs it, as v3."""
        rewards = [self.format_valid, self.action_legal, self.env_reward, self.belief_accuracy]
        return [*rewards, self.belief_skill] if _weighs_skill(self._options["grader"]) else rewards

    def format_valid(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """Returns 1 if belief and action both parsed, else -2."""
        return self._rewards("format_valid", completions, columns)

    def action_legal(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """Returns 0.5 if the action is one of the ten, else -1."""
        return self._rewards("action_legal", completions, columns)

    def env_reward(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """Returns the step's reward plus the shaping terms; -3 if no action parsed."""
        return self._rewards("env_reward", completions, columns)

    def belief_accuracy(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """Returns 0.5 minus the belief's mean absolute error; -0.5 if no belief was given."""
        return self._rewards("belief_accuracy", completions, columns)

    def belief_skill(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """Returns the belief's own term of belief_skill, from -1 to 1 for the truth; -1 if no belief was given."""
        return self._rewards("belief_skill", completions, columns)

    def total(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """Returns the weighted sum of the other five."""
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
    """Returns the rewards of the stack for TRL's `reward_funcs`: `RewardStack(...).functions`."""
    return RewardStack(client, grader=grader, shaping=shaping).functions


def _weighs_skill(grader: Optional[Grader]) -> bool:
    if isinstance(grader, Mapping):
        return bool(grader.get("weights", {}).get("belief_skill", 0))
    return grader == "v3"


def _rows_of(completions: Sequence[Completion], columns: Mapping[str, Any]) -> Dict[str, Any]:
    missing = [name for name in ("seed", "action_history") if name not in columns]
    if missing:
        raise TypeError(
            "Expected the dataset to have columns seed and action_history, "
            f"got none named {' or '.join(missing)}. "
            "Generate its rows with `rhythm-vec dataset grpo`, and keep their columns."
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
    if columns.get("belief_history") is not None:
        rows["belief_histories"] = list(columns["belief_history"])
    return rows


def _check_steps(histories: Sequence[Sequence[Any]], steps: Optional[Sequence[int]]) -> None:
    for row, (history, step) in enumerate(zip(histories, steps or [])):
        if len(history) != step:
            raise ValueError(
                f"Expected action_history[{row}] to have step_index[{row}] = {step} actions, "
                f"got {len(history)}. Generate the dataset again."
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
    listed = "; ".join(f"row {fault.index}: {fault.message}" for fault in faults[:_MAX_LISTED])
    more = len(faults) - _MAX_LISTED
    rest = f"; and {more} more" if more > 0 else ""
    message = f"{len(faults)} of {scores.rows} rows have no rewards. {listed}{rest}"
    warnings.warn(message, RowFaultWarning, stacklevel=4)
