"""The Rhythm life simulator for Python: environments, and scores and rewards for language models.

    from rhythm_vec import Client, VecEnv, reward_funcs, score

Most names are imported at their first use, so that `import rhythm_vec` needs only the standard library. This import
registers `rhythm_vec/Rhythm-v0` if Gymnasium is installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "ACTION_NAMES",
    "BELIEF_NAMES",
    "COMPONENT_NAMES",
    "EVENT_NAMES",
    "GRADER_NAMES",
    "METER_NAMES",
    "PROFILE_NAMES",
    "TRAIT_NAMES",
    "WORLD_DIGEST",
    "__version__",
    "Backoff",
    "Client",
    "Fault",
    "InputError",
    "Kernel",
    "ObservationField",
    "Parsed",
    "PolicyActions",
    "RefusedError",
    "RemoteVectorEnv",
    "RequestError",
    "ReplayScores",
    "RewardStack",
    "RhythmEnv",
    "RhythmError",
    "RhythmVectorEnv",
    "RolloutGroups",
    "RolloutView",
    "RowFaultWarning",
    "Scores",
    "ServerUnavailableError",
    "StateError",
    "StepResult",
    "Student",
    "StudentActions",
    "StudentPlayer",
    "Trajectory",
    "VecEnv",
    "World",
    "list_kernels",
    "make_vec",
    "parse",
    "prompts",
    "reward_funcs",
    "rollout_groups",
    "score",
    "score_replay",
    "serve",
    "thought_of",
]

from ._world import (
    ACTION_NAMES,
    BELIEF_NAMES,
    COMPONENT_NAMES,
    EVENT_NAMES,
    GRADER_NAMES,
    METER_NAMES,
    PROFILE_NAMES,
    TRAIT_NAMES,
    WORLD_DIGEST,
)
from ._world import VERSION as __version__

try:
    from gymnasium.envs.registration import register as _register

    _register(
        "rhythm_vec/Rhythm-v0", "rhythm_vec.single_env:RhythmEnv", vector_entry_point="rhythm_vec.envs:RhythmVectorEnv"
    )
except ImportError:
    pass

if TYPE_CHECKING:
    from .client import Backoff, Client
    from .envs import RhythmVectorEnv, make_vec
    from .errors import (
        InputError,
        RefusedError,
        RequestError,
        RhythmError,
        RowFaultWarning,
        ServerUnavailableError,
        StateError,
    )
    from .kernels import Kernel, list_kernels
    from .observations import ObservationField
    from .outputs import StepResult, Trajectory
    from .remote import RemoteVectorEnv
    from .replay import ReplayScores, score_replay
    from .rewards import RewardStack, reward_funcs
    from .rollouts import PolicyActions, RolloutGroups, RolloutView, rollout_groups
    from .scores import Fault, Scores, score
    from .serving import serve
    from .texts import Parsed, parse, prompts, thought_of
    from .single_env import RhythmEnv
    from .student import Student, StudentActions, StudentPlayer
    from .vec_env import VecEnv
    from .world import World
else:
    #: The public names of each module.
    _NAMES = {
        "client": ("Backoff", "Client"),
        "envs": ("RhythmVectorEnv", "make_vec"),
        "errors": (
            "InputError",
            "RefusedError",
            "RequestError",
            "RhythmError",
            "RowFaultWarning",
            "ServerUnavailableError",
            "StateError",
        ),
        "kernels": ("Kernel", "list_kernels"),
        "observations": ("ObservationField",),
        "outputs": ("StepResult", "Trajectory"),
        "remote": ("RemoteVectorEnv",),
        "replay": ("ReplayScores", "score_replay"),
        "rewards": ("RewardStack", "reward_funcs"),
        "rollouts": ("PolicyActions", "RolloutGroups", "RolloutView", "rollout_groups"),
        "scores": ("Fault", "Scores", "score"),
        "serving": ("serve",),
        "texts": ("Parsed", "parse", "prompts", "thought_of"),
        "single_env": ("RhythmEnv",),
        "student": ("Student", "StudentActions", "StudentPlayer"),
        "vec_env": ("VecEnv",),
        "world": ("World",),
    }
    _MODULES = {name: module for module, names in _NAMES.items() for name in names}

    def __getattr__(name):
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"Expected the package {error.name} for {__name__}.{name}, got none. "
                f"Install it with: pip install {error.name}"
            ) from error
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
