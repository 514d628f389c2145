"""Episodes as a tool for TRL's GRPO. A model calls `act` in each of the 28 slots, and the final score is its reward:

    from rhythm_vec.trl import RhythmEnvironment, dataset

    GRPOTrainer(model, train_dataset=dataset(range(100, 1100)), environment_factory=RhythmEnvironment, args=...)

It needs trl 1.13 or later, transformers 5.2 or later, and a model whose chat template has tools.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Iterable, List, Optional, Sequence

from . import _world
from .checks import check_integer, describe, refuse
from .choices import MAX_U32, GraderChoice, ProfileChoice, to_grader
from .errors import StateError
from .text import system_text, user_texts
from .text_env import Infos, TextEnv
from .texts import BELIEFS
from .vec_env import VecEnv
from .world import World

__all__ = ["RhythmEnvironment", "dataset", "slots_played"]

_NAMES = [name.upper() for name in _world.ACTION_NAMES]


class RhythmEnvironment:
    """An episode for TRL's `environment_factory`; for other options, functools.partial(RhythmEnvironment, grader="v3").

    TRL offers the public methods to the model as tools, except `reset` and `get_reward`: so `act` is the only tool. A call that
    raises an error takes no step, and the model gets the error's message.

    Args:
        reward: "final" (default), "step" or "both", as in `TextEnv`: what `get_reward` sums.
        grader: that of `dataset`.
        profiles: as in `VecEnv`.

    Attributes:
        actions: the names of the actions that the model took in the episode.
        result: after `get_reward` the last info of the episode, as of `TextEnv`, with `final_score` and `belief_mae`.
    """

    def __init__(self, *, reward: str = "final", grader: GraderChoice = "v2", profiles: ProfileChoice = "sampled") -> None:
        self._env = TextEnv(reward=reward, history="new", grader=grader, profiles=profiles)
        self._profiles = profiles
        self._paid = 0.0
        self.actions: List[str] = []
        self.result: Infos = {}

    def reset(self, seed: Optional[int] = None, profile_mode: Optional[str] = None, **columns: Any) -> None:
        """Begins the episode of a row. TRL passes the columns of the dataset.

        Args:
            seed: the episode's seed, a u32.
            profile_mode: "sampled", "discrete" or a profile's name; by default that of the constructor.
            columns: other columns, which are ignored.

        Raises:
            InputError: `bad_seed`, `unknown_name`.
        """
        if seed is None:
            remedy = "Pass rows of rhythm_vec.trl.dataset, or of `rhythm-vec dataset grpo`."
            refuse("bad_seed", "a dataset with a column seed", "none", remedy, "seed")
        self._env._begin(seed, self._profiles if profile_mode is None else profile_mode)
        self._paid, self.actions, self.result = 0.0, [], {}

    def act(
        self, action: str, social: Optional[int] = None, morning: Optional[int] = None, work: Optional[int] = None
    ) -> str:
        """Takes one action in the present slot of the week, and states the belief about the person. Returns what happened.

        Args:
            action: the action (choices: ["DEEP_WORK", "ADMIN_WORK", "LEARN", "SLEEP", "EXERCISE", "MEDITATE", "FAMILY_TIME", "SOCIALIZE", "ME_TIME", "BINGE_WATCH"])
            social: a digit: 0 hates company, 9 loves company
            morning: a digit: 0 night owl, 9 morning person
            work: a digit: 0 avoids work, 9 lives for work

        Returns:
            The meters now, the reward, the event, and the changes and anomalies of the meters.
        """
        if self._env.is_over:
            message = "Expected a call in a slot of the week, got one after the last. The week is over: call act no more."
            raise StateError("episode_over", message)
        code = _code_of(action)
        digits = [_digit_of(name, digit) for name, digit in (("social", social), ("morning", morning), ("work", work))]
        given = [digit for digit in digits if digit is not None]
        if len(given) not in (0, len(digits)):
            expected, got = "social, morning and work together", "some of them"
            refuse("bad_belief", expected, got, "Pass all three, or none. No slot has passed.")
        reward, _ = self._env._play(code, [BELIEFS[digit] for digit in given] or None)
        self._paid += reward
        self.actions.append(_world.ACTION_NAMES[code])
        return self._env._text("tools")

    def get_reward(self) -> float:
        """Returns the reward of the episode, and sets `result`. Plays `sleep` in the slots that are left."""
        paid, self.result = self._env.finish()
        self._paid += paid
        return self._paid


def _code_of(action: Any) -> int:
    """Returns the code of an action's name. Raises InputError `illegal_action` with a message for the model."""
    name = action.strip().upper().replace("-", "_") if isinstance(action, str) else None
    if name in _NAMES:
        return _NAMES.index(name)
    got = json.dumps(action[:100]) if isinstance(action, str) else describe(action)
    expected, remedy = f"an action among {', '.join(_NAMES)}", "No slot has passed: call act again."
    refuse("illegal_action", expected, got, remedy, "action")


def _digit_of(name: str, digit: Any) -> Optional[int]:
    """Returns a digit. Text is accepted, because TRL passes the arguments of some models as text."""
    if digit is None:
        return None
    return check_integer(name, int(digit) if isinstance(digit, str) and digit.strip().isdecimal() else digit, 0, 9)


def dataset(seeds: Iterable[int], *, grader: GraderChoice = "v2") -> Any:
    """Returns a datasets.Dataset for `RhythmEnvironment`: for each seed the `prompt` of its first slot, and the column `seed`.

    Args:
        seeds: u32, an episode each.
        grader: the grader that the rules describe: that of the environment.

    Raises:
        InputError: `out_of_range` or `wrong_type` for a seed; the errors of a grader, as `VecEnv`.
        ImportError: datasets, which TRL needs, is not installed.
    """
    from datasets import Dataset  # type: ignore[import-not-found, import-untyped, unused-ignore]

    checked = [check_integer(f"seeds[{row}]", seed, 0, MAX_U32) for row, seed in enumerate(seeds)]
    return Dataset.from_dict({"prompt": [prompt_of(grader)] * len(checked), "seed": checked})


def prompt_of(grader: GraderChoice) -> List[Any]:
    """Returns the chat of the first slot, which is the same in all episodes: the rules under a grader, and the state."""
    system = system_text(to_grader(World(), grader).tolist(), "tools")
    with VecEnv(1) as env:
        (user,) = user_texts(env.reset(seed=0).observations, "new", "tools")
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def slots_played(
    environments: Sequence[RhythmEnvironment], log_metric: Optional[Callable[[str, float], None]] = None, **_: Any
) -> List[float]:
    """A reward function for `reward_funcs`: the share of the 28 slots in which the model acted, in [0, 1], for each episode.

    A model that stops early gets the final score of a week that ends with sleep. This reward shows it the rest of the week. TRL
    also logs the means of `belief_mae` and `episode_return`.
    """
    if log_metric is not None:
        for each in environments:
            each.get_reward()
        for name in ("belief_mae", "episode_return"):
            log_metric(name, sum(each.result[name] for each in environments) / len(environments))
    return [len(each.actions) / _world.NUM_STEPS for each in environments]
