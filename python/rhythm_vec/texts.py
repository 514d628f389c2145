"""Builds prompts for language models and parses their completions, in this process or on a server, in batches.

    chats = prompts(seeds=[4242], action_histories=[["sleep"]])   # [[{"role": "system", ...}, {"role": "user", ...}]]
    parsed = parse(["<reasoning>Tired.</reasoning>\\n3 6 5 EXERCISE"])
    parsed.actions                                                   # ["exercise"]

docs/guides/text.md describes the texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, NoReturn, Optional, Sequence, Union

from . import _world
from .batches import Batch, Part, as_list, count_rows, has_form, join_column, send_batch
from .client import Client, check_client
from .errors import InputError
from .text import find_answer, system_text, user_texts

#: A completion as TRL passes it: text, or the messages of a chat.
Completion = Union[str, Sequence[Mapping[str, Any]]]

#: A message of a chat: {"role", "content"}.
Message = Dict[str, str]
Chat = List[Message]

#: "v1", "v2", "v3", or a custom grader {"name", "weights"} as in docs/guides/rewards.md. Weights that are left
#: out are 0.
Grader = Union[str, Mapping[str, Any]]

#: The maximum number of rows of a request for prompts.
_MAX_PROMPTS = 2**17
#: The number of rows whose episodes are played together. Chosen by hand: more take more memory.
_ROWS = 4096
#: The level of each digit of a belief: the float32 nearest to a ninth of it, in its shortest decimals.
BELIEFS = (0.0, 0.11111111, 0.22222222, 0.33333334, 0.44444445, 0.5555556, 0.6666667, 0.7777778, 0.8888889, 1.0)


@dataclass(frozen=True)
class Parsed:
    """The answers in completions, in order.

    Attributes:
        actions: names; None for no action.
        codes: the actions as numbers from 0 to 9; -1 for no action.
        beliefs: social, morning, work in [0, 1], float32 values; None for no belief.
    """

    actions: List[Optional[str]]
    codes: List[int]
    beliefs: List[Optional[List[float]]]

    def __len__(self) -> int:
        return len(self.actions)


def prompts(
    seeds: Sequence[int],
    action_histories: Sequence[Sequence[Union[str, int]]],
    *,
    profile_modes: Union[str, Sequence[str], None] = None,
    grader: Optional[Grader] = None,
    client: Optional[Client] = None,
) -> List[Chat]:
    """Returns the chat messages for each row: the rules, and the state of an episode after the actions of its history.

    Args:
        seeds, action_histories, profile_modes: as in `score`.
        grader: the grader that the rules describe; "v2" by default.
        client: a server that writes the prompts. By default they are written in this process, by the compiled module.

    Raises:
        InputError: a column is not a list, columns differ in length, or a row or the grader is invalid; the message
            names it. With a client: a value cannot be written as JSON.
        RefusedError: a server refused the request, such as for an invalid row or grader; the message names it. Or
            the answer was not JSON.
        ServerUnavailableError: no server answered, or it was busy for too long.
        RhythmError: an answer has an unexpected form, or the servers have different worlds.
    """
    client = check_client(client)
    columns = {"seeds": as_list("seeds", seeds), "action_histories": as_list("action_histories", action_histories)}
    profile = profile_modes if profile_modes is None or isinstance(profile_modes, str) else None
    if profile_modes is not profile:
        columns["profile_modes"] = as_list("profile_modes", profile_modes)
    if client is None:
        return _prompts_here(columns, profile, grader)
    given = {"grader": grader, "profile_modes": profile}
    options = {name: value for name, value in given.items() if value is not None}
    batch = Batch("/v1/prompts", columns, options, _form_of_prompts, _MAX_PROMPTS)
    parts = send_batch(client, batch)
    return [
        [{"role": "system", "content": part.answer["system"]}, {"role": "user", "content": user}]
        for part in parts
        for user in part.answer["users"]
    ]


def parse(
    completions: Sequence[Completion], *, thought: Optional[str] = None, client: Optional[Client] = None
) -> Parsed:
    """Returns the action and the belief in each completion, which is a text or the messages of a chat.

    Args:
        thought: "open" if the completions continue a thought that the prompt opened (see `thought_of`): nothing counts
            before the thought's end. By default "closed".
        client: a server that parses them. By default they are parsed in this process.

    Raises:
        InputError: completions are not a list, or one is neither a text nor a chat; the message names its row. With a
            client: a value cannot be written as JSON.
        RefusedError: a server refused the request; the message names the row. Or the answer was not JSON.
        ServerUnavailableError: no server answered, or it was busy for too long.
        RhythmError: an answer has an unexpected form, or the servers have different worlds.
    """
    client = check_client(client)
    if client is None:
        return _parsed_here(texts_of(completions), thought)
    options = {} if thought is None else {"thought": thought}
    batch = Batch("/v1/parse", {"completions": texts_of(completions)}, options, form_of_parsed)
    return join_parsed(send_batch(client, batch), lambda answer: answer)


def thought_of(tokenizer: Any, *, client: Optional[Client] = None, **options: Any) -> str:
    """Returns the `thought` of the completions of a chat model: "open" if its chat template ends prompts inside a
    thought, such as after "<think>", else "closed".

    Args:
        tokenizer: a tokenizer of transformers, with a chat template.
        client: a server whose parser decides. By default that of this process.
        options: options of the chat template, such as enable_thinking=False.

    Raises:
        RefusedError, ServerUnavailableError, RhythmError: as in `parse`.
    """
    message = "Choose an action."
    chat = [{"role": "user", "content": message}]
    prompt = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False, **options)
    # Only what follows the message: templates may name the tags in a system message of their own.
    end = prompt.rpartition(message)[2]
    return "closed" if parse([f"{end}\nSLEEP"], client=client).actions[0] else "open"


def _refuse(code: str, expected: str, got: Any, remedy: str, field: str, row: Optional[int] = None) -> NoReturn:
    short = repr(got) if len(repr(got)) <= 60 else f"{repr(got)[:57]}..."
    raise InputError(code, f"Expected {expected}, got {short}. {remedy}", field, row)


def check_thought(thought: Any) -> None:
    """Raises InputError `unknown_name` for a `thought` that is neither None, "closed" nor "open"."""
    if thought not in (None, "closed", "open"):
        _refuse("unknown_name", "thought to be one of closed, open", thought, "Use one of these names.", "thought")


def _parsed_here(texts: List[Any], thought: Optional[str]) -> Parsed:
    check_thought(thought)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            expected = f"a text or the messages of a chat at completions[{row}]"
            _refuse("wrong_type", expected, text, "Pass its text.", "completions", row)
    answers = [find_answer(text, thought == "open") for text in texts]
    return Parsed(
        [_world.ACTION_NAMES[code] if code >= 0 else None for code, _ in answers],
        [code for code, _ in answers],
        [None if digits is None else [BELIEFS[digit] for digit in digits] for _, digits in answers],
    )


def _prompts_here(columns: Dict[str, List[Any]], profile_modes: Optional[str], grader: Optional[Grader]) -> List[Chat]:
    """Plays each row's history, and writes the prompt of the state after it."""
    from .choices import to_grader
    from .rows import Rows
    from .vec_env import VecEnv
    from .world import World

    count = count_rows(columns)
    system = {"role": "system", "content": system_text(to_grader(World(), grader or "v2").tolist())}
    rows = Rows(columns)
    if rows.faults:
        raise rows.faults[min(rows.faults)]
    profiles = rows.profiles or [profile_modes or "sampled"] * count
    chats: List[Chat] = []
    for start in range(0, count, _ROWS):
        part = slice(start, min(start + _ROWS, count))
        with VecEnv(part.stop - start, observation={"history": True}) as env:
            env.reset(seed=rows.seeds[part], profiles=profiles[part])
            outputs, _ = env.run(rows.histories[part], stops=rows.steps[part])
            users = user_texts(outputs.observations)
        chats += [[dict(system), {"role": "user", "content": user}] for user in users]
    return chats


