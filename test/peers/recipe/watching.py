"""Passes steps to the recipe's `Watch`, for test/python/recipe-watch.test.ts. Needs no packages.

Reads a list of {"limits", "past": the log lines of earlier steps, "steps": [{"logged", "batch"}], "texts"}. Prints a list of {"warnings",
"stops": the reasons to stop after each step, "lines": the log's lines, "summary", "text": the summary's text, "actions":
the action named in each text, "log": the lines read from a log whose last line is incomplete,
"table": the settings' table, "missing": the error of train.py without TRL and torch, and whether it created the output folder}.
"""

import importlib.util
import json
import pathlib
import sys
import tempfile

RECIPE = pathlib.Path(__file__).parents[3] / "python" / "recipe"
sys.path.insert(0, str(RECIPE))

import settings  # noqa: E402
import train  # noqa: E402
import watch  # noqa: E402


def without_packages():
    train.find_spec = lambda name: None if name in ("torch", "trl") else importlib.util.find_spec(name)
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "tiny"
        try:
            train.main(["all", "--preset", "tiny", "--cpu", "--output", str(output)])
        except SystemExit as error:
            return [error.code, output.exists()]


def answer(request):
    limits = {name: tuple(value) if isinstance(value, list) else value for name, value in request["limits"].items()}
    watching = watch.Watch(settings.Limits(**limits), request["past"])
    warnings, stops = [], []
    for index, step in enumerate(request["steps"]):
        batch = watch.Batch(**step["batch"]) if step.get("batch") else None
        line = watch.line_of(len(request["past"]) + index + 1, step.get("logged", {}), batch)
        warnings += [vars(each) for each in watching.add(line)]
        stops.append(watching.stop_reasons())
    log = "".join(json.dumps(line) + "\n" for line in watching.lines)
    summary = watching.summary()
    return {
        "warnings": warnings,
        "stops": stops,
        "lines": watching.lines,
        "summary": summary,
        "text": watch.summary_text(summary, len(watching.lines)),
        "actions": [watch.action_named(text) for text in request["texts"]],
        "log": watch.read_lines(log[:-5], len(watching.lines)),
        "table": settings.table(),
        "missing": without_packages(),
    }


json.dump([answer(request) for request in json.load(sys.stdin)], sys.stdout)
