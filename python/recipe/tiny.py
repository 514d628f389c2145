"""A language model of about 12,000 weights, to try the recipe without a download or a GPU.

Its vocabulary is the words of answers. All other words of a prompt become the same token. So the model can learn the
form of answers, and actions that are good for every profile, but it cannot infer profiles.
"""

from __future__ import annotations

from pathlib import Path

import torch
from answers import ACTIONS
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

PAD, END, OTHER = "<pad>", "<end>", "<other>"
WORDS = (PAD, END, OTHER, *map(str, range(10)), *ACTIONS)
TEMPLATE = (
    "{% for message in messages %}{{ message['content'] }}"
    "{% if message['role'] == 'assistant' %} <end>{% endif %}{{ '\n' }}{% endfor %}"
)


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """Builds a tokenizer with one token per word."""
    vocabulary = {word: token for token, word in enumerate(WORDS)}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token=OTHER))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token=PAD, eos_token=END, unk_token=OTHER, chat_template=TEMPLATE
    )


def tiny_model(seed: int) -> LlamaForCausalLM:
    """Builds a model with random weights."""
    # The sizes are chosen by hand. Conversations of whole episodes must fit max_position_embeddings.
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=16384,
        pad_token_id=WORDS.index(PAD),
        eos_token_id=WORDS.index(END),
        bos_token_id=WORDS.index(END),
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)


def save_tiny(folder: Path, seed: int) -> Path:
    """Saves model and tokenizer for transformers, unless they exist; returns the folder."""
    if not (folder / "config.json").exists():
        tiny_tokenizer().save_pretrained(folder)
        tiny_model(seed).save_pretrained(folder)
    return folder
