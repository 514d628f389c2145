"""Makes calls with python/rhythm_vec.py, for test/python/client.test.ts.

Reads {"client": options of Client and Backoff, "calls"}. A call is {"score": arguments}, {"arrays": the same with columns
as objects with `tolist`, and NaN for the text "NaN"} or {"rewards": {"of": options, "names", "columns"}}. Prints
{"results", "waits", "warnings", "pickled"}. A result is the return value, or {"error", "message"}. The waits are recorded
instead of slept, without jitter. `pickled` has the names of the reward functions after pickling.
"""

import json
import pickle
import sys
import warnings

import rhythm_vec


STACKS = {}


class Array:
    """An array with `tolist`, as NumPy's."""

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
        arguments = call["score"] if "score" in call else arrays_of(call["arrays"])
        scores = rhythm_vec.score(**arguments, client=client)
        faults = [vars(fault) for fault in scores.faults]
        return {
            "rows": scores.rows,
            "digest": scores.world_digest,
            "scores": scores.columns,
            "faults": faults,
        }
    request = call["rewards"]
    options = request.get("of", {})
    # Calls with the same options share a stack, as the batches of a training do.
    stack = STACKS.setdefault(json.dumps(options), rhythm_vec.RewardStack(client, **options))
    functions = {function.__name__: function for function in [*stack.functions, stack.total]}
    prompts = [None] * len(request["columns"]["completions"])
    return {name: functions[name](prompts=prompts, **request["columns"]) for name in request["names"]}


def result_or_error(call, client):
    try:
        return result_of(call, client)
    except (rhythm_vec.RhythmError, TypeError, ValueError) as error:
        return {"error": type(error).__name__, "message": str(error)}


def main():
    question = json.load(sys.stdin)
    waits = []
    options = question["client"]
    backoff = rhythm_vec.Backoff(**options.pop("backoff", {}), sleep=waits.append, jitter=lambda: 0.0)
    client = rhythm_vec.Client(**options, backoff=backoff)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [result_or_error(call, client) for call in question["calls"]]
    texts = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    pickled = [f.__name__ for f in pickle.loads(pickle.dumps(rhythm_vec.reward_funcs()))]
    json.dump({"results": results, "waits": waits, "warnings": texts, "pickled": pickled}, sys.stdout)


main()
