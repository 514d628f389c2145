"""Episodes in text for verl's multi-turn rollouts: `class_name: rhythm_vec.verl.RhythmInteraction` in an interaction config.

A row of the dataset has the messages of `first_chat` as its prompt, and names the episode in `extra_info`:
{"interaction_kwargs": {"name": NAME, "seed": 4242}}. Written for verl's BaseInteraction as of January 2026.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple
from uuid import uuid4

from verl.interactions.base import BaseInteraction  # type: ignore[import-not-found, unused-ignore]

from .choices import GraderChoice
from .text_env import TextEnv
from .texts import Chat

__all__ = ["RhythmInteraction", "first_chat"]


def first_chat(grader: GraderChoice = "v2") -> Chat:
    """Returns the messages of the first slot, which are the same in all episodes: the rules under a grader, and the state."""
    with TextEnv(history="new", grader=grader) as env:
        return env.reset(0)


class RhythmInteraction(BaseInteraction):  # type: ignore[misc, unused-ignore]
    """Plays an episode for each trajectory. An answer without an action plays `sleep`.

    The key `config` of the interaction config may have `grader`, `profiles` and `reward` ("final", "step" or "both"), as `TextEnv`
    takes them. With "final" a trajectory that is cut off before its 28th answer gets no score.
    """

    def __init__(self, config: Dict[str, Any]) -> None:
        super().__init__(config)
        self._options: Dict[str, Any] = {"history": "new"}
        self._options.update((name, config[name]) for name in ("grader", "profiles", "reward") if name in config)
        self._envs: Dict[str, TextEnv] = {}

    async def start_interaction(self, instance_id: Optional[str] = None, *, seed: int, **kwargs: Any) -> str:
        """Begins the episode of a seed, a u32. Other keys are ignored."""
        name = str(uuid4()) if instance_id is None else instance_id
        env = TextEnv(**self._options)
        env.reset(seed)
        self._envs[name] = env
        return name

    async def generate_response(
        self, instance_id: str, messages: List[Dict[str, Any]], **kwargs: Any
    ) -> Tuple[bool, str, float, Dict[str, Any]]:
        """Takes the step that the last answer chooses. Returns (done, the next message, its reward, info as of `TextEnv`)."""
        answer = next((each for each in reversed(messages) if each.get("role") == "assistant"), {"content": ""})
        message, reward, done, info = self._envs[instance_id].step([answer])
        if done:
            await self.finalize_interaction(instance_id)
        return done, message["content"], reward, info

    async def calculate_score(self, instance_id: str, **kwargs: Any) -> float:
        """Returns the final score of an episode before its end. Plays `sleep` in the slots that are left."""
        return float(self._envs[instance_id].finish()[1]["final_score"])

    async def finalize_interaction(self, instance_id: str, **kwargs: Any) -> None:
        """Frees an episode. Nothing happens if it is freed already, as at its end."""
        env = self._envs.pop(instance_id, None)
        if env is not None:
            env.close()
