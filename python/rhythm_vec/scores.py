"""Scores of completions and actions, computed in this process, or by a server in batches.

    from rhythm_vec import score

    scores = score(seeds=[4242], action_histories=[["sleep"]], completions=["3 6 5 EXERCISE"])
    scores["total"]                                     # [1.2495855...], the value of a float32

docs/guides/rollouts.md describes the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .batches import Batch, Part, as_list, count_rows, has_form, renumber, send_batch
from . import _world
from .client import Client, check_client
from .errors import InputError
from .texts import Completion, Grader, Parsed, check_thought, form_of_parsed, join_parsed, parse, texts_of

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

_REQUIRED = ("seeds", "action_histories")
#: The arrays of `ReplayScores` that have other names than their columns.
_ARRAYS = {"step_reward": "step_rewards", "state_hash": "state_hashes"}


@dataclass(frozen=True)
class Fault:
    """An invalid row, and why it is invalid.

    Attributes:
        index: the row, from 0 on.
        code: an error code of docs/guides/errors.md, such as illegal_action.
        message: what was expected, what came, and what to do.
    """

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
        parsed: the actions and beliefs in the completions, if they were requested.
    """

    rows: int
    world_digest: str
    columns: Dict[str, List[Any]]
    faults: List[Fault]
    parsed: Optional[Parsed] = None

    def __getitem__(self, name: str) -> List[Any]:
        """Returns a column."""
        return self.columns[name]


def score(
    seeds: Sequence[int],
    action_histories: Sequence[Sequence[Union[str, int]]],
    *,
    completions: Optional[Sequence[Completion]] = None,
    actions: Optional[Sequence[Union[str, int, None]]] = None,
    beliefs: Optional[Sequence[Optional[Sequence[float]]]] = None,
    belief_histories: Optional[Sequence[Optional[Sequence[Optional[Sequence[float]]]]]] = None,
    profile_modes: Union[str, Sequence[str], None] = None,
    grader: Optional[Grader] = None,
    weights: Optional[Mapping[str, float]] = None,
    shaping: Optional[Mapping[str, bool]] = None,
    thought: Optional[str] = None,
    scores: Optional[Sequence[str]] = None,
    parsed: bool = False,
    client: Optional[Client] = None,
) -> Scores:
    """Scores completions or actions, each after the actions of its history.

    Lists have one entry per row; NumPy arrays and other objects with `tolist` are accepted. With a client, large batches are
    sent in several requests.

    Args:
        seeds: u32, the seed of each row's episode.
        action_histories: names or codes of the earlier actions, at most 27.
        completions: texts or chats, which are parsed as by `parse`. Pass either completions or actions.
        actions: names, codes, or None for no action.
        beliefs: social, morning, work in [0, 1], or None for no belief. Only with actions.
        belief_histories: the belief given with each action of the history, None for no belief. A row is None, or
            has one entry per action, or 28 entries; those after the last action are ignored. Only the
            reward of an episode's 28th step depends on them: without them a grader that weighs belief_skill, such as
            v3, counts only that step's belief.
        profile_modes: "sampled" (default), "discrete" or a profile's name, one for all rows or one per row.
        grader: "v2" by default.
        weights: the weight of each of the five rewards in the total; 1 by default, but 0 for `belief_skill` if the
            grader does not weigh it (v1 and v2 do not).
        shaping: terms of `env_reward`, such as {"repetition": True, "exploration": True}; off by default.
        thought: "open" if the completions continue a thought that the prompt opened, as in `parse`.
        scores: the columns to return, of SCORE_NAMES; all by default.
        parsed: whether to return the actions and beliefs in the completions too.
        client: a server that computes them. By default they are computed in this process, by the compiled module. The
            scores and the faults are the same.

    Raises:
        InputError: a column is not a list, columns differ in length, or an option is invalid. An invalid row is a fault in the
            result, not an error. With a client: numbers are not finite, or a value cannot be written as JSON.
        RefusedError: a server refused the request, such as for an invalid option, or its answer was not JSON.
        ServerUnavailableError: no server answered, or it was busy for too long.
        RhythmError: an answer has an unexpected form, or the servers have different worlds.
    """
    if not isinstance(parsed, bool):
        raise InputError("wrong_type", f"Expected parsed to be a bool, got {parsed!r:.60}. Pass True or False.")
    rows = {
        "seeds": seeds,
        "action_histories": action_histories,
        "completions": None if completions is None else texts_of(completions),
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
        "thought": thought,
        "scores": None if scores is None else as_list("scores", scores),
        "parsed": True if parsed else None,
    }
    columns = {name: as_list(name, entries) for name, entries in rows.items() if entries is not None or name in _REQUIRED}
    options: Dict[str, Any] = {name: value for name, value in request.items() if value is not None}
    client = check_client(client)
    if client is None:
        return _scored_here(columns, **options)
    batch = Batch("/v1/score", columns, options, lambda count: _form_of(count, parsed))
    return _join(len(columns["seeds"]), send_batch(client, batch))


