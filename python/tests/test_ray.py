"""A pool of Ray actors returns the results of one process bit for bit, even if an actor dies."""

import os
import re
import signal
import tempfile
import threading
import unittest
from contextlib import redirect_stdout
from dataclasses import fields
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, Dict
from unittest.mock import patch

import numpy as np

import rhythm_vec
from rhythm_vec import InputError, RhythmError, StateError

from .support import RefusalTest, guide_examples, is_required, played, stated_output

NO_RAY = find_spec("ray") is None or find_spec("gymnasium") is None
if NO_RAY and is_required("ray"):
    raise RuntimeError("Expected the packages ray and gymnasium (RHYTHM_REQUIRE), got at most one. Install both.")
if not NO_RAY:
    import ray

    from rhythm_vec.ray import ActorPool

ROWS = 5000
NAN = float("nan")


def bits(value: Any) -> Any:
    """Converts results to values that are equal only if the bits are equal."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.ndarray):
        return [bits(each) for each in value]
    if isinstance(value, dict):
        return {name: bits(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return [bits(each) for each in value]
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: bits(getattr(value, field.name)) for field in fields(value)}
    return value


def draw_rows() -> Dict[str, Any]:
    """Returns rows of replay scoring, some of them invalid."""
    random = np.random.default_rng(3)
    rows: Dict[str, Any] = {
        "seeds": random.integers(0, 2**32, ROWS),
        "histories": random.integers(0, 10, (ROWS, 28)),
        "step_indices": random.integers(0, 28, ROWS),
        "actions": random.integers(-1, 10, ROWS),
        "beliefs": random.random((ROWS, 3)),
        "belief_histories": random.random((ROWS, 28, 3)),
        "profiles": ["sampled", "introvert_morning"] * (ROWS // 2),
        "grader": "v3",
        "shaping": {"repetition": True},
    }
    for row in (7, 3000, ROWS - 1):
        rows["actions"][row] = 77
        rows["beliefs"][row - 1] = [NAN, 0, 0]
        rows["step_indices"][row - 2] = 28
    return rows


def dies_once(marker: str) -> Any:
    """Returns a policy that ends its process in the third step, unless a process has done so before."""

    def policy(view: Any) -> Any:
        if view.steps.max() == 2:
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                os.kill(os.getpid(), signal.SIGKILL)
            except FileExistsError:
                pass
        return (view.observations[:, 1] * 1000).astype(np.int64) % 10

    return policy


@unittest.skipIf(NO_RAY, "Ray or Gymnasium is missing: rhythm_vec.ray is NOT TESTED here")
class RayTest(RefusalTest):
    pool: Any

    @classmethod
    def setUpClass(cls) -> None:
        # At most four actors run at a time. The nine of test_invalid_calls_raise_errors need 18 CPUs, so they do not all start.
        ray.init(num_cpus=5, include_dashboard=False, log_to_driver=False)
        cls.addClassCleanup(ray.shutdown)
        cls.pool = ActorPool(2, restarts=20)

    def kill_an_actor(self, at: int) -> None:
        """Ends the process of an actor."""
        os.kill(ray.get(self.pool.actors[at].describe.remote())[1], signal.SIGKILL)

    def test_score_equals_score_replay(self) -> None:
        rows = draw_rows()
        expected = rhythm_vec.score_replay(**rows)
        self.assertEqual(len(expected.faults), 9)
        self.assertEqual(bits(self.pool.score(**rows)), bits(expected))
        self.kill_an_actor(0)
        self.assertEqual(bits(self.pool.score(**rows)), bits(expected))

    def test_rollout_groups_equal_those_of_one_process(self) -> None:
        options: Dict[str, Any] = {"group_size": 700, "seeds": range(9), "grader": ["v2", "v3", "v1"] * 3, "gamma": 0.9}
        expected = rhythm_vec.rollout_groups(policy="random", **options)
        self.assertEqual(bits(self.pool.rollout_groups(policy="random", **options)), bits(expected))
        with tempfile.TemporaryDirectory() as folder:
            policy = dies_once(str(Path(folder) / "died"))
            result = self.pool.rollout_groups(policy=policy, **options)
            self.assertTrue((Path(folder) / "died").exists())
            self.assertEqual(bits(result), bits(rhythm_vec.rollout_groups(policy=policy, **options)))

    def test_rollout_groups_from_a_source_equal_those_of_one_process(self) -> None:
        with played(6, grader="v3") as source:
            for origin in ({"source": source, "indices": [5, 0, 0]}, {"source": source.snapshot()}):
                with self.subTest(origin=list(origin)):
                    result = self.pool.rollout_groups(group_size=1500, policy="heuristic", **origin)
                    expected = rhythm_vec.rollout_groups(group_size=1500, policy="heuristic", **origin)
                    self.assertEqual(bits(result), bits(expected))

    def _play(self, envs: Any) -> Any:
        """Resets environments and steps them 70 times. Returns all results.

        Before step 12, also resets every other environment. Without autoreset, also resets all before steps 28 and 56."""
        random = np.random.default_rng(5)
        mask = np.arange(7) % 2 == 0
        results = [envs.reset(seed=2**32 - 20)]
        for step in range(70):
            if step == 12 or (step > 12 and envs.metadata["autoreset_mode"].value == "Disabled" and step % 28 == 0):
                options = {"reset_mask": mask, "graders": ["v1", "v2", "v3", "v1", "v2", "v3", "v1"]}
                if step > 12:
                    options = {"profiles": "extrovert_night_owl"}
                results.append(envs.reset(seed=[*range(6), None] if step == 12 else 9, options=options))
            belief = random.random((7, 3)).astype(np.float32)
            belief[step % 7] = NAN
            results.append(envs.step({"action": random.integers(0, 10, 7), "belief": belief}))
        return [bits(result) for result in results]

    def test_vector_environments_equal_those_of_one_process(self) -> None:
        for mode in ("NextStep", "SameStep", "Disabled"):
            with self.subTest(mode=mode):
                options: Dict[str, Any] = {"num_envs": 7, "grader": "v3", "autoreset_mode": mode, "beliefs": True}
                options.update(seed_range=(0, 2**32), observation={"scale": True, "history": True}, profiles="discrete")
                envs, reference = self.pool.make_vec(**options), rhythm_vec.make_vec(**options)
                self.assertEqual(envs.observation_space, reference.observation_space)
                self.assertEqual(envs.action_space, reference.action_space)
                # Seeds that are None are drawn from np_random.
                for each in (envs, reference):
                    each.np_random = np.random.default_rng(1)
                self.assertEqual(self._play(envs), self._play(reference))
                envs.close()
                reference.close()

    def test_environments_are_lost_if_an_actor_ends_or_a_call_is_interrupted(self) -> None:
        def interrupt(refs: Any) -> Any:
            raise KeyboardInterrupt

        envs, others = self.pool.make_vec(4), self.pool.make_vec(4)
        for each in (envs, others):
            each.reset(seed=1)
        with patch.object(others, "_get", interrupt), self.assertRaises(KeyboardInterrupt):
            others.step([5, 6, 7, 8])
        self.kill_an_actor(1)
        with self.assertRaisesRegex(RhythmError, "^Expected an actor .*, got one that ended .* lost. Create another"):
            envs.step([1, 2, 3, 4])
        for each in (envs, others):
            with self.assertRaisesRegex(RhythmError, "^Expected environments whose last call succeeded, got .* lost."):
                each.reset(seed=1)
            each.close()

    def test_the_example_of_the_guide_prints_the_text_in_its_comments(self) -> None:
        (code,) = (code for code in guide_examples() if "rhythm_vec.ray" in code)
        with redirect_stdout(StringIO()) as printed:
            exec(code, {"__name__": "__main__"})
        self.assertEqual(printed.getvalue().splitlines(), stated_output(code))

    def test_invalid_calls_raise_errors(self) -> None:
        rows = draw_rows()
        cases = (
            ("wrong_length", {"actions": [0]}),
            ("wrong_type", {"histories": np.zeros((ROWS, 28))}),
            ("bad_seed", {"seeds": [-1] * ROWS}),
            ("unknown_name", {"profiles": ["nobody"] * ROWS}),
            ("unknown_name", {"grader": "v9"}),
            ("unknown_option", {"shaping": {"repetitions": True}}),
        )
        for code, changed in cases:
            with self.subTest(changed=list(changed)):
                with self.assertRaises(InputError) as expected:
                    rhythm_vec.score_replay(**{**rows, **changed})
                self.expect_refusal(InputError, code, lambda changed=changed: self.pool.score(**{**rows, **changed}))
                with self.assertRaisesRegex(InputError, f"^{re.escape(str(expected.exception))}$"):
                    self.pool.score(**{**rows, **changed})
        self.expect_refusal(
            InputError,
            "wrong_length",
            lambda: self.pool.rollout_groups(group_size=2, policy=lambda view: [0], seeds=[1]),
        )
        lock = threading.Lock()
        self.expect_refusal(
            InputError,
            "wrong_type",
            lambda: self.pool.rollout_groups(group_size=1, policy=lambda view: lock, seeds=[1]),
        )
        self.expect_refusal(InputError, "out_of_range", lambda: self.pool.make_vec(0))
        envs = self.pool.make_vec(3, autoreset_mode="Disabled")
        self.expect_refusal(StateError, "not_reset", lambda: envs.step([0, 0, 0]))
        envs.reset(seed=1)
        self.expect_refusal(InputError, "illegal_action", lambda: envs.step([0, 10, 0]))
        self.expect_refusal(InputError, "unknown_name", lambda: envs.reset(options={"profiles": "nobody"}))
        for _ in range(28):
            envs.step([0, 0, 0])
        self.expect_refusal(StateError, "episode_over", lambda: envs.step([0, 0, 0]))
        envs.close()
        with self.assertRaisesRegex(RhythmError, "^Expected 9 actors within 0.1 s, got .*CPUs to the cluster.$"):
            ActorPool(9, threads=2, start_timeout_s=0.1)

    def test_an_actor_that_does_not_restart_is_an_error(self) -> None:
        with tempfile.TemporaryDirectory() as folder, ActorPool(1, threads=1, restarts=0) as pool:
            policy = dies_once(str(Path(folder) / "died"))
            with self.assertRaisesRegex(RhythmError, "run after at most 0 restarts"):
                pool.rollout_groups(group_size=1, policy=policy, seeds=[1])
            pool.close()
            self.expect_refusal(StateError, "closed", lambda: pool.score([1], [[0] * 28], [0], [0]))
