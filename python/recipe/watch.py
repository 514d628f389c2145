"""Watches a GRPO run for the pitfalls that were published of RhythmEnv's, and says so in words. Needs no other package.

A `Watch` is told of each step what came out of it, and answers with what it has to say. It remembers the last steps
alone, so it goes on from its own lines where a run was resumed.
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
    """Shares, 0 to 1, of a batch's completions, and how often each action was said."""
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
    """Of answers the share of the most frequent action, that of two which share a cycle, and the entropy in bits."""
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
    """What there is to watch in a step: of its completions, if there are some, and of what TRL logged."""
    line: Dict[str, Any] = {"step": step, **(measures(batch) if batch else {})}
    found = {name: _finite(logged[key]) for name, key in _LOGGED.items() if key in logged}
    return {**line, **found}


def _finite(value: Optional[float]) -> Optional[float]:
    """None for what JSON has no number for; TRL, too, logs None in place of NaN."""
    return value if value is not None and math.isfinite(value) else None


_WORDS = {
    "zero_spread": "{value:.0%} of the groups have no reward spread and teach nothing. Raise --grpo-temperature or "
    "--grpo-generations, or end here.",
    "one_action": "{value:.0%} of the answers are one action: {actions}. Raise --grpo-temperature, add --grpo-shaping "
    "repetition exploration, or go back to a checkpoint.",
    "cycle": "{value:.0%} of the answers are two actions: {actions}. Weeks become a cycle of them: add "
    "--grpo-shaping repetition exploration.",
    "cut_off": "{value:.0%} of the completions were cut off. Raise --grpo-completion-length, or begin from an SFT with "
    "--reasoning drop.",
    "cut_off_read": "{value:.0%} of the completions were cut off and yet read as an action, which may be one out of "
    "the middle of a reasoning. Raise --grpo-completion-length.",
    "kl": "The KL to the model that GRPO began with is {value:,.1f}. Lower --grpo-learning-rate or --grpo-beta, and go "
    "back to a checkpoint.",
    "unparsed": "{value:.0%} of the completions hold no action. Begin from an SFT adapter, or train it for longer.",
}


@dataclass(frozen=True)
class Warned:
    """A pitfall that a run has come to, and what to do."""

    pitfall: str
    step: int
    value: float
    text: str


class Watch:
    """Looks at steps in their order.

    Args:
        limits: from where on a pitfall is one.
        past: lines of earlier steps, of a run that is resumed.
    """

    def __init__(self, limits: Limits, past: Iterable[Mapping[str, Any]] = ()) -> None:
        self._limits = limits
        self.lines: List[Dict[str, Any]] = [dict(line) for line in past]

    def see(self, line: Mapping[str, Any]) -> List[Warned]:
        """Takes a line of `line_of`; returns what begins with it. A pitfall that lasts is told once."""
        before = set(self.lines[-1].get("pitfalls", ())) if self.lines else set()
        self.lines.append(dict(line))
        now = [name for name in PITFALLS if self._is_in(name)]
        self.lines[-1]["pitfalls"] = now
        warned = [self._warned(name) for name in now if name not in before]
        if warned:
            self.lines[-1]["warnings"] = [each.text for each in warned]
        return warned

    def stops(self) -> List[str]:
        """Of the pitfalls that the last step is in, those at which training is to stop."""
        inside = self.lines[-1]["pitfalls"] if self.lines else []
        return [name for name in inside if name in self._limits.stop_on]

    def summary(self) -> Dict[str, Any]:
        """For each pitfall that there was: its first step, in how many steps it was, and its worst with its step."""
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
        """Over the window, or the last one of what is told at once; 0 where too little is known."""
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
        """Of the window."""
        counts: Counter[str] = Counter()
        for line in self.lines[-self._limits.window :]:
            counts.update(line.get("actions", {}))
        return counts


def _told(actions: "Counter[str]") -> str:
    """The two most frequent, in words."""
    said = max(sum(actions.values()), 1)
    return ", ".join(f"{name} {times / said:.0%}" for name, times in actions.most_common(2))


def _number(value: Optional[float]) -> float:
    """A blow-up may end in no number at all: it is worse than any."""
    return math.inf if value is None else value


def in_words(summary: Mapping[str, Any], steps: int) -> str:
    """A summary for people."""
    if not summary:
        return f"No pitfall in {steps} steps."
    return "\n".join(["Pitfalls:", *(f"  {name}: {_lasted(found, steps)}" for name, found in summary.items())])


def _lasted(found: Mapping[str, Any], steps: int) -> str:
    worst = f"{_number(found['worst']):,.4g} at {found['worst_step']}"
    return f"{found['steps']} of {steps} steps, first at {found['first_step']}, worst {worst}"


def read_lines(text: str, before: int) -> List[Dict[str, Any]]:
    """Lines of a log up to a step; a torn last one is left out."""
    lines: List[Dict[str, Any]] = []
    for row in text.splitlines():
        try:
            line = json.loads(row)
        except ValueError:
            break
        if line["step"] <= before:
            lines.append(line)
    return lines
