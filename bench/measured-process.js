// A measured process. It is written in JavaScript, so that it loads only Node and the package. Its first argument is its work:
// `environments COUNT STEPS` and `prompts COUNT` print figures as JSON; `server` serves until its parent disconnects.
import { readFileSync } from 'node:fs';

/** Returns the peak of resident bytes so far. */
function peakResident() {
  // On Linux, resourceUsage() may report the peak of the parent process.
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
}

/** Opens, resets and steps environments. Reports the peak memory, and the observation of the last environment. */
async function environments(numEnvs, steps) {
  const { createVecEnv, OBSERVATION_SIZE } = await import('../dist/index.js');
  const startBytes = peakResident();
  const env = createVecEnv({ numEnvs });
  const actions = new Uint8Array(numEnvs);
  let result = env.reset({ seed: 0 });
  for (let t = 0; t < steps; t++) result = env.step(actions);
  const outputs = Object.values(result).filter(ArrayBuffer.isView);
  return {
    backend: env.backend,
    startBytes,
    peakBytes: peakResident(),
    outputBytes: outputs.reduce((sum, array) => sum + array.byteLength, 0),
    last: Array.from(result.observations.subarray(-OBSERVATION_SIZE)),
  };
}

/** Makes at least `wanted` prompts batch by batch, as a program that writes a dataset does. */
async function prompts(wanted) {
  const { createVecEnv, promptBatches } = await import('../dist/index.js');
  const startBytes = peakResident();
  // Chosen by hand: more environments take more memory.
  const numEnvs = 8192;
  const env = createVecEnv({ numEnvs, observation: { history: true }, threads: 1 });
  const actions = new Uint8Array(numEnvs);
  let [made, bytes] = [0, 0];
  for (let t = 0; made < wanted; t++) {
    const { observations } = t % 28 === 0 ? env.reset({ seed: t }) : env.step(actions.fill(t % 10));
    for (const batch of promptBatches(observations)) {
      for (const [, user] of batch) bytes += Buffer.byteLength(user.content);
      made += batch.length;
    }
  }
  return { prompts: made, bytes, startBytes, peakBytes: peakResident() };
}

/** Serves. Sends its address to the parent process, and answers each message with its processor time in milliseconds. */
async function server() {
  const { openServer } = await import('../dist/server/open-server.js');
  const { url } = await openServer({ port: 0 });
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send((user + system) / 1000);
  });
  process.on('disconnect', () => process.exit());
  process.send(url);
}

const [work, ...numbers] = process.argv.slice(2);
const figures = await { environments, prompts, server }[work](...numbers.map(Number));
if (figures !== undefined) console.log(JSON.stringify(figures));
