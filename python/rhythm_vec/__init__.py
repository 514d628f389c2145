"""The RhythmEnv environment for Python: scores and rewards for language models, and vector environments.

    from rhythm_vec import Client, reward_funcs, score

Names are imported when they are first used, so that `import rhythm_vec` needs only the standard library.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "Backoff",
    "Client",
    "Fault",
    "RefusedError",
    "RemoteVectorEnv",
    "RequestError",
    "RewardStack",
    "RhythmError",
    "RowFaultWarning",
    "Scores",
    "ServerUnavailableError",
    "reward_funcs",
    "score",
    "serve",
]

if TYPE_CHECKING:
    from .client import Backoff, Client
    from .errors import RefusedError, RequestError, RhythmError, RowFaultWarning, ServerUnavailableError
    from .remote import RemoteVectorEnv
    from .rewards import RewardStack, reward_funcs
    from .scores import Fault, Scores, score
    from .serving import serve
else:
    #: The public names of each module.
    _NAMES = {
        "client": ("Backoff", "Client"),
        "errors": ("RefusedError", "RequestError", "RhythmError", "RowFaultWarning", "ServerUnavailableError"),
        "remote": ("RemoteVectorEnv",),
        "rewards": ("RewardStack", "reward_funcs"),
        "scores": ("Fault", "Scores", "score"),
        "serving": ("serve",),
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
