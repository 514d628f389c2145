"""The Rhythm life simulator as an OpenEnv environment."""

from .client import RhythmVecEnv
from .models import RhythmVecAction, RhythmVecObservation, RhythmVecState, RhythmVecTextObservation

__all__ = ["RhythmVecAction", "RhythmVecEnv", "RhythmVecObservation", "RhythmVecState", "RhythmVecTextObservation"]
