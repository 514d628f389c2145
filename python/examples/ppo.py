"""PPO in one file: two layers of 64 units learn actions and beliefs in 4,096 environments of this process.

    pip install ./python gymnasium torch
    python python/examples/ppo.py --grader v3 --checkpoint ppo.pt

It maximises the final score, and prints the scores of held-out seeds beside those of `random` and `heuristic`. Ctrl-C
ends the training after the current update. With --checkpoint the training is saved every 10 updates and when it ends, and
--resume continues it.
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt
import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor, nn
from torch.distributions import Categorical, Normal

from rhythm_vec import RhythmVectorEnv, VecEnv, make_vec

STEPS = 28  # in an episode; also in a rollout, which plays whole episodes
OBSERVATION = {"one_hot": True, "scale": True, "history": True}
HELD_OUT = np.concatenate([np.arange(100), np.arange(10_000, 10_050)])  # seeds for scores only
TRAINING_SEEDS = (1_000_000, 2**32 - 1_000_000)  # the first seed, and the number of seeds
REWARD_SCALE = 10.0  # multiplies the final score, so that the returns of different episodes differ by about 1
SAVE_EVERY = 10  # updates
Heads = Tuple[Categorical, Optional[Normal]]  # the distributions of actions and of beliefs


def parse(argv: Optional[Sequence[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grader", default="v2", help="a name (v1, v2, v3) or a grader file")
    parser.add_argument("--actions-only", action="store_true", help="learn no beliefs")
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--updates", type=int, default=60, help="updates, each after 28 steps of every environment")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=64, help="units of each of the two layers")
    parser.add_argument("--learning-rate", type=float, default=2e-3, help="at the beginning; it falls linearly to 0")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--minibatches", type=int, default=16)
    parser.add_argument("--gae-lambda", type=float, default=0.97)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.02, help="coefficient of the actions' entropy")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--checkpoint", type=Path, help="file to write, and to read with --resume and --evaluate")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--evaluate", action="store_true", help="only score the checkpoint")
    parser.add_argument("--quick", action="store_true", help="three updates of 256 environments, for a test")
    args = parser.parse_args(argv)
    if args.quick:
        args.envs, args.updates, args.minibatches = 256, 3, 2
    if (args.resume or args.evaluate) and args.checkpoint is None:
        parser.error("Expected --checkpoint FILE with --resume or --evaluate, got none. Pass the file.")
    return args


def layers(sizes: Sequence[int], gain: float) -> nn.Sequential:
    """Returns linear layers with tanh between them. The initial weights are orthogonal, with `gain` for the last layer."""
    parts: List[nn.Module] = []
    for k, (num_inputs, num_outputs) in enumerate(zip(sizes, sizes[1:])):
        linear = nn.Linear(num_inputs, num_outputs)
        is_last = k == len(sizes) - 2
        nn.init.orthogonal_(linear.weight, gain if is_last else 2**0.5)
        nn.init.zeros_(linear.bias)
        parts += [linear, nn.Tanh()]
    return nn.Sequential(*parts[:-1])


class Agent(nn.Module):
    """An actor with one head for actions and one for beliefs, and a critic."""

    def __init__(self, num_inputs: int, num_actions: int, hidden: int, beliefs: bool) -> None:
        super().__init__()
        self.num_actions = num_actions
        self.actor = layers([num_inputs, hidden, hidden, num_actions + (3 if beliefs else 0)], 0.01)
        self.critic = layers([num_inputs, hidden, hidden, 1], 1.0)
        # The logarithm of the standard deviation of each number of a belief. The deviation is 0.22 at first.
        self.log_std = nn.Parameter(torch.full((3,), -1.5)) if beliefs else None

    def heads(self, observations: Tensor) -> Heads:
        out = self.actor(observations)
        actions = Categorical(logits=out[..., : self.num_actions], validate_args=False)
        if self.log_std is None:
            return actions, None
        return actions, Normal(torch.sigmoid(out[..., self.num_actions :]), self.log_std.exp(), validate_args=False)

    def value(self, observations: Tensor) -> Tensor:
        value: Tensor = self.critic(observations)[..., 0]
        return value

    def log_prob(self, heads: Heads, actions: Tensor, beliefs: Tensor) -> Tensor:
        total: Tensor = heads[0].log_prob(actions)  # type: ignore[no-untyped-call]
        if heads[1] is None:
            return total
        return total + heads[1].log_prob(beliefs).sum(-1)  # type: ignore[no-untyped-call]


def to_numpy(actions: Tensor, beliefs: Optional[Tensor]) -> Any:
    codes = actions.to(torch.uint8).cpu().numpy()
    return codes if beliefs is None else {"action": codes, "belief": beliefs.cpu().numpy()}


class Training:
    """Trains an agent. Writes and loads its checkpoint."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        torch.manual_seed(args.seed)
        # With SAME_STEP no step is lost to resets. Results are views (copy=False), which are read before the next call.
        options = {"seed_range": TRAINING_SEEDS, "copy": False}
        self.envs = make_envs(args, args.envs, AutoresetMode.SAME_STEP, **options)
        (size,) = self.envs.single_observation_space.shape or ()
        self.agent = Agent(size, len(self.envs.action_names), args.hidden, not args.actions_only).to(args.device)
        self.optimizer = torch.optim.Adam(self.agent.parameters(), args.learning_rate, eps=1e-5)
        self.rollout = self.allocate(size)
        self.update = self.steps = 0
        self.env_seconds = self.seconds = 0.0
        # With --seed N, for N from 0 to 3999, the first environment begins at the seed 1,000,000 * (N + 1).
        self.observations, _ = self.envs.reset(seed=TRAINING_SEEDS[0] + args.seed % 4000 * 1_000_000)

    def allocate(self, size: int) -> Dict[str, Tensor]:
        """Returns the tensors of a rollout, [28, envs, ...]."""
        shapes = {"observations": (size,), "beliefs": (3,), "log_probs": (), "values": (), "rewards": (), "actions": ()}
        arrays = {
            name: torch.zeros(STEPS, self.args.envs, *shape, device=self.args.device) for name, shape in shapes.items()
        }
        return {**arrays, "actions": arrays["actions"].long()}

    def train(self, until: int) -> None:
        """Trains until `until` updates are done, or until Ctrl-C."""
        stopping: List[int] = []
        previous = signal.signal(signal.SIGINT, lambda *_: stopping.append(1))
        try:
            while self.update < until and not stopping:
                began = time.perf_counter()
                self.optimizer.param_groups[0]["lr"] = self.args.learning_rate * (1 - self.update / self.args.updates)
                score = self.collect()
                self.learn()
                self.update += 1
                self.steps += STEPS * self.args.envs
                self.seconds += time.perf_counter() - began
                if self.update % SAVE_EVERY == 0 or self.update == until:
                    print(f"update {self.update}: training score {score:.4f}, {self.speed()}", flush=True)
                    self.save()
        finally:
            signal.signal(signal.SIGINT, previous)
        if stopping:
            print(f"stopped by Ctrl-C after update {self.update}", flush=True)
            self.save()

    def speed(self) -> str:
        share = self.env_seconds / max(self.seconds, 1e-9)
        return f"{self.steps / max(self.seconds, 1e-9):,.0f} steps/s, environment {share:.1%} of the time"

    @torch.no_grad()
    def collect(self) -> float:
        """Plays an episode in every environment. Returns the mean final score."""
        rollout = self.rollout
        scores: npt.NDArray[np.float32] = np.zeros(0, np.float32)
        for t in range(STEPS):
            step = {name: rows[t] for name, rows in rollout.items()}
            step["observations"].copy_(torch.from_numpy(self.observations))
            heads = self.agent.heads(step["observations"])
            step["actions"].copy_(heads[0].sample())  # type: ignore[no-untyped-call]
            if heads[1] is not None:
                step["beliefs"].copy_(heads[1].sample())  # type: ignore[no-untyped-call]
            step["log_probs"].copy_(self.agent.log_prob(heads, step["actions"], step["beliefs"]))
            step["values"].copy_(self.agent.value(step["observations"]))
            action = to_numpy(step["actions"], None if heads[1] is None else step["beliefs"])
            began = time.perf_counter()
            self.observations, _, _, _, infos = self.envs.step(action)
            self.env_seconds += time.perf_counter() - began
            if "final_info" in infos:
                scores = infos["final_info"]["final_score"]
        rollout["rewards"][-1] = torch.from_numpy(scores).to(self.args.device) * REWARD_SCALE
        return float(scores.mean())

    def advantages(self) -> Tensor:
        """Returns generalised advantage estimates (GAE), without a discount. A rollout ends with its episodes."""
        rewards, values = self.rollout["rewards"], self.rollout["values"]
        advantages = torch.zeros_like(rewards)
        advantage, next_value = torch.zeros_like(rewards[0]), torch.zeros_like(rewards[0])
        for t in reversed(range(STEPS)):
            advantage = rewards[t] + next_value - values[t] + self.args.gae_lambda * advantage
            advantages[t], next_value = advantage, values[t]
        return advantages

    def learn(self) -> None:
        """Updates the agent with the rollout."""
        advantages = self.advantages()
        columns = {**self.rollout, "advantages": advantages, "returns": advantages + self.rollout["values"]}
        flat = {name: column.flatten(0, 1) for name, column in columns.items()}
        for _ in range(self.args.epochs):
            for rows in torch.randperm(advantages.numel(), device=self.args.device).chunk(self.args.minibatches):
                loss = self.loss({name: column[rows] for name, column in flat.items()})
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.agent.parameters(), 0.5)
                self.optimizer.step()

    def loss(self, batch: Dict[str, Tensor]) -> Tensor:
        heads = self.agent.heads(batch["observations"])
        ratio = (self.agent.log_prob(heads, batch["actions"], batch["beliefs"]) - batch["log_probs"]).exp()
        advantages = (batch["advantages"] - batch["advantages"].mean()) / (batch["advantages"].std() + 1e-8)
        clipped = ratio.clamp(1 - self.args.clip, 1 + self.args.clip)
        gain = torch.minimum(ratio * advantages, clipped * advantages).mean()
        value_loss = 0.5 * (self.agent.value(batch["observations"]) - batch["returns"]).square().mean()
        entropy = heads[0].entropy().mean()  # type: ignore[no-untyped-call]
        # The entropy bonus falls to 0 with the learning rate.
        loss: Tensor = value_loss - gain - self.args.entropy * (1 - self.update / self.args.updates) * entropy
        return loss

    def save(self) -> None:
        """Writes the checkpoint atomically, if the training has one."""
        path: Optional[Path] = self.args.checkpoint
        if path is None:
            return
        state = {
            "agent": self.agent.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "update": self.update,
            "envs": torch.frombuffer(bytearray(self.envs.snapshot()), dtype=torch.uint8),
            "random": torch.get_rng_state(),
            "settings": settings_of(self.args),
        }
        partial = path.with_name(f"{path.name}.partial")
        torch.save(state, partial)
        os.replace(partial, path)

    def resume(self) -> None:
        """Loads the checkpoint. On the CPU `train` then continues as if it had not stopped, bit for bit."""
        state = load(self.args)
        self.agent.load_state_dict(state["agent"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.update = state["update"]
        self.observations = self.envs.restore(state["envs"].numpy().tobytes()).observations
        torch.set_rng_state(state["random"])


def make_envs(args: argparse.Namespace, num_envs: int, mode: AutoresetMode, **options: Any) -> RhythmVectorEnv:
    beliefs = not args.actions_only
    return make_vec(num_envs, args.grader, beliefs=beliefs, observation=OBSERVATION, autoreset_mode=mode, **options)


def settings_of(args: argparse.Namespace) -> Dict[str, Any]:
    return {name: getattr(args, name) for name in ("grader", "actions_only", "envs", "updates", "seed", "hidden")}


def load(args: argparse.Namespace) -> Dict[str, Any]:
    state: Dict[str, Any] = torch.load(args.checkpoint, map_location=args.device, weights_only=True)
    if state["settings"] != settings_of(args):
        raise SystemExit(
            f"Expected the settings of {args.checkpoint}, {state['settings']}, got {settings_of(args)}. "
            "Pass the same options."
        )
    return state


@torch.no_grad()
def evaluate(agent: Agent, args: argparse.Namespace, seeds: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Returns the final scores of the agent, which plays the most probable actions and states the mean beliefs."""
    envs = make_envs(args, len(seeds), AutoresetMode.DISABLED)
    observations, _ = envs.reset(seed=seeds)
    infos: Dict[str, Any] = {}
    for _ in range(STEPS):
        actions, beliefs = agent.heads(torch.from_numpy(observations).to(args.device))
        observations, _, _, _, infos = envs.step(
            to_numpy(actions.probs.argmax(-1), None if beliefs is None else beliefs.mean)
        )
    scores: npt.NDArray[np.float32] = infos["final_score"]
    return scores


def baselines(args: argparse.Namespace, seeds: npt.NDArray[np.int64]) -> Dict[str, npt.NDArray[np.float32]]:
    """Returns the final scores of `random` and `heuristic`, without a belief and with the belief [0.5, 0.5, 0.5]."""
    scores = {}
    with VecEnv(len(seeds), grader=args.grader) as env:
        for policy in ("random", "heuristic"):
            for name, beliefs in ((policy, None), (f"{policy}+constant", [0.5, 0.5, 0.5])):
                env.reset(seed=seeds)
                result, _ = env.run(policy, beliefs=beliefs, policy_seeds=seeds if policy == "random" else None)
                scores[name] = result.final_scores.copy()
    return scores


def main(argv: Optional[Sequence[str]] = None) -> Dict[str, float]:
    """Trains, except with --evaluate. Returns the mean held-out score of the agent and of each baseline."""
    args = parse(argv)
    training = Training(args)
    if args.resume:
        training.resume()
    elif args.evaluate:
        training.agent.load_state_dict(load(args)["agent"])
    if not args.evaluate:
        training.train(args.updates)
    scores = {"ppo": evaluate(training.agent, args, HELD_OUT), **baselines(args, HELD_OUT)}
    print(f"final score under {args.grader} on {len(HELD_OUT)} held-out seeds (0-99, 10000-10049):")
    for name, row in scores.items():
        print(f"  {name:<20} {row.mean():.4f} ±{1.96 * row.std(ddof=1) / len(row) ** 0.5:.4f}")
    return {name: float(row.mean()) for name, row in scores.items()}


if __name__ == "__main__":
    main()
