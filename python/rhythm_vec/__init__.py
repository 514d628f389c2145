"""The Rhythm life simulator for Python: environments, and scores and rewards for language models.

    from rhythm_vec import Client, VecEnv, reward_funcs, score

Most names are imported at their first use, so that `import rhythm_vec` needs only the standard library. This import
registers `rhythm_vec/Rhythm-v0` and `rhythm_vec/RhythmText-v0` if Gymnasium is installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._world import (
    ACTION_NAMES as ACTION_NAMES,
    BELIEF_NAMES as BELIEF_NAMES,
    COMPONENT_NAMES as COMPONENT_NAMES,
    EVENT_NAMES as EVENT_NAMES,
    GRADER_NAMES as GRADER_NAMES,
    METER_NAMES as METER_NAMES,
    PROFILE_NAMES as PROFILE_NAMES,
    TRAIT_NAMES as TRAIT_NAMES,
    WORLD_DIGEST as WORLD_DIGEST,
)
from ._world import VERSION as __version__

try:
    from gymnasium.envs.registration import register as _register

    # Without max_episode_steps, with which Gymnasium would call the end of an episode a truncation too.
    _register(
        "rhythm_vec/Rhythm-v0", "rhythm_vec.single_env:RhythmEnv", vector_entry_point="rhythm_vec.envs:RhythmVectorEnv"
    )
    _register("rhythm_vec/RhythmText-v0", "rhythm_vec.single_env:RhythmTextEnv")
except ImportError:
    pass

if TYPE_CHECKING:
    from .client import Backoff as Backoff, Client as Client
    from .envs import RhythmVectorEnv as RhythmVectorEnv, make_vec as make_vec
    from .errors import (
        InputError as InputError,
        RefusedError as RefusedError,
        RequestError as RequestError,
        RhythmError as RhythmError,
        RowFaultWarning as RowFaultWarning,
        ServerUnavailableError as ServerUnavailableError,
        StateError as StateError,
    )
    from .kernels import Kernel as Kernel, list_kernels as list_kernels
    from .observations import ObservationField as ObservationField
    from .outputs import StepResult as StepResult, Trajectory as Trajectory
    from .remote import RemoteVectorEnv as RemoteVectorEnv
    from .replay import ReplayScores as ReplayScores, score_replay as score_replay
    from .rewards import RewardStack as RewardStack, reward_funcs as reward_funcs
    from .rollouts import (
        PolicyActions as PolicyActions,
        RolloutGroups as RolloutGroups,
        RolloutView as RolloutView,
        rollout_groups as rollout_groups,
    )
    from .scores import Fault as Fault, Scores as Scores, score as score
    from .serving import serve as serve
    from .text_env import TextEnv as TextEnv
    from .texts import Parsed as Parsed, parse as parse, prompts as prompts, thought_of as thought_of
    from .single_env import RhythmEnv as RhythmEnv, RhythmTextEnv as RhythmTextEnv
    from .student import Student as Student, StudentActions as StudentActions, StudentPlayer as StudentPlayer
    from .vec_env import VecEnv as VecEnv
    from .world import World as World
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
        "text_env": ("TextEnv",),
        "texts": ("Parsed", "parse", "prompts", "thought_of"),
        "single_env": ("RhythmEnv", "RhythmTextEnv"),
        "student": ("Student", "StudentActions", "StudentPlayer"),
        "vec_env": ("VecEnv",),
        "world": ("World",),
    }
    _MODULES = {name: module for module, names in _NAMES.items() for name in names}
    __all__ = [name for name in globals() if name[0] != "_" and name.endswith(("_NAMES", "_DIGEST"))] + ["__version__", *sorted(_MODULES)]

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
