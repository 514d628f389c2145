"""Episodes by tool calls for OpenEnv's harness: its adapters drive a model through the tool `act`. Needs the package rhythm-vec."""

from typing import Any, Callable, Dict, Optional

from openenv.core.env_server.mcp_types import Tool
from openenv.core.harness import ResourceSessionFactory, StepEnvSessionAdapter, ToolResult
from rhythm_vec import ACTION_NAMES, _world
from rhythm_vec.trl import prompt_of

from .client import RhythmVecEnv
from .models import RhythmVecAction

_BELIEFS = _world.BELIEF_MEANINGS
_ACT = Tool(
    name="act",
    description=_world.TOOLS["act"],
    input_schema={
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": [name.upper() for name in ACTION_NAMES]},
            **{name: {"type": "integer", "minimum": 0, "maximum": 9, "description": text} for name, text in _BELIEFS.items()},
        },
        "required": ["action", *_BELIEFS],
    },
)


class RhythmVecSessionFactory(ResourceSessionFactory):
    """Opens an episode on a server for each rollout. A call without an action that the server knows plays `sleep`.

    Args:
        client_factory: returns a client, such as `lambda: RhythmVecEnv(base_url=...)`.
        reset: other keys of the reset, such as {"grader": "v3"}; `reward` is "final" by default.
    """

    def __init__(self, client_factory: Callable[[], RhythmVecEnv], reset: Optional[Dict[str, Any]] = None) -> None:
        self._client_factory = client_factory
        self._reset = {"reward": "final", **(reset or {}), "text": True}

    def create(
        self, task: Any = None, seed: Optional[int] = None, episode_id: Optional[str] = None
    ) -> StepEnvSessionAdapter:
        """Begins the episode of a seed."""
        chat = prompt_of(self._reset.get("grader", "v2"))
        return StepEnvSessionAdapter(
            self._client_factory(),
            task=task,
            seed=seed,
            episode_id=episode_id,
            tool_specs=[_ACT],
            action_builder=lambda _, given: RhythmVecAction(message=_line(given)),
            initial_messages_builder=lambda *_: chat,
            tool_result_builder=lambda _, __, result, ___: ToolResult(
                data=result.observation.prompt.split("\n\n")[0], done=bool(result.done), metadata={"reward": result.reward}
            ),
            reset_kwargs=self._reset,
        )


def _line(given: Dict[str, Any]) -> str:
    digits = [str(given[name]) for name in _BELIEFS if name in given]
    return " ".join([*(digits if len(digits) == len(_BELIEFS) else []), str(given.get("action", ""))])
