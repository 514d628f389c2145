"""Arrays of any number type, strides and byte order give equal results. Results are views, or copies if `copy` is set."""

import gc
import json
import unittest
import weakref
from pathlib import Path
from typing import Any, List
from unittest import mock

import numpy as np

from rhythm_vec import COMPONENT_NAMES, VecEnv

from .support import arrays_of, bytes_of, played

N = 5
CODES = np.array([0, 9, 3, 7, 1], np.uint8)
BELIEFS = np.array([[0.1, 0.2, 0.3]] * N, np.float32)


def read_only(array: Any) -> Any:
    frozen = array.copy()
    frozen.setflags(write=False)
    return frozen


def spread(array: Any, step: int) -> Any:
    """Returns an equal array: a slice with this step."""
    wide = np.zeros((abs(step) * len(array), *array.shape[1:]), array.dtype)
    view = wide[::step]
    view[:] = array
    return view


class ArraysTest(unittest.TestCase):
    def _expect_equal_steps(self, steps: List[Any]) -> None:
        """Expects the same outputs of all steps. A step is (actions, beliefs, mask)."""
        expected = None
        for k, (actions, beliefs, mask) in enumerate(steps):
            with self.subTest(step=k):
                env = played(N)
                env.step(actions, beliefs=beliefs, mask=mask)
                expected = expected or bytes_of(env)
                self.assertEqual(expected, bytes_of(env))

    def test_actions_may_be_arrays_of_any_integer_type_and_strides(self) -> None:
        types = ["u1", "i1", "<u2", ">u2", "<i2", ">i2", "<u4", ">u4", "<i4", ">i4", "<u8", ">u8", "<i8", ">i8"]
        arrays = [CODES.astype(dtype) for dtype in types]
        arrays += [spread(array, step) for array in arrays for step in (2, 3, -1)]
        unaligned = np.frombuffer(b"\0" + CODES.astype("<i4").tobytes(), "<i4", N, 1)
        actions = [
            *arrays,
            unaligned,
            read_only(CODES),
            CODES.tolist(),
            tuple(CODES),
            memoryview(CODES),
            array_convertible(CODES),
        ]
        self._expect_equal_steps([(array, None, None) for array in actions])

    def test_beliefs_may_be_arrays_of_any_number_type_and_strides(self) -> None:
        halves = BELIEFS.astype(np.float16).astype(np.float32)
        columns = np.asfortranarray(halves)
        arrays = [
            halves,
            halves.ravel(),
            columns,
            spread(halves, 2),
            spread(halves, -1),
            read_only(halves),
            halves.tolist(),
        ]
        arrays += [halves.astype(dtype) for dtype in ("<f2", ">f4", "<f8", ">f8", np.longdouble)]
        self._expect_equal_steps([(CODES, beliefs, None) for beliefs in arrays])
        integers = [np.ones((N, 3), dtype) for dtype in (np.float32, np.uint8, np.int64)]
        self._expect_equal_steps([(CODES, beliefs, None) for beliefs in integers])

    def test_one_belief_may_stand_for_all_environments(self) -> None:
        for belief in ([0.25, 0.5, 2], [np.nan] * 3):
            rows = np.tile(np.array(belief, np.float32), (N, 1))
            self._expect_equal_steps([(CODES, beliefs, None) for beliefs in (rows, belief, rows[0])])

    def test_masks_may_have_any_strides(self) -> None:
        mask = np.array([True, False, True, True, False])
        masks = [mask, spread(mask, 2), spread(mask, -1), read_only(mask), mask.astype(np.uint8), mask.tolist()]
        self._expect_equal_steps([(CODES, BELIEFS, mask) for mask in masks])

    def test_ignored_rows_may_hold_anything(self) -> None:
        mask = [False, True, True, True, True]
        wild = BELIEFS.copy()
        wild[0] = [np.nan, np.inf, 0]
        first = [np.concatenate([[code], CODES[1:]]) for code in (0, 200, -5, 2**40)]
        self._expect_equal_steps([(first[0], BELIEFS, mask), *[(actions, wild, mask) for actions in first]])

    def test_resets_and_runs_accept_lists_and_arrays_of_any_strides(self) -> None:
        seeds = np.arange(50, 50 + N)
        profiles = np.full((N, 16), 0.25, np.float32)
        graders = np.full((N, 8), 0.125)
        sequence = np.tile(np.arange(28) % 10, (N, 1))
        beliefs = np.full((N, 28, 3), 0.5)
        stops = np.arange(20, 20 + N)
        variants: List[Any] = [
            (seeds, profiles, graders, sequence, beliefs, stops),
            tuple(np.asfortranarray(array) for array in (seeds, profiles, graders, sequence, beliefs, stops)),
            tuple(spread(array, -2) for array in (seeds, profiles, graders, sequence, beliefs, stops)),
            tuple(read_only(array) for array in (seeds, profiles, graders, sequence, beliefs, stops)),
            (
                seeds.tolist(),
                profiles.astype(">f8"),
                graders.tolist(),
                sequence.tolist(),
                beliefs.tolist(),
                stops.tolist(),
            ),
        ]
        expected = None
        for k, (seed, profile, grader, policy, belief, stop) in enumerate(variants):
            with self.subTest(variant=k):
                env = VecEnv(N)
                env.reset(seed=seed, profiles=profile, graders=grader)
                env.run(policy, beliefs=belief, stops=stop)
                expected = expected or bytes_of(env)
                self.assertEqual(expected, bytes_of(env))

    def test_graders_that_differ_only_in_the_last_digits_stay_different(self) -> None:
        first, second = np.full(8, 0.125), np.full(8, 0.125)
        second[0], second[1] = 0.125 + 2.0**-26, 0.125 - 2.0**-26
        one, both = VecEnv(1), VecEnv(2)
        one.reset(seed=1, graders=second)
        both.reset(seed=0, graders=[first, second])
        for env in (one, both):
            env.run("random")
        self.assertEqual(one.outputs.final_scores[0], both.outputs.final_scores[1])
        # A snapshot has a header of 192 bytes, then 208 bytes for each state.
        self.assertEqual(one.snapshot()[192 : 192 + 208], both.snapshot()[192 + 208 : 192 + 416])

    def test_a_grader_file_that_several_environments_name_is_read_once(self) -> None:
        weights = json.dumps(dict.fromkeys(COMPONENT_NAMES, 0.125))
        with mock.patch.object(Path, "read_text", return_value=weights) as read:
            VecEnv(N).reset(seed=0, graders=["grader.json"] * N)
        self.assertEqual(read.call_count, 1)


