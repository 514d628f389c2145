"""Runs the Python code of a dataset card, for test/python/dataset-card-script.test.ts.

Reads {"code", "answers"} from stdin: answer i is the completion of row i. Prints {"columns", "rewards"}: the names of the
columns, and the list of rewards of each reward function by its name.
"""

import json
import sys
import tempfile

import datasets


def run_card(request):
    names = {}
    exec(request["code"], names)
    rows = names["dataset"].select(range(len(request["answers"])))
    completions = [[{"role": "assistant", "content": answer}] for answer in request["answers"]]
    columns = {name: rows[name] for name in rows.column_names if name != "prompt"}
    rewards = {f.__name__: f(prompts=rows["prompt"], completions=completions, **columns) for f in names["rewards"]}
    return {"columns": rows.column_names, "rewards": rewards}


def main():
    request = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as cache:
        datasets.config.HF_DATASETS_CACHE = cache
        json.dump(run_card(request), sys.stdout)


main()
