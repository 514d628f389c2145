"""Makes calls on a RemoteVectorEnv, for test/python/gymnasium-client.test.ts.

Reads JSON: {"options": of RemoteVectorEnv, "calls"}. A call is {"reset": seed or seeds, "options": {...}} or
{"step": actions, "beliefs": [...] or null}. Prints {"mode": the autoreset mode, "rows": a result per call}. If it reads null, it
only tests whether the packages can be imported, and prints null.
"""

import json
import sys

import numpy as np
from rhythm_vec import RemoteVectorEnv


def to_json(value):
    """Converts infos to JSON: arrays to lists, also those in arrays of objects."""
    if isinstance(value, dict):
        return {name: to_json(each) for name, each in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [None if each is None else each.tolist() for each in value]
    return value.tolist()


def make(envs, call):
    if "reset" in call:
        options = dict(call.get("options", {}))
        if "reset_mask" in options:
            options["reset_mask"] = np.array(options["reset_mask"])
        observations, infos = envs.reset(seed=call["reset"], options=options)
        return {"observations": observations.ravel().tolist(), "infos": to_json(infos)}
    actions = np.array(call["step"])
    if call.get("beliefs") is not None:
        actions = {"action": actions, "belief": np.array(call["beliefs"], np.float32).reshape(-1, 3)}
    observations, rewards, terminated, truncated, infos = envs.step(actions)
    assert observations in envs.observation_space
    flags = {"terminated": terminated.tolist(), "truncated": truncated.tolist()}
    return {"observations": observations.ravel().tolist(), "rewards": rewards.tolist(), **flags, "infos": to_json(infos)}


def main():
    request = json.load(sys.stdin)
    if request is None:
        return json.dump(None, sys.stdout)
    envs = RemoteVectorEnv(**request["options"])
    rows = [make(envs, call) for call in request["calls"]]
    mode = envs.metadata["autoreset_mode"].value
    envs.close()
    json.dump({"mode": mode, "rows": rows}, sys.stdout)


main()
