/** The episodes of trainings: those of the planner, which are stored, and those in which policies are measured. */
import { yieldTurn } from '../../../src/engine/engine-calls.js';
import { floatsOf, type Grader } from '../../../src/engine/graders/grader.js';
import type { Policy } from '../../../src/engine/policy/policy.js';
import type { Played } from '../../../src/training/student/episodes.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../../src/world/fields.js';
import { MEASURED } from '../sizes.js';
import { createVecEnv, playSteps, seedsFrom } from '../workers/platform.js';
import type { Measurement } from './training-types.js';

/** The first seed of the episodes, and their number. Chosen by hand: more episodes teach more and take longer. */
export const EPISODES = { first: 100, count: 3000 };

/** Returns the bytes of a file: two actions per byte, the first one in the low half. @param actions u8 [n, 28]. */
export const pack = (actions: Uint8Array): Uint8Array =>
  Uint8Array.from({ length: actions.length / 2 }, (_, k) => actions[2 * k] | (actions[2 * k + 1] << 4));

/** Returns the first `count` episodes of a file. */
export function unpack(file: Uint8Array, count: number): Played {
  const actions = Uint8Array.from(
    { length: count * NUM_STEPS },
    (_, k) => (file[k >> 1] >> (4 * (k & 1))) & 15,
  );
  return { seeds: seedsFrom(EPISODES.first, count), actions };
}

/** Plays the episodes of MEASURED. @throws the signal's reason. */
export async function measure(
  open: Policy['open'],
  grader: Grader,
  signal: AbortSignal,
): Promise<Measurement> {
  const { first, count: numEnvs } = MEASURED;
  using env = createVecEnv({ numEnvs, grader: floatsOf(grader.weights) });
  const player = await open({ numEnvs, grader, world: env.world });
  const actionShares = new Array<number>(NUM_ACTIONS).fill(0);
  const week: number[] = [];
  const episodes = { seed: seedsFrom(first, numEnvs) };
  const outputs = await playSteps(env, player, episodes, async (actions) => {
    for (let i = 0; i < numEnvs; i++) actionShares[actions[i]] += 1 / (numEnvs * NUM_STEPS);
    week.push(actions[0]);
    await yieldTurn();
    signal.throwIfAborted();
  });
  const { finalScores, beliefMae, firstHalfMeans, secondHalfMeans } = outputs;
  return {
    finalScore: meanOf(finalScores),
    beliefMae: meanOf(beliefMae),
    firstHalfMean: meanOf(firstHalfMeans),
    secondHalfMean: meanOf(secondHalfMeans),
    actionShares,
    week,
  };
}

const meanOf = (numbers: Float32Array): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
