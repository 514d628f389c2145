"""Action, observation and state, as docs/server.md describes them.

Numbers are the shortest decimals of float32 values: `numpy.float32` restores the bits.
"""

from typing import Dict, List, Optional

from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field


class RhythmVecAction(Action):
    """One of ten actions, and optionally a belief about the hidden profile."""

    action_type: Optional[str] = Field(default=None, description="The action's name, in lower or upper case.")
    belief: Optional[List[float]] = Field(
        default=None,
        min_length=3,
        max_length=3,
        description="social, morning, work: 0 to 1 each. Without one, the last belief still counts.",
    )
    message: Optional[str] = Field(
        default=None, description='Instead of the other fields: an answer such as "3 6 5 SLEEP".'
    )


class RhythmVecObservation(Observation):
    """The observation of an agent; after the last step also the grade. `reward` is None after a reset."""

    step: int = Field(description="Steps taken.")
    day: int = Field(description="Day of the week, from 0 on.")
    slot: int = Field(description="Slot of the day: 0 morning, 1 afternoon, 2 evening, 3 night.")
    remaining: int = Field(description="Steps left.")
    meters: List[float] = Field(description="Vitality, cognition, progress, serenity, connection: 0 to 1 each.")
    event: Optional[str] = Field(description="Event of the step just taken.")
    last_action: Optional[str] = Field(description="Action of the step just taken.")
    deltas: List[float] = Field(description="Change of each meter.")
    anomalies: List[float] = Field(
        description="Change of each meter minus the change under a neutral profile, with noise, before decay and events."
    )
    final_score: Optional[float] = Field(description="The grade, once the episode is over.")
    components: Optional[Dict[str, float]] = Field(description="The components of the grade, by name.")
    belief_mae: Optional[float] = Field(description="Mean absolute error of the last belief.")
    episode_return: Optional[float] = Field(description="Sum of the rewards.")


class RhythmVecTextObservation(Observation):
    """The observation of an episode in text, which a reset with `text=True` begins."""

    rules: Optional[str] = Field(default=None, description="How an episode goes, after a reset.")
    prompt: str = Field(description="The state, and the last step.")
    final_score: Optional[float] = Field(description="The grade, once the episode is over.")
    components: Optional[Dict[str, float]] = Field(description="The components of the grade, by name.")
    belief_mae: Optional[float] = Field(description="Mean absolute error of the last belief.")
    episode_return: Optional[float] = Field(description="Sum of the rewards.")


class RhythmVecState(State):
    """The public state. All fields but `step_count` are None before the first reset."""

    seed: Optional[int] = Field(default=None, description="The seed of the episode, passed to the reset or drawn.")
    profile: Optional[str] = Field(default=None, description="The profile, as passed to the reset.")
    grader: Optional[str] = Field(default=None, description="The name of the grader.")
