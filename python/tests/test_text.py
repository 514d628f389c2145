"""Prompts, parses and episodes in text equal the golden ones, byte for byte, and wrong rows are named."""

import re
import unittest
from typing import Any, Dict, List

import numpy as np

from rhythm_vec import ACTION_NAMES, InputError, StateError, TextEnv, VecEnv, _world, parse, prompts, thought_of
from rhythm_vec.text import system_text, user_texts
from rhythm_vec.trl import RhythmEnvironment, slots_played

from .support import RefusalTest
from .test_golden import GOLDEN, read


class TextTest(unittest.TestCase):
    def test_golden_parses(self) -> None:
        cases = read("parser")["cases"]
        parsed = parse([case["text"] for case in cases])
        self.assertEqual(parsed.actions, [case["action"] for case in cases])
        beliefs = [belief and [np.float32(level) for level in belief] for belief in parsed.beliefs]
        digits = [case["belief_digits"] for case in cases]
        self.assertEqual(beliefs, [each and [np.float32(digit / 9) for digit in each] for each in digits])
        self.assertEqual(parsed.codes, [-1 if name is None else ACTION_NAMES.index(name) for name in parsed.actions])

    def test_golden_prompts(self) -> None:
        golden = read("episodes")["episodes"][0]
        names = [step["action"] for step in golden["steps"]]
        text = (GOLDEN / "prompts.txt").read_text(encoding="utf-8")
        system, *rest = re.split(r"=== (?:system|user, after \d+ steps)\n", text)[1:]
        counts = [int(count) for count in re.findall(r"=== user, after (\d+) steps", text)]
        rows = [(count, user) for count, user in zip(counts, rest) if count < 28]
        chats = prompts(
            [golden["seed"]] * len(rows), [names[:count] for count, _ in rows], profile_modes=golden["profile"]
        )
        for chat, (_, user) in zip(chats, rows):
            self.assertEqual([message["role"] for message in chat], ["system", "user"])
            self.assertEqual(chat[0]["content"] + "\n", system)
            self.assertEqual(chat[1]["content"] + "\n", user)
        (chat,) = prompts([1], [[]], grader="v3")
        self.assertEqual(chat[0]["content"] + "\n", (GOLDEN / "system-v3.txt").read_text(encoding="utf-8"))

    def test_system_texts_depend_on_the_weights(self) -> None:
        text = system_text([0.25, 0, -0.5, 0, 0, 0, 1.25, 0])
        lines = re.findall(r"^- (A good week|To avoid, because it costs: High connection|No crashes)", text, re.M)
        self.assertEqual(len(lines), 3)

    def test_numbers_of_any_size(self) -> None:
        row = np.zeros((1, 106), np.float32)
        row[0, [3, 9, 10]] = 28, -1, -1
        row[0, 22:29] = -1
        small = [(0.125, ".13"), (-0.125, "-.13"), (-0.001, ".00"), (9.999, "10.00")]
        for value, expected in [*small, (-10.125, "-10.13"), (2.0**64, "18446744073709551616.00")]:
            row[0, 4] = value
            self.assertIn(f"vitality {expected}, cognition .00", user_texts(row)[0])

    def test_thoughts(self) -> None:
        texts = ["hm\nSLEEP\nwould", "hm\nSLEEP\n</think>\nLEARN", "<think>\nSLEEP"]
        self.assertEqual(parse(texts, thought="open").actions, [None, "learn", None])

        class Tokenizer:
            def apply_chat_template(self, chat: Any, **options: Any) -> str:
                return f"{chat[0]['content']}<|end|>" + ("<think>\n" if options["enable_thinking"] else "")

        self.assertEqual(thought_of(Tokenizer(), enable_thinking=True), "open")
        self.assertEqual(thought_of(Tokenizer(), enable_thinking=False), "closed")

    def test_wrong_rows_are_named(self) -> None:
        calls: List[Any] = [
            ("wrong_type", "completions[1]", lambda: parse(["SLEEP", 7])),  # type: ignore[list-item]
            ("unknown_name", "thought", lambda: parse([], thought="opened")),
            ("illegal_action", "action_histories[1][0]", lambda: prompts([1, 2], [[], ["fly"]])),
            ("wrong_length", "action_histories[0]", lambda: prompts([1], [["sleep"] * 28])),
            ("wrong_length", "action_histories", lambda: prompts([1, 2], [[]])),
            ("unknown_name", "v9", lambda: prompts([], [], grader="v9")),
            ("unknown_name", "nobody", lambda: prompts([1], [[]], profile_modes="nobody")),
            ("bad_seed", "seeds", lambda: prompts([1, -1], [[], []])),
        ]
        for code, place, call in calls:
            with self.subTest(place=place), self.assertRaises(InputError) as caught:
                call()
            self.assertEqual(caught.exception.code, code)
            self.assertIn(place, str(caught.exception))
        self.assertEqual(prompts([], []), [])
        self.assertEqual(len(parse([])), 0)


