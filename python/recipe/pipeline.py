"""Runs everything on the page of RhythmEnv's results, in one command: teacher, validation, rows, SFT, GRPO, evaluation by a
model server, figures and costs. See README.md.

    python python/recipe/pipeline.py --output pipeline                  # the tiny model, on a CPU
    python python/recipe/pipeline.py --preset qwen3b --output student   # Qwen2.5-3B-Instruct, on a GPU

The same command, repeated, skips finished stages and continues an interrupted one. Options that are not listed go to
train.py.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from model_server import serve_models  # noqa: E402
from rhythm_vec.serving import find_command  # noqa: E402
from rows import FIRST_SEED  # noqa: E402

#: Defaults by preset. `train`: options of train.py, `whole_episodes`: more of them with --form conversation, `answers`: options
#: of eval.
PRESETS: Dict[str, Dict[str, Any]] = {
    "tiny": {
        "train": ["--preset", "tiny", "--cpu", "--sft-epochs", "12"],
        "whole_episodes": ["--grpo-batch", "4", "--grpo-generations", "4", "--grpo-steps", "12"],
        "serve": ["--device", "cpu"],
        "answers": ["--max-tokens", "16", "--temperature", "0"],
        "episodes": 15,
        "rows": 500,
        "eval_episodes": 10,
        "curve_episodes": 5,
    },
    "qwen3b": {
        "train": ["--preset", "later"],
        "whole_episodes": ["--grpo-batch", "1", "--grpo-accumulation", "32"],
        "serve": ["--continuous-batching"],
        "answers": ["--max-tokens", "256", "--temperature", "0", "--concurrency", "16"],
        "episodes": 30,
        "rows": 3000,
        "eval_episodes": 100,
        "curve_episodes": 5,
    },
}
#: The schema of `pipeline.json`, which `rhythm-vec report` reads.
SCHEMA = {"name": "rhythm-vec/training", "version": 1}
#: All checkpoints are kept, for the curve of the belief error.
KEEP_ALL = ["--sft-config", "save_total_limit=null", "--grpo-config", "save_total_limit=null"]
CONDITIONS = "in-distribution,ood,discrete"
BASELINES = "random,heuristic,heuristic+constant,open-loop+constant"


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Runs the stages that are not finished. Exits with the code of a command that fails."""
    options, train = parse_arguments(arguments)
    # Exits on SIGTERM, so that the running command and the model server end too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        Pipeline(options, train).run()
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: {shlex.join(error.cmd)} ended with code {error.returncode}. Repeat the command to continue.")
    except (ValueError, RuntimeError) as error:
        sys.exit(f"error: {error}")


