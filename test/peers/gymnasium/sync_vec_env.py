"""Makes calls on Gymnasium's SyncVectorEnv, for test/python/gymnasium-autoreset.test.ts.

Reads {"numEnvs", "length", "sequences": [{"mode", "calls"}]}. Episodes have `length` steps. A call is
{"reset": seed, "mask": [...] or null} or {"step": [action, ...]}. Prints {"version", "sequences": [{"mode", "rows"}]}. A row is
the result of a call, or {"refused": the name of the exception}, which ends the sequence.
"""

import json
import sys

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv


class CountingEnv(gymnasium.Env):
    """Observes the number of steps and the last action (-1 before the first). The reward of each step is 1."""

    def __init__(self, length):
        self.length = length
        self.observation_space = spaces.Box(-1, np.inf, (2,), np.int64)
        self.action_space = spaces.Discrete(256)
        self.steps = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.array([0, -1]), {"seed": -1 if seed is None else seed}

    def step(self, action):
        self.steps += 1
        return np.array([self.steps, action]), 1.0, self.steps == self.length, False, {}


def final_observations(info, num_envs):
    """Returns the final observation of each environment, or None."""
    has_one = info.get("_final_obs", np.zeros(num_envs, bool))
    return [info["final_obs"][i].tolist() if has_one[i] else None for i in range(num_envs)]


def reset_seeds(info, num_envs):
    """Returns the seed that the call passed to each environment, or None."""
    has_one = info.get("_seed", np.zeros(num_envs, bool))
    return [int(info["seed"][i]) if has_one[i] and info["seed"][i] >= 0 else None for i in range(num_envs)]


def make(envs, call):
    """Makes a call and returns its row. The row of a reset has None for rewards, terminated and truncated."""
    n = envs.num_envs
    if "step" in call:
        observations, rewards, terminated, truncated, info = envs.step(np.array(call["step"]))
        flags = {"rewards": rewards.tolist(), "terminated": terminated.tolist(), "truncated": truncated.tolist()}
    else:
        options = {"options": {"reset_mask": np.array(call["mask"])}} if call["mask"] else {}
        observations, info = envs.reset(seed=call["reset"], **options)
        flags = {"rewards": None, "terminated": None, "truncated": None}
    final = {"finalObservations": final_observations(info, n), "seeds": reset_seeds(info, n)}
    return {"observations": observations.tolist(), **flags, **final}


def rows_of(envs, calls):
    for call in calls:
        try:
            yield make(envs, call)
        except AssertionError as error:
            yield {"refused": type(error).__name__}
            return


def run(sequence, num_envs, length):
    envs = SyncVectorEnv([lambda: CountingEnv(length)] * num_envs, autoreset_mode=AutoresetMode(sequence["mode"]))
    rows = list(rows_of(envs, sequence["calls"]))
    return {"mode": envs.metadata["autoreset_mode"].value, "rows": rows}


def main():
    request = json.load(sys.stdin)
    num_envs, length = request["numEnvs"], request["length"]
    sequences = [run(sequence, num_envs, length) for sequence in request["sequences"]]
    json.dump({"version": gymnasium.__version__, "sequences": sequences}, sys.stdout)


main()
