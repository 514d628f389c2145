"""Episodes in text: observations are messages for a language model, and actions are its answers.

    from rhythm_vec import TextEnv

    with TextEnv(history="new") as env:
        messages = env.reset(4242)                          # [{"role": "system", ...}, {"role": "user", ...}]
        message, reward, done, info = env.step("3 6 5 EXERCISE")
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Dict, List, Optional, Tuple, Type, Union

import numpy as np

from . import _world
from .checks import check_name, describe, refuse
from .choices import GraderChoice, ProfileChoice, to_grader, to_world
from .text import find_answer, system_text, user_texts
from .texts import BELIEFS, Chat, Completion, Message, text_of
from .vec_env import VecEnv
from .world import World

__all__ = ["TextEnv"]

#: The action that is played for an answer without one.
FALLBACK = _world.ACTION_NAMES.index("sleep")
_REWARDS = ("final", "step", "both")
_HISTORIES = ("whole", "new")
_THOUGHTS = ("closed", "open")
_NO_BELIEF = [float("nan")] * len(_world.BELIEF_NAMES)

Infos = Dict[str, Any]


class TextEnv:
    """One episode at a time, in text. Methods raise the errors of `VecEnv`; an error changes nothing.

    An info has `seed`; `step`, the number of steps taken, 1 to 28; `action`, the name of the played action; `parsed`, whether
    the answer had an action; and `belief`, [social, morning, work] in [0, 1], or None if the answer had none. At the end
    of the episode it also has `final_score`, its `components` by name, `belief_mae` and `episode_return`.

    Args:
        reward: what a step pays: "final" the final score, at the last step; "step" the step's reward; "both" their sum.
        history: "whole": each message shows the last seven steps, as those of `prompts` do. "new": only the last step, for
            chats that keep the earlier messages.
        thought: "open" if answers continue a thought that the prompt opened, as in `parse`.
        grader, profiles, world: as in `VecEnv`.

    Raises:
        InputError: `unknown_name` and as `VecEnv`.
    """

    def __init__(
        self,
        *,
        reward: str = "final",
        history: str = "whole",
        thought: str = "closed",
        grader: GraderChoice = "v2",
        profiles: ProfileChoice = "sampled",
        world: Union[World, str, "os.PathLike[str]", None] = None,
    ) -> None:
        self._reward = check_name("reward", reward, _REWARDS)
        self._history = check_name("history", history, _HISTORIES)
        self._in_thought = check_name("thought", thought, _THOUGHTS) == "open"
        played = to_world(world)
        weights = to_grader(played, grader)
        self._system = {"role": "system", "content": system_text(weights.tolist())}
        self._env = VecEnv(
            1, threads=1, profiles=profiles, grader=weights, world=played, observation={"history": history == "whole"}
        )
        self._action, self._belief = np.zeros(1, np.uint8), np.zeros((1, len(_NO_BELIEF)), np.float32)
        self._last: Infos = {}

    def reset(self, seed: int) -> Chat:
        """Begins the episode of a seed, a u32. Returns the system message with the rules, and the first user message."""
        self._begin(seed)
        return [dict(self._system), self._message()]

    def step(self, text: Completion) -> Tuple[Message, float, bool, Infos]:
        """Takes the step that an answer chooses: a text, or the messages of a chat, whose last one counts.

        An answer without an action plays `sleep`, and one without a belief leaves the belief as it was. Returns the next user
        message, the reward, whether the episode is over, and the info. The last message is that of the finished episode.

        Raises:
            InputError: `wrong_type` for what is neither a text nor a chat.
            StateError: `not_reset`, `episode_over`, `closed`.
        """
        answer = text_of(text)
        if not isinstance(answer, str):
            expected = "text to be a text or the messages of a chat"
            refuse("wrong_type", expected, describe(text), "Pass the completion's text.", "text")
        code, digits = find_answer(answer, self._in_thought)
        reward, done = self._play(code, None if digits is None else [BELIEFS[digit] for digit in digits])
        return self._message(), reward, done, self._info()

    def finish(self) -> Tuple[float, Infos]:
        """Plays `sleep` until the episode is over, without further beliefs, so that an episode that ends early has its score.

        Returns the sum of the rewards of these steps, and the last info; after the episode's end 0 and the same info again.

        Raises:
            StateError: `not_reset`, or `closed` with steps left.
        """
        total = 0.0
        while not self.is_over:
            total += self._play(-1, None)[0]
        return total, self._info()

    @property
    def is_over(self) -> bool:
        """Whether the episode has taken its last step."""
        return "final_score" in self._last

    def close(self) -> None:
        """Frees the episode. A second `close` does nothing."""
        self._env.close()

    def __enter__(self) -> TextEnv:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _begin(self, seed: int, profiles: Optional[ProfileChoice] = None) -> None:
        self._env.reset(seed=seed, profiles=profiles)
        self._last = {}

    def _play(self, code: int, belief: Optional[List[float]]) -> Tuple[float, bool]:
        """Takes an action, -1 for none. Returns the reward, and whether the episode is over."""
        self._action[0] = FALLBACK if code < 0 else code
        self._belief[0] = _NO_BELIEF if belief is None else belief
        outputs = self._env.step(self._action, beliefs=self._belief)
        done = bool(outputs.final_mask[0])
        self._last = {
            "seed": int(self._env._core.seeds[0]),
            "step": self._last.get("step", 0) + 1,
            "action": _world.ACTION_NAMES[self._action[0]],
            "belief": belief,
            "parsed": code >= 0,
        }
        if done:
            self._last.update(
                final_score=float(outputs.final_scores[0]),
                components=dict(zip(_world.COMPONENT_NAMES, outputs.components[0].tolist())),
                belief_mae=float(outputs.belief_mae[0]),
                episode_return=float(outputs.episode_returns[0]),
            )
        reward = 0.0 if self._reward == "final" else float(outputs.rewards[0])
        if done and self._reward != "step":
            reward += self._last["final_score"]
        return reward, done

    def _info(self) -> Infos:
        return dict(self._last)

    def _message(self) -> Message:
        return {"role": "user", "content": self._text("line")}

    def _text(self, form: str) -> str:
        return user_texts(self._env.outputs.observations, self._history, form)[0]
