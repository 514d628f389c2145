"""A pool of Ray actors. Each computes with the engine of this package in its own process, on one machine or many.

    from rhythm_vec.ray import ActorPool

    with ActorPool(4) as pool:
        scores = pool.score([4242], [[0] * 28], [3], [7])

Results equal those of the same call in one process, bit for bit, with any number of actors and after any restarts.
"""

from __future__ import annotations

import os
import pickle
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _world
from .batches import renumber, split_rows
from .checks import as_array, check_integer, check_number, refuse, to_array
from .choices import GraderChoice, ProfileChoice, is_file, part_of, read_grader, to_profiles, to_seeds, to_world
from .core import NUM_STEPS
from .errors import RhythmError, StateError
from .replay import ReplayScores, score_replay, to_reward_options
from .rollouts import Policy, RolloutGroups, open_origins, rollout_groups
from .scores import Fault
from .vec_env import VecEnv
from .world import World

if TYPE_CHECKING:
    from .ray_env import RayVectorEnv

try:
    import ray
    from ray.util import ActorPool as _RayPool
except ModuleNotFoundError as error:
    raise ImportError(
        "Expected the package ray for rhythm_vec.ray, got none. Install it with: pip install ray"
    ) from error

__all__ = ["ActorPool"]

#: The minimum number of rows of a task, unless there are fewer in all: several milliseconds of work.
_MIN_ROWS = 2048

Arrays = Dict[str, Any]


