"""Calls functions of the recipe that need TRL, for test/python/recipe.test.ts.

Reads {"folder"}; if it reads {}, it only tests whether the packages exist. Prints {"nf4": the configuration of 4-bit weights,
"configs": some of TRL's settings, "options": options of TRL that were passed, "conversations": their tokens, "refused" and
"refused_options": the errors}.
"""

import contextlib
import importlib.metadata
import json
import pathlib
import sys

RECIPE = pathlib.Path(__file__).parents[3] / "python" / "recipe"
sys.path[:0] = [str(RECIPE), str(RECIPE.parent)]

request = json.load(sys.stdin)
for package in ("trl", "peft"):
    importlib.metadata.version(package)
if not request:
    # Importing torch takes seconds.
    print("{}")
    sys.exit()

import arguments  # noqa: E402
import configs as trl_configs  # noqa: E402
import episodes  # noqa: E402
import models  # noqa: E402
import record  # noqa: E402
import rows  # noqa: E402
import stages  # noqa: E402
import train  # noqa: E402
from datasets import Dataset  # noqa: E402


def parse(*options):
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
    dataset = Dataset.from_list([row("5 5 5 SLEEP"), row("5")])
    (folder / "README.md").write_text('  world_digest: "another"\n')
    (folder / "train.jsonl").write_text('{"seed": 1}\n\n{"seed": \n')
    (folder / "empty.jsonl").write_text("\n")
    of_another_world = rows.Rows(folder / "train.jsonl", [], rows.read_origin(folder))
    # The settings of the default preset, "later", and the same with other options.
    _, later = parse()
    _, lower = parse("--grpo-beta", "0.01")
    _, logged = parse("--grpo-config", "report_to=trackio", "vllm_server_port=8001")
    _, other_loss = parse("--grpo-config", "loss_type=dr_grpo")
    record.begin(folder / "begun", later, False)
    run, whole = parse("--output", str(folder), "--lora-rank", "0")
    return {
        "nf4": refusal(lambda: models.nf4(cpu=True)),
        "nf4_whole": refusal(lambda: models.load_base(whole.model, "none", cpu=True)),
        "lengths": refusal(lambda: stages.check_lengths(dataset, models.tiny_tokenizer(), 7)),
        "long_enough": refusal(lambda: stages.check_lengths(dataset, models.tiny_tokenizer(), 8)),
        "world": refusal(lambda: rows.check_world(of_another_world, "this")),
        "line": refusal(lambda: rows.read_rows(folder / "train.jsonl")),
        "empty": refusal(lambda: rows.read_rows(folder / "empty.jsonl")),
        "begun": refusal(lambda: record.begin(folder / "begun", later, False)),
        "resumed": refusal(lambda: record.begin(folder / "begun", later, True)),
        "other": refusal(lambda: record.begin(folder / "begun", lower, True)),
        "logged": refusal(lambda: record.begin(folder / "begun", logged, True)),
        "other_loss": refusal(lambda: record.begin(folder / "begun", other_loss, True)),
        "start": refusal(lambda: train.start_of(run)),
    }


def configs(folder, *options):
    run, settings = parse("--output", str(folder), *options)
    first, second = trl_configs.sft_config(settings, run), trl_configs.grpo_config(settings, run)
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


def grpo_options(folder, *options):
    """Returns TRL's configuration of GRPO with further options."""
    run, settings = parse("--preset", "tiny", "--output", str(folder), "--grpo-config", *options)
    return trl_configs.grpo_config(settings, run)


def passed_options(folder):
    """Returns options as TRL gets them: those given by name or in a file, and the temperature, which is not given."""
    file = folder / "grpo.yaml"
    file.write_text("beta: 1e-3\nloss_type: dr_grpo\ngeneration_kwargs: {top_k: 5}\n")
    given = [str(file), "beta=0.5", "vllm_mode=server", "report_to=[trackio]", "max_completion_length=none"]
    config = grpo_options(folder, *given, "learning_rate=1e-5", "run_name=7")
    names = ("beta", "loss_type", "generation_kwargs", "vllm_mode", "report_to", "max_completion_length")
    return {name: getattr(config, name) for name in (*names, "learning_rate", "run_name", "temperature")}


def option_refusals(folder):
    (folder / "list.json").write_text("[1]")
    given = {
        "unknown": "lerning_rate=1",
        "no_idea": "wvvvq=1",
        "type": "beta=small",
        "decided": "output_dir=here",
        "missing": "none.yaml",
        "list": str(folder / "list.json"),
        "yaml": "beta=[",
        "trl": "num_generations=7",
    }
    return {name: refusal(lambda option=option: grpo_options(folder, option)) for name, option in given.items()}


class StandIn:
    """A trainer whose vLLM returns the given answers, each token with its number as log-probability."""

    use_vllm = True
    max_completion_length = 4

    def __init__(self, answers, limit):
        # This object is also its own vLLM, model and configuration.
        self.vllm_generation = self
        self.model = self
        self.config = self
        self.max_position_embeddings = limit
        self._answers = list(answers)

    def generate(self, prompts, images, num_generations):
        assert images is None and num_generations == 1
        answers = [self._answers.pop(0) for _ in prompts]
        return prompts, answers, [[[token] for token in answer] for answer in answers], None


def conversations():
    """Plays two turns of two conversations. The answers of the second conversation are cut off: they have no end token."""
    tokenizer = models.tiny_tokenizer()
    ids = tokenizer.convert_tokens_to_ids
    answers = [ids(["5", "5", "5", "SLEEP", "<end>"]), ids(["5", "5"]), ids(["LEARN", "<end>"]), ids(["7"])]
    trainer = StandIn(answers, 40)
    both = [episodes.Conversation(tokenizer) for _ in range(2)]
    for turn in range(2):
        chat = [{"role": "system", "content": "0"}, {"role": "user", "content": f"{turn} 1 2"}]
        for each in both:
            each.add_prompt(chat)
        for each, answer in zip(both, episodes.generate(trainer, both)):
            each.add_answer(answer)
    tiny_context = refusal(lambda: episodes.generate(StandIn([], 12), both))
    tokenizer.chat_template = "{{ messages[-1]['content'] }}"
    return {
        "text": [" ".join(tokenizer.convert_ids_to_tokens(each.ids)) for each in both],
        "mask": [each.mask for each in both],
        "logprobs_fit": [
            each.logprobs == [token * mask for token, mask in zip(each.completion, each.mask)] for each in both
        ],
        "cut_off": [each.cut_off for each in both],
        "last_answers": [each.last_answer for each in both],
        "context": tiny_context,
        "template": refusal(lambda: both[0].add_prompt(chat)),
    }


def main():
    # TRL prints its log.
    with contextlib.redirect_stdout(sys.stderr):
        folder = pathlib.Path(request["folder"])
        folder.mkdir(parents=True, exist_ok=True)
        nf4 = models.nf4_config().to_dict()
        answer = {
            "nf4": {name: value for name, value in nf4.items() if name.startswith(("load_in_4bit", "bnb_4bit"))},
            "configs": {name: configs(folder, "--preset", name) for name in ("later", "first")},
            "options": passed_options(folder),
            "conversations": conversations(),
            "refused_options": option_refusals(folder),
            "refused": refusals(folder),
        }
    json.dump(answer, sys.stdout)


main()
