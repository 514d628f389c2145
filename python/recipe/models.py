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

ADAPTER = "adapter_config.json"


def base_of(settings: Model, output: Path) -> str:
    """The name or folder of the model that everything begins with."""
    return str(save_tiny(output / "tiny", settings.seed)) if settings.model == "tiny" else settings.model


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
    """NF4 with a second quantisation of its constants; computes in bfloat16."""
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


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
    model = _load(settings, base, cpu)
    return PeftModel.from_pretrained(model, str(start), is_trainable=True)


def lora(settings: Model) -> Any:
    """The adapter of a causal language model; which layers it is on, peft knows of each architecture."""
    from peft import LoraConfig

    return LoraConfig(
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        task_type="CAUSAL_LM",
    )


def _load(settings: Model, name: str, cpu: bool) -> Any:
    options: Dict[str, Any] = {"dtype": torch.float32 if cpu else torch.bfloat16}
    if settings.quantize == "nf4":
        if settings.lora_rank == 0:
            raise ValueError(
                "Expected --lora-rank of at least 1 with --quantize nf4, got 0: weights in 4 bits cannot be trained. "
                "Pass --quantize none to train all weights."
            )
        options.update(quantization_config=nf4(cpu), device_map={"": torch.cuda.current_device()})
    return AutoModelForCausalLM.from_pretrained(name, **options)
