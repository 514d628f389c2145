"""The processes (ranks) of a run, as torchrun or `accelerate launch` starts them.

Without a launcher there is only rank 0. `on_first`, `on_each_machine`, `gather` and `wait` communicate: all ranks must
call them in the same order, after TRL's configuration (`ddp_backend`, `ddp_timeout`) has connected the ranks. On CPUs,
torch's backend gloo connects them. Imports torch only if there are several ranks.
"""

from __future__ import annotations

import os
from typing import Any, Callable, List, Optional, Sequence, Tuple, TypeVar

Result = TypeVar("Result")


class OtherRankError(Exception):
    """Another rank failed. That rank reports the error."""


def rank() -> int:
    """Returns the index of this process among all processes."""
    return int(os.environ.get("RANK", "0"))


def local_rank() -> int:
    """Returns the index of this process among the processes of its machine (node)."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def count() -> int:
    """Returns the number of processes."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Returns whether this process is rank 0, which writes all files."""
    return rank() == 0


def disconnect() -> None:
    """Closes the connection between the ranks, if there is one."""
    if count() > 1:
        from torch import distributed

        if distributed.is_initialized():
            distributed.destroy_process_group()


def on_first(function: Callable[[], Result]) -> Result:
    """Calls a function on rank 0 and returns its result on all ranks. If it fails, the other ranks raise
    OtherRankError."""
    return _on_leader(function, 0)


def on_each_machine(function: Callable[[], Result]) -> Result:
    """Calls a function on the first rank of each machine and returns its result on all ranks of that machine. If it
    fails on one, the ranks of all machines raise an error, as with `on_first`."""
    return _on_leader(function, rank() - local_rank())


def gather(values: Sequence[Any]) -> List[Any]:
    """Returns the values of all ranks, in the order of the ranks."""
    return [value for each in _exchange(list(values)) for value in each]


def wait() -> None:
    """Waits until all ranks have made this call."""
    _exchange(None)


def _on_leader(function: Callable[[], Result], leader: int) -> Result:
    """Calls a function on rank `leader`, and returns its result on all ranks that name this leader. If the function
    fails on a rank, that rank raises its error, and the other ranks raise OtherRankError."""
    value: Optional[Result] = None
    error: Optional[BaseException] = None
    if rank() == leader:
        try:
            value = function()
        except Exception as raised:
            error = raised
    outcomes: List[Tuple[Any, Optional[str]]] = _exchange((value, None if error is None else str(error)))
    if error is not None:
        raise error
    failed = next((text for _, text in outcomes if text is not None), None)
    if failed is not None:
        raise OtherRankError(failed)
    result: Result = outcomes[leader][0]
    return result


def _exchange(value: Any) -> List[Any]:
    """Returns the values of all ranks."""
    if count() == 1:
        return [value]
    from torch import distributed

    values: List[Any] = [None] * count()
    distributed.all_gather_object(values, value)
    return values
