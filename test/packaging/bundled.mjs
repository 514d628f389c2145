/** The program that test/packaging/bundlers.mjs bundles. */
import { createVecEnv } from 'rhythm-vec';

try {
  const env = createVecEnv({ numEnvs: 2 });
  env.reset({ seed: 1 });
  console.log(env.backend, env.run('heuristic').finalScores.join());
  env.close();
} catch (error) {
  // Otherwise Node would print the line of code that threw, which is a whole minified bundle.
  console.error(error.message);
  process.exitCode = 1;
}
