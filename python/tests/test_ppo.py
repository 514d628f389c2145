"""examples/ppo.py: equal seeds train equally, a stopped training continues, and the scores equal the engine's."""

import importlib.util
import signal
import tempfile
import unittest
from pathlib import Path
from typing import Any, List

import numpy as np

from rhythm_vec import VecEnv

MISSING = [name for name in ("gymnasium", "torch") if importlib.util.find_spec(name) is None]
if MISSING:
    raise unittest.SkipTest(f"{' and '.join(MISSING)} missing: examples/ppo.py is NOT RUN here")

import torch

FILE = Path(__file__).resolve().parents[1] / "examples" / "ppo.py"


def load() -> Any:
    spec = importlib.util.spec_from_file_location("ppo", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ppo = load()


def parameters_of(training: Any) -> List[List[float]]:
    return [tensor.flatten().tolist() for tensor in training.agent.parameters()]


class PpoTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(torch.set_num_threads, torch.get_num_threads())
        torch.set_num_threads(1)
        self.file = Path(folder.name) / "ppo.pt"

    def start(self, *options: str) -> Any:
        return ppo.Training(ppo.parse(["--quick", "--checkpoint", str(self.file), *options]))

    def test_the_example_trains_and_a_loaded_checkpoint_has_the_same_scores(self) -> None:
        for options in (["--grader", "v3"], ["--actions-only"]):
            scores = ppo.main(["--quick", "--checkpoint", str(self.file), *options])
            self.assertEqual(list(scores), ["ppo", "random", "random+constant", "heuristic", "heuristic+constant"])
            again = ppo.main(["--quick", "--checkpoint", str(self.file), "--evaluate", *options])
            self.assertEqual(scores, again)
            self.assertTrue(all(0 < score < 1 for score in scores.values()))
            self.assertEqual([path.name for path in self.file.parent.iterdir()], [self.file.name])

    def test_equal_seeds_train_equally(self) -> None:
        results = []
        for seed in ("7", "7", "8"):
            training = self.start("--seed", seed)
            training.train(1)
            results.append(parameters_of(training))
        self.assertEqual(results[0], results[1])
        self.assertNotEqual(results[0], results[2])

    def test_a_stopped_training_continues_with_the_same_bits_and_refuses_other_options(self) -> None:
        whole = self.start()
        whole.train(3)
        stopped = self.start()
        learn = stopped.learn

        def learn_then_interrupt() -> None:
            learn()
            signal.raise_signal(signal.SIGINT)

        stopped.learn = learn_then_interrupt
        stopped.train(3)
        self.assertEqual(stopped.update, 1)
        resumed = self.start()
        resumed.resume()
        resumed.train(3)
        self.assertEqual(parameters_of(resumed), parameters_of(whole))
        with self.assertRaisesRegex(SystemExit, "Expected the settings of .*, got .*Pass the same options"):
            self.start("--grader", "v3").resume()

    def test_scores_equal_those_of_vec_env(self) -> None:
        training = self.start("--grader", "v3")
        scores = ppo.evaluate(training.agent, training.args, ppo.HELD_OUT)
        with VecEnv(150, grader="v3", observation=ppo.OBSERVATION) as env, torch.no_grad():
            env.reset(seed=[*range(100), *range(10_000, 10_050)])
            for _ in range(28):
                actions, beliefs = training.agent.heads(torch.from_numpy(env.outputs.observations))
                env.step(actions.probs.argmax(-1).numpy(), beliefs=beliefs.mean.numpy())
            np.testing.assert_array_equal(scores, env.outputs.final_scores)