class _Actor:
    """The object in the process of an actor. If the actor dies during a call, Ray may restart it, without environments, and
    repeat the call."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        #: Parts of vector environments, by the number of the vector environment.
        self._parts: Dict[int, VecEnv] = {}

    def describe(self) -> Tuple[str, int]:
        """Returns the package's version, and the process's id."""
        return _world.VERSION, os.getpid()

    def score(self, columns: Mapping[str, Any]) -> ReplayScores:
        return score_replay(**columns, **self._options)

    def rollout_groups(self, arguments: Mapping[str, Any], policy: Any) -> RolloutGroups:
        return rollout_groups(policy=policy, **arguments, **self._options)

    def open(self, key: int, state: Mapping[str, Any]) -> None:
        """Opens a part of a vector environment with the pickled state of a VecEnv."""
        self._parts[key] = VecEnv.__new__(VecEnv)
        self._parts[key].__setstate__(state)

    def call(self, key: int, name: str, arguments: Arrays) -> Arrays:
        """Steps or resets a part. Returns copies of the outputs. Raises RhythmError if the part is lost."""
        if key not in self._parts:
            raise RhythmError(
                "Expected an actor with the environments, got one that ended and was restarted. Their episodes are lost. "
                "Create another vector environment."
            )
        env = self._parts[key]
        result = env.step(**arguments) if name == "step" else env._core.reset(**arguments)
        outputs = {field.name: getattr(result, field.name) for field in fields(result)}
        outputs.update(seeds=env.seeds, episode_numbers=env.episode_numbers)
        return {each: np.array(array) for each, array in outputs.items() if array is not None}

    def close(self, key: int) -> None:
        self._parts.pop(key, None)


class ActorPool:
    """Ray actors that compute with this package. The package must be installed on every machine of the cluster.

    An actor that dies is restarted, and repeats its task. A task may thus be computed several times, with the same
    bytes; its result is returned once. If Ray is not initialised, the pool connects to the cluster of RAY_ADDRESS, or
    starts Ray on this machine.

    Args:
        num_actors: by default as many as the CPUs of the cluster allow.
        threads: threads of each actor, which reserves as many CPUs.
        kernel: as in VecEnv; by default the fastest of each machine. Changes no result.
        restarts: how often an actor may be restarted, and how often a task may be repeated.
        start_timeout_s: seconds to wait for the actors to start.

    Attributes:
        actors: Ray's handles of the actors; empty after `close`.

    Raises:
        InputError: an argument is out of range.
        RhythmError: the actors do not start in time, or have another version of this package.
    """

    def __init__(
        self,
        num_actors: Optional[int] = None,
        *,
        threads: int = 1,
        kernel: Optional[str] = None,
        restarts: int = 3,
        start_timeout_s: float = 60.0,
    ) -> None:
        check_integer("threads", threads, 1, _world.MAX_THREADS)
        check_integer("restarts", restarts, 0, 2**31 - 1)
        check_number("start_timeout_s", start_timeout_s, 0, 2**31)
        if not ray.is_initialized():
            ray.init()
        if num_actors is None:
            num_actors = max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)
        count = check_integer("num_actors", num_actors, 1, 2**16)
        actor = ray.remote(_Actor).options(num_cpus=threads, max_restarts=restarts, max_task_retries=restarts)
        self._restarts = restarts
        self._closed = False
        self._last_key = 0
        self.actors: List[Any] = [actor.remote({"kernel": kernel, "threads": threads}) for _ in range(count)]
        try:
            self._check_start(start_timeout_s)
        except BaseException:
            self.close()
            raise

    def _check_start(self, timeout_s: float) -> None:
        refs = [actor.describe.remote() for actor in self.actors]
        started, waiting = ray.wait(refs, num_returns=len(refs), timeout=timeout_s)
        versions = {version for version, _ in self.get(started)}
        if waiting:
            raise RhythmError(
                f"Expected {len(refs)} actors within {timeout_s:g} s, got {len(started)}. "
                "Pass fewer actors or threads, or add CPUs to the cluster."
            )
        if versions != {_world.VERSION}:
            raise RhythmError(
                f"Expected rhythm_vec {_world.VERSION} on all machines of the cluster, got {', '.join(versions)}. "
                "Install the same release on all machines."
            )

    def score(
        self,
        seeds: npt.ArrayLike,
        histories: npt.ArrayLike,
        step_indices: npt.ArrayLike,
        actions: npt.ArrayLike,
        *,
        beliefs: Optional[npt.ArrayLike] = None,
        belief_histories: Optional[npt.ArrayLike] = None,
        profiles: ProfileChoice = "sampled",
        grader: GraderChoice = "v2",
        weights: Optional[Mapping[str, float]] = None,
        shaping: Optional[Mapping[str, bool]] = None,
        world: Union[World, str, "os.PathLike[str]", None] = None,
    ) -> ReplayScores:
        """Scores actions, each after the actions of its history. Arguments, result and errors are those of
        `rhythm_vec.score_replay`, without `kernel` and `threads`."""
        self.require_open()
        chosen = to_world(world)
        count = to_array(seeds).size
        steps, beliefs_shape = (count, NUM_STEPS), (len(_world.BELIEF_NAMES),)
        columns: Dict[str, Any] = {
            "seeds": to_seeds(to_array(seeds).reshape(-1), count, what="seeds") if count > 0 else seeds
        }
        for name, value, kinds, shape, entries in (
            ("histories", histories, "iu", steps, "integers"),
            ("step_indices", step_indices, "iu", (count,), "integers"),
            ("actions", actions, "iu", (count,), "integers"),
            ("beliefs", beliefs, "fiu", (count, *beliefs_shape), "numbers"),
            ("belief_histories", belief_histories, "fiu", (*steps, *beliefs_shape), "numbers"),
        ):
            if value is not None or kinds == "iu":
                columns[name] = as_array(name, value, kinds, shape, entries)
        columns["profiles"] = to_profiles(chosen, profiles, count)
        to_reward_options(chosen, grader, weights, shaping)
        options = {
            # The file may exist only on this machine.
            "grader": read_grader(grader) if is_file(grader) else grader,
            "weights": weights,
            "shaping": shaping,
            "world": chosen,
        }
        ranges = split_rows(count, len(self.actors), _MIN_ROWS)
        parts = [{name: part_of(column, slice(*rows)) for name, column in columns.items()} for rows in ranges]
        results = self._map("score", [{**part, **options} for part in parts])
        return _join_scores(results, [start for start, _ in ranges])

    def rollout_groups(
        self,
        *,
        group_size: int,
        policy: Policy,
        seeds: Optional[npt.ArrayLike] = None,
        source: Union[VecEnv, bytes, None] = None,
        indices: Optional[npt.ArrayLike] = None,
        policy_seeds: Union[str, int] = "member",
        gamma: float = 1.0,
        profiles: Optional[ProfileChoice] = None,
        grader: Optional[GraderChoice] = None,
        world: Union[World, str, "os.PathLike[str]", None] = None,
    ) -> RolloutGroups:
        """Plays groups of rollouts to the end of their episodes, and records them. Arguments, result and errors are
        those of `rhythm_vec.rollout_groups`, without `kernel`, `threads` and `on_progress`.

        A policy that is a function is pickled, and called with some of the groups at a time. The result equals that of
        one process if the policy chooses for each rollout from the observations of that rollout alone.

        Raises:
            StateError: also `foreign_past`: the actors cannot replay an episode of `source` that was copied from an
                environment whose `imagination` differs from that of `source`.
        """
        self.require_open()
        with open_origins(seeds, source, indices, profiles, grader, world, None, None) as origins:
            options: Dict[str, Any] = {"world": origins.world, "group_size": group_size}
            options.update(policy_seeds=policy_seeds, gamma=gamma)
            check_integer("group_size", group_size, 1, _world.MAX_ENVS // origins.num_envs)
            ranges = split_rows(origins.num_envs, len(self.actors), max(1, _MIN_ROWS // group_size))
            shared = _share(policy)
            arguments = [{"source": _snapshot_of(origins, *rows), **options} for rows in ranges]
            results = self._map("rollout_groups", arguments, shared)
        return _join_groups(results)

    def make_vec(self, num_envs: int, grader: GraderChoice = "v2", **options: Any) -> RayVectorEnv:
        """Creates a Gymnasium vector environment whose episodes the actors compute. Options, results and errors are
        those of `rhythm_vec.make_vec`, except that there are no options `layout`, `copy`, `kernel` and `threads`.

        It needs gymnasium. If an actor ends, the episodes of its environments are lost: the next call raises RhythmError.
        """
        from .ray_env import RayVectorEnv

        self._last_key += 1
        return RayVectorEnv(self.actors, self.get, self._last_key, num_envs, grader, **options)

    def close(self) -> None:
        """Ends the actors and their environments. Ray keeps running. A second `close` does nothing."""
        self._closed = True
        for actor in self.actors:
            ray.kill(actor)
        self.actors = []

    def __enter__(self) -> ActorPool:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def require_open(self) -> None:
        """Raises StateError `closed` if the pool is closed."""
        if self._closed:
            raise StateError("closed", "Expected an open pool, got one that was closed. Create a new pool.")

    def _map(self, method: str, arguments: Sequence[Mapping[str, Any]], *shared: Any) -> List[Any]:
        """Returns the results of a task for each argument, in order. Idle actors take the next task."""
        with self._converted_errors():
            pool = _RayPool(self.actors)
            return list(pool.map(lambda actor, argument: getattr(actor, method).remote(argument, *shared), arguments))

    def get(self, refs: Sequence[Any]) -> List[Any]:
        """Returns the results of tasks. Raises the error of a task, RhythmError if an actor died too often, and StateError
        `closed` if the pool is closed."""
        self.require_open()
        with self._converted_errors():
            results: List[Any] = ray.get(list(refs))
            return results

    @contextmanager
    def _converted_errors(self) -> Iterator[None]:
        """Raises the error of a task instead of Ray's wrapper, and RhythmError if an actor died too often."""
        try:
            yield
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except ray.exceptions.RayActorError as error:
            raise RhythmError(
                f"Expected each actor to run after at most {self._restarts} restarts, got one that ended: {error}. "
                "Remove the cause, or raise restarts. Then create a new pool."
            ) from error


