"""Which model a stage begins with: a base, in 4 bits or as it is, with a fresh adapter, a trained one, or none."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any, Dict, Optional, Tuple

import torch
from settings import Model
from tiny import save_tiny
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, PreTrainedTokenizerBase
from trl import ModelConfig, get_peft_config, get_quantization_config

ADAPTER = "adapter_config.json"


def base_of(settings: Model, output: Path) -> str:
    """The name or folder of the model that everything begins with."""
    return str(save_tiny(output.resolve() / "tiny", settings.seed)) if settings.model == "tiny" else settings.model


def nf4(cpu: bool) -> BitsAndBytesConfig:
    """4-bit weights, as QLoRA has them. Raises ValueError where they cannot be computed with."""
    missing = [
        name
        for name, there in (
            ("a CUDA GPU", torch.cuda.is_available() and not cpu),
            ("the package bitsandbytes", importlib.util.find_spec("bitsandbytes") is not None),
        )
        if not there
    ]
    if missing:
        raise ValueError(
            f"Expected {' and '.join(missing)} for --quantize nf4, got none. Run it where there is one "
            "(pip install bitsandbytes), or pass --quantize none, which takes four times the memory."
        )
    return nf4_config()


def nf4_config() -> BitsAndBytesConfig:
    """As TRL's own scripts have it; computes in what the GPU has."""
    return get_quantization_config(
        ModelConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", dtype=precision(False))
    )


def precision(cpu: bool) -> str:
    """Of the weights that are not in 4 bits, and of what is computed: a T4, for one, has no bfloat16."""
    if cpu or not torch.cuda.is_available():
        return "float32"
    return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float16"


def tokenizer_of(base: str) -> PreTrainedTokenizerBase:
    """Of a base model, or of a folder in which one was saved."""
    return AutoTokenizer.from_pretrained(base, padding_side="left")


def fresh(settings: Model, base: str, cpu: bool) -> Tuple[Any, Optional[Any]]:
    """A base model, and what its adapter is to be; None for all weights."""
    model = _load(settings, base, cpu)
    return model, lora(settings) if settings.lora_rank > 0 else None


def trained(settings: Model, start: Path, cpu: bool) -> Any:
    """What an earlier stage saved in a folder, to go on with: its adapter on its base, or its weights."""
    if not (start / ADAPTER).exists():
        return _load(settings, str(start), cpu)
    from peft import PeftModel

    base = json.loads((start / ADAPTER).read_text())["base_model_name_or_path"]
    if settings.model not in (base, "tiny"):
        raise ValueError(
            f"Expected an adapter of {settings.model} (--model) in {start}, got one of {base}. Pass that."
        )
    model = _load(settings, base, cpu)
    return PeftModel.from_pretrained(model, str(start), is_trainable=True)


def lora(settings: Model) -> Any:
    """The adapter of a causal language model; which layers it is on, peft knows of each architecture."""
    return get_peft_config(
        ModelConfig(
            use_peft=True,
            lora_r=settings.lora_rank,
            lora_alpha=settings.lora_alpha,
            lora_dropout=settings.lora_dropout,
        )
    )


def _load(settings: Model, name: str, cpu: bool) -> Any:
    options: Dict[str, Any] = {"dtype": precision(cpu)}
    if settings.quantize == "nf4":
        if settings.lora_rank == 0:
            raise ValueError(
                "Expected --lora-rank of at least 1 with --quantize nf4, got 0: weights in 4 bits cannot be trained. "
                "Pass --quantize none to train all weights."
            )
        options.update(quantization_config=nf4(cpu), device_map={"": torch.cuda.current_device()})
    return AutoModelForCausalLM.from_pretrained(name, **options)
