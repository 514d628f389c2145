"""Every kernel of this machine computes the golden values, bit for bit."""

import hashlib
import json
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional

import numpy as np
import numpy.typing as npt

from rhythm_vec import ACTION_NAMES, COMPONENT_NAMES, EVENT_NAMES, PROFILE_NAMES, StepResult, VecEnv, World, list_kernels
from rhythm_vec.snapshots import STATE, decode_snapshot

#: Values that an independent implementation of docs/world.md computed.
GOLDEN = Path(__file__).resolve().parents[2] / "test" / "golden"

Episode = Dict[str, Any]


def read(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def bits(values: npt.ArrayLike) -> List[int]:
    """Returns float32s as words, so that comparisons are of bits."""
    words: List[int] = np.asarray(values, np.float32).ravel().view(np.uint32).tolist()
    return words


def codes_of(episode: Episode) -> List[int]:
    return [ACTION_NAMES.index(step["action"]) for step in episode["steps"]]


def beliefs_of(episode: Episode) -> npt.NDArray[np.float32]:
    """Returns f32 [1, 28, 3], three NaN for no belief."""
    return np.array([[step["belief"] or [np.nan] * 3 for step in episode["steps"]]], np.float32)


def profile_of(episode: Episode) -> Any:
    """Returns a profile for `reset`: its name, or its numbers."""
    return floats_of([episode]) if episode["profile"] == "explicit" else episode["profile"]


def floats_of(rows: List[Dict[str, Any]]) -> npt.NDArray[np.float32]:
    """Returns profiles f32 [rows, 16]: traits, then weights."""
    return np.array([[*row["traits"].values(), *row["weights"].values()] for row in rows], np.float32)


def event_code(name: Optional[str]) -> int:
    return -1 if name is None else EVENT_NAMES.index(name)


KERNELS = [kernel.name for kernel in list_kernels() if kernel.supported]
EPISODES = read("episodes")["episodes"]
PROFILES = read("profiles")
TABLES = read("tables")["tables"]
#: The first seed of each condition. "large", a condition of the golden tables alone, has 10,000 seeds.
FIRST_SEEDS = {"in-distribution": 0, "ood": 10000, "large": 20000}


def open_episode(kernel: str, golden: Episode) -> VecEnv:
    env = VecEnv(
        1, kernel=kernel, imagination=golden["imagination"], grader=golden["grader"], profiles=profile_of(golden)
    )
    env.reset(seed=golden["seed"])
    return env


def digest_of(array: npt.NDArray[np.float32]) -> str:
    return hashlib.sha256(array.astype("<f4").tobytes()).hexdigest()[:16]


class GoldenTest(unittest.TestCase):
    def test_episodes_step_by_step_have_the_golden_values(self) -> None:
        for kernel in KERNELS:
            for golden in EPISODES:
                with self.subTest(kernel=kernel, episode=golden["name"]), open_episode(kernel, golden) as env:
                    self.assertEqual(bits(env.belief_targets()), bits(golden["belief_target"]))
                    observations = {row["step"]: row for row in golden["observations"]}
                    self._check_observation(env, observations.get(0))
                    for t, (step, action) in enumerate(zip(golden["steps"], codes_of(golden))):
                        self._check_step(env, step, action)
                        self._check_observation(env, observations.get(t + 1))
                        self.assertEqual(bool(env.outputs.terminated[0]), t == 27)
                    self._check_final(env.outputs, golden)

    def _check_step(self, env: VecEnv, step: Dict[str, Any], action: int) -> None:
        self.assertEqual(f"{int(env.state_hash()[0]):016x}", step["state_hash"])
        outputs = env.step([action], beliefs=None if step["belief"] is None else [step["belief"]])
        row = outputs.observations[0]
        self.assertEqual(bits(outputs.rewards), bits([step["reward"]]))
        self.assertEqual(bits(row[4:9]), bits(step["meters"]))
        self.assertEqual(int(row[9]), event_code(step["event"]))
        self.assertEqual(bits(row[11:22]), bits([step["reward"], *step["delta"], *step["anomaly"]]))
        # Only golden episodes under v3 have these two sums.
        if "well" in step:
            words = decode_snapshot(env.snapshot()).words[0]
            sums = words[[STATE["well"], STATE["skill"]]].tolist()
            self.assertEqual(sums, bits([step["well"], step["skill"]]))

    def _check_observation(self, env: VecEnv, golden: Any) -> None:
        if golden is None:
            return
        for field in env.observation_fields:
            part = env.outputs.observations[0, field.offset : field.offset + field.size]
            self.assertEqual(bits(part), bits(np.ravel(golden[field.name])), field.name)

    def _check_final(self, outputs: StepResult, golden: Episode) -> None:
        final = golden["final"]
        self.assertEqual(bits(outputs.components), bits([final[name] for name in COMPONENT_NAMES]))
        self.assertEqual(bits(outputs.belief_mae), bits([final["belief_mae"]]))
        self.assertEqual(bits(outputs.final_scores), bits([final["final_score"]]))
        self.assertEqual(bits(outputs.first_half_means), bits([half_mean(golden, 0)]))
        self.assertEqual(bits(outputs.second_half_means), bits([half_mean(golden, 14)]))
        self.assertEqual(outputs.episode_lengths.tolist(), [28])

    def test_episodes_in_one_run_have_the_golden_values(self) -> None:
        for kernel in KERNELS:
            for golden in EPISODES:
                with self.subTest(kernel=kernel, episode=golden["name"]), open_episode(kernel, golden) as env:
                    # "tape" is the stored name for an action sequence.
                    is_sequence = golden["policy"] == "tape"
                    policy = [codes_of(golden)] if is_sequence else golden["policy"]
                    outputs, trajectory = env.run(policy, beliefs=beliefs_of(golden), trajectory=True)
                    assert trajectory is not None
                    steps = golden["steps"]
                    self.assertEqual(trajectory.actions[0].tolist(), codes_of(golden))
                    self.assertEqual(trajectory.events[0].tolist(), [event_code(step["event"]) for step in steps])
                    for name, column in (("reward", 2), ("meters", 3), ("delta", 4), ("anomaly", 5)):
                        self.assertEqual(bits(trajectory[column]), bits([step[name] for step in steps]), name)
                    self._check_final(outputs, golden)

    def test_the_random_policy_chooses_the_golden_actions(self) -> None:
        rows = PROFILES["random_policies"]
        for kernel in KERNELS:
            with self.subTest(kernel=kernel), VecEnv(len(rows), kernel=kernel) as env:
                env.reset(seed=[row["seed"] for row in rows])
                _, trajectory = env.run("random", policy_seeds=[row["policy_seed"] for row in rows], trajectory=True)
                assert trajectory is not None
                self.assertEqual(trajectory.actions.tolist(), [row["actions"] for row in rows])

    def test_profiles_targets_and_events_have_the_golden_values(self) -> None:
        rows = PROFILES["profiles"]
        seeds = [row["seed"] for row in rows]
        names = [row["discrete_profile"] for row in rows]
        self.assertLessEqual(set(names), set(PROFILE_NAMES))
        for kernel in KERNELS:
            with self.subTest(kernel=kernel), VecEnv(len(rows), kernel=kernel) as env:
                # With equal seeds, equal hashes mean equal profiles.
                for drawn, given in (("sampled", floats_of(rows)), ("discrete", names)):
                    env.reset(seed=seeds, profiles=drawn)
                    hashes = env.state_hash()
                    env.reset(seed=seeds, profiles=given)
                    self.assertEqual(hashes.tolist(), env.state_hash().tolist(), drawn)
                env.reset(seed=seeds)
                self.assertEqual(bits(env.belief_targets()), bits([row["belief_target"] for row in rows]))
                _, trajectory = env.run("heuristic", trajectory=True)
                assert trajectory is not None
                self.assertEqual(trajectory.events.tolist(), [row["events"] for row in rows])

    def test_scores_have_the_golden_digests_and_means(self) -> None:
        for kernel in KERNELS:
            for key, golden in TABLES.items():
                with self.subTest(kernel=kernel, table=key):
                    self._check_table(kernel, key, golden)

    def _check_table(self, kernel: str, key: str, golden: Dict[str, Any]) -> None:
        condition, policy, belief, grader = key.split("/")
        profiles = condition.split(":")[1] if ":" in condition else "sampled"
        with VecEnv(golden["n"], kernel=kernel, grader=grader, profiles=profiles) as env:
            env.reset(seed=FIRST_SEEDS.get(condition, 0))
            outputs, _ = env.run(policy, beliefs=[0.5, 0.5, 0.5] if belief == "constant" else None)
        self.assertEqual(digest_of(outputs.final_scores), golden["digest"])
        if "component_digest" in golden:
            self.assertEqual(digest_of(outputs.components), golden["component_digest"])
        means = {name: outputs.components[:, k] for k, name in enumerate(COMPONENT_NAMES)}
        means.update(final_score=outputs.final_scores, belief_mae=outputs.belief_mae)
        for name, values in means.items():
            # The order of summation may change the last digits of a mean.
            self.assertAlmostEqual(float(values.astype(np.float64).mean()), golden[name], delta=1e-12, msg=name)


def half_mean(golden: Episode, first: int) -> np.float32:
    """Computes the mean reward of the 14 steps from `first` on, without noise (docs/world.md, rule 8)."""
    param = World().param
    weights = np.array(list(golden["weights"].values()), np.float32) + param("rewardBias")
    scale, penalty = np.float32(param("rewardScale")), np.float32(param("crashPenalty"))
    total = np.float32(0)
    for step in golden["steps"][first : first + 14]:
        terms = weights * np.array(step["delta"], np.float32)
        low = np.count_nonzero(np.array(step["meters"], np.float32) < param("crashThreshold"))
        total += scale * sum(terms[1:], terms[0]) - penalty * np.float32(low)
    return np.float32(total * np.float32(1 / 14))
