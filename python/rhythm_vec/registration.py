"""Registers `rhythm_vec/Rhythm-v0` with Gymnasium: at once if Gymnasium has been imported, else at its import."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Optional, Sequence

ENV_ID = "rhythm_vec/Rhythm-v0"
_REGISTRY = "gymnasium.envs.registration"


def register_envs() -> None:
    """Registers the environment at once if Gymnasium has been imported, else at its import. Further calls do
    nothing."""
    if _REGISTRY in sys.modules:
        _register(sys.modules[_REGISTRY])
    elif not any(isinstance(finder, _GymnasiumFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _GymnasiumFinder())


def _register(registration: Any) -> None:
    if ENV_ID not in registration.registry:
        registration.register(
            ENV_ID, "rhythm_vec.single_env:RhythmEnv", vector_entry_point="rhythm_vec.envs:RhythmVectorEnv"
        )


class _GymnasiumFinder(MetaPathFinder):
    """Finds Gymnasium's registry with the other finders, and registers the environment once the registry has run."""

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        if fullname != _REGISTRY:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                _register(module)

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
