"""What python/rhythm_vec_gym.py shows, call by call: the peer of test/python/gymnasium-client.test.ts.

Reads {"options": of RhythmVectorEnv, "calls"}, in which a call is {"reset": seed or seeds, "options": {...}} or
{"step": actions, "beliefs": [...] or null}; prints {"mode", "rows"}. Null asks for nothing.
"""

import json
import sys

import numpy as np
from rhythm_vec_gym import RhythmVectorEnv


def plain(value):
    """Infos as JSON: arrays as lists, also those within arrays of objects."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [None if each is None else each.tolist() for each in value]
    return value.tolist()


def make(envs, call):
    if "reset" in call:
        options = dict(call.get("options", {}))
        if "reset_mask" in options:
            options["reset_mask"] = np.array(options["reset_mask"])
        observations, infos = envs.reset(seed=call["reset"], options=options)
        return {"observations": observations.ravel().tolist(), "infos": plain(infos)}
    actions = np.array(call["step"])
    if call.get("beliefs") is not None:
        actions = {"action": actions, "belief": np.array(call["beliefs"], np.float32).reshape(-1, 3)}
    observations, rewards, terminated, truncated, infos = envs.step(actions)
    assert observations in envs.observation_space
    flags = {"terminated": terminated.tolist(), "truncated": truncated.tolist()}
    return {"observations": observations.ravel().tolist(), "rewards": rewards.tolist(), **flags, "infos": plain(infos)}


def main():
    asked = json.load(sys.stdin)
    if asked is None:
        return json.dump(None, sys.stdout)
    with_envs = RhythmVectorEnv(**asked["options"])
    rows = [make(with_envs, call) for call in asked["calls"]]
    mode = with_envs.metadata["autoreset_mode"].value
    with_envs.close()
    json.dump({"mode": mode, "rows": rows}, sys.stdout)


main()