def _share(policy: Policy) -> Any:
    """Stores a policy once for all tasks. Raises InputError `wrong_type` if it cannot be pickled."""
    try:
        return ray.put(policy)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        cause = str(error).splitlines()[-1] if error.__cause__ is None else str(error.__cause__)
        remedy = "Create objects that cannot be pickled inside the policy."
        refuse("wrong_type", "a policy that can be pickled", cause[:200], remedy)


def _snapshot_of(origins: VecEnv, start: int, stop: int) -> bytes:
    """Returns a snapshot of the environments [start, stop)."""
    with origins.fork(np.arange(start, stop)) as part:
        return part.snapshot()


def _join_scores(results: Sequence[ReplayScores], starts: Sequence[int]) -> ReplayScores:
    faults = [
        Fault(fault.index + start, fault.code, renumber(fault.message, fault.index, start))
        for result, start in zip(results, starts)
        for fault in result.faults
    ]
    names = [field.name for field in fields(ReplayScores) if field.name != "faults"]
    columns: Any = {name: np.concatenate([getattr(result, name) for result in results]) for name in names}
    return ReplayScores(**columns, faults=faults)


def _join_groups(results: Sequence[RolloutGroups]) -> RolloutGroups:
    joined: Any = {"groups": sum(result.groups for result in results), "group_size": results[0].group_size}
    for name in (field.name for field in fields(RolloutGroups) if field.name not in joined):
        arrays = [getattr(result, name) for result in results]
        if all(array is None for array in arrays):
            joined[name] = None
            continue
        # A policy may give log_probs in some parts only: they are unknown in the others.
        unknown = (np.full(result.rewards.shape, np.nan, np.float32) for result in results)
        joined[name] = np.concatenate([other if array is None else array for array, other in zip(arrays, unknown)])
    return RolloutGroups(**joined)
