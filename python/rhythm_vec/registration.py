"""Registers `rhythm_vec/Rhythm-v0` with Gymnasium."""

from __future__ import annotations

ENV_ID = "rhythm_vec/Rhythm-v0"


def register_envs() -> None:
    """Registers the environment. Does nothing without Gymnasium."""
    try:
        from gymnasium.envs.registration import register
    except ImportError:
        return
    register(ENV_ID, "rhythm_vec.single_env:RhythmEnv", vector_entry_point="rhythm_vec.envs:RhythmVectorEnv")
