/** Adam (Kingma and Ba 2015), as functions of jax-js: they take over what they are given, and can be compiled with `jit`. */
import { numpy as np, tree } from '@jax-js/jax';
import type { Parameters } from './policy.js';

/** Running means of gradients and of their squares, and how many there were. */
export type AdamState = { mean: Parameters; square: Parameters; count: np.Array };

const MEAN_DECAY = 0.9;
const SQUARE_DECAY = 0.999;
const EPSILON = 1e-8;

/** @param parameters stay the caller's. */
export function createAdam(parameters: Parameters): AdamState {
  const zeros = (): Parameters =>
    tree.map((values: np.Array) => np.zeros(values.shape), parameters) as Parameters;
  return { mean: zeros(), square: zeros(), count: np.array(0) };
}

/** One step against the gradient. @param rate a scalar: how far. */
export function adam(
  parameters: Parameters,
  gradient: Parameters,
  state: AdamState,
  rate: np.Array,
): [Parameters, AdamState] {
  const count = state.count.add(1);
  const mean = blend(state.mean, tree.ref(gradient), MEAN_DECAY);
  const square = blend(state.square, tree.map(np.square, gradient) as Parameters, SQUARE_DECAY);
  // The running means begin at 0, and are too small by this much.
  const meanShare = np.subtract(1, np.power(MEAN_DECAY, count.ref));
  const squareShare = np.subtract(1, np.power(SQUARE_DECAY, count.ref));
  const stepped = tree.map(
    (values: np.Array, m: np.Array, s: np.Array) => {
      const spread = np.sqrt(s.div(squareShare.ref)).add(EPSILON);
      return values.sub(m.div(meanShare.ref).div(spread).mul(rate.ref));
    },
    parameters,
    tree.ref(mean),
    tree.ref(square),
  ) as Parameters;
  for (const used of [meanShare, squareShare, rate]) used.dispose();
  return [stepped, { mean, square, count }];
}

const blend = (old: Parameters, now: Parameters, decay: number): Parameters =>
  tree.map((a: np.Array, b: np.Array) => a.mul(decay).add(b.mul(1 - decay)), old, now) as Parameters;
