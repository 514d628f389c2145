"""Plays episodes by tool calls in TRL's trainer, for test/python/recipe.test.ts. Answers are given instead of generated.

Reads {"folder", "grader", "seeds", "answers": [episode][turn]}. An answer consists of the words of the tiny model, whose tool
calls are like "3 6 5 SLEEP". Prints {"rewards": for each reward function its value of each episode, "actions" and
"results" of the episodes, "completions": the messages of each, "generated": the text of the tokens that are trained}.
"""

import json
import pathlib
import sys
from contextlib import redirect_stdout
from functools import partial

RECIPE = pathlib.Path(__file__).parents[3] / "python" / "recipe"
sys.path[:0] = [str(RECIPE), str(RECIPE.parent)]

import models  # noqa: E402
from rhythm_vec.trl import RhythmEnvironment, dataset, slots_played  # noqa: E402
from trl.trainer.grpo_config import GRPOConfig  # noqa: E402
from trl.trainer.grpo_trainer import GRPOTrainer  # noqa: E402

request = json.load(sys.stdin)
answers, grader = request["answers"], request["grader"]
tokenizer = models.tiny_tokenizer()
tokenizer.response_template = models.TOOL_CALLS
played = {}


class Trainer(GRPOTrainer):
    """Takes the next answer of each episode that still calls tools. TRL keeps the episodes in order."""

    left = [list(each) for each in answers]

    def _generate_single_turn(self, ids, *_, **__):
        playing = [each for each in self.left if each]
        assert len(playing) == len(ids)
        return [tokenizer.encode(each.pop(0)) for each in playing], None

    def _calculate_rewards(self, inputs, prompts, completions, *rest):
        rewards = super()._calculate_rewards(inputs, prompts, completions, *rest)
        names = self.reward_func_names
        played.update(rewards=dict(zip(names, rewards.T.tolist())), completions=completions)
        played.update(actions=[each.actions for each in self.environments], seeds=[each["seed"] for each in inputs])
        played.update(results=[each.result for each in self.environments])
        return rewards

    def _generate(self, prompts):
        generated = super()._generate(prompts)
        _, ids, mask = generated[:3]
        own = [[token for token, is_own in zip(*each) if is_own] for each in zip(ids, mask)]
        played["generated"] = [tokenizer.decode(each) for each in own]
        return generated


config = GRPOConfig(
    output_dir=request["folder"],
    use_cpu=True,
    max_steps=1,
    per_device_train_batch_size=len(answers),
    num_generations=2,
    max_completion_length=8192,
    max_tool_calling_iterations=28,
    shuffle_dataset=False,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(
    model=models.tiny_model(1),
    processing_class=tokenizer,
    args=config,
    train_dataset=dataset(request["seeds"], grader=grader),
    environment_factory=partial(RhythmEnvironment, grader=grader),
    reward_funcs=[slots_played],
)
with redirect_stdout(sys.stderr):  # transformers prints its log
    trainer.train()
print(json.dumps(played))
