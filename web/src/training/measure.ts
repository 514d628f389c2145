/** Measures how a policy plays, always in the same episodes, in the worker. */
import { yieldTurn } from '../../../src/engine/engine-calls.js';
import { floatsOf, type Grader } from '../../../src/engine/graders/grader.js';
import type { PolicyPlayer, PolicySetting } from '../../../src/engine/policy/policy.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../../src/world/fields.js';
import { createVecEnv } from '../workers/platform.js';
import { MEASURED } from './measured.js';
import type { Measurement } from './training-types.js';

/** Opens a policy for the measured episodes. */
type OpenPlayer = (setting: PolicySetting) => PolicyPlayer | Promise<PolicyPlayer>;

/** Plays the episodes of MEASURED. @throws the signal's reason. */
export async function measure(open: OpenPlayer, grader: Grader, signal: AbortSignal): Promise<Measurement> {
  const { first, count: numEnvs } = MEASURED;
  using env = createVecEnv({ numEnvs, grader: floatsOf(grader.weights) });
  const player = await open({ numEnvs, grader, world: env.world });
  const seeds = Uint32Array.from({ length: numEnvs }, (_, i) => first + i);
  const playing = new Uint8Array(numEnvs).fill(1);
  await player.reset?.({ mask: playing, seeds, profiles: refuseProfiles });
  const actionShares = new Array<number>(NUM_ACTIONS).fill(0);
  const week: number[] = [];
  let result = env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS; step++) {
    const view = { observations: result.observations, playing, steps: new Uint8Array(numEnvs).fill(step) };
    const { actions, beliefs } = await player.act(view);
    for (let i = 0; i < numEnvs; i++) actionShares[Number(actions[i])] += 1 / (numEnvs * NUM_STEPS);
    week.push(Number(actions[0]));
    result = env.step(actions, beliefs ? { beliefs: Float32Array.from(beliefs) } : {});
    await yieldTurn();
    signal.throwIfAborted();
  }
  const { finalScores, beliefMae, firstHalfMeans, secondHalfMeans } = result;
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

function refuseProfiles(): never {
  throw new Error(
    'Expected a policy that does not use the hidden profile, got an oracle. Choose another teacher.',
  );
}
