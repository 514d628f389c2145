/**
 * `npx tsx examples/planner.ts`: the planner plays eight episodes from their observations. Prints its reasons for one
 * action, and its mean final score and belief MAE.
 */
import { createVecEnv, Planner } from 'rhythm-vec';

const numEnvs = 8;
using env = createVecEnv({ numEnvs });
// A smaller search than by default, for a quick look.
using planner = new Planner({ numEnvs, posteriorSamples: 16, rounds: 4 });

let result = env.reset({ seed: 100 });
for (let step = 0; step < env.spec.maxEpisodeSteps; step++) {
  const { actions, beliefs } = planner.decide(result.observations);
  if (step === 8) console.log(planner.reasons(0));
  result = env.step(actions, { beliefs });
}

const mean = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / numEnvs;
console.log('final score', mean(result.finalScores).toFixed(3));
console.log('belief MAE ', mean(result.beliefMae).toFixed(3));
