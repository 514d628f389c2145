"""Loads the tokenizer and the model of a stage, and builds the model `tiny`, to try the recipe without a download or a GPU."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any, Dict, Optional, Tuple, Union

import tokenizers
import torch
from rhythm_vec import ACTION_NAMES
from settings import Model
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)
from trl import ModelConfig, get_peft_config, get_quantization_config

ADAPTER = "adapter_config.json"
# The model `tiny`.
PAD, END, OTHER = "<pad>", "<end>", "<other>"
WORDS = (PAD, END, OTHER, *map(str, range(10)), *(name.upper() for name in ACTION_NAMES))
TEMPLATE = (
    "{% for message in messages %}{{ message['content'] }}"
    "{% for call in message['tool_calls'] or [] %} {{ call['function'] }}{% endfor %}"
    "{% if message['role'] == 'assistant' %} <end>{% endif %}{{ '\n' }}{% endfor %}"
)
#: The response template with which transformers reads answers of the model `tiny`, such as "3 6 5 SLEEP", as tool calls.
_DIGITS = ("social", "morning", "work")
TOOL_CALLS = {
    "defaults": {"role": "assistant"},
    # Skips the whole prompt, which may have earlier calls: no token marks the start of an answer.
    "start_anchor_pattern": "(?s).+",
    "fields": {
        "tool_calls": {
            "open_pattern": " ".join(rf"(?P<{name}>\d)" for name in _DIGITS) + " (?P<action>[A-Z_]+)",
            "close_pattern": rf"\s*(?:{END})?",
            "repeats": True,
            "content": "text",
            "transform": {
                "type": "function",
                "function": {"name": "act", "arguments": {name: f"{{{name}}}" for name in ("action", *_DIGITS)}},
            },
        },
        "content": {"content": "text"},
    },
}

#: The type of TRL's option model_init_kwargs. TRL has already parsed text that begins with "{"; `_load` ignores other text.
Options = Union[Dict[str, Any], str, None]


def base_of(settings: Model, output: Path) -> str:
    """Returns the name or folder of the base model. Creates the model `tiny`."""
    return str(save_tiny(output.resolve() / "tiny", settings.seed)) if settings.model == "tiny" else settings.model


def nf4(cpu: bool) -> BitsAndBytesConfig:
    """Returns the configuration of 4-bit weights, as in QLoRA. Raises ValueError if `cpu`, or without a GPU or
    bitsandbytes."""
    missing = [
        name
        for name, available in (
            ("a CUDA GPU (and no --cpu)", torch.cuda.is_available() and not cpu),
            ("the package bitsandbytes", importlib.util.find_spec("bitsandbytes") is not None),
        )
        if not available
    ]
    if missing:
        raise ValueError(
            f"Expected {' and '.join(missing)} for --quantize nf4, got none. Use a machine with a GPU and leave out "
            "--cpu, run pip install bitsandbytes, or pass --quantize none, which needs more memory."
        )
    return nf4_config()


def nf4_config() -> BitsAndBytesConfig:
    """Returns TRL's configuration of 4-bit weights, with the precision of the GPU."""
    config = get_quantization_config(ModelConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", dtype=precision(False)))
    assert config is not None
    return config


def precision(cpu: bool) -> str:
    """Returns the precision of the computation and of weights that are not in 4 bits. A T4 has no bfloat16."""
    if cpu or not torch.cuda.is_available():
        return "float32"
    return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float16"


def tokenizer_of(base: str) -> PreTrainedTokenizerBase:
    """Loads the tokenizer of a base model or of a saved model's folder."""
    return AutoTokenizer.from_pretrained(base, padding_side="left")


def load_base(settings: Model, base: str, cpu: bool, more: Options = None) -> Tuple[Any, Optional[Any]]:
    """Loads a base model, with more options of `from_pretrained`. Returns the model and the configuration of a new
    adapter, None if all weights are trained."""
    model = _load(settings, base, cpu, more)
    return model, lora(settings) if settings.lora_rank > 0 else None


def load_trained(settings: Model, start: Path, cpu: bool, more: Options = None) -> Any:
    """Loads the result of an earlier stage from its folder: an adapter with its base model, or all weights."""
    if not (start / ADAPTER).exists():
        return _load(settings, str(start), cpu, more)
    from peft import PeftModel

    base = json.loads((start / ADAPTER).read_text())["base_model_name_or_path"]
    if settings.model not in (base, "tiny"):
        raise ValueError(
            f"Expected an adapter of {settings.model} (--model) in {start}, got an adapter of {base}. "
            f"Pass --model {base}."
        )
    model = _load(settings, base, cpu, more)
    return PeftModel.from_pretrained(model, str(start), is_trainable=True)


def lora(settings: Model) -> Any:
    """Configures an adapter. peft chooses the layers by the architecture of the model."""
    return get_peft_config(
        ModelConfig(
            use_peft=True,
            lora_r=settings.lora_rank,
            lora_alpha=settings.lora_alpha,
            lora_dropout=settings.lora_dropout,
        )
    )


def _load(settings: Model, name: str, cpu: bool, more: Options) -> Any:
    options: Dict[str, Any] = {"dtype": precision(cpu), **(more if isinstance(more, dict) else {})}
    if settings.quantize == "nf4":
        if settings.lora_rank == 0:
            raise ValueError(
                "Expected --lora-rank of at least 1 with --quantize nf4, got 0: weights in 4 bits cannot be trained. "
                "Pass --quantize none to train all weights."
            )
        options.update(quantization_config=nf4(cpu), device_map={"": torch.cuda.current_device()})
    return AutoModelForCausalLM.from_pretrained(name, **options)


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """Builds a tokenizer with a token for each word of answers. All other words of a prompt are one token."""
    vocabulary = {word: token for token, word in enumerate(WORDS)}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token=OTHER))
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token=PAD, eos_token=END, unk_token=OTHER, chat_template=TEMPLATE
    )


def tiny_model(seed: int) -> LlamaForCausalLM:
    """Builds a model of about 12,000 random weights. It can learn the form of answers, and actions that are good for every
    profile, but it cannot infer profiles, because all words but those of answers are one token."""
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
