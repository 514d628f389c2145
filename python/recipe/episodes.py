"""Rollouts of whole episodes for TRL's `rollout_func`: the model plays all 28 steps in one conversation.

Each prompt of the dataset names an episode. Messages and answers have the form that they have when the model trains on
single steps (README.md, "Whole episodes"). The server writes the messages and parses the answers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import ranks
from rhythm_vec import Client, prompts, score
from rows import Rows

LOG = "episodes.jsonl"
NUM_STEPS = 28
#: The action that is played for an answer without one, as in `rhythm-vec eval`.
FALLBACK = "sleep"
#: Rewards of single answers. Their means over the steps are rewards of the episode.
ANSWER_REWARDS = ("format_valid", "action_legal")

#: Takes all answers of a batch of episodes: texts, whether each has an action, and whether it was cut off.
Record = Callable[[Sequence[str], Sequence[bool], Sequence[bool]], None]
RewardFunction = Callable[..., List[Optional[float]]]
#: Messages that precede an added message, so that the chat template formats it as a later turn.
_EARLIER = ({"role": "user", "content": "earlier"}, {"role": "assistant", "content": ""})


def episode_prompts(rows: Rows) -> List[List[Dict[str, str]]]:
    """Returns prompts that name the episodes of rows, each once. TRL passes only prompts to a rollout function."""
    episodes = {
        json.dumps({"seed": row["seed"], "profile_mode": row.get("profile_mode") or "sampled"}) for row in rows.rows
    }
    return [[{"role": "user", "content": episode}] for episode in sorted(episodes)]


class EpisodeRollouts:
    """A rollout function: `GRPOTrainer(rollout_func=rollouts, reward_funcs=rollouts.rewards, ...)`.

    Args:
        client: a client of the server.
        grader: the grader of the episodes.
        folder: the trainer's output folder, in which rank 0 writes `episodes.jsonl`: one line per episode.
        record: receives all answers of each batch.
        thought: "open" if the chat template opens a thought that the answers continue, else "closed".
    """

    def __init__(self, client: Client, grader: str, folder: Path, record: Record, thought: str = "closed") -> None:
        self._client = client
        self._grader = grader
        self._path = folder / LOG
        self._record = record
        self._thought = thought
        self._opened = False

    @property
    def rewards(self) -> List[RewardFunction]:
        """The rewards: the final score, and the means of format_valid and action_legal over the steps."""
        return [final_score, format_valid, action_legal]

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> Dict[str, Any]:
        """Plays and grades the episodes that the prompts name. Returns the columns that TRL expects, and `episode`."""
        episodes = [Episode(**json.loads(prompt[-1]["content"])) for prompt in prompts]
        conversations = [Conversation(trainer.processing_class) for _ in episodes]
        for _ in range(NUM_STEPS):
            self._play_step(episodes, conversations, trainer)
        self._grade(episodes)
        self._record(
            [text for episode in episodes for text in episode.answers],
            [legal for episode in episodes for legal in episode.parsed],
            [cut for conversation in conversations for cut in conversation.cut_off],
        )
        self._log(episodes, trainer.state.global_step)
        with_logprobs = all(conversation.logprobs is not None for conversation in conversations)
        return {
            "prompt_ids": [conversation.prompt for conversation in conversations],
            "completion_ids": [conversation.completion for conversation in conversations],
            "logprobs": [conversation.logprobs for conversation in conversations] if with_logprobs else None,
            "env_mask": [conversation.mask for conversation in conversations],
            "episode": episodes,
        }

    def _play_step(self, episodes: List[Episode], conversations: List[Conversation], trainer: Any) -> None:
        """Generates one answer in each episode, and plays its action."""
        state: Dict[str, Any] = {
            "seeds": [episode.seed for episode in episodes],
            "action_histories": [episode.actions for episode in episodes],
            "profile_modes": [episode.profile_mode for episode in episodes],
            "grader": self._grader,
            "client": self._client,
        }
        for conversation, chat in zip(conversations, prompts(**state)):
            conversation.add_prompt(chat)
        for conversation, answer in zip(conversations, generate(trainer, conversations)):
            conversation.add_answer(answer)
        texts = [conversation.last_answer for conversation in conversations]
        scores = score(**state, completions=texts, thought=self._thought, parsed=True, scores=list(ANSWER_REWARDS))
        assert scores.parsed is not None
        for i, episode in enumerate(episodes):
            rewards = {name: scores[name][i] for name in ANSWER_REWARDS}
            episode.add(texts[i], scores.parsed.actions[i], scores.parsed.beliefs[i], rewards)

    def _grade(self, episodes: List[Episode]) -> None:
        """Sets the final score and the return of each episode. The server computes them by replays."""
        request = {
            "policy": "action_sequences",
            "group_size": 1,
            "seeds": [episode.seed for episode in episodes],
            "profile_modes": [episode.profile_mode for episode in episodes],
            "action_sequences": [episode.actions for episode in episodes],
            "belief_sequences": [episode.beliefs for episode in episodes],
            "grader": self._grader,
            "arrays": ["final_scores", "episode_returns"],
        }
        arrays = self._client.post("/v1/rollout", json.dumps(request).encode())["arrays"]
        for episode, final, total in zip(episodes, arrays["final_scores"], arrays["episode_returns"]):
            episode.final_score, episode.episode_return = float(final), float(total)

    def _log(self, episodes: List[Episode], steps: int) -> None:
        """Writes the episodes of all ranks. A resumed run first removes the lines of the episodes that it plays again."""
        lines = ranks.gather([{"step": steps + 1, "grader": self._grader, **episode.line()} for episode in episodes])
        if not ranks.is_first():
            return
        past: List[str] = []
        if not self._opened and self._path.exists():
            past = [line for line in self._path.read_text().splitlines() if json.loads(line)["step"] <= steps]
        with self._path.open("a" if self._opened else "w") as file:
            file.writelines(line + "\n" for line in [*past, *map(json.dumps, lines)])
        self._opened = True


class Episode:
    """An episode: its answers and what was played, by step, and its scores.

    Attributes:
        actions: names; FALLBACK for an answer without an action.
        beliefs: social, morning, work in [0, 1], or None, for each step.
        parsed: whether the answer had an action, for each step.
        rewards: the rewards of each answer, by name.
    """

    def __init__(self, seed: int, profile_mode: str) -> None:
        self.seed = seed
        self.profile_mode = profile_mode
        self.answers: List[str] = []
        self.actions: List[str] = []
        self.beliefs: List[Optional[List[float]]] = []
        self.parsed: List[bool] = []
        self.rewards: Dict[str, List[float]] = {name: [] for name in ANSWER_REWARDS}
        self.final_score = 0.0
        self.episode_return = 0.0

    def add(self, answer: str, action: Optional[str], belief: Optional[List[float]], rewards: Dict[str, float]) -> None:
        """Adds a step."""
        self.answers.append(answer)
        self.actions.append(FALLBACK if action is None else action)
        self.beliefs.append(belief)
        self.parsed.append(action is not None)
        for name, value in rewards.items():
            self.rewards[name].append(value)

    def mean(self, name: str) -> float:
        """Returns the mean of a reward of answers."""
        return sum(self.rewards[name]) / len(self.rewards[name])

    def line(self) -> Dict[str, Any]:
        """Returns the episode as a line of `episodes.jsonl`."""
        return {**vars(self), "rewards": {name: self.mean(name) for name in self.rewards}}


def final_score(prompts: Any, completions: Any, episode: Sequence[Episode], **_: Any) -> List[Optional[float]]:
    """Returns the final score of each episode, in [0, 1]."""
    return [each.final_score for each in episode]


def format_valid(prompts: Any, completions: Any, episode: Sequence[Episode], **_: Any) -> List[Optional[float]]:
    """Returns the mean over the steps: 1 for a step whose belief and action both parsed, else -2."""
    return [each.mean("format_valid") for each in episode]


def action_legal(prompts: Any, completions: Any, episode: Sequence[Episode], **_: Any) -> List[Optional[float]]:
    """Returns the mean over the steps: 0.5 for a step whose action parsed, else -1."""
    return [each.mean("action_legal") for each in episode]


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
