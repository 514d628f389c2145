"""Watches a GRPO run for the published pitfalls of RhythmEnv.

A `Watch` receives the figures of each step and returns warnings. Its only state is the lines of past steps, which
a resumed run reads from its log.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence

from rhythm_vec import ACTION_NAMES
from settings import PITFALLS, Limits

#: A cycle is two frequent actions; this is the minimum share of the rarer one. With a smaller share the run has
#: collapsed to one action. Chosen by hand.
MIN_CYCLE_SHARE = 0.2
#: The minimum number of answers with an action in a window. With fewer, `one_action` and `cycle` are not checked.
#: Chosen by hand: shares of fewer answers are noisy, and a larger minimum delays the warning.
MIN_ANSWERS = 20
#: Pitfalls that are checked by the figure of a single step.
_SINGLE_STEP = ("kl",)
#: Pitfalls that are checked by all answers of the window together. The remaining ones are checked by the mean over the
#: window.
_OF_ACTIONS = ("one_action", "cycle")
_NAMED = re.compile(rf"\b({'|'.join(ACTION_NAMES)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Batch:
    """The answers of a training step. A completion is one answer, or an episode with several.

    Attributes:
        texts: the answers.
        legal: whether the server parsed an action, for each.
        cut_off: whether the answer does not end with an end token, for each.
    """

    texts: Sequence[str]
    legal: Sequence[bool]
    cut_off: Sequence[bool]


def measures(batch: Batch) -> Dict[str, Any]:
    """Returns the figures of a batch: shares of its answers in [0, 1], the entropy of its actions in bits, and the count
    of each action. `one_action` and `cycle` are shares of the answers with an action."""
    count = max(len(batch.texts), 1)
    # The server also accepts names that `action_named` does not find, such as DEEP-WORK.
    actions = Counter(action_named(text) or "another name" for text, legal in zip(batch.texts, batch.legal) if legal)
    return {
        **action_figures(actions),
        "cut_off": sum(batch.cut_off) / count,
        "cut_off_read": sum(cut and legal for cut, legal in zip(batch.cut_off, batch.legal)) / count,
        "unparsed": 1 - sum(batch.legal) / count,
        "actions": dict(actions.most_common()),
    }


def action_named(text: str) -> Optional[str]:
    """Returns the last action that a text names, in upper case; None if it names none. An answer names its action last. For
    statistics only: the server parses and scores answers."""
    names = _NAMED.findall(text)
    return names[-1].upper() if names else None


def action_figures(actions: Mapping[str, int]) -> Dict[str, float]:
    """Returns the share of the most frequent action, the share of the two most frequent actions (0 if they are no cycle,
    see MIN_CYCLE_SHARE), and the entropy in bits."""
    total = max(sum(actions.values()), 1)
    shares = sorted((count / total for count in actions.values()), reverse=True) + [0.0, 0.0]
    return {
        "one_action": shares[0],
        "cycle": shares[0] + shares[1] if shares[1] >= MIN_CYCLE_SHARE else 0.0,
        "entropy": sum(share * math.log2(1 / share) for share in shares if share > 0),
    }


#: Names of figures in TRL's log, by their names here. TRL's figures cover all processes.
_TRL_NAMES = {
    "frac_reward_zero_std": "zero_spread",
    "kl": "kl",
    "reward": "reward",
    "rewards/final_score/mean": "final_score",
    "rewards/RhythmEnvironment/mean": "final_score",  # of episodes by tools
    "rewards/slots_played/mean": "slots_played",
    "rewards/format_valid/mean": "format_valid",
    "rewards/action_legal/mean": "action_legal",
    "rewards/env_reward/mean": "env_reward",
    "rewards/belief_accuracy/mean": "belief_accuracy",
    "rewards/belief_skill/mean": "belief_skill",
}


def line_of(step: int, logged: Mapping[str, Any], batch: Optional[Batch]) -> Dict[str, Any]:
    """Returns a step's figures: those that TRL logged, and those of its answers, if any."""
    figures = {name: _finite(logged[key]) for key, name in _TRL_NAMES.items() if key in logged}
    return {"step": step, **figures, **(measures(batch) if batch else {})}


def _finite(value: Optional[float]) -> Optional[float]:
    """Returns the value; None for NaN and infinities, which JSON does not have. TRL also logs None for NaN."""
    return value if value is not None and math.isfinite(value) else None


