"""Makes sequences of calls on the Python package, and compares what they return with digests of the TypeScript API's results.

Reads {"sequences": [[{"name", "env", "args", "digest"}]]}; calls of `restore` have snapshots of the TypeScript API. Prints for
each sequence {"difference": {"at": the index of the first call whose digest differs, "columns": the columns after that
call}, "snapshots": []}. Without a difference, "difference" is null, and "snapshots" has a snapshot of each environment at the
end: null if the environment refuses one.
"""

import base64
import hashlib
import json
import sys
from dataclasses import fields

import numpy as np

from rhythm_vec import InputError, StateError, VecEnv, list_kernels

DTYPES = {"u8": "<u1", "i8": "<i1", "u32": "<u4", "f32": "<f4"}
KERNELS = [kernel.name for kernel in list_kernels() if kernel.supported]
RENAMED = {"numEnvs": "num_envs", "seedRange": "seed_range", "policySeeds": "policy_seeds"}


def decoded(name, value):
    """Decodes an argument, in the shape that the API of Python documents."""
    if isinstance(value, dict) and "bytes" in value:
        array = np.frombuffer(base64.b64decode(value["bytes"]), DTYPES[value["dtype"]])
        if name == "mask":
            return array.astype(bool)
        widths = {"profiles": 16, "graders": 8, "policy": 28, "meters": 5}
        # Eight weights are one grader for all environments.
        return array.reshape(-1, widths[name]) if name in widths and array.size != 8 else array
    if name == "observation":
        return {"one_hot" if key == "oneHot" else key: choice for key, choice in value.items()}
    return {key: decoded(key, entry) for key, entry in value.items()} if isinstance(value, dict) else value


class Sequence:
    """The environments of a sequence of calls, and the last result of each."""

    def __init__(self):
        self.envs, self.results = [], []

    def perform(self, name, env, args):
        """Makes a call. Returns the trajectory of a run, else None."""
        args = {RENAMED.get(key, key): decoded(key, value) for key, value in args.items()}
        if name == "create":
            return self.add(VecEnv(args.pop("num_envs"), kernel=KERNELS[len(self.envs) % len(KERNELS)], **args))
        target = self.envs[env]
        if name == "fork":
            return self.add(target.fork(args.pop("indices"), **args))
        if name == "snapshot":
            target.snapshot()
        elif name == "restore":
            self.results[env] = target.restore(args["snapshot"].tobytes())
        elif name == "close":
            target.close()
        else:
            return self.advance(name, env, target, args)
        return None

    def advance(self, name, env, target, args):
        """Makes a call that returns outputs: run, step, assign or reset. Returns the trajectory of a run, else None."""
        if "source" in args:
            args["source"] = self.envs[args["source"]]
        if name == "run":
            self.results[env], trajectory = target.run(args.pop("policy"), **args)
            return trajectory
        if name == "step":
            self.results[env] = target.step(args.pop("actions"), **args)
        elif name == "assign":
            self.results[env] = target.assign(args["source"], args["indices"])
        else:
            self.results[env] = target.reset(**args)
        return None

    def add(self, env):
        self.envs.append(env)
        self.results.append(None)

    def columns(self, env, trajectory):
        """Returns the bytes of the results, properties and states of an environment, by name."""
        target, result = self.envs[env], self.results[env]
        arrays = {field.name: getattr(result, field.name) for field in fields(result)} if result is not None else {}
        if trajectory is not None:
            arrays.update({f"trajectory_{name}": column for name, column in trajectory._asdict().items()})
        arrays.update(seeds=target.seeds, episode_numbers=target.episode_numbers)
        arrays["counters"] = np.array([target.counters["steps"], target.counters["episodes"]], np.uint32)
        found = {name: np.ascontiguousarray(array).tobytes() for name, array in arrays.items() if array is not None}
        for name, read in (("hash", target.state_hash), ("targets", target.belief_targets), ("snapshot", target.snapshot)):
            found[name] = bytes_of(read)
        return found


def bytes_of(read):
    """Returns the bytes that a method returns, or the code of its error."""
    try:
        value = read()
    except (InputError, StateError) as error:
        return error.code.encode()
    return value if isinstance(value, bytes) else value.tobytes()


def digest_of(columns):
    digest = hashlib.sha256()
    for name in sorted(columns):
        digest.update(name.encode())
        digest.update(columns[name])
    return digest.hexdigest()


def play(calls):
    """Makes the calls up to the first difference. Returns the difference, or None, and the snapshots, [] after a difference."""
    sequence = Sequence()
    for at, call in enumerate(calls):
        trajectory, refusal = None, ""
        try:
            trajectory = sequence.perform(call["name"], call["env"], call["args"])
        except (InputError, StateError) as error:
            refusal = f"{type(error).__name__} {error.code}"
        columns = sequence.columns(call["env"], trajectory)
        columns["refusal"] = refusal.encode()
        if digest_of(columns) != call["digest"]:
            return {"at": at, "columns": {name: base64.b64encode(data).decode() for name, data in columns.items()}}, []
    return None, [snapshot_of(env) for env in sequence.envs]


def snapshot_of(env):
    try:
        return base64.b64encode(env.snapshot()).decode()
    except StateError:
        return None


def main():
    answers = []
    for calls in json.load(sys.stdin)["sequences"]:
        difference, snapshots = play(calls)
        answers.append({"difference": difference, "snapshots": snapshots})
    json.dump(answers, sys.stdout)


main()
