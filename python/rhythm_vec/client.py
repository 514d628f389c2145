"""The HTTP client of one or several `rhythm-vec serve` servers. It needs urllib3.

docs/server.md describes the server's answers.
"""

from __future__ import annotations

import json
import logging
import os
import random
import ssl
import time
import urllib.parse
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from urllib3 import BaseHTTPResponse, Retry
from urllib3.exceptions import ConnectTimeoutError, HTTPError, InvalidHeader, NewConnectionError, SSLError

from .errors import RefusedError, ServerUnavailableError
from .servers import Server, ServerPool, send

DEFAULT_URL = "http://127.0.0.1:8000"
TOKEN_VARIABLE = "RHYTHM_TOKEN"
MIB = 2**20

_log = logging.getLogger("rhythm_vec")
# Retries must not change the random numbers of a training, so they do not use Python's global generator.
_random = random.SystemRandom()


def checked_url(url: Any) -> str:
    """Returns a server's URL without final slashes. Raises ValueError for an invalid URL."""
    try:
        parts = urllib.parse.urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (AttributeError, TypeError, ValueError):
        valid = False
    if not valid:
        raise ValueError(f"Expected url to be like {DEFAULT_URL}, got {url!r:.200}. Pass the URL of the server.")
    return str(url).rstrip("/")


def token_of(token: Optional[str]) -> Optional[str]:
    """Returns the token, else the token of the environment variable; None if there is none. Raises ValueError for a token
    that is not ASCII text."""
    found = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
    if not isinstance(found, str):
        raise ValueError(f"Expected token to be text, got {type(found).__name__}. Pass the token of the server.")
    if not found.isascii():
        raise ValueError("Expected token to be ASCII, got other characters. Pass the token of the server.")
    return found.strip() or None


# The largest limits, 2^20 seconds here and 2^31 in Client, are chosen by hand.
def check_timeout(timeout_s: float) -> float:
    """Returns `timeout_s`, above 0 and at most 2^20 seconds. Raises ValueError for another value."""
    return _check_limit("timeout_s", timeout_s, 2**20)


def _check_limit(name: str, limit: float, largest: int) -> float:
    if isinstance(limit, (int, float)) and not isinstance(limit, bool) and 0 < limit <= largest:
        return limit
    raise ValueError(
        f"Expected {name} to be a number above 0, at most {largest}, got {limit!r:.60}. Pass a number in this range."
    )


def check_client(client: Any) -> Optional[Client]:
    """Returns a client or None. Raises ValueError for another value."""
    if client is None or isinstance(client, Client):
        return client
    raise ValueError(f"Expected client to be a Client, got {type(client).__name__}. Pass Client(url).")


def _jitter() -> float:  # a function, because Backoff is pickled
    return _random.random()


@dataclass(frozen=True)
class Backoff:
    """Retry policy. The wait doubles with each attempt. A random part of it, up to a half, is left out, so that trainers do
    not retry at the same time. The defaults are chosen by hand. They wait at most 15.5 seconds in total, unless the server
    demands more.

    Attributes:
        attempts: the maximum number of attempts, including the first. An attempt may try several servers.
        first_s: the longest wait before the second attempt, in seconds, unless the server demands a longer one.
        longest_s: the longest wait in seconds. If the server demands a longer one, the request fails.
        sleep: waits the given seconds.
        jitter: draws a number in [0, 1).
        clock: returns the time in seconds.
    """

    attempts: int = 6
    first_s: float = 0.5
    longest_s: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = _jitter
    clock: Callable[[], float] = time.monotonic

    def wait_s(self, attempts: int) -> float:
        """Returns the seconds to wait after this many attempts."""
        longest = min(self.first_s * 2.0 ** (attempts - 1), self.longest_s)
        return longest * (1 - self.jitter() / 2)


@dataclass(frozen=True)
class _Failure:
    """A failed request to one server. Another server may answer it."""

    url: str
    reason: str
    #: The seconds that the server demands before the next request.
    retry_s: float = 0.0
    #: Whether the server answered, with a transient status.
    answered: bool = False
    error: Optional[BaseException] = None
    #: Whether the server accepted the connection.
    reached: bool = True

    def is_permanent(self, any_reached: bool) -> bool:
        """Returns whether a retry is useless. `any_reached`: whether any server has ever accepted a connection."""
        return isinstance(self.error, ssl.SSLCertVerificationError) or not (self.reached or any_reached)


