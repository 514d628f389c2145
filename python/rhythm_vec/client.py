"""The HTTP client of a `rhythm-vec serve`. It needs only the standard library.

docs/server.md describes the server's answers.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import logging
import os
import random
import ssl
import time
import urllib.parse
from dataclasses import dataclass
from typing import Any, Callable, Optional

from .errors import RefusedError, ServerUnavailableError

DEFAULT_URL = "http://127.0.0.1:8000"
TOKEN_VARIABLE = "RHYTHM_TOKEN"
MIB = 2**20

_log = logging.getLogger("rhythm_vec")
# Retries must not change the draws of a training, so they do not use the global generator.
_random = random.SystemRandom()


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
REMEDIES = {
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
        remedy = REMEDIES.get(answer.status, "The detail says what to change.")
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
