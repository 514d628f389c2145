"""A conversation as tokens: the prompts and answers of an episode, each token as it was sent or generated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence

#: Messages that precede an added message, so that the chat template formats it as a later turn.
_EARLIER = ({"role": "user", "content": "earlier"}, {"role": "assistant", "content": ""})


@dataclass(frozen=True)
class Answer:
    """The tokens of an answer, and their log-probabilities if vLLM generated it."""

    ids: List[int]
    logprobs: Optional[List[Optional[float]]]


class Conversation:
    """The tokens of a conversation.

    Attributes:
        prompt: the tokens of the first prompt.
        completion: all later tokens: answers and prompts.
        mask: 1 for the tokens of the completion that the model generated, 0 for the other tokens.
        logprobs: the log-probability of each token of the completion, 0 where `mask` is 0; None without vLLM.
        cut_off: for each answer, whether it does not end with an end token.
        last_answer: the text of the last answer.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.prompt: List[int] = []
        self.completion: List[int] = []
        self.mask: List[int] = []
        self.logprobs: Optional[List[Optional[float]]] = []
        self.cut_off: List[bool] = []
        self.last_answer = ""

    @property
    def ids(self) -> List[int]:
        """All tokens so far."""
        return self.prompt + self.completion

    def add_prompt(self, chat: Sequence[Mapping[str, str]]) -> None:
        """Adds a prompt: the whole chat at first, later only its last message."""
        if not self.prompt:
            self.prompt = self._tokens(chat, with_start=True)
            return
        ids = self._later_turn(chat[-1])
        # An answer that was cut off has no end token. Add one, which the model did not generate.
        self._add([self._end, *ids] if self.cut_off[-1] else ids, 0, None)

    def add_answer(self, answer: Answer) -> None:
        """Adds an answer."""
        self._add(answer.ids, 1, answer.logprobs)
        self.cut_off.append(not answer.ids or answer.ids[-1] != self._end)
        self.last_answer = str(self._tokenizer.decode(answer.ids, skip_special_tokens=True))

    @property
    def _end(self) -> int:
        return int(self._tokenizer.eos_token_id)

    def _add(self, ids: List[int], mask: int, logprobs: Optional[List[Optional[float]]]) -> None:
        self.completion += ids
        self.mask += [mask] * len(ids)
        if mask == 1 and logprobs is None:
            self.logprobs = None
        if self.logprobs is not None:
            self.logprobs += [0.0] * len(ids) if logprobs is None else logprobs

    def _later_turn(self, message: Mapping[str, str]) -> List[int]:
        """Returns the tokens between the end token of an answer and the next answer."""
        before = self._tokens(_EARLIER, with_start=False)
        whole = self._tokens([*_EARLIER, message], with_start=True)
        # Templates may write more after the end token, such as a line break.
        while before and before[-1] != self._end:
            before.pop()
        if not before or whole[: len(before)] != before:
            raise ValueError(
                "Expected a chat template that ends answers with the end token of the tokenizer, got another. "
                "Use a chat model, or --grpo-rollout step."
            )
        return whole[len(before) :]

    def _tokens(self, chat: Sequence[Mapping[str, str]], *, with_start: bool) -> List[int]:
        """Returns the tokens of a chat, with or without those that begin the next answer."""
        encoded: Dict[str, List[int]] = self._tokenizer.apply_chat_template(
            [dict(message) for message in chat], add_generation_prompt=with_start, tokenize=True, return_dict=True
        )
        return list(encoded["input_ids"])


def generate(trainer: Any, conversations: Sequence[Conversation]) -> List[Answer]:
    """Generates the next answer of each conversation as TRL's trainer is configured: by vLLM or transformers."""
    ids = [conversation.ids for conversation in conversations]
    check_length(trainer, max(map(len, ids)))
    if trainer.use_vllm:
        # One answer per prompt: from the second turn on, the conversations of a group have different prompts.
        _, answers, logprobs, _ = trainer.vllm_generation.generate(prompts=ids, images=None, num_generations=1)
        return [Answer(list(a), [each[0] for each in logs]) for a, logs in zip(answers, logprobs)]
    answers, _ = trainer._generate_single_turn(ids, None, {})
    return [Answer(list(answer), None) for answer in answers]


def check_length(trainer: Any, length: int) -> None:
    """Raises ValueError if an answer after `length` tokens could exceed the context of the model."""
    config = trainer.model.config
    limit = getattr(config, "max_position_embeddings", None)
    if limit is not None and length + trainer.max_completion_length > limit:
        raise ValueError(
            f"Expected conversations of at most {limit} tokens (max_position_embeddings of the model), got {length} "
            f"and {trainer.max_completion_length} for an answer. Lower --grpo-completion-length, or use a model with a "
            "longer context."
        )
