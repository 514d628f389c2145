"""A language model of a few thousand weights, for a look at the loop without a download or a GPU.

Its vocabulary is the words that an answer is made of, so that some of what it says by chance is one. It reads
every other word of a prompt as the same: what it can learn is how to answer, and which answers are good for
anybody.
"""

from __future__ import annotations

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

ACTIONS = (
    "DEEP_WORK",
    "ADMIN_WORK",
    "LEARN",
    "SLEEP",
    "EXERCISE",
    "MEDITATE",
    "FAMILY_TIME",
    "SOCIALIZE",
    "ME_TIME",
    "BINGE_WATCH",
)
WORDS = ("<pad>", "<end>", "<other>", *map(str, range(10)), *ACTIONS)
TEMPLATE = "{% for message in messages %}{{ message['content'] + '\n' }}{% endfor %}"


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """A token a word, with spaces between them."""
    vocabulary = {word: code for code, word in enumerate(WORDS)}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<other>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token="<pad>",
        eos_token="<end>",
        unk_token="<other>",
        chat_template=TEMPLATE,
    )


def tiny_model(seed: int = 0) -> LlamaForCausalLM:
    """Weights drawn from a seed."""
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        pad_token_id=WORDS.index("<pad>"),
        eos_token_id=WORDS.index("<end>"),
        bos_token_id=WORDS.index("<end>"),
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)
