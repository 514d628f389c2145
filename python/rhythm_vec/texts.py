"""Builds prompts for language models and parses their completions, on a server, in batches.

    chats = prompts(seeds=[4242], action_histories=[["sleep"]])   # [[{"role": "system", ...}, {"role": "user", ...}]]
    parsed = parse(["<reasoning>Tired.</reasoning>\\n3 6 5 EXERCISE"])
    parsed.actions                                                   # ["exercise"]

docs/guides/text.md describes the texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from .batches import Batch, Part, as_list, has_form, join_column, send_batch
from .client import Client, to_client

#: A completion as TRL passes it: text, or the messages of a chat.
Completion = Union[str, Sequence[Mapping[str, Any]]]

#: "v1", "v2", "v3", or a custom grader {"name", "weights"} as in docs/guides/custom-graders.md. Weights that are left
#: out are 0.
Grader = Union[str, Mapping[str, Any]]

#: The maximum number of rows of a request for prompts.
_MAX_PROMPTS = 2**17


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
) -> List[List[Dict[str, str]]]:
    """Returns the chat messages for each row: the rules, and the state of an episode after the actions of its history.

    Args:
        seeds, action_histories, profile_modes: as in `score`.
        grader: the grader that the rules describe; "v2" by default.
        client: `Client()` by default: a server on this machine.

    Raises:
        RefusedError: a server refused the request, such as for an invalid row or grader; the message names it. Or
            the answer was not JSON.
        ServerUnavailableError: no server answered, or it was busy for too long.
        RhythmError: an answer has an unexpected form, or the servers have different worlds.
        InputError: a column is not a list, columns differ in length, or a value cannot be written as JSON.
    """
    columns = {"seeds": as_list("seeds", seeds), "action_histories": as_list("action_histories", action_histories)}
    options = {} if grader is None else {"grader": grader}
    if isinstance(profile_modes, str):
        options["profile_modes"] = profile_modes
    elif profile_modes is not None:
        columns["profile_modes"] = as_list("profile_modes", profile_modes)
    batch = Batch("/v1/prompts", columns, options, _form_of_prompts, _MAX_PROMPTS)
    parts = send_batch(to_client(client), batch)
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
        client: `Client()` by default: a server on this machine.

    Raises:
        RefusedError: a server refused the request, such as for a completion that is neither a text nor a chat; the
            message names its row. Or the answer was not JSON.
        ServerUnavailableError: no server answered, or it was busy for too long.
        RhythmError: an answer has an unexpected form, or the servers have different worlds.
        InputError: completions are not a list, or a value cannot be written as JSON.
    """
    options = {} if thought is None else {"thought": thought}
    batch = Batch("/v1/parse", {"completions": texts_of(completions)}, options, form_of_parsed)
    return join_parsed(send_batch(to_client(client), batch), lambda answer: answer)


def thought_of(tokenizer: Any, *, client: Optional[Client] = None, **options: Any) -> str:
    """Returns the `thought` of the completions of a chat model: "open" if its chat template ends prompts inside a
    thought, such as after "<think>", else "closed".

    Args:
        tokenizer: a tokenizer of transformers, with a chat template.
        client: `Client()` by default: a server on this machine, whose parser decides.
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
