"""Starts servers with rhythm_vec.serve, for test/python/serving.test.ts.

Reads {"task": a function below, ...its arguments} from the standard input. Prints the function's result as JSON.
"""

import json
import logging
import os
import pathlib
import sys
import threading

import rhythm_vec
from rhythm_vec import serving
from rhythm_vec.serving import find_command

ROW = {"seeds": [4242], "action_histories": [["sleep"]], "completions": ["3 6 5 EXERCISE"], "scores": ["total"]}


def error_of(act):
    try:
        act()
    except Exception as error:  # noqa: BLE001
        return [type(error).__name__, str(error)]
    return None


def score_at(url, **options):
    return rhythm_vec.score(**ROW, client=rhythm_vec.Client(url, **options))["total"]


def has_children():
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def block(options):
    """Scores in two `with` blocks; the second raises an error. Returns addresses, scores, and what still runs after each."""
    urls, totals, left = [], [], []
    for error in (None, KeyError("of the block")):
        try:
            with rhythm_vec.serve(**options) as url:
                urls.append(url)
                totals.append(score_at(url, token=options.get("token")))
                if error is not None:
                    raise error
        except KeyError as raised:
            assert raised is error
        left.append([has_children(), error_of(lambda: score_at(url))[0], threading.active_count()])
    return {"urls": urls, "totals": totals, "left": left}


def refused(options, rows, clients):
    """Starts a server, and scores rows with each client. Returns for each the error, or None."""
    many = {name: values * rows for name, values in ROW.items() if name != "scores"}
    with rhythm_vec.serve(**options) as url:
        return [error_of(lambda: rhythm_vec.score(**many, client=rhythm_vec.Client(url, **each))) for each in clients]


def failures(cases):
    """Tries to start a server with each of the options. Returns each error, and whether a child process is left after it."""
    results = []
    for options in cases:
        def enter():
            with rhythm_vec.serve(**options):
                raise AssertionError("started")

        results.append([*error_of(enter), has_children()])
    return results


def stop_failing_servers():
    """Leaves the `with` blocks of a server that ignores SIGTERM and the end of its input, and of a server that has ended."""
    serving._STOP_S = 0.1
    ignoring = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    ready = "print('Listening on http://127.0.0.1:9', flush=True)"
    records = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())
    logging.getLogger("rhythm_vec").addHandler(handler)
    with rhythm_vec.serve([sys.executable, "-c", f"{ignoring}; {ready}; time.sleep(600)"]):
        pass
    with rhythm_vec.serve([sys.executable, "-c", f"{ready}; raise SystemExit(3)"]):
        # Waits until the server has ended. Its exit status stays, for the code under test to collect.
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    return {"left": has_children(), "logged": records}


def serve_until_input_ends():
    """Prints the address of a server, which runs until the standard input ends."""
    with rhythm_vec.serve() as url:
        print(url, flush=True)
        sys.stdin.read()


def found(root, cases):
    """Returns the command or error of find_command in each case. ROOT in "env", "package" and the result stands for `root`.

    A case has "env", and optionally "argument", "cwd" below root, and "package": the path of the module commands.py.
    """
    results = []
    package = rhythm_vec.serving.__file__
    for case in cases:
        os.environ.update({"RHYTHM_COMMAND": "", **{name: text.replace("ROOT", root) for name, text in case["env"].items()}})
        os.chdir(pathlib.Path(root, case.get("cwd", ".")))
        rhythm_vec.serving.__file__ = case.get("package", package).replace("ROOT", root)
        try:
            command = [part.replace(root, "ROOT") for part in find_command(case.get("argument"))]
        except rhythm_vec.RhythmError as error:
            command = str(error).replace(root, "ROOT")
        results.append(command)
    return results


def main():
    arguments = json.loads(sys.stdin.readline())
    json.dump(globals()[arguments.pop("task")](**arguments), sys.stdout)


main()
