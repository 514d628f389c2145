"""Scores of completions and actions, computed by a server in batches.

    from rhythm_vec import score

    scores = score(seeds=[4242], action_histories=[["sleep"]], completions=["3 6 5 EXERCISE"])
    scores["total"]                                     # [1.2495855]: numpy.float32 restores the bits

docs/guides/replay-scoring.md describes the scores.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .client import REMEDIES, Client
from .errors import RefusedError, RhythmError

#: The names of the columns that `score` returns.
SCORE_NAMES = (
    "format_valid",
    "action_legal",
    "env_reward",
    "belief_accuracy",
    "belief_skill",
    "total",
    "step_reward",
    "belief_mae",
    "state_hash",
)

#: "v1", "v2", "v3", or a custom grader {"name", "weights"} as in docs/guides/custom-graders.md. Weights that are left out are 0.
Grader = Union[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Fault:
    """An invalid row, and why it is invalid."""

    index: int
    code: str
    message: str


@dataclass(frozen=True)
class Scores:
    """The scores of rows, in order.

    Attributes:
        rows: the number of rows.
        world_digest: the digest of the world.
        columns: lists by name, with one entry per row: a float32 value, or None if the row has none;
            `state_hash` is hexadecimal.
        faults: the invalid rows, which have no scores.
    """

    rows: int
    world_digest: str
    columns: Dict[str, List[Any]]
    faults: List[Fault]

    def __getitem__(self, name: str) -> List[Any]:
        """Returns a column."""
        return self.columns[name]


def score(
    seeds: Sequence[int],
    action_histories: Sequence[Sequence[Union[str, int]]],
    *,
    completions: Optional[Sequence[str]] = None,
    actions: Optional[Sequence[Union[str, int, None]]] = None,
    beliefs: Optional[Sequence[Optional[Sequence[float]]]] = None,
    belief_histories: Optional[Sequence[Optional[Sequence[Optional[Sequence[float]]]]]] = None,
    profile_modes: Union[str, Sequence[str], None] = None,
    grader: Optional[Grader] = None,
    weights: Optional[Mapping[str, float]] = None,
    shaping: Optional[Mapping[str, bool]] = None,
    scores: Optional[Sequence[str]] = None,
    client: Optional[Client] = None,
) -> Scores:
    """Scores completions or actions, each after the actions of its history.
    Lists have one entry per row; NumPy arrays and other objects with `tolist` are accepted. Large batches are sent in
    several requests.

    Args:
        seeds: u32, the seed of each row's episode.
        action_histories: names or codes of the earlier actions, at most 27.
        completions: texts, which the server parses. Pass either completions or actions.
        actions: names, codes, or None for no action.
        beliefs: social, morning, work in [0, 1], or None for no belief. Only with actions.
        belief_histories: the belief given with each action of the history, None for no belief. A row has as many beliefs
            as actions, or 28, of which the later ones are ignored; or it is None. Only the reward of an episode's 28th
            step depends on them: without them a grader that weighs belief_skill, such as v3, counts that step's
            belief alone.
        profile_modes: "sampled" (default), "discrete" or a profile's name, one for all rows or one per row.
        grader: "v2" by default.
        weights: the weight of each of the five rewards in the total; 1 by default, but 0 for `belief_skill` if the
            grader does not weigh it, as v1 and v2.
        shaping: terms of `env_reward`, such as {"repetition": True, "exploration": True}; off by default.
        scores: the columns to return, of SCORE_NAMES; all by default.
        client: `Client()` by default: a server on this machine.

    Raises:
        RefusedError: the request is invalid. An invalid row is a fault in the result, not an error.
        ServerUnavailableError: no server answered, or it was busy for too long.
        ValueError: columns differ in length, or numbers are not finite.
    """
    rows = {
        "seeds": seeds,
        "action_histories": action_histories,
        "completions": completions,
        "actions": actions,
        "beliefs": beliefs,
        "belief_histories": belief_histories,
        "profile_modes": None if isinstance(profile_modes, str) else profile_modes,
    }
    request = {
        "profile_modes": profile_modes if isinstance(profile_modes, str) else None,
        "grader": grader,
        "weights": weights,
        "shaping": shaping,
        "scores": None if scores is None else list(scores),
    }
    columns = {name: _as_list(entries) for name, entries in rows.items() if entries is not None}
    options = {name: value for name, value in request.items() if value is not None}
    count = _count_of(columns)
    parts = list(_parts(client or Client(), columns, options, 0, count))
    return _join(count, parts)


def _as_list(entries: Any) -> List[Any]:
    return entries.tolist() if hasattr(entries, "tolist") else list(entries)


def _count_of(columns: Mapping[str, List[Any]]) -> int:
    count = len(columns["seeds"])
    for name, entries in columns.items():
        if len(entries) != count:
            raise ValueError(
                f"Expected {count} entries in {name} (as many as seeds), got {len(entries)}. "
                "Pass one per row."
            )
    return count


def _encode(columns: Mapping[str, List[Any]], options: Mapping[str, Any], start: int, stop: int) -> bytes:
    request = {**{name: entries[start:stop] for name, entries in columns.items()}, **options}
    try:
        text = json.dumps(request, allow_nan=False, separators=(",", ":"), default=_to_json)
    except ValueError as error:
        raise ValueError(
            f"Expected finite numbers in rows {start} to {stop - 1}, got others ({error}). "
            "Pass None for no belief."
        ) from error
    return text.encode()


def _to_json(value: Any) -> Any:
    """Converts values that `json` does not support: NumPy arrays and numbers, and other mappings."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"Expected numbers, text and lists, got {type(value).__name__}. Pass JSON values.")


