"""Client of a `rhythm-vec serve` server."""

from typing import Any, Dict, Union

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from .models import RhythmVecAction, RhythmVecObservation, RhythmVecState, RhythmVecTextObservation

AnyObservation = Union[RhythmVecObservation, RhythmVecTextObservation]


class RhythmVecEnv(EnvClient[RhythmVecAction, AnyObservation, RhythmVecState]):
    """Plays episodes over one WebSocket, one at a time.

    `reset` takes `seed`, `episode_id`, `profile`, `grader`, `text` and `reward`, as docs/server.md describes them.

    Example:
        with RhythmVecEnv(base_url="http://127.0.0.1:8000").sync() as env:
            result = env.reset(seed=42, grader="v3")
            while not result.done:
                result = env.step(RhythmVecAction(action_type="sleep", belief=[0.5, 0.5, 0.5]))
            print(result.observation.final_score)
    """

    def _step_payload(self, action: RhythmVecAction) -> Dict[str, Any]:
        return action.model_dump(exclude_none=True, exclude={"metadata"})

    def _parse_result(self, payload: Dict[str, Any]) -> StepResult[AnyObservation]:
        reward, done = payload["reward"], payload["done"]
        form = RhythmVecTextObservation if "prompt" in payload["observation"] else RhythmVecObservation
        observation = form(**payload["observation"], reward=reward, done=done)
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: Dict[str, Any]) -> RhythmVecState:
        return RhythmVecState(**payload)