class ViewsTest(unittest.TestCase):
    def test_writes_of_the_caller_to_results_change_no_episode(self) -> None:
        for autoreset in ("disabled", "next-step", "same-step"):
            for copy in (False, True):
                with self.subTest(autoreset=autoreset, copy=copy):
                    env, written = (VecEnv(N, autoreset=autoreset, copy=copy) for _ in range(2))
                    for each in (env, written):
                        each.reset(seed=3)
                        each.run("random", stops=[0, 5, 20, 27, 27 if autoreset == "same-step" else 28])
                    rng = np.random.default_rng(1)
                    for _ in range(40):
                        mask = rng.random(N) < 0.8
                        if autoreset == "disabled":
                            mask &= ~env.outputs.terminated
                        for name, array in vars(written.outputs).items():
                            if array is not None and name != "truncated":
                                array[...] = 77
                        codes = rng.integers(0, 10, N)
                        env.step(codes, mask=mask)
                        written.step(codes, mask=mask)
                        self.assertEqual(env.snapshot(), written.snapshot())
                        self.assertEqual(env.counters, written.counters)

    def test_results_are_views_unless_copy_is_set(self) -> None:
        for copy in (False, True):
            env = played(N, copy=copy)
            before = env.outputs
            kept = arrays_of(before)
            env.step(CODES)
            self.assertEqual(np.shares_memory(before.observations, env.outputs.observations), not copy)
            self.assertEqual(before.observations.tobytes() == kept["observations"].tobytes(), copy)

    def test_views_outlive_the_environment(self) -> None:
        for layout in ("row-major", "column-major"):
            for ends in ("close", "delete"):
                with self.subTest(layout=layout, ends=ends):
                    env = played(1000, layout=layout, autoreset="same-step")
                    outputs, seeds = env.outputs, env.seeds
                    before = arrays_of(outputs)
                    if ends == "close":
                        env.close()
                    reference = weakref.ref(env)
                    del env
                    gc.collect()
                    self.assertIsNone(reference())
                    VecEnv(1000).reset(seed=9)  # a new environment would reuse freed memory
                    for name, array in arrays_of(outputs).items():
                        self.assertEqual(array.tobytes(), before[name].tobytes(), name)
                    self.assertEqual(seeds.tolist(), list(range(100, 1100)))

    def test_seeds_and_episode_numbers_are_read_only(self) -> None:
        env = played(N)
        for view in (env.seeds, env.episode_numbers):
            with self.assertRaises(ValueError):
                view[0] = 1


def array_convertible(codes: Any) -> Any:
    """Returns an object that NumPy converts by __array__."""

    class Convertible:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return codes.astype(np.int64)

    return Convertible()
