// Opens, resets and steps environments. Prints the peak memory, and the observation of the last environment, as JSON.
// Arguments: the number of environments, the number of steps.
// Written in JavaScript, so that the measured process loads only Node and the package.
import { createVecEnv, OBSERVATION_SIZE } from '../dist/index.js';
import { peakResident } from './peak-resident.js';

const [numEnvs, steps] = process.argv.slice(2).map(Number);
const startBytes = peakResident();
const env = createVecEnv({ numEnvs });
const actions = new Uint8Array(numEnvs);
let result = env.reset({ seed: 0 });
for (let t = 0; t < steps; t++) result = env.step(actions);
const outputs = Object.values(result).filter(ArrayBuffer.isView);
console.log(
  JSON.stringify({
    backend: env.backend,
    startBytes,
    peakBytes: peakResident(),
    outputBytes: outputs.reduce((sum, array) => sum + array.byteLength, 0),
    last: Array.from(result.observations.subarray(-OBSERVATION_SIZE)),
  }),
);
