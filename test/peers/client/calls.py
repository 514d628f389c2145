"""What python/rhythm_vec.py makes of calls: the peer of test/python-client.test.ts.

Reads {"client": options of Client and Backoff, "calls": [{"score": arguments} or {"rewards": {"of": options, "names",
"columns"}}]}; prints {"results", "waits", "warnings"}. A result is what the call returned, or {"error", "message"}. Waits
are not waited: they are what the client would have slept, and chance draws 0.
"""

import json
import sys
import warnings

import rhythm_vec


STACKS = {}


def result_of(call, client):
    if "score" in call:
        scores = rhythm_vec.score(**call["score"], client=client)
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
    json.dump({"results": results, "waits": waits, "warnings": said}, sys.stdout)


main()
