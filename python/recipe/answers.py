"""Finds actions in answers, for statistics only (the server parses and scores answers), and removes reasoning."""

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
    """Returns the last action that a text names, in upper case; None if it names none. An answer names its action last."""
    names = _NAMED.findall(text)
    return names[-1].upper() if names else None


def without_reasoning(text: str) -> str:
    """Returns a teacher's answer without its reasoning."""
    return text.rpartition(CLOSING)[2].strip()
