"""Watches a GRPO run for the published pitfalls of RhythmEnv and describes them. Needs no other package.
A `Watch` receives the figures of each step and returns warnings. It keeps only the lines of past steps, so a resumed
run restores it from its log.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence

from answers import action_named
from settings import PITFALLS, Limits

#: Of the two actions of a cycle, how much the rarer one has at least of all answers: below it is one action's collapse.
PARTNER = 0.2
#: Answers in a window below which nothing is said of their actions.
LEAST_ANSWERS = 20
#: One step of these is enough; of the others the mean over the window counts.
_AT_ONCE = ("kl",)
#: Of these the answers of the window count, taken together.
_OF_ANSWERS = ("one_action", "cycle")


@dataclass(frozen=True)
class Batch:
    """The completions of a step.

    Attributes:
        texts: what the model said.
        legal: whether the server read an action in each.
        cut_off: whether each ended because it was long, and not by itself.
    """

    texts: Sequence[str]
    legal: Sequence[bool]
    cut_off: Sequence[bool]


def measures(batch: Batch) -> Dict[str, Any]:
    """Returns shares of a batch's completions, in [0, 1], and the count of each action."""
    count = max(len(batch.texts), 1)
    actions = Counter(
        action_named(text) or "another name" for text, legal in zip(batch.texts, batch.legal) if legal
    )
    return {
        **spread(actions),
        "cut_off": sum(batch.cut_off) / count,
        "cut_off_read": sum(cut and legal for cut, legal in zip(batch.cut_off, batch.legal)) / count,
        "unparsed": 1 - sum(batch.legal) / count,
        "actions": dict(actions.most_common()),
    }


def spread(actions: Mapping[str, int]) -> Dict[str, float]:
    """Returns the share of the most frequent action, the share of a two-action cycle, and the entropy in bits."""
    said = max(sum(actions.values()), 1)
    shares = sorted((times / said for times in actions.values()), reverse=True) + [0.0, 0.0]
    return {
        "one_action": shares[0],
        "cycle": shares[0] + shares[1] if shares[1] >= PARTNER else 0.0,
        "entropy": sum(share * math.log2(1 / share) for share in shares if share > 0),
    }


#: What TRL logs of a step, by what it is called here. TRL's are of all processes.
_LOGGED = {
    "zero_spread": "frac_reward_zero_std",
    "cut_off": "completions/clipped_ratio",
    "kl": "kl",
    "reward": "reward",
    "format_valid": "rewards/format_valid/mean",
    "action_legal": "rewards/action_legal/mean",
    "env_reward": "rewards/env_reward/mean",
    "belief_accuracy": "rewards/belief_accuracy/mean",
}


def line_of(step: int, logged: Mapping[str, Any], batch: Optional[Batch]) -> Dict[str, Any]:
    """Returns a step's figures: those of its completions, if any, and those that TRL logged."""
    line: Dict[str, Any] = {"step": step, **(measures(batch) if batch else {})}
    found = {name: _finite(logged[key]) for name, key in _LOGGED.items() if key in logged}
    return {**line, **found}


def _finite(value: Optional[float]) -> Optional[float]:
    """Returns None for NaN and infinities, which JSON lacks. TRL also logs None for NaN."""
    return value if value is not None and math.isfinite(value) else None


_WORDS = {
    "zero_spread": "{value:.0%} of the groups have no reward spread and give no training signal. Raise "
    "--grpo-temperature or --grpo-generations, or stop the training.",
    "one_action": "{value:.0%} of the answers are one action: {actions}. Raise --grpo-temperature, add --grpo-shaping "
    "repetition exploration, or go back to a checkpoint.",
    "cycle": "{value:.0%} of the answers are two actions: {actions}. Episodes become a cycle of them: add "
    "--grpo-shaping repetition exploration.",
    "cut_off": "{value:.0%} of the completions were cut off. Raise --grpo-completion-length, or start from an SFT with "
    "--reasoning drop.",
    "cut_off_read": "{value:.0%} of the completions were cut off and still parsed as an action, possibly one from "
    "the middle of a reasoning. Raise --grpo-completion-length.",
    "kl": "The KL to the model at the start of GRPO is {value:,.1f}. Lower --grpo-learning-rate or --grpo-beta, and go "
    "back to a checkpoint.",
    "unparsed": "{value:.0%} of the completions hold no action. Start from an SFT adapter, or train it for longer.",
}


