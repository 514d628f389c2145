"""Writes prompts and parses answers in this process. `_world.py` has the words and the patterns, which
src/rollouts/text/text.json defines for TypeScript and Python.

Parsing needs only the standard library.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from . import _world

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: The action code, or -1, and the digits of the belief, or None.
Answer = Tuple[int, Optional[Tuple[int, int, int]]]

_PATTERNS = _world.ANSWER_PATTERNS
# ASCII: ignoring case concerns ASCII letters only.
_FLAGS = re.IGNORECASE | re.ASCII
_TAG = re.compile(_PATTERNS["tag"], _FLAGS)
_DROPPED = re.compile(_PATTERNS["dropped"])
_SPACE = re.compile(f"[{_PATTERNS['space']}]*")
_LINE_BREAK = re.compile("[\n\r]")
_NAMES = "|".join(_world.ACTION_NAMES).replace("_", "[-_]")
_GAPS = _PATTERNS["line"].replace("{gap}", _PATTERNS["gap"])
_LINE = re.compile(_GAPS.replace("{space}", _PATTERNS["space"]).replace("{name}", _NAMES), _FLAGS)
_CODES = {name: code for code, name in enumerate(_world.ACTION_NAMES)}
_NO_ANSWER: Answer = (-1, None)


def find_answer(text: str, in_thought: bool = False) -> Answer:
    """Returns the answer of a completion, in linear time (docs/world.md, "The text form").

    Args:
        in_thought: whether the text begins inside a thought that the prompt opened.
    """
    start, end = _answer_range(text, in_thought)
    breaks = [match.start() for match in _LINE_BREAK.finditer(text, start, end)]
    while end >= start:
        begin = breaks.pop() + 1 if breaks else start
        line = text[begin:end]
        # Without its label, which ends at the first colon, then with it.
        _, colon, rest = line.partition(":")
        answer = (_read_line(rest) if colon else None) or _read_line(line)
        if answer is not None:
            return answer
        end = begin - 1
    return _NO_ANSWER


def _read_line(line: str) -> Optional[Answer]:
    """Returns the answer that a line is; None if it is none."""
    match = _LINE.fullmatch(_DROPPED.sub("", line))
    if match is None:
        return None
    s1, m1, w1, name1, name2, s2, m2, w2 = match.groups()
    name, s, m, w = name1 or name2, s1 or s2, m1 or m2, w1 or w2
    code = -1 if name is None else _CODES[name.lower().replace("-", "_")]
    return code, None if s is None else (int(s), int(m), int(w))


def _answer_range(text: str, in_thought: bool) -> Tuple[int, int]:
    """Returns where an answer may be: after the last finished thought, and before an unfinished one."""
    start: Optional[int] = None
    while True:
        thought = _next_thought(text, start or 0, in_thought and start is None)
        if thought is None:
            return start or 0, len(text)
        begin, end = thought
        if end is None:
            return begin if start is None else start, begin
        start = end


def _next_thought(text: str, at: int, in_thought: bool) -> Optional[Tuple[int, Optional[int]]]:
    """Returns where the first thought from `at` on begins and ends; its end is None if it is unfinished.

    A thought ends at the closing tag of its own name. One of which the text has only the closing tag ends at any. One
    that the prompt opened ends at any whose opening tag it does not contain. A tag that it begins with repeats the
    prompt's.
    """
    name: Optional[str] = None
    start, is_inside = at, in_thought
    inner: List[str] = []
    for tag in _TAG.finditer(text, at):
        closing, angled, slash, bracketed = tag.groups()
        tag_name = (angled or bracketed).lower()
        if closing or slash:
            if (name or tag_name) == tag_name and tag_name not in inner:
                return start, tag.end()
        elif not is_inside or (name is None and not inner and _SPACE.fullmatch(text, at, tag.start())):
            name, start, is_inside = tag_name, tag.start(), True
        elif name is None and tag_name not in inner:
            inner.append(tag_name)
    return (start, None) if is_inside else None


#: Enough digits for every number below 10^21.
_CONTEXT = Context(prec=30)
_PLACE = re.compile(r"\{\w+\}")
_HUNDREDTHS = [
    f"{'-' if value < 0 else ''}{abs(value) // 100 or ''}.{abs(value) % 100:02}" for value in range(-1000, 1001)
]


def system_text(weights: Sequence[float], form: str = "line") -> str:
    """Returns the system message: the rules, what a grader pays for, and how to answer.

    Args:
        weights: eight float32 values.
        form: "line" for answers such as "4 6 5 SLEEP", "tools" for calls of the tool `act`.
    """
    grading = _world.PROMPT_GRADING
    chosen = [_float32(weight) for weight in weights]
    for name in ("v1", "v2"):
        if chosen == [_float32(weight) for weight in _world.GRADERS[name].values()]:
            return _rules(grading["v1_and_v2"], form)
    paid = [(weight, _world.PROMPT_COMPONENTS[name]) for name, weight in zip(_world.COMPONENT_NAMES, chosen) if weight]
    paid.sort(key=lambda each: -abs(each[0]))
    lines = [grading["punished" if weight < 0 else "paid"].replace("{component}", text) for weight, text in paid]
    return _rules("\n".join([grading["title"], *lines]), form)


def _rules(grading: str, form: str) -> str:
    answer = "\n".join(_world.PROMPT_ANSWER_FORMS[form])
    return "\n".join(_world.PROMPT_RULES).replace("{grading}", grading).replace("{answer}", answer)


def _float32(value: float) -> float:
    import numpy as np

    return float(np.float32(value))


def user_texts(rows: "npt.NDArray[np.float32]", history: str = "whole", form: str = "line") -> List[str]:
    """Returns the user message of each row.

    Args:
        rows: f32 [n, 106]: raw observations with histories, as VecEnv(..., observation={"history": True}) returns them. With
            "new" only the first 22 columns, those of raw observations without histories, are read.
        history: "whole" for the last seven steps; "new" for the last step only, for chats that keep the earlier messages.
        form: with "line" the message ends with a request for an answer, before the last step; with "tools" it does not.
    """
    integers, numbers = (_INTEGERS, _NUMBERS) if history == "whole" else (_NEW_INTEGERS, _NEW_NUMBERS)
    codes = rows[:, integers].astype(int).tolist()
    texts = _texts_of(rows[:, numbers])
    return [_user_text(each, numbers, history, form) for each, numbers in zip(codes, texts)]


def _texts_of(values: "npt.NDArray[np.float32]") -> List[List[str]]:
    """Returns each number to the nearest hundredth, halves away from zero: "-.05", ".70", "1.25"."""
    import numpy as np

    wide = values.astype(np.float64)
    # A little more than 100, so that halves round away from zero (src/rollouts/text/spelling.ts).
    hundredths = np.floor(wide * (100 * (1 + 2.0**-40)) + 0.5)
    is_small = np.abs(hundredths) <= 1000
    indices = np.where(is_small, hundredths + 1000, 0).astype(int).tolist()
    texts = [list(map(_HUNDREDTHS.__getitem__, row)) for row in indices]
    for row, at in [] if is_small.all() else np.argwhere(~is_small).tolist():  # argwhere is slow
        texts[row][at] = _large(float(wide[row, at]))
    return texts


def _large(value: float) -> str:
    """Returns a number of more than ten in magnitude, as JavaScript's toFixed(2) writes it."""
    if abs(value) >= 1e21:
        return repr(value)
    return str(Decimal(value).quantize(Decimal("0.01"), ROUND_HALF_UP, _CONTEXT))


