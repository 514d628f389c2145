"""Episodes in text for verifiers (the API verifiers.v1): a taskset with a task for each seed, and the environment that plays it.

The model answers each message with a line such as `3 6 5 SLEEP`. The reward is the final score; an exchange that ends early is
finished with `sleep`. Written for verifiers as of August 2026.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List

import verifiers.v1 as vf  # type: ignore[import-not-found, unused-ignore]

from .text_env import TextEnv

__all__ = ["RhythmTaskset", "RhythmTextEnv"]


class RhythmData(vf.TaskData):  # type: ignore[misc, unused-ignore]
    seed: int
    options: Dict[str, Any]


class RhythmConfig(vf.TasksetConfig):  # type: ignore[misc, unused-ignore]
    seeds: List[int] = list(range(100, 200))
    """A task for each of these u32 seeds."""
    grader: str = "v2"
    profiles: str = "sampled"


class RhythmTask(vf.Task[RhythmData]):  # type: ignore[misc, unused-ignore]
    pass


class RhythmTaskset(vf.Taskset[RhythmTask, RhythmConfig]):  # type: ignore[misc, unused-ignore]
    def load(self) -> Iterator[RhythmTask]:
        """Yields a task for each seed."""
        options = {"grader": self.config.grader, "profiles": self.config.profiles}
        for idx, seed in enumerate(self.config.seeds):
            data = RhythmData(idx=idx, name=f"rhythm#{seed}", prompt=None, seed=seed, options=options)
            yield RhythmTask(data, self.config.task)


class RhythmEnvConfig(vf.EnvConfig):  # type: ignore[misc, unused-ignore]
    player: vf.AgentConfig = vf.AgentConfig()


class RhythmTextEnv(vf.Env[RhythmEnvConfig]):  # type: ignore[misc, unused-ignore]
    """Plays the user: sends the rules and each state, and reads the answers."""

    async def run(self, task: RhythmTask, agents: Any) -> None:
        """Plays an episode. The trace gets the reward `final_score` and the metrics `belief_mae` and `parsed_share`."""
        with TextEnv(history="new", **task.data.options) as env:
            rules, state = env.reset(task.data.seed)
            message, parsed, done = f"{rules['content']}\n\n{state['content']}", 0, False
            async with agents.player.interaction(task) as interaction:
                while not done:
                    segment = await interaction.turn(message)
                    if segment.terminated:
                        break
                    answer, _, done, info = env.step(segment.last_reply)
                    message, parsed = answer["content"], parsed + info["parsed"]
            _, end = env.finish()
        interaction.trace.record_reward("final_score", end["final_score"])
        interaction.trace.record_metric("belief_mae", end["belief_mae"])
        interaction.trace.record_metric("parsed_share", parsed / end["step"])
