/** Plays episodes with the network of a student. */
import type { PolicyPlayer, PolicyView } from '../../engine/policy/policy.js';
import { spell } from '../../rollouts/text/spelling.js';
import { isFloats, wrongType } from '../../shared/values.js';
import { ACTION_NAMES, BELIEF_NAMES, NUM_ACTIONS, NUM_BELIEFS } from '../../world/fields.js';
import { FEATURE_COUNT, type Features, type Network, OUTPUT, OUTPUT_COUNT } from './network.js';

/** Outputs for beliefs are differences from this value, so that a network whose outputs are 0 states the constant belief. */
export const MIDDLE = 0.5;
const f32 = Math.fround;

/** A student in n episodes. An observation at step 0 begins an episode. */
export class StudentPlayer implements PolicyPlayer {
  readonly #network: Network;
  readonly #features: Features;
  /** f32 [n, OUTPUT_COUNT]: the outputs of the last step. */
  readonly #outputs: Float32Array;
  /** f32 [n, FEATURE_COUNT]. */
  readonly #inputs: Float32Array;

  constructor(network: Network, features: Features, numEnvs: number) {
    this.#network = network;
    this.#features = features;
    this.#outputs = new Float32Array(numEnvs * OUTPUT_COUNT);
    this.#inputs = new Float32Array(numEnvs * FEATURE_COUNT);
  }

  /** Does nothing: an observation at step 0 begins an episode. Callers reuse a player only if it has this method. */
  reset(): void {}

  /** Returns action codes, u8 [n], and beliefs, f32 [n, 3]. Both are newly allocated. */
  act({ observations, playing }: PolicyView): { actions: Uint8Array; beliefs: Float32Array } {
    if (!isFloats(observations))
      throw wrongType('observations', 'a Float32Array', observations, 'Pass raw observations, row-major.');
    const actions = new Uint8Array(playing.length);
    const beliefs = new Float32Array(playing.length * NUM_BELIEFS).fill(MIDDLE);
    this.#features.observe(observations, this.#inputs, playing);
    const allOutputs = this.#network.forward(this.#inputs);
    for (let i = 0; i < playing.length; i++) {
      if (playing[i] === 0) continue;
      const outputs = allOutputs.subarray(i * OUTPUT_COUNT, (i + 1) * OUTPUT_COUNT);
      this.#outputs.set(outputs, i * OUTPUT_COUNT);
      actions[i] = highestLogit(outputs);
      for (let k = 0; k < NUM_BELIEFS; k++) {
        beliefs[i * NUM_BELIEFS + k] = statedBelief(outputs[OUTPUT.means + k]);
      }
    }
    return { actions, beliefs };
  }

  [Symbol.dispose](): void {}

  /** Describes the beliefs with their standard deviations, and the two best actions. */
  reasons(i: number): string {
    const outputs = this.#outputs.subarray(i * OUTPUT_COUNT, (i + 1) * OUTPUT_COUNT);
    const beliefs = BELIEF_NAMES.map((name, k) => {
      const spread = Math.exp(outputs[OUTPUT.logSpreads + k]);
      return `${name} ${(MIDDLE + outputs[OUTPUT.means + k]).toFixed(2)} ± ${spread.toFixed(2)}`;
    });
    const [first, second] = probabilitiesOf(outputs);
    return (
      `A trained network estimates ${beliefs.join(', ')}. It chooses ${spell(ACTION_NAMES[first.action])} with ` +
      `weight ${first.probability.toFixed(2)}, before ${spell(ACTION_NAMES[second.action])} with ${second.probability.toFixed(2)}.`
    );
  }
}

/** Returns the belief that an output of the network states, clamped to [0, 1]. */
export const statedBelief = (mean: number): number => Math.min(Math.max(f32(MIDDLE + mean), 0), 1);

/** Returns the first action with the highest logit. */
export function highestLogit(outputs: Float32Array): number {
  let best = 0;
  for (let k = 1; k < NUM_ACTIONS; k++)
    if (outputs[OUTPUT.logits + k] > outputs[OUTPUT.logits + best]) best = k;
  return best;
}

/** Returns the actions with their probabilities, the most likely first. */
function probabilitiesOf(outputs: Float32Array): { action: number; probability: number }[] {
  const top = outputs[OUTPUT.logits + highestLogit(outputs)];
  const weights = Array.from({ length: NUM_ACTIONS }, (_, k) => Math.exp(outputs[OUTPUT.logits + k] - top));
  const sum = weights.reduce((total, weight) => total + weight);
  return weights
    .map((weight, action) => ({ action, probability: weight / sum }))
    .sort((a, b) => b.probability - a.probability);
}