def parse_arguments(arguments: Optional[Sequence[str]]) -> Tuple[argparse.Namespace, List[str]]:
    """Returns the options, completed by the preset, and the options of train.py."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--preset", choices=list(PRESETS), default="tiny", help="sizes and model (default: tiny)")
    add("--output", type=Path, default=Path("pipeline-output"), help="folder of all outputs")
    add(
        "--teacher",
        default="planner-wellbeing",
        help="policy of the teacher, such as llm:MODEL (default: planner-wellbeing)",
    )
    add("--teacher-options", default="", help='further options of teach, such as "--budget 5 --prices 2.5,10"')
    add("--grader", choices=("v1", "v2", "v3"), default="v2", help="grader of all stages (default: v2)")
    add(
        "--form",
        choices=("single", "conversation"),
        default="single",
        help="conversation: GRPO and evaluation play an episode in one chat; SFT learns single steps (default: single)",
    )
    add("--episodes", type=int, help="episodes of the teacher, from seed 100 on")
    add("--rows", type=int, help="prompts for GRPO")
    add("--eval-episodes", type=int, help="episodes of each condition of the evaluation")
    add("--conditions", default=CONDITIONS, help=f"conditions of the evaluation (default: {CONDITIONS})")
    add("--curve-episodes", type=int, help="episodes of each checkpoint, for the curves of the belief error and score")
    add(
        "--model-url",
        help="an endpoint that serves base model, sft, grpo and checkpoints (default: starts transformers serve)",
    )
    add(
        "--hour-price",
        type=float,
        default=0.0,
        help="dollars per hour of this machine, for the table of costs (default: 0)",
    )
    add("--rhythm-vec", dest="command", type=shlex.split, help="the rhythm-vec command (default: as train.py)")
    options, train = parser.parse_known_args(arguments)
    for name, value in PRESETS[options.preset].items():
        if name not in options or getattr(options, name) is None:
            setattr(options, name, value)
    whole = ["--grpo-rollout", "episode", *options.whole_episodes] if options.form == "conversation" else []
    options.train = [*options.train, *whole, *KEEP_ALL, *train]
    return options, train


class Pipeline:
    """The stages, in order. `pipeline.json` in the output folder has their seconds, and the curves of the training."""

    def __init__(self, options: argparse.Namespace, train: Sequence[str]) -> None:
        self._options, self._started = options, ExitStack()
        self._output: Path = options.output
        self._command = [*find_command(options.command)]
        self._output.mkdir(parents=True, exist_ok=True)
        names = (
            "preset",
            "form",
            "teacher",
            "grader",
            "episodes",
            "rows",
            "eval_episodes",
            "curve_episodes",
            "conditions",
        )
        given = {**{name: getattr(options, name) for name in names}, "train": [*train]}
        self._state = _read(self._path("pipeline.json")) or {"schema": SCHEMA, "options": given, "stages": {}}
        if self._state["options"] != given:
            raise ValueError(
                f"Expected the options with which {self._output} was begun, {self._state['options']}, got {given}. "
                "Repeat them, or pass another --output."
            )

    def run(self) -> None:
        """Runs all stages that are not finished."""
        with self._started:
            self._run_stages()

    def _run_stages(self) -> None:
        self._stage("teach", self._teach)
        self._stage(
            "validate",
            lambda: self._rhythm(
                "reeval", "--jsonl", self._path("teacher.jsonl"), "--json", self._path("teacher.json")
            ),
        )
        self._stage("rows", self._make_rows)
        self._stage("sft", lambda: self._train("sft", "--sft-rows", self._path("sft-rows/train.jsonl")))
        self._stage("grpo", lambda: self._train("grpo", "--grpo-rows", self._path("grpo-rows/train.jsonl")))
        self._stage("curves", self._evaluate_checkpoints)
        self._stage("evaluate", self._evaluate)
        self._stage("report", self._report)

    def _teach(self) -> None:
        options, first = self._options, FIRST_SEED
        seeds = f"{first}-{first + options.episodes - 1}"
        more = shlex.split(options.teacher_options)
        self._rhythm(
            "teach",
            "--policy",
            options.teacher,
            "--seeds",
            seeds,
            *self._graded,
            "--output",
            self._path("teacher.jsonl"),
            *more,
        )

    def _make_rows(self) -> None:
        for folder in ("sft-rows", "grpo-rows"):
            self._path(folder).mkdir(exist_ok=True)
        self._rhythm(
            "dataset", "sft", "--jsonl", self._path("teacher.jsonl"), *self._graded, "--output", self._path("sft-rows")
        )
        rows = ["--rows", self._options.rows, *self._graded]
        self._rhythm("dataset", "grpo", *rows, "--output", self._path("grpo-rows/train.jsonl"))

    def _train(self, stage: str, *arguments: Any) -> None:
        grader = ["--grpo-grader", self._options.grader, "--rhythm-vec", shlex.join(self._command)]
        script = [sys.executable, HERE / "train.py", stage, "--output", self._output, "--resume"]
        _call([*script, *grader, *arguments, *self._options.train])

    def _evaluate_checkpoints(self) -> None:
        names = [f"llm:{name}" for _, _, name in self._checkpoints()]
        self._evaluate_models("curves", "in-distribution", self._options.curve_episodes, names)

    def _evaluate(self) -> None:
        teacher = [] if self._options.teacher.startswith("llm:") else [self._options.teacher]
        names = [*BASELINES.split(","), *teacher, "llm:sft", "llm:grpo"]
        self._evaluate_models("evaluation", self._options.conditions, self._options.eval_episodes, names)

    def _evaluate_models(self, name: str, conditions: str, episodes: int, policies: List[str]) -> None:
        """Runs `eval`, which keeps the episodes and continues an interrupted evaluation."""
        what = ["--conditions", conditions, "--episodes", episodes, "--policies", ",".join(policies), *self._graded]
        files = ["--trajectories", self._path(f"{name}.jsonl"), "--json", self._path(f"{name}.json")]
        self._rhythm(
            "eval", "--base-url", self._model_url(), "--form", self._options.form, *what, *files, *self._options.answers
        )

    def _model_url(self) -> str:
        """Returns the URL of the model server. Starts one at the first call, unless there is --model-url."""
        options = self._options
        if options.model_url is None:
            options.model_url = self._started.enter_context(serve_models(self._output, options.serve))
        return str(options.model_url)

    def _checkpoints(self) -> List[Tuple[str, int, str]]:
        """Returns stage, optimiser steps since the start of SFT, and name of the base model and of each checkpoint."""
        found, first = [("base", 0, _read(self._path("sft/run.json"))["base"])], 0
        for stage in ("sft", "grpo"):
            steps = sorted(int(path.name.rpartition("-")[2]) for path in self._path(stage).glob("checkpoint-*"))
            found += [(stage, first + step, f"{stage}/checkpoint-{step}") for step in steps]
            first += steps[-1] if steps else 0
        return found

    def _report(self) -> None:
        """Writes the curves and costs into `pipeline.json`, then the page of all results with its figures."""
        evaluation = _read(self._path("evaluation.json"))
        origin = {name: evaluation[name] for name in ("version", "world_digest")}
        self._state.update(origin, curves=self._curves(), costs=self._costs())
        _write(self._path("pipeline.json"), self._state)
        files = ("evaluation.json", "evaluation.jsonl", "teacher.json", "teacher.jsonl", "pipeline.json")
        self._rhythm("report", *map(self._path, files), "--output", self._path("report"))

    def _curves(self) -> List[Dict[str, Any]]:
        rows = {row["policy"]: row for row in _read(self._path("curves.json"))["rows"]}
        found = [(steps, rows[f"llm:{name}"]) for _, steps, name in self._checkpoints()]
        logs = {stage: _read(self._path(f"{stage}/run.json"))["log"] for stage in ("sft", "grpo")}
        score = [{"x": steps, "y": row["final_score"]["mean"]} for steps, row in found]
        return [
            _curve("SFT: loss", "steps", [(line["step"], line["loss"]) for line in logs["sft"]]),
            _curve("GRPO: reward", "steps", [(line["step"], line["reward"]) for line in logs["grpo"]]),
            _curve("Belief error of checkpoints", "steps", [(steps, row["belief_mae"]) for steps, row in found]),
            {**_curve("Final score of checkpoints", "steps", []), "points": score},
        ]

    def _costs(self) -> List[Dict[str, Any]]:
        """Returns seconds and dollars of each stage: the price of the machine, and of the teacher's answers."""
        lines = self._path("teacher.jsonl").read_text().splitlines()
        teacher = sum((json.loads(line).get("usage") or {}).get("cost_usd") or 0 for line in lines)
        price = self._options.hour_price / 3600
        return [
            {
                "stage": name,
                "seconds": stage["seconds"],
                "dollars": stage["seconds"] * price + (teacher if name == "teach" else 0),
            }
            for name, stage in self._state["stages"].items()
            if name != "report"
        ]

    @property
    def _graded(self) -> List[str]:
        return ["--grader", self._options.grader]

    def _path(self, name: str) -> Path:
        return self._output / name

    def _rhythm(self, *arguments: Any) -> None:
        _call([*self._command, *arguments])

    def _stage(self, name: str, work: Any) -> None:
        """Runs a stage unless it is finished, and records its seconds, those of interrupted attempts included."""
        record = self._state["stages"].setdefault(name, {"seconds": 0.0, "finished": False})
        if record["finished"]:
            print(f"{name} is finished.", file=sys.stderr)
            return
        print(f"\n== {name}", file=sys.stderr, flush=True)
        with self._timed(record):
            work()
        print(f"== {name}: {record['seconds']:.0f} s", file=sys.stderr, flush=True)

    @contextmanager
    def _timed(self, record: Dict[str, Any]) -> Iterator[None]:
        start = time.monotonic()
        try:
            yield
            record["finished"] = True
        finally:
            record["seconds"] = round(record["seconds"] + time.monotonic() - start, 1)
            _write(self._path("pipeline.json"), self._state)


def _curve(name: str, unit: str, points: Sequence[Tuple[float, float]]) -> Dict[str, Any]:
    return {"name": name, "unit": unit, "points": [{"x": x, "y": y} for x, y in points]}


def _call(command: Sequence[Any]) -> None:
    """Runs a command. OPENAI_API_KEY has a value, because local servers need none."""
    subprocess.run([str(word) for word in command], check=True, env={"OPENAI_API_KEY": "none", **os.environ})


def _read(path: Path) -> Any:
    """Returns the JSON of a file, None without the file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _write(path: Path, value: Any) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)


if __name__ == "__main__":
    main()
