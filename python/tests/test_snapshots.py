"""Snapshots and pickles restore environments. Damaged snapshots are refused and change nothing."""

import pickle
import unittest
import zlib
from typing import Any, Callable

import numpy as np

from rhythm_vec import InputError, VecEnv, World
from rhythm_vec.snapshots import STATE

from .support import RefusalTest, bytes_of, played

N = 3
HEADER = 192  # bytes
WORDS = 52  # of an environment's state
SEED_RANGE = (0, 2**31)


def with_checksum(data: bytes) -> bytes:
    """Returns a snapshot with its checksum corrected."""
    checksum = zlib.crc32(data[HEADER:], zlib.crc32(data[: HEADER - 4]))
    return data[: HEADER - 4] + checksum.to_bytes(4, "little") + data[HEADER:]


class SnapshotTest(RefusalTest):
    def setUp(self) -> None:
        self.env = played(N, seed_range=SEED_RANGE)
        self.env.run("random", stops=[10, 27, 28])
        self.snapshot = self.env.snapshot()

    def _refuses(self, data: Any) -> None:
        self.expect_unchanged(self.env, InputError, "bad_snapshot", lambda: self.env.restore(data))

    def test_restore_accepts_bytes_bytearray_and_memoryview(self) -> None:
        for convert in (bytes, bytearray, memoryview, lambda data: memoryview(data + b"x")[:-1]):
            other = VecEnv(N, seed_range=SEED_RANGE)
            other.restore(convert(self.snapshot))
            self.assertEqual(other.snapshot(), self.snapshot)
            self.assertEqual(other.outputs.final_scores.tolist(), self.env.outputs.final_scores.tolist())

    def test_a_snapshot_of_another_length_is_refused(self) -> None:
        for length in [*range(0, HEADER + 8), len(self.snapshot) - 1]:
            self._refuses(self.snapshot[:length])
        # 212 bytes are a state and an episode number.
        for more in (b"\0", bytes(212), self.snapshot):
            self._refuses(self.snapshot + more)

    def test_a_change_of_any_byte_is_refused(self) -> None:
        for at in range(len(self.snapshot)):
            with self.subTest(byte=at):
                damaged = bytearray(self.snapshot)
                damaged[at] ^= 1 << at % 8
                self._refuses(bytes(damaged))

    def test_a_change_of_the_header_with_a_correct_checksum_is_refused(self) -> None:
        """Leaves out the low bytes of the counters of steps and episodes, because these may have any value."""
        for at in range(HEADER - 4):
            if 120 <= at < 126 or 128 <= at < 134:
                continue
            with self.subTest(byte=at):
                damaged = bytearray(self.snapshot)
                damaged[at] ^= 0x81  # the highest and the lowest bit
                self._refuses(with_checksum(bytes(damaged)))

    def test_illegal_states_with_a_correct_checksum_are_refused(self) -> None:
        inf, nan = np.float32(np.inf), np.float32(np.nan)
        # An episode has at most 28 steps, and 140 crashes (28 steps of five meters). Numbers of a profile are at most 2^20,
        # sums of rewards at most 2^64. `skill` sums at most 20 terms from -16.1 to 1. The ten actions are 0 to 9.
        illegal = {
            "step": [29, 2**32 - 1],
            "mode": [3, 255],
            "meters": [nan, inf, np.float32(1.5), np.float32(-0.1), np.float32(-0.0)],
            "profile": [nan, inf, np.float32(2.0**21)],
            "early": [nan, inf, np.float32(2.0**65)],
            "crashes": [141],
            "well": [np.float32(-1), np.float32(29)],
            "skill": [np.float32(-400), np.float32(29)],
            "belief": [nan, np.float32(2), np.float32(-1)],
            "given": [2],
            "tape": [0xA, 0xFFFFFFFF],
            "grader": [nan, np.float32(2)],
            "began": [28, 2**31],
            "first_meters": [nan, np.float32(2)],
            "seed": [2**31, 2**32 - 1],
        }
        for name, values in illegal.items():
            for value in values:
                for env in range(N):
                    with self.subTest(word=name, value=value, env=env):
                        word = value.view(np.uint32) if isinstance(value, np.float32) else np.uint32(value)
                        self._refuses(self._with_word(env, name, word))

    def _with_word(self, env: int, name: str, word: Any) -> bytes:
        words = np.frombuffer(self.snapshot, "<u4").copy()
        words[HEADER // 4 + env * WORDS + STATE[name]] = word
        return with_checksum(words.tobytes())

    def test_random_states_are_refused_or_can_be_played(self) -> None:
        rng = np.random.default_rng(5)
        for _ in range(300):
            words = np.frombuffer(self.snapshot, "<u4").copy()
            for at in rng.integers(HEADER // 4, len(words), rng.integers(1, 4)):
                words[at] = rng.choice([0, 1, 9, 28, 2**31, 2**32 - 1, int(rng.integers(2**32))])
            env = VecEnv(N, seed_range=SEED_RANGE, observation={"history": True})
            try:
                env.restore(with_checksum(words.tobytes()))
            except InputError as error:
                self.assertEqual(error.code, "bad_snapshot")
            else:
                env.run("random")

    def test_a_snapshot_of_an_environment_with_other_options_is_refused(self) -> None:
        others = [
            {"num_envs": N + 1},
            {"imagination": True},
            {"autoreset": "same-step"},
            {"seed_range": (0, 2**30)},
            {"world": changed_world()},
        ]
        for options in others:
            with self.subTest(options=options):
                env = VecEnv(**{"num_envs": N, "seed_range": SEED_RANGE, **options})
                self.expect_refusal(InputError, "bad_snapshot", lambda env=env: env.restore(self.snapshot))

    def test_a_copy_between_worlds_is_refused_with_their_names(self) -> None:
        source, target = VecEnv(N), VecEnv(N, world=changed_world())
        source.reset(seed=1)
        with self.assertRaisesRegex(InputError, rf"tired \({target.world.digest}\), got rhythm \({source.world.digest}\)"):
            target.assign(source, range(N))

    def test_a_snapshot_of_another_type_is_refused(self) -> None:
        for value in (None, "text", 5, [1], np.frombuffer(self.snapshot, np.uint8)):
            self._refuses(value)


def changed_world() -> World:
    """Returns a world whose first number is 0.5."""
    words = World().words.copy()
    words[:1] = np.array([0.5], np.float32).view(np.uint32)
    return World(words, name="tired")


class PickleTest(unittest.TestCase):
    def test_an_unpickled_environment_continues_like_the_original(self) -> None:
        options: Any = [
            {},
            {"autoreset": "next-step", "layout": "column-major", "grader": [0.125] * 8, "profiles": "discrete"},
            {"autoreset": "same-step", "observation": {"history": True, "scale": True, "one_hot": True}, "copy": True},
            {"imagination": True, "kernel": "scalar", "threads": 2, "world": changed_world()},
        ]
        for chosen in options:
            for prepare in (lambda env: None, lambda env: env.reset(seed=4), play_most):
                with self.subTest(options=chosen):
                    env = VecEnv(N, **chosen)
                    prepare(env)
                    self._expect_same_future(env, pickle.loads(pickle.dumps(env)))

    def _expect_same_future(self, env: VecEnv, copy: VecEnv) -> None:
        calls: "list[Callable[[VecEnv], Any]]" = [
            lambda each: each.reset(seed=8, mask=None),
            lambda each: each.run("heuristic", stops=[28, 26, 27]),
            lambda each: each.step(np.zeros(N, np.uint8), mask=[False, True, True]),
        ]
        has_been_reset = env.outputs.episode_lengths.any() or env.seeds.any()
        if has_been_reset:
            calls.insert(0, lambda each: each.run("heuristic", stops=[5, 28, 28]))
        for call in calls:
            call(env)
            call(copy)
            self.assertEqual(bytes_of(env), bytes_of(copy))

    def test_closed_environments_cannot_be_pickled(self) -> None:
        env = VecEnv(N)
        env.close()
        with self.assertRaisesRegex(RuntimeError, "Expected an open environment"):
            pickle.dumps(env)


def play_most(env: VecEnv) -> None:
    """Plays the three episodes to the steps 4, 26 and 28."""
    env.reset(seed=4)
    env.run("random", stops=[3, 25, 27])
    env.step(np.zeros(N, np.uint8))
