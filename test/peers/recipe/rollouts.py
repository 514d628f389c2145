"""Plays several episodes at once with the recipe's rollout function, for test/python/recipe.test.ts. Answers are given instead
of generated.

Reads {"url", "folder", "grader", "seeds", "answers": [episode][step], "templates", "rules"}. Answers consist of the words of the tiny model.
Prints {"lines": the lines of episodes.jsonl, "rewards": the rewards of the episodes, by function, "generated": for each
episode, the text of the tokens whose `env_mask` is 1, which are the answers, "thoughts": `thought_of` for each end of a chat
template in "templates" and each beginning in "rules", "opened": the lines of the same episodes if a thought is open}.
"""

import json
import pathlib
import sys
from types import SimpleNamespace

RECIPE = pathlib.Path(__file__).parents[3] / "python" / "recipe"
sys.path[:0] = [str(RECIPE), str(RECIPE.parent)]

import models  # noqa: E402
from episodes import LOG, EpisodeRollouts, episode_prompts  # noqa: E402
from rhythm_vec import Client, thought_of  # noqa: E402
from rows import Rows  # noqa: E402

request = json.load(sys.stdin)
folder = pathlib.Path(request["folder"])
tokenizer = models.tiny_tokenizer()


class Trainer:
    """The part of TRL's trainer that rollouts use."""

    processing_class = tokenizer
    use_vllm = False
    max_completion_length = 8
    model = SimpleNamespace(config=SimpleNamespace())
    state = SimpleNamespace(global_step=0)

    def __init__(self):
        self._turns = map(list, zip(*request["answers"]))

    def _generate_single_turn(self, ids, images, fields):
        answers = [tokenizer.encode(answer) for answer in next(self._turns)]
        assert len(answers) == len(ids)
        return answers, None


# The rows are not read from a file: Rows needs a path, but nothing opens it.
rows = Rows(folder / "none", [{"seed": seed, "profile_mode": "discrete"} for seed in request["seeds"]], {})
client = Client(request["url"])


def play(name, thought):
    (folder / name).mkdir(parents=True)
    played = EpisodeRollouts(client, request["grader"], folder / name, lambda *_: None, thought)
    return played, played(episode_prompts(rows), Trainer())


def lines(name):
    return [json.loads(line) for line in (folder / name / LOG).read_text().splitlines()]


def thought_in(template):
    tokenizer.chat_template = template
    return thought_of(tokenizer, client=client)


rollouts, columns = play("closed", "closed")
play("open", "open")
pairs = zip(columns["completion_ids"], columns["env_mask"])
print(
    json.dumps(
        {
            "lines": lines("closed"),
            "opened": lines("open"),
            "rewards": {
                each.__name__: each(prompts=[], completions=[], episode=columns["episode"]) for each in rollouts.rewards
            },
            "generated": [
                tokenizer.decode([token for token, own in zip(ids, mask) if own == 1]) for ids, mask in pairs
            ],
            "thoughts": [
                *(thought_in(models.TEMPLATE + end) for end in request["templates"]),
                *(thought_in(rule + models.TEMPLATE) for rule in request["rules"]),
            ],
        }
    )
)