class TextEnvTest(RefusalTest):
    def test_golden_episodes(self) -> None:
        for golden in read("text-env"):
            with self.subTest(options=golden["options"]), TextEnv(**golden["options"]) as env:
                self.assertEqual(env.reset(golden["seed"]), golden["messages"])
                for answer, step in zip(golden["answers"], golden["steps"]):
                    message, reward, done, info = env.step(answer)
                    self.assertEqual(message, {"role": "user", "content": step["message"]})
                    self.assertEqual((reward, done), (step["reward"], step["done"]))
                    self._check_info(info, step["info"])
                reward, info = env.finish()
                self.assertEqual(reward, golden["finished"]["reward"])
                self._check_info(info, golden["finished"]["info"])

    def _check_info(self, info: Any, golden: Any) -> None:
        expected = {name: value for name, value in golden.items() if name != "end"}
        if golden["end"] is not None:
            names = {"finalScore": "final_score", "beliefMae": "belief_mae", "episodeReturn": "episode_return"}
            expected.update({names.get(name, name): value for name, value in golden["end"].items()})
        belief = info["belief"] and [float(np.float32(level)) for level in info["belief"]]
        self.assertEqual({**info, "belief": belief}, expected)

    def test_messages_and_rewards_are_those_of_prompts_and_vec_env(self) -> None:
        names = [ACTION_NAMES[3 * step % 10] for step in range(28)]
        with TextEnv(reward="both", grader="v3") as env, VecEnv(1, grader="v3") as vec:
            outputs = vec.reset(seed=7)
            messages = env.reset(7)
            for step, name in enumerate(names):
                self.assertEqual([messages], prompts([7], [names[:step]], grader="v3"))
                answer = f"{step % 10} 4 9 {name}"
                message, reward, done, info = env.step([{"role": "assistant", "content": answer}])
                outputs = vec.step([ACTION_NAMES.index(name)], beliefs=parse([answer]).beliefs)
                messages = [messages[0], message]
                self.assertEqual(reward, float(outputs.rewards[0]) + float(outputs.final_scores[0]))
            self.assertTrue(done)
            self.assertIn("the week is over", message["content"])
            self.assertEqual(info["components"]["belief_skill"], outputs.components[0, 7])
            self.assertEqual(env.finish(), (0.0, info))

    def test_refusals(self) -> None:
        options = [{"reward": "all"}, {"history": "short"}, {"thought": "half"}, {"grader": "v9"}, {"profiles": "nobody"}]
        for wrong in options:
            self.expect_refusal(InputError, "unknown_name", lambda wrong=wrong: TextEnv(**wrong))
        env = TextEnv()
        self.expect_refusal(StateError, "not_reset", lambda: env.step("SLEEP"))
        self.expect_refusal(StateError, "not_reset", env.finish)
        self.expect_refusal(InputError, "bad_seed", lambda: env.reset(-1))
        env.reset(1)
        self.expect_refusal(InputError, "wrong_type", lambda: env.step(3))  # type: ignore[arg-type]
        env.finish()
        self.expect_refusal(StateError, "episode_over", lambda: env.step("SLEEP"))
        env.reset(1)
        self.assertEqual(env.step("SLEEP")[3]["step"], 1)
        env.close()
        self.expect_refusal(StateError, "closed", lambda: env.step("SLEEP"))


class ToolTest(RefusalTest):
    def test_a_tool_plays_the_steps_of_text_env(self) -> None:
        tool = RhythmEnvironment(grader="v3", reward="both")
        tool.reset(seed=7, prompt=[], profile_mode="discrete")
        with TextEnv(grader="v3", reward="both", history="new", profiles="discrete") as env:
            env.reset(7)
            paid = 0.0
            for step in range(20):
                name = ACTION_NAMES[step % 10]
                # Some models write names in other ways, and TRL passes the digits of some as text.
                told = tool.act(name.replace("_", "-"), "3", 4, step % 10)  # type: ignore[arg-type]
                message, reward, _, _ = env.step(f"3 4 {step % 10} {name}")
                paid += reward
                self.assertEqual(told, message["content"].partition("\n\nAnswer")[0])
            reward, info = env.finish()
            self.assertEqual(tool.get_reward(), paid + reward)
            self.assertEqual(tool.result, info)
            self.assertEqual(len(tool.actions), 20)
        logged: Dict[str, float] = {}
        self.assertEqual(slots_played([tool], log_metric=logged.__setitem__), [20 / 28])
        self.assertEqual(logged, {name: info[name] for name in ("belief_mae", "episode_return")})

    def test_refused_calls_take_no_step(self) -> None:
        tool = RhythmEnvironment()
        self.expect_refusal(InputError, "bad_seed", tool.reset)
        self.expect_refusal(StateError, "not_reset", lambda: tool.act("SLEEP"))
        tool.reset(seed=7)
        first = tool.act("SLEEP")
        calls: List[Any] = [("NAP",), (None,), ("SLEEP", 1), ("SLEEP", 1, 10, 1), ("SLEEP", 1, "x", 1)]
        codes = ["illegal_action", "illegal_action", "bad_belief", "out_of_range", "wrong_type"]
        for code, call in zip(codes, calls):
            self.expect_refusal(InputError, code, lambda call=call: tool.act(*call))
        self.assertEqual(len(tool.actions), 1)
        tool.reset(seed=7)
        self.assertEqual(tool.act("SLEEP"), first)
        tool.get_reward()
        self.expect_refusal(StateError, "episode_over", lambda: tool.act("SLEEP"))

    def test_the_description_of_the_tool_is_that_of_the_server(self) -> None:
        description, _, arguments = (RhythmEnvironment.act.__doc__ or "").partition("\n\n")
        self.assertEqual(description, _world.TOOLS["act"])
        self.assertIn(str([name.upper() for name in ACTION_NAMES]).replace("'", '"'), arguments)
