"""Errors and warnings of the package."""

from __future__ import annotations

from typing import Any, NoReturn, Optional, Tuple


class RhythmError(Exception):
    """Base class of the package's own errors."""


class ServerUnavailableError(RhythmError):
    """No server gave a usable answer at any attempt, or none could be started."""


class RefusedError(RhythmError):
    """The server refused an HTTP request, or its answer was not JSON. A retry would not help.

    Attributes:
        status: the HTTP status, such as 422.
        detail: the server's answer: text, or a list of {type, loc, msg, input}.
    """

    def __init__(self, message: str, status: int, detail: Any) -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.status, self.detail)


class RowFaultWarning(UserWarning):
    """Warns of invalid rows. They have no rewards."""


class _CodedError(RhythmError):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.code, str(self))


class RequestError(_CodedError):
    """The server refused a message of a `RemoteVectorEnv`. No episode changed.

    Attributes:
        code: an error code of docs/server.md, such as VALIDATION_ERROR.
    """


class InputError(_CodedError, ValueError):
    """An argument is invalid. The call changed nothing.

    Attributes:
        code: an error code of docs/guides/errors.md, such as illegal_action.
        field: the name of the invalid argument, option or key; None for an error about several, or about none.
        row: the index of the invalid row, or of the entry of a list; None for an error that is not about one row.
    """

    def __init__(self, code: str, message: str, field: Optional[str] = None, row: Optional[int] = None) -> None:
        super().__init__(code, message)
        self.field, self.row = field, row

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.code, str(self), self.field, self.row)


class StateError(_CodedError, RuntimeError):
    """The environment's state, such as closed, does not allow the call. The call changed nothing.

    Attributes:
        code: an error code of docs/guides/errors.md, such as episode_over.
    """


#: The messages of state errors, by code.
_STATES = {
    "busy": "Expected one call at a time, got a call while another call of this environment is in progress. Use a lock, or "
    "an environment per thread.",
    "closed": "Expected an open environment, got one that was closed. Create a new environment.",
    "not_reset": "Expected a reset before this call, got none yet. Call reset(seed=...) first.",
    "foreign_past": "Expected episodes that can be replayed here, got the episode of environment {env}, which was copied "
    "from an environment with other streams (imagination). Make this call on the environment that it was copied from.",
}


def refuse_state(code: str, **values: Any) -> NoReturn:
    """Raises StateError with the message of its code."""
    raise StateError(code, _STATES[code].format(**values))
