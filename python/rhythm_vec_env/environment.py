"""Episodes in text in OpenEnv's own form, in this process, without Node: it needs the package rhythm-vec.

create_app(RhythmVecEnvironment, RhythmVecAction, RhythmVecTextObservation) of openenv.core.env_server serves it.
"""

import secrets
from typing import Any, Optional
from uuid import uuid4

from openenv.core.env_server.interfaces import Environment
from rhythm_vec import TextEnv

from .models import RhythmVecAction, RhythmVecState, RhythmVecTextObservation


class RhythmVecEnvironment(Environment[RhythmVecAction, RhythmVecTextObservation, RhythmVecState]):
    """An action is an answer in text: its `message`, or the text in `action_type`. `belief` is not read.

    Args:
        grader, profiles, reward: as in `rhythm_vec.TextEnv`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, grader: Any = "v2", profiles: Any = "sampled", reward: str = "final") -> None:
        super().__init__()
        self._env = TextEnv(history="new", grader=grader, profiles=profiles, reward=reward)
        self._state = RhythmVecState(profile=str(profiles), grader=str(grader))

    def reset(
        self, seed: Optional[int] = None, episode_id: Optional[str] = None, **kwargs: Any
    ) -> RhythmVecTextObservation:
        """Begins an episode. `seed`: a u32, drawn by default. Other keys are ignored."""
        drawn = secrets.randbits(32) if seed is None else seed
        rules, message = self._env.reset(drawn)
        update = {"episode_id": episode_id or str(uuid4()), "step_count": 0, "seed": drawn}
        self._state = self._state.model_copy(update=update)
        return _observation({}, rules=rules["content"], prompt=message["content"])

    def step(
        self, action: RhythmVecAction, timeout_s: Optional[float] = None, **kwargs: Any
    ) -> RhythmVecTextObservation:
        """Takes the step that an answer chooses; without an action it plays `sleep`."""
        message, reward, done, info = self._env.step(action.message or action.action_type or "")
        self._state.step_count = info["step"]
        return _observation(info, prompt=message["content"], reward=reward, done=done)

    @property
    def state(self) -> RhythmVecState:
        return self._state

    def close(self) -> None:
        self._env.close()


def _observation(info: dict, **fields: Any) -> RhythmVecTextObservation:
    grade = ("final_score", "components", "belief_mae", "episode_return")
    return RhythmVecTextObservation(**fields, **{name: info.get(name) for name in grade})
