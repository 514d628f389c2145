"""Adapters for trainers that are not installed here, against small stand-ins of their contracts."""

import asyncio
import sys
import types
import unittest
from contextlib import asynccontextmanager
from typing import Any, Dict, Generic, List, TypeVar
from unittest import mock

from rhythm_vec import TextEnv

ANSWERS = [f"{step % 10} 5 {9 - step % 10} {'EXERCISE' if step % 3 else 'SOCIALIZE'}" for step in range(28)]


def played(answers: List[str], **options: Any) -> Dict[str, Any]:
    with TextEnv(history="new", **options) as env:
        chat = env.reset(7)
        messages = [env.step(answer)[0]["content"] for answer in answers]
        return {"chat": chat, "messages": messages, "end": env.finish()[1]}


class BaseInteraction:
    """verl/interactions/base.py, as of January 2026."""

    def __init__(self, config: Dict[str, Any]) -> None:
        self.config = config


def verl() -> Dict[str, Any]:
    base = types.ModuleType("verl.interactions.base")
    base.BaseInteraction = BaseInteraction  # type: ignore[attr-defined]
    return {name: types.ModuleType(name) for name in ("verl", "verl.interactions")} | {base.__name__: base}


Data, Config = TypeVar("Data"), TypeVar("Config")


class Fields:
    """Stands for a pydantic model: its fields are its annotations."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Task(Generic[Data]):
    def __init__(self, data: Any, config: Any) -> None:
        self.data = data


class Taskset(Generic[Data, Config]):
    def __init__(self, config: Any) -> None:
        self.config = config


class Env(Generic[Config]):
    pass


def verifiers() -> Dict[str, Any]:
    v1 = types.ModuleType("verifiers.v1")
    for name in ("TaskData", "TasksetConfig", "EnvConfig", "AgentConfig"):
        setattr(v1, name, type(name, (Fields,), {}))
    for each in (Task, Taskset, Env):
        setattr(v1, each.__name__, each)
    parent = types.ModuleType("verifiers")
    parent.v1 = v1  # type: ignore[attr-defined]
    return {"verifiers": parent, "verifiers.v1": v1}


class Interaction:
    """An exchange of verifiers: gives the answers in turn, and is terminated after them."""

    def __init__(self, answers: List[str]) -> None:
        self.answers = list(answers)
        self.asked: List[str] = []
        self.recorded: Dict[str, float] = {}
        self.trace = types.SimpleNamespace(record_reward=self.record, record_metric=self.record)

    def record(self, name: str, value: float) -> None:
        self.recorded[name] = value

    async def turn(self, message: str) -> Any:
        self.asked.append(message)
        over = not self.answers
        return types.SimpleNamespace(terminated=over, last_reply="" if over else self.answers.pop(0))


class AdapterTest(unittest.TestCase):
    def test_verl(self) -> None:
        with mock.patch.dict(sys.modules, verl()):
            from rhythm_vec.verl import RhythmInteraction, first_chat
        expected = played(ANSWERS, reward="both", grader="v3")
        self.assertEqual(first_chat("v3"), expected["chat"])

        async def play() -> None:
            interaction = RhythmInteraction({"name": "rhythm", "reward": "both", "grader": "v3"})
            await interaction.start_interaction("a", seed=7, name="rhythm")
            messages: List[Dict[str, Any]] = first_chat("v3")
            total = 0.0
            for answer, text in zip(ANSWERS, expected["messages"]):
                messages.append({"role": "assistant", "content": answer})
                done, content, reward, info = await interaction.generate_response("a", messages, seed=7)
                self.assertEqual(content, text)
                messages.append({"role": "user", "content": content})
                total += reward
            self.assertTrue(done)
            self.assertEqual(info, expected["end"])
            self.assertAlmostEqual(total, info["episode_return"] + info["final_score"], 4)
            await interaction.finalize_interaction("a")
            name = await interaction.start_interaction(seed=7)
            self.assertEqual(await interaction.calculate_score(name), played([], grader="v3")["end"]["final_score"])

        asyncio.run(play())

    def test_verifiers(self) -> None:
        with mock.patch.dict(sys.modules, verifiers()):
            from rhythm_vec.verifiers import RhythmTaskset, RhythmTextEnv
        config = Fields(seeds=[7, 8], grader="v3", profiles="sampled", task=None)
        tasks = list(RhythmTaskset(config).load())
        self.assertEqual([task.data.seed for task in tasks], [7, 8])
        for answers in (ANSWERS, ANSWERS[:5]):
            expected = played(answers, grader="v3")
            interaction = Interaction(answers)

            @asynccontextmanager
            async def opened(task: Any) -> Any:
                yield interaction

            agents = types.SimpleNamespace(player=types.SimpleNamespace(interaction=opened))
            asyncio.run(RhythmTextEnv().run(tasks[0], agents))
            rules, state = expected["chat"]
            first = f"{rules['content']}\n\n{state['content']}"
            self.assertEqual(interaction.asked, [first, *expected["messages"]][: min(28, len(answers) + 1)])
            names = ("final_score", "belief_mae")
            self.assertEqual({name: interaction.recorded[name] for name in names}, {n: expected["end"][n] for n in names})
            self.assertEqual(interaction.recorded["parsed_share"], len(answers) / 28)
