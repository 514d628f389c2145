// Arguments: episodes, steps. Opens that many, resets and steps them, and prints what that took and showed.
// JavaScript, so that nothing but Node and the package is in the process that is measured.
import { readFileSync } from 'node:fs';
import { createVecEnv, OBSERVATION_SIZE } from '../dist/index.js';

/** Bytes resident at most so far. */
function peakResident() {
  // On Linux, resourceUsage() may tell the peak of the process that started this one.
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
}

const [numEnvs, steps] = process.argv.slice(2).map(Number);
const startBytes = peakResident();
const env = createVecEnv({ numEnvs });
const actions = new Uint8Array(numEnvs);
let shown = env.reset({ seed: 0 });
for (let t = 0; t < steps; t++) shown = env.step(actions);
const outputs = Object.values(shown).filter(ArrayBuffer.isView);
console.log(
  JSON.stringify({
    backend: env.backend,
    startBytes,
    peakBytes: peakResident(),
    outputBytes: outputs.reduce((sum, array) => sum + array.byteLength, 0),
    last: Array.from(shown.observations.subarray(-OBSERVATION_SIZE)),
  }),
);