# Statuses of temporary failures. Other statuses are not retried.
_TRANSIENT = frozenset({429, 502, 503, 504})
#: What to do about an HTTP status.
REMEDIES = {
    401: f"Pass token=, or set {TOKEN_VARIABLE}, to the server's token.",
    404: "Check that it is a rhythm-vec server of this release.",
    413: "Send less, or raise --body-limit of the server if it is below 8 MiB.",
    500: "See the server's standard error.",
}


class Client:
    """A client of one or several servers. Threads may share it. Each request has its own connection, without a proxy.

    With several servers each request goes to the one with the fewest requests of this client in flight. Large batches
    are sent in parts to all servers at the same time. After a failed connection or a status of 429, 502, 503 or 504 a
    server is left out for a while, and another one gets the request. If all servers fail, the request is retried; but
    if no server has ever accepted a connection, it fails at once. The defaults of the limits are chosen by hand.

    Args:
        url: the server's URL, as in its first line of output, or the URLs of several servers of the same release.
        token: the token of all servers; by default that of the variable RHYTHM_TOKEN.
        timeout_s: seconds without a byte after which a server counts as failed; at most 10 until it accepts the connection.
        backoff: retry policy, and the time for which a failed server is left out.
        body_limit: the maximum number of bytes of a request, by default 8 MiB, as the server accepts. Larger batches are
            sent in parts.
        row_limit: the maximum number of rows of a request, by default 2^17, as the server accepts. Larger batches are
            sent in parts.

    Raises:
        ValueError: an argument is invalid.
    """

    def __init__(
        self,
        url: Union[str, Sequence[str]] = DEFAULT_URL,
        *,
        token: Optional[str] = None,
        timeout_s: float = 120.0,
        backoff: Backoff = Backoff(),
        body_limit: int = 8 * MIB,
        row_limit: int = 2**17,
    ) -> None:
        check_timeout(timeout_s)
        _check_limit("body_limit", body_limit, 2**31)
        _check_limit("row_limit", row_limit, 2**31)
        if not isinstance(backoff, Backoff):
            raise ValueError(f"Expected backoff to be a Backoff, got {type(backoff).__name__}. Pass Backoff(...).")
        urls = list(url) if isinstance(url, (list, tuple)) else [url]
        if not urls:
            raise ValueError("Expected url to name at least one server, got none. Pass a URL, or a list of URLs.")
        self.urls = tuple(dict.fromkeys(map(checked_url, urls)))
        self.token = token_of(token)
        self.timeout_s = timeout_s
        self.backoff = backoff
        self.body_limit = body_limit
        self.row_limit = row_limit
        self._pool = ServerPool(self.urls, backoff.clock)

    @property
    def url(self) -> str:
        """The URL of the first server."""
        return self.urls[0]

    def post(self, path: str, body: bytes) -> Any:
        """Posts JSON with retries, and returns the parsed answer.

        Raises:
            RefusedError: the server refused the request.
            ServerUnavailableError: the last attempt failed at every server that it tried.
        """
        return self.exchange(path, body)[1]

    def exchange(self, path: str, body: bytes) -> Tuple[str, Any]:
        """Posts JSON as `post` does. Returns the URL of the server that answered, and the parsed answer."""
        attempt = 0
        latest: Dict[str, _Failure] = {}
        while True:
            attempt += 1
            outcome = self._attempt(path, body)
            if not isinstance(outcome, list):
                return outcome
            latest.update((failure.url, failure) for failure in outcome)
            wait_s = max(self.backoff.wait_s(attempt), min(failure.retry_s for failure in outcome))
            reached = self._pool.reached
            permanent = all(failure.is_permanent(reached) for failure in outcome)
            if permanent or attempt >= self.backoff.attempts or wait_s > self.backoff.longest_s:
                raise _unavailable(path, list(latest.values()), attempt) from outcome[-1].error
            _log.warning("POST %s: %s; retrying in %.1f s", path, _reasons(outcome), wait_s)
            self.backoff.sleep(wait_s)

    def _attempt(self, path: str, body: bytes) -> Union[Tuple[str, Any], List[_Failure]]:
        """Tries servers until one succeeds or refuses. Returns the parsed answer with the server's URL, or all failures."""
        tried: List[Server] = []
        failures: List[_Failure] = []
        while True:
            server = self._pool.borrow(tried)
            if server is None:
                return failures
            try:
                outcome = self._try(server, path, body)
            finally:
                self._pool.give_back(server)
            if not isinstance(outcome, _Failure):
                return server.url, _read(server.url + path, outcome)
            tried.append(server)
            failures.append(outcome)

    def _try(self, server: Server, path: str, body: bytes) -> Union[BaseHTTPResponse, _Failure]:
        """Sends the request once, to one server."""
        url = server.url
        try:
            answer = send(url + path, body, self.token, self.timeout_s)
        except (HTTPError, OSError) as error:
            # The system's error, if urllib3 names it.
            cause = next((each for each in (error.__cause__, *error.args) if isinstance(each, Exception)), error)
            reached = not isinstance(error, (ConnectTimeoutError, NewConnectionError, SSLError))
            failure = _Failure(url, f"{type(cause).__name__}: {cause}", error=cause, reached=reached)
        else:
            if answer.status not in _TRANSIENT:
                self._pool.succeeded(server)
                return answer
            failure = _failure_of(url, answer)
        wait_s = self.backoff.wait_s
        self._pool.failed(server, failure.reached, lambda failures: max(wait_s(failures), failure.retry_s))
        return failure


