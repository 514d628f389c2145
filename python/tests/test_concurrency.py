"""Concurrent calls of several threads, forks of the process, and the memory of environments that are dropped."""

import gc
import os
import subprocess
import sys
import threading
import unittest
from typing import Any, Callable, List

import numpy as np

from rhythm_vec import StateError, VecEnv

from .support import RefusalTest, bytes_of, played

N = 4
#: A program that forks while its environment has threads. The child checks that it can use only an environment of its own.
#: A run of 20,000 environments uses threads (native/batch.cc).
FORK = """
import os, sys
import numpy as np
from rhythm_vec import StateError, VecEnv
env = VecEnv(20000, threads=3)
env.reset(seed=0)
env.run("random")
child = os.fork()
if child == 0:
    codes = []
    for call in (lambda: env.reset(), lambda: env.snapshot(), lambda: env.fork([0]), lambda: env.run("random")):
        try:
            call()
        except StateError as error:
            codes.append(error.code)
    own = VecEnv(20000, threads=3)
    own.reset(seed=0)
    own.run("random")
    same = np.array_equal(own.outputs.final_scores, env.outputs.final_scores)
    del own
    env.close()
    sys.exit(0 if same and codes == ["forked"] * 4 else 3)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
env.reset(seed=0)
sys.exit(status)
"""


class CallingArray:
    """An argument whose conversion by NumPy makes a second call, in another thread, while the first is in progress."""

    def __init__(self, array: Any, call: Callable[[], Any]) -> None:
        self.array, self.call, self.errors = array, call, []  # type: Any, Any, List[BaseException]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        thread = threading.Thread(target=self._call)
        thread.start()
        thread.join()
        return self.array

    def _call(self) -> None:
        try:
            self.call()
        except BaseException as error:
            self.errors.append(error)


class ThreadsTest(RefusalTest):
    def test_a_call_during_another_call_raises_busy(self) -> None:
        env, other = played(N), played(N)
        zeros = np.zeros(N, np.uint8)
        snapshot = env.snapshot()
        calls: List[Callable[[], Any]] = [
            lambda: env.step(zeros),
            lambda: env.reset(seed=1),
            lambda: env.run("random"),
            lambda: env.fork([0]),
            lambda: env.assign(other, range(N)),
            lambda: env.assign(env, range(N)),
            lambda: other.assign(env, range(N)),
            lambda: other.run("random", source=env, indices=range(N)),
            lambda: env.restore(snapshot),
            env.snapshot,
            env.state_hash,
            env.belief_targets,
            env.close,
        ]
        for call in calls:
            expected, other_before = played(N), bytes_of(other)
            env.restore(snapshot)
            calling = CallingArray(np.full((N, 3), 0.5), call)
            env.step(zeros, beliefs=calling)
            expected.step(zeros, beliefs=calling.array)
            self.assertEqual([getattr(error, "code", error) for error in calling.errors], ["busy"])
            self.expect_refusal(StateError, "busy", lambda error=calling.errors[0]: raise_(error))
            self.assertEqual(env.outputs.rewards.tobytes(), expected.outputs.rewards.tobytes())
            self.assertEqual(bytes_of(other), other_before)

    def test_a_call_while_another_reads_its_arguments_raises_busy(self) -> None:
        env, other = played(N, autoreset="same-step"), played(N)
        zeros, rows = np.zeros(N, np.uint8), np.arange(N)
        # `calling` replaces an array by one whose conversion makes a second call.
        for make_call in (
            lambda calling: env.step(zeros, mask=calling(np.ones(N, np.bool_))),
            lambda calling: env.reset(seed=calling(rows)),
            lambda calling: env.fork(calling(rows)),
            lambda calling: env.assign(other, calling(rows)),
            lambda calling: other.assign(env, calling(rows)),
            lambda calling: other.run("random", source=env, indices=calling(rows)),
        ):
            made: List[CallingArray] = []
            make_call(lambda array: made.append(CallingArray(array, lambda: env.step(zeros))) or made[-1])
            self.assertEqual([getattr(error, "code", error) for error in made[0].errors[:1]], ["busy"])
            env.step(zeros)

    def test_an_environment_can_step_after_an_error_during_conversion(self) -> None:
        env = played(N)
        for failing in (CallingArray("text", lambda: None), CallingArray(None, lambda: None)):
            with self.assertRaises(ValueError):
                env.step(failing)
        env.step(np.zeros(N, np.uint8))

    def test_a_call_succeeds_or_is_busy_if_threads_step_one_environment(self) -> None:
        env = VecEnv(2000, autoreset="same-step", threads=2)
        env.reset(seed=0)
        codes = np.zeros(2000, np.uint8)
        succeeded, errors = [], []

        def step_often() -> None:
            for _ in range(60):
                try:
                    env.step(codes)
                    succeeded.append(1)
                except StateError as error:
                    errors.append(error.code)

        in_threads(step_often, 4)
        self.assertLessEqual(set(errors), {"busy"})
        self.assertEqual(len(succeeded) + len(errors), 240)
        self.assertGreater(len(succeeded), 0)
        # All environments stepped equally often.
        self.assertEqual(len(set(env.outputs.observations[:, 0])), 1)

    def test_threads_step_their_own_environments_at_the_same_time(self) -> None:
        expected = played(3000, steps=30, autoreset="next-step").snapshot()
        results: List[bytes] = []
        in_threads(lambda: results.append(played(3000, steps=30, autoreset="next-step").snapshot()), 4)
        self.assertEqual(results, [expected] * 4)

    def test_the_option_threads_changes_no_result(self) -> None:
        # Steps use threads from 512 tiles of 16 environments on (native/batch.cc).
        snapshots = {played(70_000, threads=threads).snapshot() for threads in (1, 2, 7)}
        self.assertEqual(len(snapshots), 1)


def raise_(error: BaseException) -> None:
    raise error


def in_threads(work: Callable[[], Any], count: int) -> None:
    """Calls `work` in `count` threads at the same time, and waits for them."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class ProcessTest(unittest.TestCase):
    @unittest.skipUnless(hasattr(os, "fork") and hasattr(os, "waitstatus_to_exitcode"), "needs os.fork")
    def test_a_forked_process_refuses_the_environments_of_its_parent(self) -> None:
        outcome = subprocess.run([sys.executable, "-c", FORK], timeout=100, stderr=subprocess.PIPE)
        self.assertEqual((outcome.returncode, outcome.stderr), (0, b""))

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "needs /proc")
    def test_memory_and_threads_of_dropped_environments_are_freed(self) -> None:
        def open_and_drop(times: int) -> None:
            for k in range(times):
                env = VecEnv(10_000, threads=2, autoreset="same-step", observation={"history": k % 2 == 0})
                env.reset(seed=k)
                fork = env.fork(range(0, 10_000, 2))
                fork.run("random")
                if k % 2 == 0:
                    env.close()
            del env, fork
            gc.collect()

        open_and_drop(3)
        before, threads = resident(), len(os.listdir("/proc/self/task"))
        open_and_drop(20)
        # An environment and its fork take 5 MB, so 20 that are not freed would take 100 MB.
        self.assertLess(resident() - before, 50e6)
        self.assertEqual(len(os.listdir("/proc/self/task")), threads)


def resident() -> int:
    """Returns the bytes of memory that this process uses."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
