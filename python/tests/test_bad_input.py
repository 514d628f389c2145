"""Invalid arguments raise errors that say what was expected, what came and what to do. The calls change nothing."""

import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

from rhythm_vec import InputError, StateError, VecEnv, World, parse, prompts, rollout_groups, score, score_replay
from rhythm_vec.checks import did_you_mean

from .support import RefusalTest, played

N = 4
NAN = float("nan")
Cases = List[Tuple[str, Any]]

#: Values that the tested arguments do not accept.
ODD: List[Any] = [object(), "", {}, [[0], [0, 1]], np.zeros((2, 2, 2)), 1j, b"bytes"]

ACTIONS: Cases = [
    ("wrong_length", np.zeros(3, np.uint8)),
    ("wrong_length", np.zeros(5, np.int64)),
    ("wrong_length", np.zeros((4, 1), np.uint8)),
    ("wrong_length", np.zeros((2, 2), np.int32)),
    ("wrong_length", np.int64(0)),
    ("wrong_length", [0, 0, 0]),
    ("wrong_type", np.zeros(4)),
    ("wrong_type", np.zeros(4, np.bool_)),
    ("wrong_type", np.zeros(4, object)),
    ("wrong_type", np.zeros(4, np.complex64)),
    ("wrong_type", np.array(["sleep"] * 4)),
    ("wrong_type", np.zeros(4, "M8[s]")),
    ("wrong_type", None),
    ("wrong_type", ["sleep"] * 4),
    ("wrong_type", [0, 0, 0, 2**70]),
    *[("illegal_action", [0, 0, code, 0]) for code in (-1, 10, 255, 256, 257, 2**31, 2**40, -(2**40))],
    *[
        ("illegal_action", np.array([0, 0, code, 0], dtype))
        for code, dtype in ((10, "u1"), (-1, "i1"), (256, ">i2"), (2**63, "u8"))
    ],
]

BELIEFS: Cases = [
    ("wrong_length", np.zeros((4, 2), np.float32)),
    ("wrong_length", np.zeros((3, 4), np.float32)),
    ("wrong_length", np.zeros(11, np.float32)),
    ("wrong_length", np.zeros((2, 2, 3))),
    ("bad_belief", [0.5, NAN, 0.5]),
    ("wrong_type", np.zeros((4, 3), np.bool_)),
    ("wrong_type", np.zeros((4, 3), object)),
    ("wrong_type", np.zeros((4, 3), np.complex128)),
    ("wrong_type", [[0.5, 0.5, None]] * 4),
    ("wrong_type", "none"),
    *[
        ("bad_belief", [[0.5] * 3] * 3 + [row])
        for row in ([NAN, 0.5, 0.5], [NAN, NAN, 0.5], [0.5, float("inf"), 0.5], [NAN, NAN, -float("inf")], [1e39, 0, 0])
    ],
]

MASKS: Cases = [
    ("wrong_type", np.zeros(3, np.bool_)),
    ("wrong_type", np.zeros((4, 1), np.bool_)),
    ("wrong_type", np.zeros(4)),
    ("wrong_type", np.full(4, 2, np.uint8)),
    ("wrong_type", np.zeros(4, object)),
    ("wrong_type", [True, None, True, False]),
    ("wrong_type", [[True], [True, False]]),
    ("wrong_type", True),
    ("wrong_type", "all"),
]

SEEDS: Cases = [
    ("bad_seed", -1),
    ("bad_seed", 2**32),
    ("bad_seed", 2**32 - 3),
    ("bad_seed", True),
    ("bad_seed", 1.0),
    ("bad_seed", "1"),
    ("bad_seed", [0, 1, 2, -1]),
    ("bad_seed", [0, 1, 2, 2**32]),
    ("bad_seed", [0, 1, 2, 2**80]),
    ("bad_seed", np.zeros(4)),
    ("bad_seed", [[0], [0, 1]]),
    ("wrong_length", [0, 1, 2]),
    ("wrong_length", np.zeros((2, 2), np.uint32)),
]

PROFILES: Cases = [
    ("unknown_name", "sampeld"),
    ("unknown_name", ["sampled", "sampled", "sampled", "nobody"]),
    ("wrong_length", ["sampled"] * 3),
    ("wrong_length", np.zeros((4, 15), np.float32)),
    ("wrong_length", np.zeros((3, 16), np.float32)),
    ("wrong_type", np.zeros((4, 16), np.int32)),
    ("wrong_type", np.zeros((4, 16), object)),
    ("wrong_type", 5),
    ("wrong_type", [None] * 4),
    ("wrong_type", [[0.0] * 16, [0.0]]),
    *[("bad_profile", np.full((4, 16), value)) for value in (NAN, float("inf"), 2.0**21, 2.0**-41, 1e300)],
]

