"""Makes calls with python/rhythm_vec, for test/support/python-client.ts.

Reads {"client": options of Client and Backoff, "calls"}. A call is one of

- {"score": arguments, "here": whether to compute the scores in this process, not on the server}
- {"arrays": arguments of score}: lists become objects with `tolist`, and the text "NaN" in a list becomes a float NaN
- {"prompts": arguments}
- {"parse": completions, "thought": null or the argument of parse}
- {"advance": seconds}: advances the client's clock
- {"parallel": calls}: makes each call in its own thread
- {"rewards": {"of": options of RewardStack, "names": of reward functions, "columns": their arguments}}

Prints {"results", "waits", "warnings", "pickled"}. A result is the return value, or {"error", "message"}. The waits are
recorded instead of slept, without jitter. `pickled` has the names of the reward functions after pickling, for each of
GRADERS.
"""

import json
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import rhythm_vec


#: Reward stacks, by their options as JSON.
STACKS = {}

#: The seconds by which calls advanced the clock.
ADVANCED = []

OWN = {"name": "own", "weights": {"crash_free": 0.5, "belief_skill": 0.5}}
CALM = {"name": "calm", "weights": {"crash_free": 0.5, "efficiency": 0.5}}
#: The graders for which reward functions are pickled. None is the default.
GRADERS = [None, "v1", "v2", "v3", "next", OWN, CALM]
# A further built-in grader: the list of functions depends on its weights, not on its name.
rhythm_vec._world.GRADERS["next"] = {"belief_skill": 1}


class Array:
    """Has `tolist`, like a NumPy array."""

    def __init__(self, entries):
        self.entries = entries

    def tolist(self):
        return [float("nan") if entry == "NaN" else entry for entry in self.entries]


def arrays_of(columns):
    nested = {"action_histories", "beliefs", "belief_histories"}
    outer = {name: list(map(row_of, column)) if name in nested else column for name, column in columns.items()}
    return {name: Array(column) if isinstance(column, list) else column for name, column in outer.items()}


def row_of(entries):
    return None if entries is None else Array(entries)


def result_of(call, client):
    if "advance" in call:
        ADVANCED.append(call["advance"])
        return {}
    if "parallel" in call:
        with ThreadPoolExecutor(len(call["parallel"])) as threads:
            return {"results": list(threads.map(lambda each: result_or_error(each, client), call["parallel"]))}
    if "prompts" in call:
        return {"chats": rhythm_vec.prompts(**call["prompts"], client=client)}
    if "parse" in call:
        return {"parsed": vars(rhythm_vec.parse(call["parse"], thought=call.get("thought"), client=client))}
    if "rewards" not in call:
        arguments = call["score"] if "score" in call else arrays_of(call["arrays"])
        scores = rhythm_vec.score(**arguments, client=None if call.get("here") else client)
        faults = [vars(fault) for fault in scores.faults]
        result = {"rows": scores.rows, "digest": scores.world_digest, "scores": scores.columns, "faults": faults}
        return result if scores.parsed is None else {**result, "parsed": vars(scores.parsed)}
    rewards = call["rewards"]
    options = rewards.get("of", {})
    # Calls with the same options share a stack, as the batches of a training do.
    stack = STACKS.setdefault(json.dumps(options), rhythm_vec.RewardStack(client, **options))
    functions = {name: getattr(stack, name) for name in rewards["names"]}
    prompts = [None] * len(rewards["columns"]["completions"])
    return {name: functions[name](prompts=prompts, **rewards["columns"]) for name in rewards["names"]}


def result_or_error(call, client):
    try:
        return result_of(call, client)
    except (rhythm_vec.RhythmError, TypeError, ValueError) as error:
        return {"error": type(error).__name__, "message": str(error)}


def main():
    request = json.load(sys.stdin)
    waits = []
    options = request["client"]
    time = {"sleep": waits.append, "clock": lambda: sum(waits) + sum(ADVANCED)}
    backoff = rhythm_vec.Backoff(**options.pop("backoff", {}), **time, jitter=lambda: 0.0)
    client = rhythm_vec.Client(**options, backoff=backoff)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [result_or_error(call, client) for call in request["calls"]]
    texts = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    pickled = [names_of(pickle.loads(pickle.dumps(rhythm_vec.reward_funcs(grader=grader)))) for grader in GRADERS]
    json.dump({"results": results, "waits": waits, "warnings": texts, "pickled": pickled}, sys.stdout)


def names_of(functions):
    return [function.__name__ for function in functions]


main()
