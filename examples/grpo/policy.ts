/** A small policy of two networks: one gives logits of actions, the other logits of the levels of each belief. */
import { jit, numpy as np, tree } from '@jax-js/jax';
import { ACTION_NAMES, BELIEF_NAMES } from 'rhythm-vec';
import { FEATURE_COUNT } from './features.js';

export const ACTIONS = ACTION_NAMES.length;
export const BELIEFS = BELIEF_NAMES.length;
/** The number of values of a belief, evenly spaced from 0 to 1. Beliefs are discrete so that they have a policy gradient. */
export const LEVELS = 10;

const HIDDEN = 64;
/** Small last layers: at the start all choices are about equally likely. */
const LAST_LAYER_GAIN = 0.1;

export type Layer = { weights: np.Array; bias: np.Array };
export type Network = Layer[];
export type Parameters = { actor: Network; believer: Network };

/** Returns random parameters. @param random uniform in [0, 1). */
export function createParameters(random: () => number): Parameters {
  return {
    actor: createNetwork([FEATURE_COUNT, HIDDEN, HIDDEN, ACTIONS], random),
    believer: createNetwork([FEATURE_COUNT, HIDDEN, BELIEFS * LEVELS], random),
  };
}

function createNetwork(sizes: readonly number[], random: () => number): Network {
  return sizes.slice(1).map((outputs, k) => {
    const inputs = sizes[k];
    // Glorot and Bengio 2010: keeps the variance from layer to layer.
    const bound = Math.sqrt(6 / (inputs + outputs)) * (k === sizes.length - 2 ? LAST_LAYER_GAIN : 1);
    const weights = Float32Array.from({ length: inputs * outputs }, () => (2 * random() - 1) * bound);
    return { weights: np.array(weights).reshape([inputs, outputs]), bias: np.zeros([outputs]) };
  });
}

function forward(network: Network, inputs: np.Array): np.Array {
  return network.reduce((values, { weights, bias }, k) => {
    const sums = np.matmul(values, weights).add(bias);
    return k < network.length - 1 ? np.tanh(sums) : sums;
  }, inputs);
}

/** Returns logits [n, 10] for inputs [n, FEATURE_COUNT]. Consumes its arguments, like all functions of jax-js. */
export const actionLogits = jit(({ actor, believer }: Parameters, inputs: np.Array): np.Array => {
  tree.dispose(believer);
  return forward(actor, inputs);
});

/** Returns logits [n, 3, LEVELS] for inputs [n, FEATURE_COUNT]. */
export const beliefLogits = jit(({ actor, believer }: Parameters, inputs: np.Array): np.Array => {
  tree.dispose(actor);
  return forward(believer, inputs).reshape([-1, BELIEFS, LEVELS]);
});

/** Calls a function of jax-js with a plain array. Does not consume the parameters. @param inputs f32 [rows, FEATURE_COUNT]. */
export function logitsOf(
  logits: typeof actionLogits,
  parameters: Parameters,
  inputs: Float32Array,
): Float32Array {
  const rows = np.array(inputs).reshape([inputs.length / FEATURE_COUNT, FEATURE_COUNT]);
  return logits(tree.ref(parameters), rows).dataSync() as Float32Array;
}
