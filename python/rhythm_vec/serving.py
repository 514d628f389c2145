"""Finds the `rhythm-vec` command, without npx where possible. Starts and stops a `rhythm-vec serve` process on this machine.

    import rhythm_vec

    with rhythm_vec.serve() as url:
        scores = rhythm_vec.score(..., client=rhythm_vec.Client(url))

`rhythm-vec serve --help` describes the options of the server.
"""

from __future__ import annotations

import logging
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Deque, Dict, Iterator, List, Optional, Sequence, Union

from .client import TOKEN_VARIABLE
from .errors import ServerUnavailableError

#: The environment variable with the command.
COMMAND_VARIABLE = "RHYTHM_COMMAND"
_NAME = "rhythm-vec"
_LISTENING = "Listening on "
#: Seconds to wait for the process to end after each attempt to stop it.
_STOP_S = 3.0
#: The maximum number of lines of standard error in the message of a failed start.
_KEPT_LINES = 40

_log = logging.getLogger("rhythm_vec")


@contextmanager
def serve(
    command: Union[str, Sequence[str], None] = None,
    *,
    port: int = 0,
    token: Optional[str] = None,
    threads: Optional[int] = None,
    backend: Optional[str] = None,
    kernel: Optional[str] = None,
    body_limit: Optional[float] = None,
    frame_limit: Optional[float] = None,
    capacity: Optional[int] = None,
    vec_envs: Optional[int] = None,
    batch_requests: Optional[int] = None,
    ping: Optional[float] = None,
    idle: Optional[float] = None,
    start_s: float = 60.0,
) -> Iterator[str]:
    """Runs a server on 127.0.0.1 during a `with` block. The value of `as` is its URL.

    The server stops at the end of the block, also after an exception. If this process is killed, the server stops too.
    The server's standard error is copied to the standard error of this process.

    Args:
        command: the `rhythm-vec` command, a text or a list of arguments; by default the one that `find_command` finds.
        port: the port; a free one by default.
        token: the token that clients must send; by default that of the variable RHYTHM_TOKEN, else none.
        threads, backend, kernel, body_limit, frame_limit, capacity, vec_envs, batch_requests, ping, idle: options of
            the server, in its units (limits in MiB, times in seconds).
        start_s: the maximum seconds until the server listens.

    Raises:
        ServerUnavailableError: no command was found, or the server did not start; then the message has the
            last lines of its standard error.
    """
    options: Dict[str, Any] = {
        "port": port,
        "threads": threads,
        "backend": backend,
        "kernel": kernel,
        "body-limit": body_limit,
        "frame-limit": frame_limit,
        "capacity": capacity,
        "vec-envs": vec_envs,
        "batch-requests": batch_requests,
        "ping": ping,
        "idle": idle,
    }
    arguments = [f"--{name}={value}" for name, value in options.items() if value is not None]
    environment = None if token is None else {**os.environ, TOKEN_VARIABLE: token}
    server = _Server([*find_command(command), "serve", "--stop-on-eof", *arguments], environment)
    try:
        yield server.url(start_s)
    finally:
        server.stop()


