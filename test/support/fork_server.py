"""Runs Python scripts in forks of a process that has imported their libraries, for test/support/fork-server.ts.

`fork_server.py serve SOCKET MODULE...` listens on a Unix socket. At the first request it imports the modules, except those
that fail. It ends when its standard input ends, and removes the socket's folder. `fork_server.py run SOCKET ARGUMENT...`
runs a script or `-m MODULE` like `python ARGUMENT...`, in a fork of the server with the environment, folder and streams
of the process `run`. If `run` ends first, the server kills the fork.
"""

import json
import os
import signal
import socket
import sys


def run(path, arguments):
    """Requests a fork, and ends with its exit status or signal."""
    import time

    connection = socket.socket(socket.AF_UNIX)
    deadline = time.monotonic() + 100  # chosen by hand: a loaded machine starts Python slowly
    while connection.connect_ex(path) != 0:  # the server may still be starting
        if time.monotonic() > deadline:
            sys.exit(f"Expected a server that listens on {path}, got none")
        time.sleep(0.01)
    job = json.dumps({"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}).encode()
    socket.send_fds(connection, [len(job).to_bytes(4, "big")], [0, 1, 2])
    connection.sendall(job)
    # From here only the fork has the streams.
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    status = int(connection.recv(16) or 1)
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)


def serve(path, modules):
    """Serves forks until the standard input ends, and returns None. In a fork, returns its job."""
    import contextlib
    import gc
    import importlib
    import selectors

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)

    def import_modules():
        for module in modules:
            with contextlib.suppress(Exception):  # the script will report it
                importlib.import_module(module)
        modules.clear()
        gc.freeze()  # collections in forks do not touch these objects, so that their memory stays shared

    children, ended = socket.socketpair()
    ended.setblocking(False)
    signal.set_wakeup_fd(ended.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    selector = selectors.DefaultSelector()
    for each in (sys.stdin, listener, children):
        selector.register(each, selectors.EVENT_READ)
    forks = {}  # the process of each connection

    def answer_ended():
        for connection, fork in list(forks.items()):
            process, status = os.waitpid(fork, os.WNOHANG)
            if process == 0:
                continue
            del forks[connection]
            selector.unregister(connection)
            with contextlib.suppress(OSError):
                connection.send(b"%d" % os.waitstatus_to_exitcode(status))
            connection.close()

    while True:
        ready = {key.fileobj for key, _ in selector.select()}
        if sys.stdin in ready:
            for fork in forks.values():
                os.kill(fork, signal.SIGKILL)
            return None
        # Kills the forks whose clients have ended.
        for connection in ready & forks.keys():
            os.kill(forks[connection], signal.SIGKILL)
            os.waitpid(forks.pop(connection), 0)
            selector.unregister(connection)
            connection.close()
        if children in ready:
            children.recv(64)
            answer_ended()
        if listener in ready:
            connection, _ = listener.accept()
            streams = []
            try:
                size, streams, _, _ = socket.recv_fds(connection, 4, 3)
                with connection.makefile("rb") as request:
                    job = json.loads(request.read(int.from_bytes(size, "big")))
            except (OSError, ValueError):  # the client has ended
                for stream in streams:
                    os.close(stream)
                connection.close()
                continue
            if modules:
                import_modules()
            fork = os.fork()
            if fork == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for each in (listener, children, ended, connection, *forks):
                    each.close()
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                    os.close(stream)
                return job
            for stream in streams:
                os.close(stream)
            forks[connection] = fork
            selector.register(connection, selectors.EVENT_READ)


def main():
    action, path, *arguments = sys.argv[1:]
    if action == "run":
        run(path, arguments)
    job = serve(path, arguments)
    if job is None:
        os.remove(path)
        os.rmdir(os.path.dirname(path))
        return
    import runpy

    # Gives each fork its own random state. (The hash seed of strings stays that of the server.)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    sys.argv = job["arguments"]
    if sys.argv[0] == "-m":
        sys.argv = sys.argv[1:]
        sys.path[0] = job["folder"]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(sys.argv[0])
        runpy.run_path(sys.argv[0], run_name="__main__")


main()