def _parts(
    client: Client,
    columns: Mapping[str, List[Any]],
    options: Mapping[str, Any],
    start: int,
    stop: int,
) -> Iterator[Tuple[int, Dict[str, Any]]]:
    """Yields answers, each with the index of its first row. Halves a batch that is too large."""
    single = stop - start <= 1
    body = _encode(columns, options, start, stop) if stop - start <= max(client.row_limit, 1) else None
    if body is not None and (single or len(body) <= client.body_limit):
        try:
            yield start, _check_answer(client.post("/v1/score", body), client, stop - start)
            return
        except RefusedError as error:
            # The server's limit is lower than the client's: send halves.
            if single or error.status != 413:
                raise
    middle = (start + stop) // 2
    yield from _parts(client, columns, options, start, middle)
    yield from _parts(client, columns, options, middle, stop)


def _check_answer(answer: Any, client: Client, count: int) -> Dict[str, Any]:
    if _is_answer(answer, count):
        scores: Dict[str, Any] = answer
        return scores
    raise RhythmError(
        f"Expected scores of {count} rows from POST {client.url}/v1/score, got other JSON: {_brief(answer)}. "
        f"{REMEDIES[404]}"
    )


def _is_answer(answer: Any, count: int) -> bool:
    """Returns whether an answer has the form of /v1/score in docs/server.md."""
    if not isinstance(answer, dict) or not isinstance(answer.get("world_digest"), str):
        return False
    scores, faults = answer.get("scores"), answer.get("faults")
    if not isinstance(scores, dict) or not isinstance(faults, list):
        return False
    return all(_are_scores(values, count) for values in scores.values()) and all(
        _is_fault(fault, count) for fault in faults
    )


def _are_scores(values: Any, count: int) -> bool:
    types = (int, float, str, type(None))
    return isinstance(values, list) and len(values) == count and all(isinstance(value, types) for value in values)


def _is_fault(fault: Any, count: int) -> bool:
    if not isinstance(fault, dict) or type(fault.get("index")) is not int:
        return False
    return 0 <= fault["index"] < count and all(isinstance(fault.get(key), str) for key in ("code", "message"))


def _brief(answer: Any) -> str:
    try:
        return repr(answer)[:200]
    except RecursionError:
        return "deeply nested lists"


def _join(count: int, parts: Sequence[Tuple[int, Dict[str, Any]]]) -> Scores:
    columns: Dict[str, List[Any]] = {}
    faults: List[Fault] = []
    for start, answer in parts:
        for name, values in answer["scores"].items():
            columns.setdefault(name, []).extend(_as_float(value) for value in values)
        for fault in answer["faults"]:
            message = _renumber(fault["message"], start)
            faults.append(Fault(fault["index"] + start, fault["code"], message))
    return Scores(count, parts[0][1]["world_digest"], columns, faults)


def _as_float(value: Any) -> Any:
    """Converts integers of JSON to float; None and text stay."""
    return float(value) if isinstance(value, int) else value


_ROW_NUMBER = re.compile(r"\b(seeds|action_histories|completions|actions|beliefs|belief_histories|profile_modes)\[(\d+)\]")


def _renumber(message: str, start: int) -> str:
    """Replaces the row numbers of a part by those of the whole batch, in a message."""
    return _ROW_NUMBER.sub(lambda match: f"{match[1]}[{int(match[2]) + start}]", message)
