// Makes prompts batch by batch, as a program that writes a dataset does. Prints as JSON the number and bytes of the prompts,
// and the peak resident memory at the start and at the end. Argument: the least number of prompts.
// Written in JavaScript, so that the measured process loads only Node and the package.
import { createVecEnv, promptBatches } from '../dist/index.js';
import { NUM_ACTIONS, NUM_STEPS } from '../dist/world/fields.js';
import { peakResident } from './peak-resident.js';

/** Chosen by hand: more environments take more memory. */
const ENVS = 8192;
const [wanted] = process.argv.slice(2).map(Number);
const startBytes = peakResident();
const env = createVecEnv({ numEnvs: ENVS, observation: { history: true }, threads: 1 });
const actions = new Uint8Array(ENVS);
let prompts = 0;
let bytes = 0;
for (let t = 0; prompts < wanted; t++) {
  const { observations } =
    t % NUM_STEPS === 0 ? env.reset({ seed: t }) : env.step(actions.fill(t % NUM_ACTIONS));
  for (const batch of promptBatches(observations)) {
    for (const [, user] of batch) bytes += Buffer.byteLength(user.content);
    prompts += batch.length;
  }
}
console.log(JSON.stringify({ prompts, bytes, startBytes, peakBytes: peakResident() }));
