"""Gymnasium's own checks and wrappers on python/rhythm_vec_gym.py, and what it refuses.

Reads {"url"}; prints {"refusals": {what: [exception, message]}}. A check that fails is an error.
"""

import json
import sys
import warnings

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers
from rhythm_vec_gym import RhythmVectorEnv

STEPS = 28


class OneSlot(gymnasium.Env):
    """One slot as a single environment, for the checks that Gymnasium has of these."""

    def __init__(self, url, beliefs):
        self.envs = RhythmVectorEnv(1, url=url, autoreset_mode=AutoresetMode.DISABLED, beliefs=beliefs)
        self.observation_space = self.envs.single_observation_space
        self.action_space = self.envs.single_action_space
        self.beliefs = beliefs

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**32)) if seed is None else seed
        observations, _ = self.envs.reset(seed=[drawn], options=options)
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
            # Of an environment that was made without a registration, which Gymnasium would want to see.
            warnings.filterwarnings("ignore", ".*(not from `gym.make|spec|render).*")
            check_env(OneSlot(url, beliefs), skip_render_check=True)


def played(envs, seed, steps):
    """Everything that is shown: after a seed, and after a reset that goes on drawing."""
    envs.action_space.seed(5)
    yield envs.reset(seed=seed)
    for _ in range(steps):
        yield envs.step(envs.action_space.sample())
    yield envs.reset()
    yield envs.step(envs.action_space.sample())


def check_repeats(url):
    """The same seeds and actions show the same, in one environment and in another."""
    options = {"url": url, "autoreset_mode": AutoresetMode.SAME_STEP, "beliefs": True, "seed_range": (100, 500)}
    envs, others = RhythmVectorEnv(7, **options), RhythmVectorEnv(7, **options)
    shown = list(played(envs, 100, 60))
    for again in (played(envs, 100, 60), played(others, 100, 60)):
        for first, second in zip(shown, again):
            # Numbers of episodes count on.
            for infos in (first[-1], second[-1]):
                for name in ("episode_number", "final_info"):
                    infos.pop(name, None)
            assert data_equivalence(first[:-1], second[:-1], exact=True)
            assert sorted(first[-1]) == sorted(second[-1])
            for name in first[-1]:
                assert all(map(np.array_equal, first[-1][name], second[-1][name])), name


def check_wrappers(url):
    """Gymnasium's wrappers take it for one of theirs, and count what it counts."""
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        envs = RhythmVectorEnv(5, url=url, autoreset_mode=mode)
        # Wrappers of observations refuse the other mode, whatever the environment.
        seen = wrappers.NormalizeObservation(envs) if mode is AutoresetMode.NEXT_STEP else envs
        wrapped = wrappers.DictInfoToList(wrappers.RecordEpisodeStatistics(seen))
        wrapped.reset(seed=3)
        ended = []
        for _ in range(2 * STEPS + 2):
            *_, infos = wrapped.step(wrapped.action_space.sample())
            ended += [info for info in infos if "episode" in info]
        assert len(ended) == 10, len(ended)
        # The wrapper takes the step after an end for a reset in every mode: with SAME_STEP it then counts wrong.
        for info in ended if mode is AutoresetMode.NEXT_STEP else ended[:5]:
            own = info if mode is AutoresetMode.NEXT_STEP else info["final_info"]
            assert info["episode"]["l"] == own["episode_length"] == STEPS
            assert abs(info["episode"]["r"] - own["episode_return"]) < 1e-5
        wrapped.close()
        assert envs.closed


def refusals(url):
    one = RhythmVectorEnv(2, url=url, autoreset_mode=AutoresetMode.DISABLED, seed_range=(10, 5))
    before = one.reset(seed=10)[0]
    closed = RhythmVectorEnv(1, url=url)
    closed.close()
    closed.close()
    calls = {
        "an action of no code": lambda: one.step(np.array([3, 10])),
        "an action below": lambda: one.step(np.array([-1, 3])),
        "actions of another shape": lambda: one.step(np.array([3])),
        "actions that are no integers": lambda: one.step(np.array([0.5, 1.0])),
        "a seed out of range": lambda: one.reset(seed=14),
        "a seed that is none": lambda: one.reset(seed=[-1, 11]),
        "too few seeds": lambda: one.reset(seed=[11]),
        "an unknown option": lambda: one.reset(options={"mask": None}),
        "a mask of numbers": lambda: one.reset(options={"reset_mask": np.array([1, 0])}),
        "an unknown person": lambda: one.reset(options={"profiles": "nobody"}),
        "no slots": lambda: RhythmVectorEnv(0, url=url),
        "an unknown field": lambda: RhythmVectorEnv(1, url=url, observation={"fields": ["mood"]}),
        "a closed environment": lambda: closed.step(np.array([0])),
        "another server": lambda: RhythmVectorEnv(1, url="http://127.0.0.1:9"),
        "another path": lambda: RhythmVectorEnv(1, url=url + "/nowhere"),
        "no url": lambda: RhythmVectorEnv(1, url="localhost:8000"),
    }
    for what, call in calls.items():
        yield what, refusal(call)
    for _ in range(STEPS):
        one.step(np.array([0, 0]))
    yield "a step after the end", refusal(lambda: one.step(np.array([0, 0])))
    assert np.array_equal(one.reset(seed=10)[0], before)


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
