"""What the recipe's watch makes of planted steps: the peer of test/python/recipe-watch.test.ts. Needs nothing but Python.

Reads {"limits", "past", "steps": [{"logged", "batch"}], "texts"}; prints {"warned", "stops", "lines", "summary",
"words", "actions": of the texts, "log": what is read of the lines once the last is torn, "names": of all
actions, "table": of the settings}.
"""

import json
import pathlib
import sys

RECIPE = pathlib.Path(__file__).parents[3] / "python" / "recipe"
sys.path.insert(0, str(RECIPE))

import answers  # noqa: E402
import settings  # noqa: E402
import watch  # noqa: E402


def main():
    asked = json.load(sys.stdin)
    limits = {name: tuple(value) if isinstance(value, list) else value for name, value in asked["limits"].items()}
    watching = watch.Watch(settings.Limits(**limits), asked["past"])
    warned, stops = [], []
    for index, step in enumerate(asked["steps"]):
        batch = watch.Batch(**step["batch"]) if step.get("batch") else None
        line = watch.line_of(len(asked["past"]) + index + 1, step.get("logged", {}), batch)
        warned += [vars(each) for each in watching.see(line)]
        stops.append(watching.stops())
    log = "".join(json.dumps(line) + "\n" for line in watching.lines)
    summary = watching.summary()
    answer = {
        "warned": warned,
        "stops": stops,
        "lines": watching.lines,
        "summary": summary,
        "words": watch.in_words(summary, len(watching.lines)),
        "actions": [answers.action_named(text) for text in asked["texts"]],
        "log": watch.read_lines(log[:-5], len(watching.lines)),
        "names": answers.ACTIONS,
        "table": settings.table(),
    }
    json.dump(answer, sys.stdout)


main()
