"""What python/rhythm_vec.py makes of calls: the peer of test/python/client.test.ts.

Reads {"client": options of Client and Backoff, "calls"}, in which a call is {"score": arguments}, {"arrays": the same, with
columns as what has `tolist`, and with NaN where the text "NaN" is} or {"rewards": {"of": options, "names", "columns"}};
prints {"results", "waits", "warnings", "pickled"}. A result is what the call returned, or {"error", "message"}. Waits are
not waited: they are what the client would have slept, and chance draws 0. Pickled are the reward functions that came
through.
"""

import json
import pickle
import sys
import warnings

import rhythm_vec


STACKS = {}


class Array:
    """As NumPy's are read."""

    def __init__(self, entries):
        self.entries = entries

    def tolist(self):
        return [float("nan") if entry == "NaN" else entry for entry in self.entries]


def arrays_of(columns):
    nested = {"action_histories", "beliefs"}
    rows = {name: list(map(Array, rows)) if name in nested else rows for name, rows in columns.items()}
    return {name: Array(entries) for name, entries in rows.items()}


def result_of(call, client):
    if "rewards" not in call:
        asked = call["score"] if "score" in call else arrays_of(call["arrays"])
        scores = rhythm_vec.score(**asked, client=client)
        faults = [vars(fault) for fault in scores.faults]
        return {
            "rows": scores.rows,
            "digest": scores.world_digest,
            "scores": scores.columns,
            "faults": faults,
        }
    asked = call["rewards"]
    of = asked.get("of", {})
    # One for all calls of its options, as one serves all batches of a training.
    stack = STACKS.setdefault(json.dumps(of), rhythm_vec.RewardStack(client, **of))
    functions = {function.__name__: function for function in [*stack.functions, stack.total]}
    prompts = [None] * len(asked["columns"]["completions"])
    return {name: functions[name](prompts=prompts, **asked["columns"]) for name in asked["names"]}


def tried(call, client):
    try:
        return result_of(call, client)
    except (rhythm_vec.RhythmError, TypeError, ValueError) as error:
        return {"error": type(error).__name__, "message": str(error)}


def main():
    asked = json.load(sys.stdin)
    waits = []
    options = asked["client"]
    backoff = rhythm_vec.Backoff(**options.pop("backoff", {}), sleep=waits.append, jitter=lambda: 0.0)
    client = rhythm_vec.Client(**options, backoff=backoff)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [tried(call, client) for call in asked["calls"]]
    said = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    pickled = [f.__name__ for f in pickle.loads(pickle.dumps(rhythm_vec.reward_funcs()))]
    json.dump({"results": results, "waits": waits, "warnings": said, "pickled": pickled}, sys.stdout)


main()
