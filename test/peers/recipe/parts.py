"""Parts of the recipe that need TRL: the peer of test/python/recipe.test.ts.

Reads {"folder"}, or {} to be told whether it could answer; prints {"nf4": what 4 bits are configured as, "configs":
some of TRL's settings as the recipe makes them, "refused": what each refusal says}.
"""

import contextlib
import importlib.metadata
import json
import pathlib
import sys

RECIPE = pathlib.Path(__file__).parents[3] / "python" / "recipe"
sys.path[:0] = [str(RECIPE), str(RECIPE.parent)]

asked = json.load(sys.stdin)
for package in ("trl", "peft"):
    importlib.metadata.version(package)
if not asked:
    # Loading torch takes long.
    print("{}")
    sys.exit()

import arguments  # noqa: E402
import environment  # noqa: E402
import grpo  # noqa: E402
import models  # noqa: E402
import record  # noqa: E402
import sft  # noqa: E402
import tiny  # noqa: E402
import train  # noqa: E402
from datasets import Dataset  # noqa: E402


def of(*options):
    return arguments.parse_arguments(["all", "--cpu", *options], "")


def refusal(call):
    try:
        call()
    except (FileNotFoundError, ValueError) as error:
        return str(error)
    return None


def row(answer):
    return {
        "prompt": [{"role": "user", "content": "1 2 3"}],
        "completion": [{"role": "assistant", "content": answer}],
    }


def refusals(folder):
    rows = Dataset.from_list([row("5 5 5 SLEEP"), row("5")])
    card = folder / "README.md"
    card.write_text('  world_digest: "another"\n')
    _, later = of()
    _, lower = of("--grpo-beta", "0.01")
    record.begin(folder / "begun", later, False)
    run, whole = of("--output", str(folder), "--lora-rank", "0")
    return {
        "nf4": refusal(lambda: models.nf4(True)),
        "nf4_whole": refusal(lambda: models.fresh(whole.model, "none", True)),
        "lengths": refusal(lambda: sft.check_lengths(rows, tiny.tiny_tokenizer(), 7)),
        "long_enough": refusal(lambda: sft.check_lengths(rows, tiny.tiny_tokenizer(), 8)),
        "world": refusal(lambda: environment.check_world(folder / "train.jsonl", "this")),
        "begun": refusal(lambda: record.begin(folder / "begun", later, False)),
        "resumed": refusal(lambda: record.begin(folder / "begun", later, True)),
        "other": refusal(lambda: record.begin(folder / "begun", lower, True)),
        "start": refusal(lambda: train.start_of(run)),
    }


def configs(folder, *options):
    run, settings = of("--output", str(folder), *options)
    first, second = sft.config_of(settings, run, folder), grpo.config_of(settings, run, folder)
    lora = models.lora(settings.model)
    return {
        "sft": {"max_length": first.max_length, "completion_only_loss": first.completion_only_loss},
        "grpo": {
            "generation_batch_size": second.generation_batch_size,
            "num_generations": second.num_generations,
            "max_completion_length": second.max_completion_length,
            "temperature": second.temperature,
            "beta": second.beta,
            "learning_rate": second.learning_rate,
            "max_steps": second.max_steps,
        },
        "lora": {"r": lora.r, "lora_alpha": lora.lora_alpha, "lora_dropout": lora.lora_dropout},
    }


def main():
    # TRL prints what it logs.
    with contextlib.redirect_stdout(sys.stderr):
        folder = pathlib.Path(asked["folder"])
        folder.mkdir(parents=True, exist_ok=True)
        nf4 = models.nf4_config().to_dict()
        answer = {
            "nf4": {name: value for name, value in nf4.items() if name.startswith(("load_in_4bit", "bnb_4bit"))},
            "configs": {name: configs(folder, "--preset", name) for name in ("later", "first")},
            "refused": refusals(folder),
        }
    json.dump(answer, sys.stdout)


main()
