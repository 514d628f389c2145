/** Uses the browser entry of the package, as a page does. The entry needs no API of browsers, so Node can run it. */
import { createAsyncVecEnv, createVecEnv } from 'rhythm-vec/browser';

const env = await createAsyncVecEnv({ numEnvs: 4 });
await env.reset({ seed: 5 });
for (let t = 0; t < env.spec.maxEpisodeSteps; t++) void env.submit(new Uint8Array(4).fill(t % 10));
const { finalScores, episodeLengths } = await env.read(['finalScores', 'episodeLengths']);
const sync = createVecEnv({ numEnvs: 4 });
const restored = sync.restore(await env.snapshot());
const same = restored.finalScores.every((score, i) => score === finalScores[i]);
console.log(env.backend, episodeLengths[0], same);
await env.close();
sync.close();