@dataclass(frozen=True)
class Warned:
    """A pitfall that a run has met, and a remedy."""

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

    def see(self, line: Mapping[str, Any]) -> List[Warned]:
        """Adds a line of `line_of`; returns the pitfalls that begin with it. A lasting pitfall is reported once."""
        before = set(self.lines[-1].get("pitfalls", ())) if self.lines else set()
        self.lines.append(dict(line))
        now = [name for name in PITFALLS if self._is_in(name)]
        self.lines[-1]["pitfalls"] = now
        warned = [self._warned(name) for name in now if name not in before]
        if warned:
            self.lines[-1]["warnings"] = [each.text for each in warned]
        return warned

    def stops(self) -> List[str]:
        """Returns the last step's pitfalls at which training must stop."""
        inside = self.lines[-1]["pitfalls"] if self.lines else []
        return [name for name in inside if name in self._limits.stop_on]

    def summary(self) -> Dict[str, Any]:
        """Returns for each pitfall met: its first step, the number of its steps, and its worst value with its step."""
        found: Dict[str, Any] = {}
        for name in PITFALLS:
            inside = [line for line in self.lines if name in line.get("pitfalls", ())]
            if inside:
                worst = max(inside, key=lambda line: _number(line[name]) if name in line else 0.0)
                found[name] = {
                    "first_step": inside[0]["step"],
                    "steps": len(inside),
                    "worst": worst.get(name),
                    "worst_step": worst["step"],
                }
        return found

    def _is_in(self, name: str) -> bool:
        return self._value(name) > getattr(self._limits, name)

    def _value(self, name: str) -> float:
        """Returns the mean over the window, or the last value for a limit on single steps; 0 with too few steps."""
        window = 1 if name in _AT_ONCE else self._limits.window
        if name in _OF_ANSWERS:
            actions = self._actions()
            enough = len(self.lines) >= window and sum(actions.values()) >= LEAST_ANSWERS
            return spread(actions)[name] if enough else 0.0
        values = [_number(line[name]) for line in self.lines[-window:] if name in line]
        return sum(values) / window if len(values) == window else 0.0

    def _warned(self, name: str) -> Warned:
        value = self._value(name)
        step = self.lines[-1]["step"]
        text = _WORDS[name].format(value=value, actions=_told(self._actions()))
        return Warned(name, step, value, f"step {step}: {name}: {text}")

    def _actions(self) -> "Counter[str]":
        """Counts the actions of the window."""
        counts: Counter[str] = Counter()
        for line in self.lines[-self._limits.window :]:
            counts.update(line.get("actions", {}))
        return counts


def _told(actions: "Counter[str]") -> str:
    """Formats the two most frequent actions."""
    said = max(sum(actions.values()), 1)
    return ", ".join(f"{name} {times / said:.0%}" for name, times in actions.most_common(2))


def _number(value: Optional[float]) -> float:
    """Treats a missing number, which follows a blow-up, as infinite."""
    return math.inf if value is None else value


def in_words(summary: Mapping[str, Any], steps: int) -> str:
    """Formats a summary."""
    if not summary:
        return f"No pitfall in {steps} steps."
    return "\n".join(["Pitfalls:", *(f"  {name}: {_lasted(found, steps)}" for name, found in summary.items())])


def _lasted(found: Mapping[str, Any], steps: int) -> str:
    worst = f"{_number(found['worst']):,.4g} at {found['worst_step']}"
    return f"{found['steps']} of {steps} steps, first at {found['first_step']}, worst {worst}"


def read_lines(text: str, before: int) -> List[Dict[str, Any]]:
    """Returns the lines of a log up to a step, without an incomplete last one."""
    lines: List[Dict[str, Any]] = []
    for row in text.splitlines():
        try:
            line = json.loads(row)
        except ValueError:
            break
        if line["step"] <= before:
            lines.append(line)
    return lines