_TEXTS = {
    "zero_spread": "{value:.0%} of the groups have no reward spread and give no training signal. Raise "
    "--grpo-temperature or --grpo-generations, or stop the training.",
    "one_action": "{value:.0%} of the answers have the same action: {actions}. Raise --grpo-temperature, add "
    "--grpo-shaping repetition exploration, or restart from a checkpoint.",
    "cycle": "{value:.0%} of the answers have one of two actions: {actions}. Episodes become a cycle of these. Add "
    "--grpo-shaping repetition exploration.",
    "cut_off": "{value:.0%} of the answers were cut off. Raise --grpo-completion-length, or start from an SFT with "
    "--reasoning drop.",
    "cut_off_read": "{value:.0%} of the answers were cut off and still parsed as an action, possibly one from "
    "the middle of the reasoning. Raise --grpo-completion-length.",
    "kl": "The KL to the model at the start of GRPO is {value:,.1f}. Lower --grpo-learning-rate or raise --grpo-beta, "
    "and restart from a checkpoint.",
    "unparsed": "{value:.0%} of the answers have no action. Start from an SFT adapter, or train it for longer.",
}


@dataclass(frozen=True)
class PitfallWarning:
    """A warning of a pitfall, with its remedy."""

    pitfall: str
    step: int
    value: float
    text: str


class Watch:
    """Watches steps in order.

    Args:
        limits: limits of the pitfalls.
        past: lines of earlier steps of a resumed run.
    """

    def __init__(self, limits: Limits, past: Iterable[Mapping[str, Any]] = ()) -> None:
        self._limits = limits
        self.lines: List[Dict[str, Any]] = [dict(line) for line in past]

    def add(self, line: Mapping[str, Any]) -> List[PitfallWarning]:
        """Adds a line of `line_of`; returns warnings of the pitfalls that begin, one per pitfall."""
        earlier = set(self.lines[-1].get("pitfalls", ())) if self.lines else set()
        self.lines.append(dict(line))
        pitfalls = [name for name in PITFALLS if self._value(name) > getattr(self._limits, name)]
        self.lines[-1]["pitfalls"] = pitfalls
        warnings = [self._warning(name) for name in pitfalls if name not in earlier]
        if warnings:
            self.lines[-1]["warnings"] = [each.text for each in warnings]
        return warnings

    def stop_reasons(self) -> List[str]:
        """Returns the last step's pitfalls at which training must stop."""
        pitfalls = self.lines[-1]["pitfalls"] if self.lines else []
        return [name for name in pitfalls if name in self._limits.stop_on]

    def summary(self) -> Dict[str, Any]:
        """Returns for each pitfall that occurred: first step, number of steps, worst value and its step."""
        summary: Dict[str, Any] = {}
        for name in PITFALLS:
            affected = [line for line in self.lines if name in line.get("pitfalls", ())]
            if affected:
                worst = max(affected, key=lambda line: _number(line[name]) if name in line else 0.0)
                summary[name] = {
                    "first_step": affected[0]["step"],
                    "steps": len(affected),
                    "worst": worst.get(name),
                    "worst_step": worst["step"],
                }
        return summary

    def _value(self, name: str) -> float:
        """Returns the value to compare with the limit; 0 with too few figures or answers."""
        window = 1 if name in _SINGLE_STEP else self._limits.window
        if name in _OF_ACTIONS:
            actions = self._actions()
            enough = len(self.lines) >= window and sum(actions.values()) >= MIN_ANSWERS
            return action_figures(actions)[name] if enough else 0.0
        values = [_number(line[name]) for line in self.lines[-window:] if name in line]
        return sum(values) / window if len(values) == window else 0.0

    def _warning(self, name: str) -> PitfallWarning:
        value, step, counts = self._value(name), self.lines[-1]["step"], self._actions()
        total = max(sum(counts.values()), 1)
        actions = ", ".join(f"{action} {count / total:.0%}" for action, count in counts.most_common(2))
        text = _TEXTS[name].format(value=value, actions=actions)
        return PitfallWarning(name, step, value, f"step {step}: {name}: {text}")

    def _actions(self) -> "Counter[str]":
        """Counts the actions of the window."""
        counts: Counter[str] = Counter()
        for line in self.lines[-self._limits.window :]:
            counts.update(line.get("actions", {}))
        return counts


def _number(value: Optional[float]) -> float:
    """Returns the value; infinity for None, which stands for NaN or infinity."""
    return math.inf if value is None else value


def summary_text(summary: Mapping[str, Any], steps: int) -> str:
    """Formats a summary."""
    if not summary:
        return f"No pitfall in {steps} steps."
    texts = [
        f"  {name}: {each['steps']} of {steps} steps, first at {each['first_step']}, "
        f"worst {_number(each['worst']):,.4g} at {each['worst_step']}"
        for name, each in summary.items()
    ]
    return "\n".join(["Pitfalls:", *texts])


def read_lines(text: str, last_step: int) -> List[Dict[str, Any]]:
    """Returns the lines of a log up to `last_step`. Stops at an incomplete line."""
    lines: List[Dict[str, Any]] = []
    for row in text.splitlines():
        try:
            line = json.loads(row)
        except ValueError:
            break
        if line["step"] <= last_step:
            lines.append(line)
    return lines