EIGHTHS = [1 / 8] * 8
GRADERS: Cases = [
    ("unknown_name", "v9"),
    ("unknown_name", ["v1", "v2", "v3", "v4"]),
    ("wrong_length", ["v1"] * 3),
    ("wrong_length", [EIGHTHS] * 3),
    ("bad_grader", [0.5] * 8),
    ("bad_grader", [NAN] * 8),
    ("bad_grader", [*EIGHTHS[:7], 2.0**21]),
    ("bad_grader", {"name": "mine"}),
    ("bad_grader", {0: 1}),
    ("bad_grader", {"name": "mine", "weights": {"progres": 1}}),
    ("bad_grader", {"name": "mine", "weights": {"progress": "1"}}),
    ("bad_grader", {"name": "mine", "weights": {"progress": None}}),
    *[("bad_grader", np.full((4, length), 1 / length)) for length in (6, 7)],
    ("wrong_type", 5),
    ("bad_grader", ["v1", "v1", "v1", [0.5, 0.5]]),
    ("bad_grader", ["v1", "v1", "v1", None]),
]

STOPS: Cases = [
    ("wrong_length", [0, 0, 0]),
    ("wrong_type", np.zeros(4)),
    ("wrong_type", [[0], [0, 1]]),
    ("out_of_range", [0, 0, 0, 29]),
    ("out_of_range", [0, 0, 0, -1]),
    ("out_of_range", [0, 0, 0, 2**40]),
]

POLICIES: Cases = [
    ("unknown_name", "greedy"),
    ("wrong_length", np.zeros((4, 27), np.uint8)),
    ("wrong_length", np.zeros((3, 28), np.uint8)),
    ("wrong_type", np.zeros((4, 28))),
    ("wrong_type", np.zeros((4, 28), np.bool_)),
    ("wrong_type", None),
    ("wrong_type", [[0] * 28, [0]]),
    ("illegal_action", np.full((4, 28), 10)),
    ("illegal_action", np.full((4, 28), -1)),
    ("illegal_action", np.full((4, 28), 2**40)),
]

RUN_BELIEFS: Cases = [
    ("wrong_length", np.zeros(4)),
    ("wrong_length", np.zeros((4, 28, 2))),
    ("wrong_type", np.zeros((4, 28, 3), object)),
    ("wrong_type", [[0.5], [0.5, 0.5]]),
    ("bad_belief", [NAN, NAN, NAN]),
    ("bad_belief", [0.5, 0.5, float("inf")]),
    ("bad_belief", np.full((4, 28, 3), [NAN, 0.5, 0.5])),
]

INDICES: Cases = [
    ("wrong_type", []),
    ("wrong_type", [0.0] * 4),
    ("wrong_type", [True] * 4),
    ("wrong_type", [[0, 1], [2, 3]]),
    ("wrong_type", [[0], [0, 1]]),
    ("wrong_type", None),
    ("out_of_range", [0, 1, 2, 4]),
    ("out_of_range", [0, 1, 2, -1]),
    ("out_of_range", [0, 1, 2, 2**40]),
]

HALVES = np.full((4, 5), 0.5)
#: Changes of {"steps": 9, "meters": HALVES}. After nine steps there are at most 45 crashes, `well` is at most 9, and `skill`
#: has one term, because belief_skill begins at step 8. Meters and sums are 0 or have a magnitude of at least 2^-80.
STARTS: Cases = [
    ("unknown_option", {"earlyer": [0] * 4}),
    ("wrong_type", {"steps": None}),
    ("wrong_type", {"steps": 3.0}),
    ("wrong_length", {"steps": [1, 2]}),
    *[("out_of_range", {"steps": value}) for value in (28, -1, 2**70, [9, 9, 9, 28])],
    ("wrong_type", {"meters": None}),
    ("wrong_length", {"meters": np.zeros((4, 4))}),
    *[("out_of_range", {"meters": np.where(np.eye(4, 5) == 1, value, 0.5)}) for value in (NAN, 1.5, -0.1, 2.0**-81)],
    ("wrong_length", {"early": 1.5}),
    ("wrong_length", {"early": [1.5]}),
    *[("out_of_range", {"early": [0, 0, 0, value]}) for value in (NAN, float("inf"), 1e30, 2.0**-81)],
    ("out_of_range", {"late": [0, 0, 0, 1.5]}),
    ("out_of_range", {"steps": 0, "returns": [0, 0, 0, 1.5]}),
    *[("out_of_range", {"crashes": [0, 0, 0, value]}) for value in (-1, 46)],
    *[("out_of_range", {"well": [0, 0, 0, value]}) for value in (-0.1, 9.5)],
    *[("out_of_range", {"skill": [0, 0, 0, value]}) for value in (1.02, -16.2)],
    ("wrong_length", {"beliefs": [0.5]}),
    ("bad_belief", {"beliefs": [[0.5] * 3] * 3 + [[NAN, 0.5, 0.5]]}),
    ("bad_belief", {"steps": 0, "beliefs": np.full((4, 3), 0.5)}),
]

