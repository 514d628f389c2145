"""Chooses a server for each request, and sends it. A server that failed is left out for a while."""

from __future__ import annotations

import threading
import urllib.parse
from dataclasses import dataclass
from typing import Any, Callable, Collection, Optional, Sequence, Tuple

from urllib3 import BaseHTTPResponse, Timeout, connection_from_url

#: The maximum seconds until a server accepts a connection. Chosen by hand: a longer limit reports a missing server later.
_CONNECT_S = 10.0


@dataclass(eq=False)
class Server:
    """The state of a server.

    Attributes:
        in_flight: the number of requests without an answer yet.
        failures: the number of requests in a row without an answer, or with status 429, 502, 503 or 504.
        ready_at: the time, in seconds of the pool's clock, until which the server is left out after a failure.
        reached: whether the server has ever accepted a connection.
        turn: the number of the server's last request among the pool's requests, from 1; 0 before the first. Of servers with
            equally many requests in flight, the one with the lowest turn gets the next request.
    """

    url: str
    in_flight: int = 0
    failures: int = 0
    ready_at: float = 0.0
    reached: bool = False
    turn: int = 0


class ServerPool:
    """The servers of a client. Threads may share it; a pickled copy begins without history.

    Args:
        urls: the URLs, without final slashes.
        clock: returns the time in seconds.
    """

    def __init__(self, urls: Sequence[str], clock: Callable[[], float]) -> None:
        self.urls = tuple(urls)
        self._clock = clock
        self._servers = [Server(url) for url in urls]
        self._lock = threading.Lock()
        self._turn = 0

    def __reduce__(self) -> Tuple[Any, ...]:
        return ServerPool, (self.urls, self._clock)

    @property
    def reached(self) -> bool:
        """Whether any server has ever accepted a connection."""
        return any(server.reached for server in self._servers)

    def borrow(self, tried: Collection[Server]) -> Optional[Server]:
        """Returns the server for a request, which counts as in flight until `give_back`; None if no untried server is
        ready.

        Args:
            tried: servers at which the request has failed already. If it is empty and all servers are left out, the one
                that is ready first is returned.
        """
        with self._lock:
            untried = [server for server in self._servers if server not in tried]
            now = self._clock()
            ready = [server for server in untried if server.ready_at <= now]
            if not ready and not tried:
                earliest = min(server.ready_at for server in untried)
                ready = [server for server in untried if server.ready_at == earliest]
            if not ready:
                return None
            chosen = min(ready, key=lambda server: (server.in_flight, server.turn))
            self._turn += 1
            chosen.turn = self._turn
            chosen.in_flight += 1
            return chosen

    def give_back(self, server: Server) -> None:
        """Ends a request."""
        with self._lock:
            server.in_flight -= 1

    def succeeded(self, server: Server) -> None:
        """Records an answer that shows no temporary failure: the server is ready."""
        with self._lock:
            server.reached, server.failures, server.ready_at = True, 0, 0.0

    def failed(self, server: Server, reached: bool, wait_s: Callable[[int], float]) -> None:
        """Leaves a server out for some seconds, which depend on the number of its failures in a row."""
        with self._lock:
            server.reached = server.reached or reached
            server.failures += 1
            server.ready_at = self._clock() + wait_s(server.failures)


def send(url: str, body: bytes, token: Optional[str], timeout_s: float) -> BaseHTTPResponse:
    """Posts JSON on a connection of its own, without a proxy and retries. Returns the response, whose `data` was read. Raises
    HTTPError of urllib3; ConnectTimeoutError, NewConnectionError or SSLError if the server accepted no connection."""
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    with connection_from_url(url, timeout=Timeout(connect=min(timeout_s, _CONNECT_S), read=timeout_s)) as pool:
        return pool.urlopen("POST", urllib.parse.urlsplit(url).path, body, headers, retries=False)