class _Server:
    """A server process. It stops when its standard input ends, which also happens when this process ends."""

    def __init__(self, command: List[str], environment: Optional[Dict[str, str]]) -> None:
        self._command = command
        self._errors: Deque[str] = deque(maxlen=_KEPT_LINES)
        self._lines: queue.Queue[Optional[str]] = queue.Queue()
        self._lock = threading.Lock()
        self._started = False
        try:
            # In a session of its own, because Ctrl-C in a terminal must not stop it before the block has ended.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise self._failure(f"{type(error).__name__}: {error}") from error
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read_output, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def url(self, start_s: float) -> str:
        """Waits until the server listens. Returns its URL."""
        try:
            line = self._lines.get(timeout=start_s)
        except queue.Empty:
            raise self._failure(f"no address within {start_s:g} s") from None
        if line is None:
            # The process has closed its output, so it ends soon.
            self._end()
            raise self._failure(f"exit status {self._process.returncode}")
        with self._lock:
            self._started = True
            print(*self._errors, sep="", end="", file=sys.stderr)
        return line[len(_LISTENING) :].strip()

    def stop(self) -> None:
        """Stops the server and waits until it has ended."""
        status = self._process.poll()
        if self._started and status is not None:
            _log.warning("The server ended before its block, with exit status %s. See its standard error.", status)
        self._end()

    def _end(self) -> None:
        # Closing the input may not suffice: a forked child of this process may keep it open, or the command may ignore that
        # the input has ended.
        for name in (None, "SIGTERM", "SIGKILL"):
            if name is not None:
                self._signal(name)
            else:
                with suppress(OSError):
                    self._process.stdin.close()  # type: ignore[union-attr]
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_S)
                break
        for reader in self._readers:
            reader.join(_STOP_S)

    def _signal(self, name: str) -> None:
        """Sends a signal to the process and its children, such as those of npx. On Windows, kills the process alone."""
        if sys.platform == "win32":
            self._process.kill()
        else:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, getattr(signal, name))

    def _read_output(self) -> None:
        with self._process.stdout as output:  # type: ignore[union-attr]
            for line in output:
                if line.startswith(_LISTENING):
                    self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        with self._process.stderr as errors:  # type: ignore[union-attr]
            for line in errors:
                with self._lock:
                    self._errors.append(line)
                    if self._started:
                        print(line, end="", file=sys.stderr)

    def _failure(self, got: str) -> ServerUnavailableError:
        errors = "".join(self._errors).strip()
        said = f" Its standard error:\n{errors}" if errors else ""
        build = build_remedy()
        return ServerUnavailableError(
            f"Expected `{' '.join(self._command)}` to start a server, got {got}. "
            f"Correct the options, {f'{build}, ' if build else ''}or pass command= with another rhythm-vec.{said}"
        )


def find_command(command: Union[str, Sequence[str], None] = None) -> List[str]:
    """Returns the command that runs `rhythm-vec`, as a list of arguments.

    It is the first of these: the argument; the variable RHYTHM_COMMAND; `rhythm-vec` on PATH; `rhythm-vec` in
    `node_modules/.bin` of the working directory or of one of its parents; the command of the checkout or npm package
    that contains this file; and `npx rhythm-vec`.

    Args:
        command: a command line, which is split as a shell does, or a list of arguments.

    Raises:
        ServerUnavailableError: no command was found. The message lists what was tried.
    """
    given = os.environ.get(COMMAND_VARIABLE) if command is None else command
    if isinstance(given, str):
        given = shlex.split(given, posix=os.name != "nt")
    if given:
        return list(given)
    found = shutil.which(_NAME) or _in_node_modules()
    if found is not None:
        return [found]
    node, script = shutil.which("node"), _own_script()
    if node is not None and script is not None:
        return [node, str(script)]
    npx = shutil.which("npx")
    if npx is not None:
        return [npx, _NAME]
    raise ServerUnavailableError(
        f"Expected a {_NAME} command, got none: tried command=, the variable {COMMAND_VARIABLE}, {_NAME} on PATH, "
        f"node_modules/.bin of {Path.cwd()} and of its parents, node with "
        f"{script or 'the script of a checkout around this package'}, and npx. "
        f"Install Node (20.19 or a later 20.x, or 22.12 or later), and "
        f"{build_remedy() or f'run `npm install {_NAME}`'}, or set {COMMAND_VARIABLE}."
    )


def build_remedy() -> Optional[str]:
    """Returns how to build the checkout that contains this file; None if there is none, or if it is built."""
    root = Path(__file__).resolve().parents[2]
    is_unbuilt = (root / "package.json").is_file() and _own_script() is None
    return f"run `npm ci` in {root}" if is_unbuilt else None


def _in_node_modules() -> Optional[str]:
    here = Path.cwd()
    for folder in (here, *here.parents):
        found = shutil.which(_NAME, path=str(folder / "node_modules" / ".bin"))
        if found is not None:
            return found
    return None


def _own_script() -> Optional[Path]:
    """Returns the script of the checkout or npm package whose folder python/ contains this file."""
    script = Path(__file__).resolve().parents[2] / "lib" / "cli.js"
    return script if script.is_file() else None
