"""Runs the Python of a dataset's card: the peer of test/python/dataset-card-script.test.ts.

Reads {"code", "answers"}, and gives the answers to the first rows. Prints {"columns": of the
rows, "rewards": by function}.
"""

import json
import os
import sys
import tempfile


def rewards_of(asked):
    names = {}
    exec(asked["code"], names)
    rows = names["dataset"].select(range(len(asked["answers"])))
    completions = [[{"role": "assistant", "content": answer}] for answer in asked["answers"]]
    columns = {name: rows[name] for name in rows.column_names if name != "prompt"}
    rewards = {f.__name__: f(prompts=rows["prompt"], completions=completions, **columns) for f in names["rewards"]}
    return {"columns": rows.column_names, "rewards": rewards}


def main():
    asked = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as cache:
        # Read when the library is first imported.
        os.environ["HF_HOME"] = cache
        json.dump(rewards_of(asked), sys.stdout)


main()
