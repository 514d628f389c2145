"""Invalid arguments raise errors that say what was expected, what came and what to do. The calls change nothing."""

import json
import re
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

from rhythm_vec import Client, InputError, StateError, VecEnv, World, parse, prompts, score
from rhythm_vec.checks import did_you_mean

from .support import MESSAGE, RefusalTest, played

#: Invalid calls with the errors that TypeScript gives, which test/engine/validate/invalid-calls.test.ts describes.
SHARED = Path(__file__).resolve().parents[2] / "test" / "support" / "invalid-calls.jsonl"
N = 4
NAN = float("nan")
Cases = List[Tuple[str, Any]]


def decoded(value: Any) -> Any:
    """Returns a value of a shared case as an argument."""
    if value in ("NaN", "Infinity"):
        return float(value)
    if isinstance(value, list):
        return [decoded(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "repeat" not in value:
        return {snake_case(name): decoded(each) for name, each in value.items()}
    entries = [decoded(value.get("at", {}).get(str(k), value["repeat"])) for k in range(value["count"])]
    return np.array(entries, value["as"][: -len("Array")].lower()) if "as" in value else entries


def snake_case(text: Any) -> Any:
    return re.sub("(?<=[a-z])[A-Z](?=[a-z])", lambda match: f"_{match[0].lower()}", text) if isinstance(text, str) else text


def perform(env: VecEnv, call: str, args: Dict[str, Any]) -> Any:
    """Makes the call of a shared case."""
    if call == "create":
        return VecEnv(**{"num_envs": N, **args})
    first = [args.pop(name) for name in ("actions", "policy", "indices") if name in args]
    return getattr(env, call)(*([env] if call == "assign" else []), *first, **args)


#: Values that the tested arguments do not accept.
ODD: List[Any] = [object(), "", {}, [[0], [0, 1]], np.zeros((2, 2, 2)), 1j, b"bytes"]

# Arrays of other dtypes and shapes, which only NumPy has.
ACTIONS: Cases = [
    *[("wrong_length", value) for value in (np.zeros((4, 1), "u1"), np.zeros((2, 2), "i4"), np.int64(0), [0, 0, 0])],
    *[("wrong_type", np.zeros(4, dtype)) for dtype in ("f8", "?", "O", "c8", "M8[s]")],
    *[("wrong_type", value) for value in (["sleep"] * 4, [0, 0, 0, 2**70])],
    *[("illegal_action", [0, 0, code, 0]) for code in (255, 257, 2**31, 2**40, -(2**40))],
    *[("illegal_action", np.array([0, 0, code, 0], dtype)) for code, dtype in ((256, ">i2"), (2**63, "u8"), (-1, "i1"))],
]
BELIEFS: Cases = [
    *[("wrong_length", np.zeros(shape)) for shape in ((4, 2), (3, 4), 11, (2, 2, 3))],
    *[("wrong_type", np.zeros((4, 3), dtype)) for dtype in ("?", "O", "c16")],
    *[("wrong_type", value) for value in ([[0.5, 0.5, None]] * 4, "none")],
    *[("bad_belief", [[0.5] * 3] * 3 + [row]) for row in ([NAN, NAN, 0.5], [NAN, NAN, -float("inf")], [1e39, 0, 0])],
]
MASKS: Cases = [
    ("wrong_length", np.zeros((4, 1), np.bool_)),
    *[("wrong_type", value) for value in (np.zeros(4), np.full(4, 2, np.uint8), np.zeros(4, object), True)],
    *[("wrong_type", value) for value in ([True, None, True, False], [[True], [True, False]])],
]
SEEDS: Cases = [
    *[("wrong_type", value) for value in (True, [[0], [0, 1]])],
    *[("bad_seed", value) for value in ([0, 1, 2, 2**80], np.array([None] * 4), ["1"] * 4)],
    ("wrong_length", np.zeros((2, 2), np.uint32)),
]
PROFILES: Cases = [
    *[("wrong_length", np.zeros(shape)) for shape in ((4, 15), (3, 16))],
    *[("wrong_type", value) for value in (np.zeros((4, 16), np.int32), np.zeros((4, 16), object), [None] * 4)],
    ("wrong_type", [[0.0] * 16, [0.0]]),
    *[("bad_profile", np.full((4, 16), value)) for value in (float("inf"), 2.0**21, 1e300)],
]
EIGHTHS = [1 / 8] * 8
GRADERS: Cases = [
    ("unknown_name", ["v1", "v2", "v3", "v4"]),
    *[("wrong_length", value) for value in ([EIGHTHS] * 3, np.zeros((4, 6)), np.zeros((4, 7)))],
    *[("bad_grader", value) for value in ([*EIGHTHS[:7], 2.0**21], {"name": "mine"}, {0: 1})],
    ("bad_grader", {"name": "mine", "weights": {"progress": None}}),
    *[("bad_grader", ["v1", "v1", "v1", value]) for value in ([0.5, 0.5], None)],
]
STOPS: Cases = [("wrong_type", np.zeros(4)), ("wrong_type", [[0], [0, 1]]), ("out_of_range", [0, 0, 0, 2**40])]
POLICIES: Cases = [
    *[("wrong_length", np.zeros(shape, np.uint8)) for shape in ((4, 27), (3, 28))],
    *[("wrong_type", value) for value in (np.zeros((4, 28)), np.zeros((4, 28), np.bool_), None, [[0] * 28, [0]])],
    *[("illegal_action", np.full((4, 28), code)) for code in (-1, 2**40)],
]
RUN_BELIEFS: Cases = [
    *[("wrong_length", np.zeros(shape)) for shape in (4, (4, 28, 2))],
    *[("wrong_type", value) for value in (np.zeros((4, 28, 3), object), [[0.5], [0.5, 0.5]])],
    *[("bad_belief", value) for value in ([0.5, 0.5, 1e39], np.full((4, 28, 3), [NAN, 0.5, 0.5]))],
]
INDICES: Cases = [
    *[("wrong_type", value) for value in ([0.0] * 4, [True] * 4, [[0, 1], [2, 3]], [[0], [0, 1]], None)],
    ("out_of_range", [0, 1, 2, 2**40]),
]
HALVES = np.full((4, 5), 0.5)
#: Changes of {"steps": 9, "meters": HALVES}.
STARTS: Cases = [
    *[("wrong_type", {name: None}) for name in ("steps", "meters")],
    ("wrong_type", {"steps": [3.0] * 4}),
    *[("out_of_range", {"steps": value}) for value in (-1, 2**70, 3.5)],
    ("wrong_length", {"early": 1.5}),
    *[("out_of_range", {"early": [0, 0, 0, value]}) for value in (NAN, 1e30, 2.0**-81)],
    ("out_of_range", {"crashes": [0, 0, 0, -1]}),
    *[("out_of_range", {name: [0, 0, 0, value]}) for name, value in (("well", -0.1), ("skill", -16.2))],
]
#: Values of `imagination` for a fork of two environments.
IMAGINED: Cases = [
    *[("wrong_type", value) for value in (1, "prior", np.zeros(2))],
    *[("wrong_type", {"profiles": value}) for value in (None, "posterior", 5, ["workaholic_stoic"] * 2)],
    *[("bad_seed", {"profiles": "prior", "seed": value}) for value in (-1, 2**32 - 1, 1.5)],
    ("wrong_length", {"profiles": "prior", "seed": [1]}),
]
OPTIONS: Dict[str, Cases] = {
    "num_envs": [
        *[("out_of_range", value) for value in (-1, 2**24 + 1, 2**80, 1.0)],
        *[("wrong_type", value) for value in (True, "4", None)],
    ],
    "threads": [("out_of_range", 0), ("out_of_range", 1.5), ("wrong_type", "two")],
    "kernel": [("backend_unavailable", value) for value in ("", 5, ["avx2"], np.zeros(2))],
    "copy": [("wrong_type", value) for value in (1, "no", np.zeros(2))],
    "imagination": [("wrong_type", value) for value in ("prior", np.zeros(2))],
    "autoreset": [("unknown_name", value) for value in (None, 1, ["disabled"])],
    "layout": [("unknown_name", None)],
    "seed_range": [("wrong_type", (0, 1, 2)), ("out_of_range", (-1, 5))],
    "observation": [
        ("unknown_option", {5: True}),
        *[("wrong_type", value) for value in ({"fields": "step"}, {"fields": 5}, 5, ["step"])],
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

    def test_shared_cases_have_the_errors_of_typescript(self) -> None:
        for line in SHARED.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            with self.subTest(case["name"]):
                args = {snake_case(name): decoded(value) for name, value in case["args"].items()}
                with self.assertRaises(InputError) as caught:
                    perform(self.env, case["call"], args)
                error = caught.exception
                expected = (case["code"], snake_case(case["field"]), case["row"])
                self.assertEqual((error.code, error.field, error.row), expected, str(error))
                self.assertRegex(str(error), MESSAGE)
                if case["remedy"] is not None:
                    self.assertTrue(str(error).lower().endswith(snake_case(case["remedy"]).lower()), str(error))

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
        # Start states outside the mask are not checked.
        mask = [True, True, True, False]
        self.env.reset(seed=0, mask=mask, start={**start, "early": [0, 0, 0, NAN], "steps": [9, 9, 9, 99]})

    def test_run_refuses_invalid_arguments(self) -> None:
        self._refuses(POLICIES, self.env.run)
        self._refuses(STOPS, lambda value: self.env.run("random", stops=value))
        self._refuses(RUN_BELIEFS, lambda value: self.env.run("random", beliefs=value))
        self._refuses(SEEDS, lambda value: self.env.run("random", policy_seeds=value))
        fields: Cases = [("wrong_type", "rewards"), ("wrong_type", np.array(5))]
        self._refuses(fields, lambda value: self.env.run("random", trajectory=value))
        # An environment cannot be its own source.
        self._refuses(
            [("not_alike", self.env), ("wrong_type", 5)],
            lambda value: self.env.run("random", source=value, indices=range(N)),
        )

    def test_fork_and_assign_refuse_invalid_arguments(self) -> None:
        other = played(N)
        self._refuses(INDICES, self.env.fork)
        self._refuses(INDICES, lambda value: self.env.assign(other, value))
        self._refuses(INDICES, lambda value: self.env.run("random", source=other, indices=value))
        self._refuses([("wrong_type", 5), ("wrong_type", None)], lambda value: self.env.assign(value, range(N)))
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
        self.assertEqual(did_you_mean("a" * 101, ["a" * 99]), "Use one of these names.")

    def test_invalid_columns_are_refused_before_any_request(self) -> None:
        histories: List[Any] = [[0], [0, 1]]
        for value in (None, 5, "seeds", b"seeds", {0: 1}):
            with self.subTest(value=value):
                self.expect_refusal(InputError, "wrong_type", lambda value=value: score(value, histories, actions=[0, 0]))
                self.expect_refusal(InputError, "wrong_type", lambda value=value: prompts(value, histories))
                self.expect_refusal(InputError, "wrong_type", lambda value=value: parse(value))
        self.expect_refusal(InputError, "wrong_length", lambda: score([1], histories, actions=[0, 0]))
        answers: Any = {"actions": [0, 0], "beliefs": [[NAN] * 3] * 2}
        # JSON has no such values. Without a server they are faults of rows.
        for code, seeds in (("wrong_type", [1j, 2]), ("out_of_range", [1, 2])):
            self.expect_refusal(InputError, code, lambda seeds=seeds: score(seeds, histories, **answers, client=Client()))
        faults = score([1j, 2], histories, **answers).faults  # type: ignore[list-item]
        self.assertEqual([fault.code for fault in faults], ["bad_seed", "bad_belief"])
        self.assertIn("got Infinity", score([10**400, 2], histories, **answers).faults[0].message)

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
