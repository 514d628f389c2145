/**
 * A program that uses the installed package: it steps a batch to the end. It prints the bits of the final scores to stdout,
 * one per line, and the backend to stderr.
 *
 * Usage: node final-scores.mjs native|reference|auto
 */
import { readFileSync } from 'node:fs';
import { ACTION_NAMES, BELIEF_NAMES, createVecEnv, RHYTHM } from 'rhythm-vec';

const numEnvs = 1000;
const numBeliefs = BELIEF_NAMES.length;
const env = createVecEnv({ numEnvs, backend: process.argv[2], profiles: 'sampled' });
const actions = new Uint8Array(numEnvs);
const beliefs = new Float32Array(numEnvs * numBeliefs);

let { terminated, finalScores } = env.reset({ seed: 0 });
for (let step = 0; step < RHYTHM.maxEpisodeSteps; step++) {
  if (terminated.includes(1)) throw new Error(`Expected no episode to end before step ${step}.`);
  // Actions differ by environment and step, and so do beliefs.
  for (let i = 0; i < actions.length; i++) actions[i] = (i * (step + 1) + step) % ACTION_NAMES.length;
  for (let i = 0; i < beliefs.length; i++) beliefs[i] = ((i + step) % 101) / 100;
  ({ terminated, finalScores } = env.step(actions, { beliefs }));
}
if (terminated.includes(0)) throw new Error('Expected every episode to have ended.');
if (new Set(finalScores).size < numEnvs / 2) throw new Error('Expected many different final scores.');

const bits = new Uint32Array(finalScores.buffer, finalScores.byteOffset, numEnvs);
console.log([...bits].map((word) => word.toString(16).padStart(8, '0')).join('\n'));

const manifest = new URL('../package.json', import.meta.resolve('rhythm-vec'));
const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
console.error(`rhythm-vec ${version}: ${numEnvs} episodes on backend ${env.backend}, kernel ${env.kernel}`);
env.close();