def _failure_of(url: str, answer: BaseHTTPResponse) -> _Failure:
    """Returns the failure of a transient status. An invalid Retry-After header demands no wait."""
    after = answer.headers.get("Retry-After")
    try:
        retry_s = Retry().get_retry_after(answer) or 0.0
    except InvalidHeader:
        retry_s = 0.0
    demanded = "" if after is None else f", Retry-After: {after}"
    return _Failure(url, f"{answer.status} {_detail_text(_detail_of(answer))}{demanded}", retry_s, answered=True)


def _read(url: str, answer: BaseHTTPResponse) -> Any:
    """Returns the JSON of an answer. Raises RefusedError for another status than 200, and for text that is not JSON."""
    if answer.status == 200:
        try:
            return json.loads(answer.data)
        except (ValueError, RecursionError):
            pass
    detail = _detail_of(answer)
    got = "invalid JSON" if answer.status == 200 else f"{answer.status} {answer.reason}"
    remedy = REMEDIES.get(answer.status, "The detail says what to change.")
    message = f"Expected 200 and JSON from POST {url}, got {got}: {_detail_text(detail)} {remedy}"
    raise RefusedError(message, answer.status, detail)


def _detail_of(answer: BaseHTTPResponse) -> Any:
    """Returns the `detail` of an error's JSON, else the first 2,000 bytes as text. 2,000 is chosen by hand."""
    text = answer.data[:2000].decode("utf-8", "replace")
    try:
        parsed = json.loads(answer.data)
    except (ValueError, RecursionError):
        return text
    detail = parsed.get("detail") if isinstance(parsed, dict) else None
    return text if detail is None else detail


def _detail_text(detail: Any) -> str:
    """Returns a detail as text. Joins the errors of a list with semicolons."""
    if isinstance(detail, list):
        return "; ".join(map(field_error, detail))
    return str(detail)


def field_error(error: Any) -> str:
    """Returns an error of a server as text: the field and the message, or the whole error if it has no message."""
    if not isinstance(error, dict) or "msg" not in error:
        return str(error)
    location = ".".join(map(str, error.get("loc") or ()))
    return f"{location}: {error['msg']}" if location else str(error["msg"])


def _unavailable(path: str, failures: Sequence[_Failure], attempts: int) -> ServerUnavailableError:
    tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    urls = [failure.url for failure in failures]
    if any(failure.answered for failure in failures):
        return ServerUnavailableError(
            f"Expected 200 from POST {' or '.join(url + path for url in urls)}, got {_reasons(failures)} ({tries}). "
            "Try again later, raise --batch-requests of the server, or allow more attempts with backoff=."
        )
    return ServerUnavailableError(
        f"Expected a rhythm-vec server at {' or '.join(urls)}, got {_reasons(failures)} ({tries}). "
        "Start one with `npx rhythm-vec serve` or rhythm_vec.serve(), or pass the url= of a running one."
    )


def _reasons(failures: Sequence[_Failure]) -> str:
    """Returns the reason of each failure as text."""
    if len(failures) == 1:
        return failures[0].reason
    return "; ".join(f"{failure.reason} from {failure.url}" for failure in failures)
