"""Computes advantages with TRL's trainers and a tiny language model, for test/python/advantages-trl.test.ts.

Reads a list of {"method", "groupSize", "rewards", "weights"}; prints {"version", "answers": [{"advantages",
"zeroStd"}]}.
"""

import json
import sys
import tempfile

from datasets import Dataset
from tokenizers import Tokenizer, models
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
import trl

if tuple(map(int, trl.__version__.split(".")[:2])) < (1, 13):
    sys.exit(f"trl {trl.__version__} is too old: it handles missing rewards differently. Install 1.13 or later.")

VOCABULARY = {"<pad>": 0, "<end>": 1, "a": 2, "b": 3}
MODEL = LlamaConfig(
    vocab_size=len(VOCABULARY),
    hidden_size=8,
    intermediate_size=8,
    num_hidden_layers=1,
    num_attention_heads=1,
    pad_token_id=0,
    eos_token_id=1,
    bos_token_id=1,
)
# The trainer, its configuration class and its options, by method.
TRAINERS = {
    "grpo": (trl.GRPOTrainer, trl.GRPOConfig, {"scale_rewards": "group"}),
    "dr-grpo": (trl.GRPOTrainer, trl.GRPOConfig, {"scale_rewards": "none"}),
    "batch-normalised": (trl.GRPOTrainer, trl.GRPOConfig, {"scale_rewards": "batch"}),
    "leave-one-out": (trl.RLOOTrainer, trl.RLOOConfig, {}),
}


def tokenizer():
    words = Tokenizer(models.WordLevel(VOCABULARY, unk_token="a"))
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<end>")


def reward_function(rewards, name):
    """Returns a reward function that returns fixed rewards."""

    def reward(completions, **_):
        return rewards

    reward.__name__ = name
    return reward


def trainer_of(case, folder):
    trainer_class, config_class, options = TRAINERS[case["method"]]
    count = len(case["rewards"][0])
    # TRL supports groups of one only in evaluation, so num_generations is at least 2.
    config = config_class(
        output_dir=folder,
        per_device_train_batch_size=count,
        per_device_eval_batch_size=count,
        num_generations=max(case["groupSize"], 2),
        num_generations_eval=case["groupSize"],
        max_completion_length=1,
        beta=0.0,
        reward_weights=case["weights"],
        use_cpu=True,
        report_to=[],
        **options,
    )
    return trainer_class(
        model=LlamaForCausalLM(MODEL),
        args=config,
        processing_class=tokenizer(),
        reward_funcs=[reward_function(rewards, f"r{k}") for k, rewards in enumerate(case["rewards"])],
        train_dataset=Dataset.from_list([{"prompt": "a"}] * count),
    )


def advantages(case, folder):
    trainer = trainer_of(case, folder)
    mode = "train" if case["groupSize"] > 1 else "eval"
    trainer.model.train(mode == "train")
    scored = trainer._generate_and_score_completions([{"prompt": "a"}] * len(case["rewards"][0]))
    (zero_std,) = trainer._metrics[mode]["frac_reward_zero_std"]
    return {"advantages": scored["advantages"].tolist(), "zeroStd": zero_std}


def main():
    cases = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        answers = [advantages(case, folder) for case in cases]
    json.dump({"version": trl.__version__, "answers": answers}, sys.stdout)


main()
