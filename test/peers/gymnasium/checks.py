"""Runs Gymnasium's checks and wrappers on RemoteVectorEnv, and makes invalid calls.

Reads {"url"}; prints {"refusals": {call: [exception, message]}}. Exits with an error if a check fails.
"""

import json
import sys
import warnings

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers
from rhythm_vec import RemoteVectorEnv

STEPS = 28


class SingleEnv(gymnasium.Env):
    """Wraps a vector environment of size 1 as a single environment, which Gymnasium's checks need."""

    def __init__(self, url, beliefs):
        self.envs = RemoteVectorEnv(1, url=url, autoreset_mode=AutoresetMode.DISABLED, beliefs=beliefs)
        self.observation_space = self.envs.single_observation_space
        self.action_space = self.envs.single_action_space
        self.beliefs = beliefs

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        env_seed = int(self.np_random.integers(2**32)) if seed is None else seed
        observations, _ = self.envs.reset(seed=[env_seed], options=options)
        return observations[0], {}

    def step(self, action):
        batch = {name: np.array([part]) for name, part in action.items()} if self.beliefs else np.array([action])
        observations, rewards, terminated, truncated, _ = self.envs.step(batch)
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), {}

    def close(self):
        self.envs.close()


def check_single(url):
    for beliefs in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # These warnings are about environments that are not registered.
            warnings.filterwarnings("ignore", ".*(not from `gym.make|spec|render).*")
            check_env(SingleEnv(url, beliefs), skip_render_check=True)


def play(envs, seed, steps):
    """Yields all results: of a reset with a seed, of steps, of a reset with a drawn seed, and of one more step."""
    envs.action_space.seed(5)
    yield envs.reset(seed=seed)
    for _ in range(steps):
        yield envs.step(envs.action_space.sample())
    yield envs.reset()
    yield envs.step(envs.action_space.sample())


def check_repeats(url):
    """Checks that the same seeds and actions give the same results, in the same environment and in another."""
    options = {"url": url, "autoreset_mode": AutoresetMode.SAME_STEP, "beliefs": True, "seed_range": (100, 500)}
    envs, others = RemoteVectorEnv(7, **options), RemoteVectorEnv(7, **options)
    results = list(play(envs, 100, 60))
    for repeated in (play(envs, 100, 60), play(others, 100, 60)):
        for first, second in zip(results, repeated):
            # Episode numbers, which final_info has too, continue over all plays of an environment, so they differ.
            for infos in (first[-1], second[-1]):
                for name in ("episode_number", "final_info"):
                    infos.pop(name, None)
            assert data_equivalence(first[:-1], second[:-1], exact=True)
            assert sorted(first[-1]) == sorted(second[-1])
            for name in first[-1]:
                assert all(map(np.array_equal, first[-1][name], second[-1][name])), name


def check_wrappers(url):
    """Checks that Gymnasium's wrappers accept the environment, and compute the same lengths and returns as it."""
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        envs = RemoteVectorEnv(5, url=url, autoreset_mode=mode)
        # Observation wrappers support only NEXT_STEP.
        observed = wrappers.NormalizeObservation(envs) if mode is AutoresetMode.NEXT_STEP else envs
        wrapped = wrappers.DictInfoToList(wrappers.RecordEpisodeStatistics(observed))
        wrapped.reset(seed=3)
        ended = []
        for _ in range(2 * STEPS + 2):
            *_, infos = wrapped.step(wrapped.action_space.sample())
            ended += [info for info in infos if "episode" in info]
        assert len(ended) == 10, len(ended)
        # The wrapper takes the step after an end for a reset, so with SAME_STEP only its first episodes are right.
        for info in ended if mode is AutoresetMode.NEXT_STEP else ended[:5]:
            final = info if mode is AutoresetMode.NEXT_STEP else info["final_info"]
            assert info["episode"]["l"] == final["episode_length"] == STEPS
            assert abs(info["episode"]["r"] - final["episode_return"]) < 1e-5
        wrapped.close()
        assert envs.closed


def refusals(url):
    """Yields the name of each invalid call, and its error."""
    envs = RemoteVectorEnv(2, url=url, autoreset_mode=AutoresetMode.DISABLED, seed_range=(10, 5))
    first = envs.reset(seed=10)[0]
    closed = RemoteVectorEnv(1, url=url)
    closed.close()
    closed.close()
    interrupted = RemoteVectorEnv(1, url=url)
    interrupt(interrupted)
    calls = {
        "an action above 9": lambda: envs.step(np.array([3, 10])),
        "a negative action": lambda: envs.step(np.array([-1, 3])),
        "actions of another shape": lambda: envs.step(np.array([3])),
        "actions that are not integers": lambda: envs.step(np.array([0.5, 1.0])),
        "a seed out of range": lambda: envs.reset(seed=14),
        "a negative seed": lambda: envs.reset(seed=[-1, 11]),
        "too few seeds": lambda: envs.reset(seed=[11]),
        "an unknown option": lambda: envs.reset(options={"mask": None}),
        "a mask of numbers": lambda: envs.reset(options={"reset_mask": np.array([1, 0])}),
        "an unknown profile": lambda: envs.reset(options={"profiles": "nobody"}),
        "no environments": lambda: RemoteVectorEnv(0, url=url),
        "an unknown field": lambda: RemoteVectorEnv(1, url=url, observation={"fields": ["mood"]}),
        "a closed environment": lambda: closed.step(np.array([0])),
        "no server": lambda: RemoteVectorEnv(1, url="http://127.0.0.1:9"),
        "another path": lambda: RemoteVectorEnv(1, url=url + "/nowhere"),
        "an invalid URL": lambda: RemoteVectorEnv(1, url="localhost:8000"),
        "a call after an interrupted one": lambda: interrupted.reset(seed=1),
    }
    for name, call in calls.items():
        yield name, refusal(call)
    for _ in range(STEPS):
        envs.step(np.array([0, 0]))
    yield "a step after the end", refusal(lambda: envs.step(np.array([0, 0])))
    assert np.array_equal(envs.reset(seed=10)[0], first)


def interrupt(envs):
    """Interrupts a reset while it waits for its answer."""

    def raise_interrupt(timeout):
        raise KeyboardInterrupt

    connection = envs._socket._connection
    connection.recv, recv = raise_interrupt, connection.recv
    try:
        envs.reset(seed=0)
    except KeyboardInterrupt:
        connection.recv = recv


def refusal(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        return [type(error).__name__, str(error)]
    return None


def main():
    url = json.load(sys.stdin)["url"]
    check_single(url)
    check_repeats(url)
    check_wrappers(url)
    json.dump({"refusals": dict(refusals(url))}, sys.stdout)


main()
