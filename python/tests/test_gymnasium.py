"""The environments for Gymnasium return the numbers of VecEnv, and refuse invalid calls."""

import copy
import pickle
import unittest
from typing import Any, Dict, List

import numpy as np
import numpy.typing as npt

from rhythm_vec import InputError, StateError, VecEnv

try:
    from gymnasium.error import ClosedEnvironmentError
except ImportError:
    raise unittest.SkipTest("Gymnasium is missing: its environments are NOT TESTED here") from None

from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode

from rhythm_vec import RhythmEnv, RhythmVectorEnv, make_vec

STEPS = 28
N = 5
MODES = {AutoresetMode.DISABLED: "disabled", AutoresetMode.NEXT_STEP: "next-step", AutoresetMode.SAME_STEP: "same-step"}
OBSERVATION = {"fields": ["step", "meters", "anomalies"], "one_hot": True, "scale": True, "history": True}
FINAL = {
    "final_score": "final_scores",
    "components": "components",
    "belief_mae": "belief_mae",
    "early_mean": "first_half_means",
    "late_mean": "second_half_means",
    "episode_return": "episode_returns",
    "episode_length": "episode_lengths",
}


def masked(values: npt.NDArray[Any], mask: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    return np.where(mask if values.ndim == 1 else mask[:, None], values, 0)


class Pair:
    """Makes the same calls to a RhythmVectorEnv and a VecEnv, and compares the results. Without autoreset it resets
    finished environments."""

    def __init__(self, mode: AutoresetMode, beliefs: bool, copies: bool, **options: Any) -> None:
        self.mode, self.beliefs = mode, beliefs
        self.random = np.random.default_rng(7)
        self.envs = make_vec(N, autoreset_mode=mode, beliefs=beliefs, copy=copies, **options)
        self.envs.action_space.seed(3)
        self.vec = VecEnv(N, autoreset=MODES[mode], **options)

    def reset(self, mask: Any = None) -> Dict[str, Any]:
        seeds = self.random.integers(0, 1000, N)
        observations, infos = self.envs.reset(seed=seeds, options={"reset_mask": mask})
        self._require_equal(observations, self.vec.reset(seed=seeds, mask=mask).observations)
        self._require_current(infos, np.ones(N, bool) if mask is None else mask)
        return infos

    def step(self) -> None:
        seeds, numbers = self.vec.seeds.copy(), self.vec.episode_numbers.copy()
        action = self.envs.action_space.sample()
        observations, rewards, terminations, truncations, infos = self.envs.step(action)
        assert observations in self.envs.observation_space
        result = self.vec.step(action["action"], beliefs=action["belief"]) if self.beliefs else self.vec.step(action)
        self._require_equal(observations, result.observations)
        self._require_equal(rewards, result.rewards.astype(np.float64))
        self._require_equal(terminations, result.terminated)
        self._require_equal(truncations, result.truncated)
        self._require_current(infos, np.ones(N, bool))
        self._require_final(infos, result, {"seed": seeds, "episode_number": numbers})

    def _require_current(self, infos: Dict[str, Any], mask: npt.NDArray[np.bool_]) -> None:
        for name, values in (("seed", self.vec.seeds), ("episode_number", self.vec.episode_numbers)):
            self._require_equal(infos[name], masked(values, mask))
            self._require_equal(infos[f"_{name}"], mask)

    def _require_final(self, infos: Dict[str, Any], result: Any, previous: Dict[str, Any]) -> None:
        ended = result.final_mask
        is_same_step = self.mode is AutoresetMode.SAME_STEP
        final = infos.get("final_info", {}) if is_same_step else infos
        assert ("final_score" in final) == bool(ended.any())
        if not ended.any():
            assert len(infos) == 4  # seed, episode_number and their masks
            return
        expected = {info: getattr(result, name) for info, name in FINAL.items()}
        for name, values in {**expected, **(previous if is_same_step else {})}.items():
            self._require_equal(final[name], masked(values, ended))
            self._require_equal(final[f"_{name}"], ended)
        if is_same_step:
            self._require_equal(infos["_final_obs"], ended)
            for env in range(N):
                last = infos["final_obs"][env]
                assert (last is not None) == ended[env]
                if last is not None:
                    self._require_equal(last, result.final_observations[env])

    @staticmethod
    def _require_equal(given: Any, expected: Any) -> None:
        np.testing.assert_array_equal(given, expected)
        assert given.dtype == expected.dtype

    def play(self, calls: int) -> None:
        self.reset()
        for call in range(calls):
            over = self.vec.outputs.terminated.copy()
            if self.mode is AutoresetMode.DISABLED and over.any():
                self.reset(over)
            elif call % 9 == 4:
                self.reset(self.random.random(N) < 0.4)
            else:
                self.step()


class VectorTest(unittest.TestCase):
    def test_vector_environments_equal_vec_env_in_every_autoreset_mode(self) -> None:
        for mode in MODES:
            for beliefs in (False, True):
                for copies in (True, False):
                    with self.subTest(mode=mode, beliefs=beliefs, copies=copies):
                        Pair(mode, beliefs, copies).play(120)

    def test_digits_are_beliefs_in_a_flat_action(self) -> None:
        flat, nested = make_vec(N, "v3", beliefs="digits"), make_vec(N, "v3", beliefs=True)
        single = RhythmEnv(grader="v3", beliefs="digits")
        for envs in (flat, nested):
            envs.reset(seed=7)
        single.reset(seed=7)
        for _ in range(STEPS):
            action = flat.action_space.sample()
            self.assertEqual(action.shape, (N, 4))
            one = flat.step(action)
            other = nested.step({"action": action[:, 0], "belief": action[:, 1:] / 9})
            alone = single.step(action[0])
            self.assertTrue(data_equivalence(one, other, exact=True))
            self.assertEqual((one[1][0], one[2][0]), alone[1:3])
        self.assertEqual(alone[4]["final_score"], one[4]["final_score"][0])
        with self.assertRaises(InputError):
            flat.step(np.full((N, 4), 10))
        with self.assertRaises(InputError):
            single.step(np.zeros(3, np.int64))
        with self.assertRaises(InputError):
            make_vec(N, beliefs="flat")

    def test_an_environment_renders_as_text(self) -> None:
        for observation in (None, {"fields": ["meters"], "scale": True}):
            env = RhythmEnv(render_mode="ansi", observation=observation)
            with self.assertRaises(StateError):
                env.render()
            env.reset(seed=4242)
            env.step(3)
            self.assertIn("Last: SLEEP, reward .20, event family_emergency\nChanges", env.render() or "")
        self.assertIsNone(RhythmEnv().render_mode)

    def test_vector_environments_equal_vec_env_with_options(self) -> None:
        for mode in MODES:
            for copies in (True, False):
                Pair(mode, True, copies, observation=OBSERVATION, grader="v3", profiles="discrete").play(60)
                Pair(mode, True, copies, layout="column-major", seed_range=(0, 2000), imagination=True).play(60)

    def test_results_are_copies_or_views(self) -> None:
        for copies in (True, False):
            envs = make_vec(N, copy=copies)
            first, _ = envs.reset(seed=1)
            before = first.copy()
            envs.step(np.zeros(N, np.int64))
            self.assertEqual(np.array_equal(first, before), copies)
            self.assertEqual(np.shares_memory(first, envs.outputs.observations), not copies)

    def test_seeds_are_as_requested_or_drawn_from_the_range(self) -> None:
        envs = make_vec(N, seed_range=(100, 50))
        drawn = [
            envs.reset(seed=120)[1]["seed"],
            envs.reset()[1]["seed"],
            envs.reset(seed=[None, 101, None, 103, None])[1]["seed"],
        ]
        np.testing.assert_array_equal(drawn[0], np.arange(120, 125))
        self.assertEqual(drawn[2][[1, 3]].tolist(), [101, 103])
        self.assertTrue(all(100 <= seed < 150 for seeds in drawn for seed in seeds))
        # After a reset with the same seed, the same seeds are drawn.
        envs.reset(seed=120)
        np.testing.assert_array_equal(envs.reset()[1]["seed"], drawn[1])

    def test_a_reset_accepts_profiles_and_graders_per_environment(self) -> None:
        weights = {"name": "mine", "weights": {"progress": 1}}
        graders = ["v1", "v2", "v3", weights, "v2"]
        profiles = ["sampled", "introvert_morning", "discrete", "workaholic_stoic", "sampled"]
        envs, vec = make_vec(N, autoreset_mode="Disabled"), VecEnv(N)
        envs.reset(seed=4, options={"graders": graders, "profiles": profiles})
        vec.reset(seed=4, graders=graders, profiles=profiles)
        for _ in range(STEPS):
            infos = envs.step(np.full(N, 2))[4]
        np.testing.assert_array_equal(infos["final_score"], vec.run(np.full((N, STEPS), 2))[0].final_scores)
        # A run that begins with copies of environments uses the graders of these environments.
        copied = make_vec(N, weights).run("heuristic", source=vec, indices=range(N))[0]
        np.testing.assert_array_equal(copied.final_scores, vec.outputs.final_scores)

    def test_infos_are_correct_after_fork_assign_restore_and_run(self) -> None:
        envs = make_vec(N, beliefs=True)
        envs.reset(seed=50)
        envs.step(envs.action_space.sample())
        saved = envs.snapshot()
        fork = envs.fork([4, 4, 0], autoreset_mode="SameStep")
        self.assertEqual(self._seeds_of(fork), [54, 54, 50])
        envs.reset(seed=80)
        envs.restore(saved)
        self.assertEqual(self._seeds_of(envs), [50, 51, 52, 53, 54])
        envs.assign(envs, [3, 3, 3, 3, 0])
        self.assertEqual(self._seeds_of(envs), [53, 53, 53, 53, 50])
        result, trajectory = envs.run("heuristic", trajectory=True)
        self.assertTrue(result.terminated.all())
        assert trajectory is not None
        self.assertEqual(trajectory.actions.shape, (N, STEPS))
        # In the next step the autoreset begins new episodes, with seeds higher by N.
        self.assertEqual(self._seeds_of(envs), [58, 58, 58, 58, 55])

    def _seeds_of(self, envs: RhythmVectorEnv) -> List[int]:
        seeds: List[int] = envs.step(envs.action_space.sample())[4]["seed"].tolist()
        return seeds

    def test_pickled_and_copied_environments_continue_alike(self) -> None:
        for mode in MODES:
            envs = make_vec(N, "v3", autoreset_mode=mode, observation=OBSERVATION)
            envs.reset(seed=5)
            for _ in range(9):
                envs.step(envs.action_space.sample())
            for other in (pickle.loads(pickle.dumps(envs)), copy.deepcopy(envs)):
                ours = envs.fork(range(N))
                for _ in range(STEPS - 9):
                    action = envs.action_space.sample()
                    self.assertTrue(data_equivalence(ours.step(action)[:4], other.step(action)[:4], exact=True))
                self.assertEqual(other.np_random.random(), pickle.loads(pickle.dumps(envs)).np_random.random())

    def test_invalid_calls_raise_errors_with_codes(self) -> None:
        envs = make_vec(N, autoreset_mode=AutoresetMode.DISABLED)
        self._expect(StateError, "not_reset", lambda: envs.step(np.zeros(N, np.int64)))
        envs.reset(seed=1)
        self._expect(InputError, "illegal_action", lambda: envs.step(np.full(N, 10)))
        self._expect(InputError, "wrong_length", lambda: envs.step(np.zeros(3, np.int64)))
        self._expect(InputError, "bad_seed", lambda: envs.reset(seed=-1))
        self._expect(InputError, "wrong_length", lambda: envs.reset(seed=[1, 2]))
        self._expect(InputError, "wrong_length", lambda: envs.reset(seed=[1, None]))
        self._expect(InputError, "unknown_option", lambda: envs.reset(options={"mask": None}))
        self._expect(InputError, "wrong_type", lambda: envs.reset(options={"reset_mask": [1, 0]}))
        self._expect(InputError, "wrong_type", lambda: envs.reset(options=["reset_mask"]))
        for code, seed in (("bad_seed", 1.5), ("wrong_type", "1"), ("wrong_type", True), ("bad_seed", np.array([None] * N))):
            self._expect(InputError, code, lambda seed=seed: envs.reset(seed=seed))
        self._expect(InputError, "unknown_name", lambda: make_vec(N, autoreset_mode="next"))
        self._expect(InputError, "unknown_name", lambda: make_vec(N, "v9"))
        for _ in range(STEPS):
            envs.step(np.zeros(N, np.int64))
        self._expect(StateError, "episode_over", lambda: envs.step(np.zeros(N, np.int64)))
        envs.close()
        envs.close()
        self.assertRaises(ClosedEnvironmentError, envs.step, np.zeros(N, np.int64))
        self.assertRaises(ClosedEnvironmentError, envs.reset)

    def test_an_action_and_its_belief_are_required(self) -> None:
        for envs in (make_vec(1, beliefs=True), RhythmEnv(beliefs=True)):
            envs.reset(seed=1)
            for action in (0, None, [0], {"action": [0]}, {"belief": [[0, 0, 0]]}):
                with self.subTest(action=action):
                    self._expect(InputError, "wrong_type", lambda envs=envs, action=action: envs.step(action))

    def test_a_single_environment_refuses_lists_of_actions_and_seeds(self) -> None:
        env = RhythmEnv()
        env.reset(seed=1)
        self._expect(InputError, "wrong_length", lambda: env.step([0, 1]))
        self._expect(InputError, "bad_seed", lambda: env.reset(seed=[1]))

    def _expect(self, kind: Any, code: str, call: Any) -> None:
        with self.assertRaises(kind) as caught:
            call()
        self.assertEqual(caught.exception.code, code)
        self.assertRegex(str(caught.exception), r"^Expected .*, got .*\. .*\.$")
