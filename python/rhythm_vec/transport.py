"""Sends one HTTP request to one server, without retries."""

from __future__ import annotations

import email.utils
import http.client
import json
import time
import urllib.parse
from dataclasses import dataclass
from typing import Any, Optional

#: The maximum seconds until a server accepts a connection. Chosen by hand: a longer limit reports a missing server later.
_CONNECT_S = 10.0


@dataclass(frozen=True)
class Answer:
    """An HTTP response."""

    status: int
    reason: str
    retry_after: Optional[str]
    body: bytes


class UnreachableError(Exception):
    """No connection was made. The cause is the system's error."""


def send(method: str, url: str, body: bytes, token: Optional[str], timeout_s: float) -> Answer:
    """Sends JSON on a connection of its own, without a proxy, and returns the response.

    Raises UnreachableError if no connection was made, and OSError or HTTPException if the request failed later.
    """
    parts = urllib.parse.urlsplit(url)
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    host = parts.netloc.rpartition("@")[2]  # without user name and password
    connection = connect(host, timeout=min(timeout_s, _CONNECT_S))
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    try:
        try:
            connection.connect()
        except OSError as error:
            raise UnreachableError from error
        connection.sock.settimeout(timeout_s)
        try:
            connection.request(method, parts.path, body, headers)
        except (BrokenPipeError, ConnectionResetError):
            # A server that refuses a body may answer and close before it has read the whole body.
            if connection.sock is None:
                raise
        response = connection.getresponse()
        text = response.read()
        return Answer(response.status, response.reason, response.getheader("Retry-After"), text)
    finally:
        connection.close()


def seconds_of(retry_after: Optional[str]) -> float:
    """Returns the seconds to wait by a Retry-After header (seconds or a date); 0 for any other value."""
    if retry_after is None:
        return 0.0
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        date = email.utils.parsedate_to_datetime(retry_after)
    except (TypeError, ValueError):
        return 0.0
    return max(0.0, date.timestamp() - time.time())


def detail_of(answer: Answer) -> Any:
    """Returns the `detail` of an error's JSON, else the first 2,000 bytes as text. 2,000 is chosen by hand."""
    text = answer.body[:2000].decode("utf-8", "replace")
    try:
        parsed = json.loads(answer.body)
    except (ValueError, RecursionError):
        return text
    detail = parsed.get("detail") if isinstance(parsed, dict) else None
    return text if detail is None else detail


def detail_text(detail: Any) -> str:
    """Returns a detail as text. Joins the errors of a list with semicolons."""
    if not isinstance(detail, list):
        return str(detail)
    return "; ".join(map(_error_text, detail))


def _error_text(error: Any) -> str:
    """Returns an error of a list as text: the field and the message, or the whole error if it has no message."""
    if not isinstance(error, dict) or "msg" not in error:
        return str(error)
    field = error.get("loc")
    return f"{'.'.join(map(str, field))}: {error['msg']}" if isinstance(field, list) else str(error["msg"])