_FIELDS: Dict[str, Tuple[int, int]] = {name: (offset, size) for name, offset, size, *_ in _world.OBSERVATION_FIELDS}
_STEPS = _world.HISTORY_STEPS
_METERS = len(_world.METER_NAMES)
_SIZE = sum(size for _, size in _FIELDS.values())


def _columns(*fields: str) -> List[int]:
    return [at for name in fields for at in range(_FIELDS[name][0], sum(_FIELDS[name]))]


_PAST_REWARDS, _PAST_DELTAS = _SIZE + _STEPS, _SIZE + 2 * _STEPS
_PAST_ANOMALIES = _PAST_DELTAS + _STEPS * _METERS
#: The columns of codes: step, event, last action, and the past actions.
_INTEGERS = [*_columns("step", "event", "last_action"), *range(_SIZE, _PAST_REWARDS)]
#: The columns of numbers, in the order of the text: meters, reward; and reward, deltas and anomalies of each past step.
_NUMBERS = _columns("meters", "reward") + [
    at
    for k in range(_STEPS)
    for at in (
        _PAST_REWARDS + k,
        *range(_PAST_DELTAS + k * _METERS, _PAST_DELTAS + (k + 1) * _METERS),
        *range(_PAST_ANOMALIES + k * _METERS, _PAST_ANOMALIES + (k + 1) * _METERS),
    )
]

