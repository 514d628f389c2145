"""Runs examples/trl with its tiny model: the peer of test/example-trl.test.ts.

Reads {"arguments"}; prints {"actions": those that the tiny model knows, "changed": the share of its weights that training
moved, "log": what TRL logged of each step}.
"""

import contextlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "examples" / "trl"))

import tiny  # noqa: E402
import train  # noqa: E402


def changed(trainer):
    before = tiny.tiny_model(trainer.args.seed).state_dict()
    after = trainer.model.state_dict()
    moved = sum(int((after[name] != weights).sum()) for name, weights in before.items())
    return moved / sum(weights.numel() for weights in before.values())


def main():
    asked = json.load(sys.stdin)
    # TRL prints what it logs.
    with contextlib.redirect_stdout(sys.stderr):
        trainer = train.main(asked["arguments"])
    log = trainer.state.log_history
    json.dump({"actions": tiny.ACTIONS, "changed": changed(trainer), "log": log}, sys.stdout)


main()
