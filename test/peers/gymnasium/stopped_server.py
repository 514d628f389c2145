"""Stops and continues the process of a server while a RemoteVectorEnv waits, for test/python/remote-env.test.ts.

Reads {"url", "pid", "seed", "actions"}. Prints {"rewards": of a step during which the server was stopped for longer than
websockets' pings allow by default, "late": the errors of requests that the stopped server does not answer in time}. If it reads null, it
only tests whether the packages can be imported.
"""

import functools
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from rhythm_vec import RemoteVectorEnv, remote
from websockets.exceptions import ConnectionClosedError

LIMIT_S = 0.2
#: The size of a message that a socket does not buffer.
LARGE = 2**25


def step_while_stopped(url, pid, seed, actions):
    """Returns the rewards of a step. The server continues when a client has lost its connection that pings more rarely than
    websockets does by default, here every 50 ms."""
    connect = remote.connect
    remote.connect = functools.partial(connect, ping_interval=0.05, ping_timeout=0.05)
    envs = RemoteVectorEnv(len(actions), url=url, timeout_s=60)
    envs.reset(seed=seed)
    address = f"{url.replace('http', 'ws', 1)}/v1/vec"
    with connect(address, ping_interval=0.05, ping_timeout=0.5, close_timeout=0.1) as pinging, ThreadPoolExecutor() as pool:
        os.kill(pid, signal.SIGSTOP)
        try:
            stepped = pool.submit(envs.step, np.array(actions))
            try:
                pinging.recv()
            except ConnectionClosedError as error:
                assert "keepalive ping timeout" in str(error), error
        finally:
            os.kill(pid, signal.SIGCONT)
        rewards = stepped.result()[1]
    envs.close()
    return rewards


def late_errors(url, pid):
    """Yields the error of a small and of a large message to a stopped server."""
    envs = RemoteVectorEnv(1, url=url, timeout_s=LIMIT_S)
    socket = remote.VecSocket(url, None, LIMIT_S)
    os.kill(pid, signal.SIGSTOP)
    for call in (
        lambda: envs.reset(seed=1),
        lambda: socket.call("step", {}, {"actions": np.zeros(LARGE, np.uint8)}),
    ):
        try:
            call()
        except Exception as error:  # noqa: BLE001
            yield f"{type(error).__name__}: {error}"


def main():
    request = json.load(sys.stdin)
    if request is None:
        return json.dump(None, sys.stdout)
    url, pid = request["url"], request["pid"]
    rewards = step_while_stopped(url, pid, request["seed"], request["actions"])
    json.dump({"rewards": rewards.tolist(), "late": list(late_errors(url, pid))}, sys.stdout)


main()
