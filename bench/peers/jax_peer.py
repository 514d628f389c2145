"""Peer: JAX on one core. `vmap` and `jit` compile the step of one episode for the whole batch."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
if hasattr(os, "sched_setaffinity"):  # JAX has no option for the number of threads.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import array_rules  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from protocol import serve  # noqa: E402

one_step = lambda state, t, action: array_rules.step(jnp, state, t, action)  # noqa: E731
all_steps = jax.jit(jax.vmap(one_step, in_axes=(0, None, 0)))


def step(state, t, actions):
    return jax.block_until_ready(all_steps(state, jnp.uint32(t), actions))


def begin(seeds, profiles, graders):
    return jax.block_until_ready(jax.device_put(array_rules.begin(seeds, profiles, graders)))


serve(begin, step)
