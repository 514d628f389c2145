"""Serves the models in a folder by `transformers serve`, under the names of their subfolders: an OpenAI-compatible endpoint.

    python python/recipe/model_server.py FOLDER [OPTIONS OF transformers serve]

Needs `pip install "transformers[serving]"`. Prints the URL when the server listens, and stops when its standard input ends,
which also happens when the process that started it is killed.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Iterator, Sequence, TextIO
from urllib.request import urlopen

#: Seconds until the server must listen: importing torch and transformers takes long on a busy machine. Chosen by hand.
START_S = 300.0


def main() -> None:
    """Runs the server in this process."""
    folder, *options = sys.argv[1:]
    os.chdir(folder)
    # uvicorn logs to the standard output, which is kept for the URL.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    threading.Thread(target=_stop_at_end_of_input, daemon=True).start()
    threading.Thread(target=_announce, args=(port, output), daemon=True).start()
    from transformers.cli.transformers import app

    app(["serve", "--host", "127.0.0.1", "--port", str(port), *options])


def _stop_at_end_of_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _announce(port: int, output: TextIO) -> None:
    while True:
        with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
            break
        time.sleep(0.1)
    print(f"http://127.0.0.1:{port}/v1", file=output, flush=True)


@contextmanager
def serve_models(folder: Path, options: Sequence[str] = ()) -> Iterator[str]:
    """Runs the server during a `with` block; the value of `as` is its URL. Its log is `server.log` in the folder.

    Raises RuntimeError if the server ends before it listens, or does not listen within START_S.
    """
    command = [sys.executable, __file__, str(folder.resolve()), *options]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdin is not None and process.stdout is not None
    timer = threading.Timer(START_S, process.kill)
    timer.start()
    try:
        url = process.stdout.readline().strip()
        timer.cancel()
        if not url:
            raise RuntimeError(
                f"Expected transformers serve to listen within {START_S:.0f} s, got none; {folder / 'server.log'} says "
                'why. Run: pip install "transformers[serving]"'
            )
        yield url
    finally:
        timer.cancel()
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