#: Values of `imagination` for a fork of two environments.
IMAGINED: Cases = [
    *[("wrong_type", value) for value in (1, "prior", np.zeros(2))],
    ("unknown_option", {"profile": "prior"}),
    *[("wrong_type", {"profiles": value}) for value in (None, "posterior", 5, ["workaholic_stoic"] * 2)],
    ("wrong_length", {"profiles": np.zeros((3, 16))}),
    ("bad_profile", {"profiles": np.full((2, 16), NAN)}),
    *[("bad_seed", {"profiles": "prior", "seed": value}) for value in (-1, 2**32 - 1, 1.5)],
    ("wrong_length", {"profiles": "prior", "seed": [1]}),
]

OPTIONS: Dict[str, Cases] = {
    "num_envs": [("out_of_range", value) for value in (0, -1, 2**24 + 1, 2**80, 1.0, True, "4", None)],
    "threads": [("out_of_range", value) for value in (0, 257, 1.5, "two")],
    "kernel": [("backend_unavailable", value) for value in ("sse", "", 5, ["avx2"], np.zeros(2))],
    "copy": [("wrong_type", value) for value in (1, "no", np.zeros(2))],
    "imagination": [("wrong_type", value) for value in (1, "prior", np.zeros(2))],
    "autoreset": [("unknown_name", value) for value in ("samestep", None, 1, ["disabled"])],
    "layout": [("unknown_name", value) for value in ("rows", None)],
    "seed_range": [
        ("wrong_type", 5),
        ("wrong_type", (0, 1, 2)),
        ("out_of_range", (0, 0)),
        ("out_of_range", (-1, 5)),
        ("out_of_range", (2**32 - 1, 2)),
    ],
    "observation": [
        ("unknown_option", {"onehot": True}),
        ("unknown_option", {5: True}),
        ("wrong_type", {"scale": 1}),
        ("wrong_type", {"fields": []}),
        ("wrong_type", {"fields": "step"}),
        ("wrong_type", {"fields": 5}),
        ("unknown_name", {"fields": ["stepp"]}),
        ("out_of_range", {"fields": ["step", "step"]}),
        ("wrong_type", 5),
        ("wrong_type", ["step"]),
    ],
    "world": [("wrong_type", 5), ("wrong_type", {})],
    "profiles": [("wrong_type", None), *PROFILES],
    "grader": [("wrong_type", None), *GRADERS],
}


