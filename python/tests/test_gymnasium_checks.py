"""RhythmEnv passes Gymnasium's checks. RhythmVectorEnv equals Gymnasium's vector of RhythmEnv."""

import pickle
import subprocess
import sys
import unittest
import warnings
from typing import Any, Dict, Iterator, List

import numpy as np

from rhythm_vec import TextEnv, VecEnv

try:
    import gymnasium
except ImportError:
    raise unittest.SkipTest("Gymnasium is missing: its checks are NOT RUN here") from None

from gymnasium.error import ClosedEnvironmentError
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.utils.env_match import check_environments_match
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

from rhythm_vec import RhythmEnv, RhythmVectorEnv, make_vec

# FINAL has the names of the infos of ended episodes, OBSERVATION the observation options.
from .test_gymnasium import FINAL, OBSERVATION

ID = "rhythm_vec/Rhythm-v0"
STEPS = 28
N = 5


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


class GymnasiumTest(unittest.TestCase):
    def test_a_vector_environment_equals_gymnasiums_vector_of_single_environments(self) -> None:
        # Only the first episodes are compared: Gymnasium draws the seeds of the next ones.
        envs = make_vec(N, "v3", beliefs=True)
        singles = gymnasium.make_vec(ID, num_envs=N, vectorization_mode="sync", grader="v3", beliefs=True)
        self.assertIsInstance(singles, SyncVectorEnv)
        self.assertEqual(envs.action_space, singles.action_space)
        self.assertEqual(envs.observation_space, singles.observation_space)
        self.assertTrue(data_equivalence(envs.reset(seed=9)[0], singles.reset(seed=9)[0], exact=True))
        for _ in range(STEPS):
            action = envs.action_space.sample()
            one, other = envs.step(action), singles.step(action)
            self.assertTrue(data_equivalence(one[:4], other[:4], exact=True))
        for name in ("seed", *FINAL):
            np.testing.assert_array_equal(one[4][name], other[4][name])
            np.testing.assert_array_equal(one[4][f"_{name}"], other[4][f"_{name}"])

    def test_autoreset_equals_that_of_gymnasium(self) -> None:
        for mode in AutoresetMode:
            random = np.random.default_rng(4)
            envs = make_vec(N, autoreset_mode=mode)
            singles = SyncVectorEnv([RhythmEnv] * N, autoreset_mode=mode)
            fields = {field.name: field.offset for field in VecEnv(1).observation_fields}
            # Other fields depend on the seeds of the episodes that autoreset begins, which Gymnasium draws.
            same = [fields["step"], fields["last_action"]]
            envs.reset(seed=9)
            singles.reset(seed=9)
            ended = np.zeros(N, bool)
            other: Any
            for call in range(5 * STEPS):
                must = ended if mode is AutoresetMode.DISABLED else np.zeros(N, bool)
                # In the first episodes nothing is reset, so that both play the same seeds. Then masked resets bring the
                # environments out of phase.
                if must.any() or (call > STEPS and random.random() < 0.1):
                    mask = must | (random.random(N) < 0.3) | (np.arange(N) == call % N)  # Gymnasium refuses an empty one
                    options = {"reset_mask": mask}
                    one, other = envs.reset(seed=call, options=options), singles.reset(seed=call, options=dict(options))
                    np.testing.assert_array_equal(one[0][:, same], other[0][:, same])
                    np.testing.assert_array_equal(one[0][mask], other[0][mask])
                    np.testing.assert_array_equal(one[1]["seed"], other[1]["seed"])
                    ended = ended & ~mask
                    continue
                action = envs.action_space.sample()
                one, other = envs.step(action), singles.step(action)
                ended = one[2]
                np.testing.assert_array_equal(one[0][:, same], other[0][:, same])
                for k in (2, 3):  # terminations, truncations
                    np.testing.assert_array_equal(one[k], other[k])
                # A reward of 0: the step only began an episode.
                np.testing.assert_array_equal(one[1] == 0, other[1] == 0)
                self.assertEqual(sorted(set(one[4]) - {"episode_number", "_episode_number"}), sorted(other[4]))
                if "final_info" in other[4] and call < STEPS:
                    for ours, theirs in zip(one[4]["final_obs"], other[4]["final_obs"]):
                        np.testing.assert_array_equal(ours, theirs)
                    for name, values in other[4]["final_info"].items():
                        np.testing.assert_array_equal(one[4]["final_info"][name], values)

    def test_the_environment_is_registered_in_any_order_of_imports(self) -> None:
        vector_type = f"type(gymnasium.make_vec('{ID}', num_envs=2, grader='v3')).__name__"
        make = f"print({vector_type}, gymnasium.make('{ID}').unwrapped)"
        expected = f"RhythmVectorEnv <RhythmEnv<{ID}>>"
        for imports in (
            "import rhythm_vec, gymnasium",
            "import gymnasium, rhythm_vec",
            "import rhythm_vec.envs, gymnasium",
        ):
            self.assertEqual(run_python(f"{imports}; {make}"), expected)
        self.assertEqual(
            run_python(f"import gymnasium; print(gymnasium.make('rhythm_vec:{ID}').unwrapped)"), f"<RhythmEnv<{ID}>>"
        )

    def test_the_package_can_be_imported_without_numpy_and_gymnasium(self) -> None:
        without = "import sys; sys.modules.update(numpy=None, gymnasium=None); import rhythm_vec; print('imported')"
        self.assertEqual(run_python(without), "imported")

    def test_the_environment_of_texts_is_text_env(self) -> None:
        env = gymnasium.make("rhythm_vec/RhythmText-v0", reward="both", history="new", grader="v3")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(env.unwrapped, skip_render_check=True)
        with TextEnv(reward="both", history="new", grader="v3") as text:
            observation, info = env.reset(seed=7)
            system, user = text.reset(7)
            self.assertEqual((observation, info), (user["content"], {"seed": 7, "system": system["content"]}))
            for step in range(STEPS):
                message, reward, done, info = text.step(f"{step % 10} 4 9 LEARN")
                expected = (message["content"], reward, done, False, info)
                self.assertEqual(env.step(f"{step % 10} 4 9 LEARN"), expected)
                self.assertIn(message["content"], env.observation_space)
        self.assertTrue(done)
        self.assertEqual(env.spec and env.spec.max_episode_steps, STEPS)
        env.close()

    def test_environments_pass_gymnasiums_check_env(self) -> None:
        for beliefs in (False, True, "digits"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                check_env(
                    gymnasium.make(ID, beliefs=beliefs, observation=OBSERVATION).unwrapped, skip_render_check=True
                )
            check_environments_match(gymnasium.make(ID, beliefs=beliefs), gymnasium.make(ID, beliefs=beliefs), STEPS)

    def test_a_single_environment_equals_vec_env(self) -> None:
        env = RhythmEnv(grader="v3", beliefs=True, seed_range=(100, 50))
        _, infos = env.reset(seed=120)
        self.assertEqual(infos, {"seed": 120})
        # After a reset with the same seed, the next reset draws the same seed, whatever its options.
        seed = env.reset()[1]["seed"]
        env.reset(seed=120)
        self.assertEqual(env.reset(options={"graders": "v1", "profiles": "workaholic_stoic"})[1]["seed"], seed)
        with VecEnv(1, grader="v3") as vec:
            vec.reset(seed=seed, graders="v1", profiles="workaholic_stoic")
            unpickled = pickle.loads(pickle.dumps(env))
            for _ in range(STEPS):
                action = env.action_space.sample()
                observation, reward, terminated, truncated, infos = env.step(action)
                self.assertTrue(
                    data_equivalence(
                        unpickled.step(action), (observation, reward, terminated, truncated, infos), exact=True
                    )
                )
                result = vec.step([action["action"]], beliefs=[action["belief"]])
                np.testing.assert_array_equal(observation, result.observations[0])
                self.assertEqual(reward, float(result.rewards[0]))
            self.assertEqual((terminated, truncated), (True, False))
            self.assertEqual(infos["final_score"], float(result.final_scores[0]))
            self.assertEqual(sorted(infos), sorted(["seed", *FINAL]))
        env.close()
        self.assertRaises(ClosedEnvironmentError, env.step, action)

    def test_lengths_and_returns_equal_those_of_record_episode_statistics(self) -> None:
        envs = make_vec(N, "v3")
        wrapped = wrappers.DictInfoToList(wrappers.RecordEpisodeStatistics(wrappers.NormalizeObservation(envs)))
        wrapped.reset(seed=3)
        ended: List[Dict[str, Any]] = []
        for _ in range(2 * STEPS + 2):
            ended += [infos for infos in wrapped.step(wrapped.action_space.sample())[4] if "episode" in infos]
        self.assertEqual(len(ended), 2 * N)
        for infos in ended:
            self.assertEqual(infos["episode"]["l"], infos["episode_length"])
            self.assertAlmostEqual(float(infos["episode"]["r"]), float(infos["episode_return"]), 4)
        wrapped.close()
        self.assertTrue(envs.closed)

    def test_environments_work_in_the_processes_of_gymnasiums_async_vector_env(self) -> None:
        envs = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="async", grader="v3")
        vec = VecEnv(2, grader="v3")
        vec.reset(seed=6)
        envs.reset(seed=6)
        for _ in range(STEPS):
            infos = envs.step(np.array([1, 2]))[4]
        np.testing.assert_array_equal(infos["final_score"], vec.run(np.tile([[1], [2]], STEPS))[0].final_scores)
        envs.close()

    def test_equal_seeds_and_actions_give_equal_results(self) -> None:
        def play(envs: RhythmVectorEnv) -> Iterator[Any]:
            envs.action_space.seed(5)
            yield envs.reset(seed=100)[0]
            for _ in range(60):
                yield envs.step(envs.action_space.sample())[:4]
            yield envs.reset()

        envs = make_vec(7, beliefs=True, autoreset_mode="SameStep")
        first = list(play(envs))
        for other in (envs, make_vec(7, beliefs=True, autoreset_mode="SameStep", kernel="scalar")):
            self.assertTrue(all(data_equivalence(one, two, exact=True) for one, two in zip(first, play(other))))