_NEW_INTEGERS, _NEW_NUMBERS = _INTEGERS[:3], _columns("meters", "reward", "deltas", "anomalies")

_STATE = _world.PROMPT_STATE
_ACTIONS = [name.upper() for name in _world.ACTION_NAMES]
_EVENTS = [*(_STATE["event"].replace("{name}", name) for name in _world.EVENT_NAMES), _STATE["no_event"]]
_SLOTS = len(_world.SLOT_NAMES)


def _filled(template: str, **values: Any) -> str:
    """Puts values in the places of a template that they name, and %s in the others."""
    for name, value in values.items():
        template = template.replace("{" + name + "}", str(value))
    return _PLACE.sub("%s", template.replace("%", "%%"))


_TIMES = [
    _filled(_STATE["time"], day=1 + step // _SLOTS, slot=_world.SLOT_NAMES[step % _SLOTS])
    for step in range(_world.NUM_STEPS)
]
_NOW = [
    _filled(_STATE["now"], time=time, remaining=_world.NUM_STEPS - step)
    for step, time in enumerate([*_TIMES, _STATE["over"]])
]
_LAST = [_filled(_STATE["last"], action=action) for action in _ACTIONS]
_NUMBERS_TEXT = " ".join(["%s"] * _METERS)
_CHANGES = _filled(_STATE["changes"], deltas="{}", anomalies="{}").replace("{}", _NUMBERS_TEXT)
_PAST_STEPS = [
    [
        _filled(_STATE["past_step"], time=time, action=action, deltas="{}", anomalies="{}").replace("{}", _NUMBERS_TEXT)
        for action in _ACTIONS
    ]
    for time in _TIMES
]


def _user_text(codes: Sequence[int], numbers: Sequence[str], history: str, form: str) -> str:
    """Returns a user message. `codes` and `numbers` are in the order of the columns that `user_texts` reads."""
    step, event, last, *past = codes
    at, width = _METERS + 1, 1 + 2 * _METERS
    parts = [_NOW[step] % tuple(numbers[:_METERS])]
    parts.append(_STATE["no_last"] if last < 0 else _LAST[last] % (numbers[_METERS], _EVENTS[event]))
    if history == "new" and last >= 0:
        parts.append(_CHANGES % tuple(numbers[at:]))
    lines = [
        _PAST_STEPS[step - _STEPS + k][action] % tuple(numbers[at + k * width : at + (k + 1) * width])
        for k, action in enumerate(past)
        if action >= 0
    ]
    if lines:
        parts += [_STATE["past"], *lines]
    if form == "line" and step < _world.NUM_STEPS:
        parts.append(_STATE["request"])
    return "".join(parts)