class BadInputTest(RefusalTest):
    def setUp(self) -> None:
        self.env = played(N)
        self.addCleanup(self.env.close)

    def _refuses(self, cases: Cases, call: Any) -> None:
        for code, value in cases:
            with self.subTest(code=code, value=repr(value)[:80]):
                self.expect_unchanged(self.env, InputError, code, lambda value=value: call(value))

    def test_step_refuses_invalid_arguments(self) -> None:
        zeros = np.zeros(N, np.uint8)
        self._refuses(ACTIONS, self.env.step)
        with np.errstate(over="ignore"):
            self._refuses(BELIEFS, lambda value: self.env.step(zeros, beliefs=value))
        self._refuses(MASKS, lambda value: self.env.step(zeros, mask=value))

    def test_reset_refuses_invalid_arguments(self) -> None:
        self._refuses(SEEDS, lambda value: self.env.reset(seed=value))
        self._refuses(MASKS, lambda value: self.env.reset(seed=0, mask=value))
        with np.errstate(over="ignore"):
            self._refuses(PROFILES, lambda value: self.env.reset(seed=0, profiles=value))
        self._refuses(GRADERS, lambda value: self.env.reset(seed=0, graders=value))

    def test_reset_refuses_invalid_start_states(self) -> None:
        start: Any = {"steps": 9, "meters": HALVES}
        self._refuses(STARTS, lambda value: self.env.reset(seed=0, start={**start, **value}))
        self._refuses([("wrong_type", 9)], lambda value: self.env.reset(seed=0, start=value))
        # Start states outside the mask are not checked.
        mask = [True, True, True, False]
        self.env.reset(seed=0, mask=mask, start={**start, "early": [0, 0, 0, NAN], "steps": [9, 9, 9, 99]})

    def test_run_refuses_invalid_arguments(self) -> None:
        self._refuses(POLICIES, self.env.run)
        self._refuses(STOPS, lambda value: self.env.run("random", stops=value))
        self._refuses(RUN_BELIEFS, lambda value: self.env.run("random", beliefs=value))
        self._refuses(SEEDS, lambda value: self.env.run("random", policy_seeds=value))
        self._refuses([("unknown_option", 0)], lambda value: self.env.run("heuristic", policy_seeds=value))
        fields: Cases = [("wrong_type", "rewards"), ("wrong_type", np.array(5)), ("unknown_name", ["reward"])]
        self._refuses(fields, lambda value: self.env.run("random", trajectory=value))
        # An environment cannot be its own source.
        self._refuses(
            [("not_alike", self.env), ("wrong_type", 5)],
            lambda value: self.env.run("random", source=value, indices=range(N)),
        )

    def test_fork_and_assign_refuse_invalid_arguments(self) -> None:
        other = played(N)
        self._refuses(INDICES, self.env.fork)
        self._refuses([*INDICES, ("wrong_length", [0])], lambda value: self.env.assign(other, value))
        self._refuses(INDICES, lambda value: self.env.run("random", source=other, indices=value))
        self._refuses([("wrong_type", 5), ("wrong_type", None)], lambda value: self.env.assign(value, range(N)))
        self._refuses([("unknown_name", "often")], lambda value: self.env.fork([0], autoreset=value))
        self._refuses([("out_of_range", 0)], lambda value: self.env.fork([0], threads=value))

    def test_fork_refuses_invalid_imagined_profiles(self) -> None:
        self._refuses(IMAGINED, lambda value: self.env.fork([0, 1], imagination=value))
        self.env.run("random", stops=[28, 5, 5, 5])
        prior = {"profiles": "prior"}
        self.expect_unchanged(
            self.env, StateError, "episode_over", lambda: self.env.fork([1, 0], imagination=prior)
        )
        later = VecEnv(N)
        later.reset(seed=0, start={"steps": 9, "meters": HALVES})
        self.expect_unchanged(later, StateError, "foreign_past", lambda: later.fork([1], imagination=prior))

    def test_odd_values_raise_input_errors(self) -> None:
        zeros = np.zeros(N, np.uint8)
        calls: List[Any] = [
            self.env.step,
            lambda value: self.env.step(zeros, beliefs=value),
            lambda value: self.env.step(zeros, mask=value),
            lambda value: self.env.reset(seed=value),
            lambda value: self.env.reset(profiles=value),
            lambda value: self.env.reset(graders=value),
            lambda value: self.env.reset(start=value),
            lambda value: self.env.reset(start={"steps": value, "meters": HALVES}),
            lambda value: self.env.reset(start={"steps": 9, "meters": value}),
            lambda value: self.env.reset(start={"steps": 9, "meters": HALVES, "skill": value}),
            lambda value: self.env.reset(start={"steps": 9, "meters": HALVES, "beliefs": value}),
            lambda value: self.env.fork([0], imagination={"profiles": value}),
            lambda value: self.env.fork([0], imagination={"profiles": "prior", "seed": value}),
            self.env.run,
            lambda value: self.env.run("random", stops=value),
            lambda value: self.env.run("random", beliefs=value),
            self.env.fork,
            self.env.restore,
            lambda value: self.env.assign(self.env, value),
        ]
        for call in calls:
            for value in ODD:
                with self.subTest(value=repr(value)[:80]), self.assertRaises(InputError):
                    call(value)

    def test_invalid_options_are_refused(self) -> None:
        for name, cases in OPTIONS.items():
            for code, value in cases:
                with self.subTest(name=name, value=repr(value)[:80]), np.errstate(over="ignore"):
                    options = {"num_envs": N, name: value}
                    self.expect_refusal(InputError, code, lambda options=options: VecEnv(**options))

    def test_invalid_files_of_worlds_and_graders_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file.json"
            for text in (
                "",
                "[]",
                "{",
                "5",
                "null",
                '{"schema": "other"}',
                '{"schema": "rhythm-vec/world@1", "words": [1]}',
            ):
                path.write_text(text)
                with self.subTest(text=text):
                    self.expect_refusal(InputError, "bad_world", lambda: VecEnv(N, world=path))
                    self.expect_refusal(InputError, "bad_grader", lambda: VecEnv(N, grader=path))

    def test_files_of_worlds_and_graders_may_begin_with_a_byte_order_mark(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file.json"
            path.write_text('{"name": "calm", "weights": {"crash_free": 1}}', encoding="utf-8-sig")
            VecEnv(N, grader=path).close()
            path.write_text('{"schema": "other"}', encoding="utf-8-sig")
            with self.assertRaisesRegex(InputError, "other"):
                World.load(path)

    def test_invalid_arguments_of_a_world_are_refused(self) -> None:
        words = World().words
        for value in (words[:-1], words.astype(np.float32), np.full(words.shape, -1), "words", 5):
            with self.subTest(value=repr(value)[:80]):
                self.expect_refusal(InputError, "bad_world", lambda value=value: World(value))
        self.expect_refusal(InputError, "bad_world", lambda: World(None, {"reward": 1}))
        self.expect_refusal(InputError, "wrong_type", lambda: World(name=5))  # type: ignore[arg-type]
        self.expect_refusal(InputError, "unknown_name", lambda: World().param("grader"))
        self.expect_refusal(InputError, "wrong_type", lambda: World.load(5))  # type: ignore[arg-type]

    def test_a_long_unknown_name_is_not_compared_with_the_known_names(self) -> None:
        self.assertEqual(did_you_mean("a" * 100, ["a" * 99]), f'Did you mean "{"a" * 99}"?')
        self.assertEqual(did_you_mean("v22", ["v1", "v2", "v3"]), 'Did you mean "v2"?')
        self.assertEqual(did_you_mean("v12", ["v1", "v2", "v3"], "None."), "None.")
        self.assertEqual(did_you_mean("a" * 101, ["a" * 99]), "Pass one of these names.")

    def test_invalid_columns_are_refused_before_any_request(self) -> None:
        histories: List[Any] = [[0], [0, 1]]
        for value in (None, 5, "seeds", b"seeds", {0: 1}):
            with self.subTest(value=value):
                self.expect_refusal(InputError, "wrong_type", lambda value=value: score(value, histories, actions=[0, 0]))
                self.expect_refusal(InputError, "wrong_type", lambda value=value: prompts(value, histories))
                self.expect_refusal(InputError, "wrong_type", lambda value=value: parse(value))
        self.expect_refusal(InputError, "wrong_length", lambda: score([1], histories, actions=[0, 0]))
        self.expect_refusal(InputError, "wrong_type", lambda: score([1j, 2], histories, actions=[0, 0]))
        self.expect_refusal(
            InputError, "out_of_range", lambda: score([1, 2], histories, actions=[0, 0], beliefs=[[NAN] * 3] * 2)
        )

    def test_calls_before_reset_and_after_close_are_refused(self) -> None:
        fresh = VecEnv(N)
        calls: List[Any] = [
            lambda env: env.step(np.zeros(N, np.uint8)),
            lambda env: env.run("random"),
            lambda env: env.fork([0]),
            lambda env: env.assign(env, range(N)),
            lambda env: env.snapshot(),
            lambda env: env.belief_targets(),
            lambda env: env.state_hash(),
        ]
        for call in calls:
            self.expect_refusal(StateError, "not_reset", lambda call=call: call(fresh))
        self.expect_refusal(StateError, "not_reset", lambda: fresh.reset(mask=[True] * N))
        snapshot = self.env.snapshot()
        self.env.close()
        self.env.close()
        for call in [*calls, lambda env: env.reset(), lambda env: env.restore(snapshot)]:
            self.expect_refusal(StateError, "closed", lambda call=call: call(self.env))

    def test_a_step_of_a_finished_episode_is_refused(self) -> None:
        self.env.run("random", stops=[28, 27, 28, 27])
        zeros = np.zeros(N, np.uint8)
        self.expect_unchanged(self.env, StateError, "episode_over", lambda: self.env.step(zeros))
        self.expect_unchanged(
            self.env, StateError, "episode_over", lambda: self.env.step(zeros, mask=[True, False, False, False])
        )
        self.env.step(zeros, mask=[False, True, False, True])
        self.assertTrue(self.env.outputs.terminated.all())


if __name__ == "__main__":
    unittest.main()