def _scored_here(
    columns: Mapping[str, List[Any]],
    *,
    profile_modes: Optional[str] = None,
    thought: Optional[str] = None,
    scores: Sequence[str] = SCORE_NAMES,
    parsed: bool = False,
    **options: Any,
) -> Scores:
    """Computes scores as the server does. `options` are those of `score_replay`."""
    from .checks import check_name
    from .replay import score_replay
    from .rows import Rows

    count = count_rows(columns)
    _check_answers(columns, parsed)
    check_thought(thought)
    chosen = [check_name(f"scores[{k}]", name, SCORE_NAMES, "scores") for k, name in enumerate(scores)]
    rows = Rows(columns)
    actions, beliefs, answers = rows.actions, rows.beliefs, None
    if "completions" in columns:
        answers = parse(rows.texts, thought=thought)
        actions, beliefs = rows.answers_of(answers)
    if count == 0:
        return Scores(0, _world.WORLD_DIGEST, {name: [] for name in chosen}, [], answers if parsed else None)
    replayed = score_replay(
        rows.seeds,
        rows.histories,
        rows.steps,
        actions,
        beliefs=beliefs,
        belief_histories=rows.belief_histories,
        profiles=rows.profiles or profile_modes or "sampled",
        **options,
    )
    values = {name: rows.column_of(getattr(replayed, _ARRAYS.get(name, name))) for name in chosen}
    faults = [Fault(row, error.code, str(error)) for row, error in sorted(rows.faults.items())]
    return Scores(count, _world.WORLD_DIGEST, values, faults, answers if parsed else None)


def _check_answers(columns: Mapping[str, Any], parsed: bool) -> None:
    """Raises InputError unless there are either completions or actions."""
    has_texts = "completions" in columns
    if has_texts == ("actions" in columns):
        code, got = ("unknown_option", "both") if has_texts else ("wrong_type", "neither")
        message = f"Expected either completions or actions, got {got}. Pass completions, or actions."
        raise InputError(code, message, "completions")
    if has_texts and "beliefs" in columns:
        message = "Expected beliefs with actions only, got them with completions, which state beliefs themselves. Leave beliefs out."
        raise InputError("unknown_option", message, "beliefs")
    if parsed and not has_texts:
        message = "Expected parsed with completions only, got it with actions. Leave it out."
        raise InputError("unknown_option", message, "parsed")


def _form_of(count: int, parsed: bool) -> Dict[str, Any]:
    """Returns the form of an answer of /v1/score, as in /openapi.json."""

    def is_fault(fault: Any) -> bool:
        return has_form(fault, {"index": (int,), "code": (str,), "message": (str,)}) and 0 <= fault["index"] < count

    def are_scores(scores: Any) -> bool:
        columns = [(int, float, str, type(None)), count]
        return isinstance(scores, dict) and all(has_form(values, columns) for values in scores.values())

    return {"scores": are_scores, "faults": [is_fault, None], **({"parsed": form_of_parsed(count)} if parsed else {})}


def _join(count: int, parts: List[Part]) -> Scores:
    """Joins the answers for the parts of a batch."""
    columns: Dict[str, List[Any]] = {}
    faults: List[Fault] = []
    for part in parts:
        for name, values in part.answer["scores"].items():
            columns.setdefault(name, []).extend(float(value) if isinstance(value, int) else value for value in values)
        for fault in part.answer["faults"]:
            message = renumber(fault["message"], fault["index"], part.start)
            faults.append(Fault(fault["index"] + part.start, fault["code"], message))
    parsed = join_parsed(parts, lambda answer: answer["parsed"]) if "parsed" in parts[0].answer else None
    return Scores(count, parts[0].answer["world_digest"], columns, faults, parsed)