def texts_of(completions: Any) -> List[Any]:
    """Returns the texts of completions. Entries that are neither text nor chats stay, for the server to report."""
    return [text_of(each) for each in as_list("completions", completions)]


def text_of(completion: Any) -> Any:
    """Returns the text of a completion: for a chat, the text of its last message, or "" without messages. Returns
    other values unchanged, for the server to report."""
    last = completion[-1] if isinstance(completion, (list, tuple)) and completion else {}
    if not isinstance(completion, (list, tuple)) or not isinstance(last, Mapping):
        return completion
    content = last.get("content")
    if isinstance(content, (list, tuple)):
        parts = [part for part in content if isinstance(part, Mapping) and part.get("type", "text") == "text"]
        return "".join(str(part.get("text", "")) for part in parts)
    return "" if content is None else content


def join_parsed(parts: List[Part], parsed_of: Callable[[Dict[str, Any]], Dict[str, List[Any]]]) -> Parsed:
    """Joins the answers of parts. `parsed_of` extracts the columns of Parsed from an answer."""
    actions = join_column(parts, lambda answer: parsed_of(answer)["actions"])
    codes = join_column(parts, lambda answer: parsed_of(answer)["codes"])
    beliefs = join_column(parts, lambda answer: parsed_of(answer)["beliefs"])
    return Parsed(actions, codes, [belief and [float(level) for level in belief] for belief in beliefs])


def form_of_parsed(count: int) -> Dict[str, Any]:
    """Returns the form of the columns of Parsed for a number of rows (see `has_form`)."""

    def is_belief(belief: Any) -> bool:
        return belief is None or has_form(belief, [(int, float), 3])

    return {"actions": [(str, type(None)), count], "codes": [(int,), count], "beliefs": [is_belief, count]}


def _form_of_prompts(count: int) -> Dict[str, Any]:
    return {"system": (str,), "users": [(str,), count]}
