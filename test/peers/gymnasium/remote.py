"""Makes the same random and invalid calls on RemoteVectorEnv and on RhythmVectorEnv, in this process, and compares the results.

Reads {"url", "token"}. Prints {"episodes": the number of ended episodes, "errors": {call: [class, message]} of the calls that only
a remote environment refuses}. Exits with an error if results differ. If it reads null, it only tests whether the packages work.
"""

import json
import sys

import numpy as np
from gymnasium.vector import AutoresetMode
from rhythm_vec import RemoteVectorEnv, make_vec

N = 5
STEPS = 28
OBSERVATION = {"fields": ["step", "meters", "anomalies"], "one_hot": True, "scale": True, "history": True}
# The first seeds, 100 to 104, are the last of the range: autoreset continues at its start.
OPTIONS = {"profiles": "discrete", "grader": "v3", "seed_range": (50, 55), "observation": OBSERVATION}


def bits(value):
    """Converts results to values that are equal only if the bits are equal."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {name: bits(each) for name, each in value.items()}
    return [bits(each) for each in value] if isinstance(value, (tuple, list, np.ndarray)) else value


def play(envs, beliefs, seed):
    """Yields the results of random steps and masked resets, and the masks of ended episodes."""
    random = np.random.default_rng(seed)
    envs.np_random = np.random.default_rng(1)  # draws the seeds that are None
    names = [{}, {"profiles": "introvert_morning"}, {"graders": "v3"}]
    ended = np.zeros(N, bool)
    yield envs.reset(seed=100), ended
    for call in range(120):
        must = ended if envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED else np.zeros(N, bool)
        if must.any() or random.random() < 0.05:
            mask = must | (random.random(N) < 0.3)
            seeds = [int(each) for each in random.integers(50, 100, N)]
            seed = [seeds, seeds[0], None, [None, *seeds[1:]]][call % 4]
            yield envs.reset(seed=seed, options={"reset_mask": mask, **names[call % 3]}), ended
            ended = ended & ~mask
        else:
            action, belief = random.integers(0, 10, N), random.random((N, 3), np.float32)
            result = envs.step({"action": action, "belief": belief} if beliefs else action)
            ended = result[2]
            yield result, ended


def compare(url, token, mode, beliefs, options):
    """Compares all results, and the spaces. Returns the number of ended episodes."""
    both = {"autoreset_mode": mode, "beliefs": beliefs, **options}
    remote, local = RemoteVectorEnv(N, url=url, token=token, **both), make_vec(N, **both)
    assert (remote.action_space, remote.observation_space) == (local.action_space, local.observation_space)
    episodes = 0
    for at, ((ours, ended), (theirs, _)) in enumerate(zip(play(remote, beliefs, 7), play(local, beliefs, 7))):
        assert bits(ours) == bits(theirs), f"{mode}, call {at}: got {ours}, expected {theirs}"
        episodes += int(ended.sum())
    remote.close()
    return episodes


def error_of(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        return [type(error).__name__, str(error)]
    return None


def code_of(call):
    """Returns the class and code of the call's error, or None."""
    try:
        call()
    except Exception as error:  # noqa: BLE001
        return type(error).__name__, getattr(error, "code", "")
    return None


def bad_calls(envs):
    """Yields the errors of calls that also RhythmVectorEnv refuses. No call steps an episode."""
    yield code_of(lambda: envs.step(np.array([3, 3])))
    envs.reset(seed=10)
    for actions in ([3, 10], [-1, 3], [3], [0.5, 1.0]):
        yield code_of(lambda actions=actions: envs.step(np.array(actions)))
    for seed in (14, [-1, 11], [11]):
        yield code_of(lambda seed=seed: envs.reset(seed=seed))
    for options in ({"mask": None}, {"reset_mask": np.array([1, 0])}):
        yield code_of(lambda options=options: envs.reset(options=options))
    for _ in range(STEPS):
        observations = envs.step(np.array([0, 0]))[0]
    yield code_of(lambda: envs.step(np.array([0, 0]))), observations.tobytes()
    envs.close()
    envs.close()
    yield code_of(lambda: envs.step(np.array([0, 0])))


def interrupted(url, token):
    """Returns an environment whose reset was interrupted while it waited for the answer."""

    def raise_interrupt(timeout):
        raise KeyboardInterrupt

    envs = RemoteVectorEnv(1, url=url, token=token)
    connection = envs._socket._connection
    connection.recv, recv = raise_interrupt, connection.recv
    try:
        envs.reset(seed=0)
    except KeyboardInterrupt:
        connection.recv = recv
    return envs


def remote_errors(url, token):
    def create(num_envs=1, **options):
        return RemoteVectorEnv(num_envs, **{"url": url, "token": token, **options})

    return {
        "an unknown profile": error_of(lambda: create().reset(options={"profiles": "nobody"})),
        "an unknown field": error_of(lambda: create(observation={"fields": ["mood"]})),
        "no environments": error_of(lambda: create(0)),
        "no server": error_of(lambda: create(url="http://127.0.0.1:9")),
        "another path": error_of(lambda: create(url=url + "/nowhere")),
        "an invalid URL": error_of(lambda: create(url="localhost:8000")),
        "a call after an interrupted one": error_of(lambda: interrupted(url, token).reset(seed=1)),
        "a message above the limit": error_of(lambda: create(9000).reset(seed=[7] * 9000)),
    }


def main():
    request = json.load(sys.stdin)
    if request is None:
        make_vec(1).close()
        return json.dump(None, sys.stdout)
    server = request["url"], request["token"]
    episodes = [compare(*server, mode, beliefs, {}) for mode in AutoresetMode for beliefs in (False, True)]
    episodes.append(compare(*server, AutoresetMode.SAME_STEP, True, OPTIONS))
    few = {"autoreset_mode": AutoresetMode.DISABLED, "seed_range": (10, 5)}
    remote, local = RemoteVectorEnv(2, url=server[0], token=server[1], **few), make_vec(2, **few)
    for ours, theirs in zip(bad_calls(remote), bad_calls(local)):
        assert ours is not None and ours == theirs, f"got {ours}, expected {theirs}"
    json.dump({"episodes": episodes, "errors": remote_errors(*server)}, sys.stdout)


main()
