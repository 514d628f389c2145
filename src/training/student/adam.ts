/** Adam (Kingma and Ba 2015) for jax-js. It consumes (frees) its arguments. */
import { numpy as np, tree } from '@jax-js/jax';

/** A layer's arrays: weights [inputs, outputs], bias [outputs]. */
export type Layer = { weights: np.Array; bias: np.Array };
/** The layers of a network, from the inputs to the outputs. */
export type Parameters = Layer[];

/** Running means of the gradients and of their squares, and the number of updates. */
export type AdamState = { mean: Parameters; square: Parameters; count: np.Array };

/** The decay of the running means of the gradients, and of their squares: beta_1 and beta_2 of the paper. */
const MEAN_DECAY = 0.9;
const SQUARE_DECAY = 0.999;
/** Keeps the divisor above 0. */
const EPSILON = 1e-8;

/** Returns the parameters and state after one update. @param rate the learning rate, a scalar. */
export function adam(
  parameters: Parameters,
  gradient: Parameters,
  state: AdamState,
  rate: np.Array,
): [Parameters, AdamState] {
  const count = state.count.add(1);
  const mean = blend(state.mean, tree.ref(gradient), MEAN_DECAY);
  const square = blend(state.square, tree.map(np.square, gradient) as Parameters, SQUARE_DECAY);
  // Bias correction: the running means begin at 0.
  const meanCorrection = np.subtract(1, np.power(MEAN_DECAY, count.ref));
  const squareCorrection = np.subtract(1, np.power(SQUARE_DECAY, count.ref));
  const updated = tree.map(
    (values: np.Array, m: np.Array, s: np.Array) => {
      const scale = np.sqrt(s.div(squareCorrection.ref)).add(EPSILON);
      return values.sub(m.div(meanCorrection.ref).div(scale).mul(rate.ref));
    },
    parameters,
    tree.ref(mean),
    tree.ref(square),
  ) as Parameters;
  for (const used of [meanCorrection, squareCorrection, rate]) used.dispose();
  return [updated, { mean, square, count }];
}

/** Returns the running mean after a new value. */
const blend = (mean: Parameters, value: Parameters, decay: number): Parameters =>
  tree.map((a: np.Array, b: np.Array) => a.mul(decay).add(b.mul(1 - decay)), mean, value) as Parameters;
