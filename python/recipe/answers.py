"""What the recipe itself looks at in an answer. Whether it is one, and what it is worth, the server alone says."""

from __future__ import annotations

import re
from typing import Optional

ACTIONS = (
    "DEEP_WORK",
    "ADMIN_WORK",
    "LEARN",
    "SLEEP",
    "EXERCISE",
    "MEDITATE",
    "FAMILY_TIME",
    "SOCIALIZE",
    "ME_TIME",
    "BINGE_WATCH",
)
CLOSING = "</reasoning>"

_NAMED = re.compile(rf"\b({'|'.join(ACTIONS)})\b", re.IGNORECASE)


def action_named(text: str) -> Optional[str]:
    """The action that a text names last, upper case; None if it names none. Of an answer that is the action."""
    names = _NAMED.findall(text)
    return names[-1].upper() if names else None


def without_reasoning(text: str) -> str:
    """A teacher's answer without what stands before it."""
    return text.rpartition(CLOSING)[2].strip()
