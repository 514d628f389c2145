/** `--python`: measures the steps per second of `VecEnv` in Python and in TypeScript, in alternating samples on one thread. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createVecEnv } from '../dist/index.js';
import { NUM_ACTIONS, NUM_STEPS } from '../dist/world/fields.js';
import { LineProcess, Missing, PYTHON } from './child.js';
import { digits, type Section, table } from './report.js';
import { inTurn, median, timeOf } from './runner.js';
import { Mismatch } from './verify.js';

/** Returns the environment variables of Python. It uses the package of this repository if compiled, else the installed one. */
function environment(): NodeJS.ProcessEnv {
  const folder = fileURLToPath(new URL('../python', import.meta.url));
  const isCompiled = readdirSync(`${folder}/rhythm_vec`).some((name) => /^_native.*\.so$/.test(name));
  return isCompiled ? { ...process.env, PYTHONPATH: folder } : process.env;
}

/** Measures a size. @throws Mismatch if Python and TypeScript differ in the sum of the final scores. */
async function measureSize(child: LineProcess, numEnvs: number, rounds: number, minSteps: number) {
  using env = createVecEnv({ numEnvs, threads: 1 });
  // A view, which the plays update.
  const { finalScores } = env.reset({ seed: 0 });
  const steps = numEnvs * NUM_STEPS;
  const plays = Math.max(1, Math.ceil(minSteps / steps));
  // The actions that python-child.py plays too.
  const actions = Array.from({ length: NUM_STEPS }, (_, step) =>
    Uint8Array.from({ length: numEnvs }, (_, i) => (step * 7 + i * 3) % NUM_ACTIONS),
  );
  /** Steps an episode in every environment. @returns seconds. */
  const play = async () => {
    env.reset({ seed: 0 });
    const ns = await timeOf(() => {
      for (const each of actions) env.step(each);
    });
    return ns / 1e9;
  };
  /** Plays in python-child.py. @returns the seconds of each play, and the sum of the final scores of the last. */
  const ask = async (count: number): Promise<{ seconds: number[]; score: number }> =>
    JSON.parse(await child.ask(JSON.stringify([numEnvs, count])));
  const { score } = await ask(1);
  await play();
  // The sums are equal up to the order of adding.
  const expected = finalScores.reduce((sum, value) => sum + value, 0);
  if (Math.abs(score - expected) >= 1e-9 * numEnvs) {
    throw new Mismatch(`python, ${numEnvs} environments: Expected the scores ${expected}, got ${score}.`);
  }
  const title = `python, ${numEnvs} environments`;
  const [samples] = await inTurn(
    [numEnvs],
    rounds,
    () => title,
    async () => {
      const python = median((await ask(plays)).seconds);
      const seconds = [];
      for (let k = 0; k < plays; k++) seconds.push(await play());
      return { python, typescript: median(seconds) };
    },
  );
  return {
    numEnvs,
    pythonStepsPerSecond: steps / median(samples.map((sample) => sample.python)),
    typescriptStepsPerSecond: steps / median(samples.map(({ typescript }) => typescript)),
    // The steps per second of Python divided by those of TypeScript, in samples that follow each other.
    ratio: median(samples.map((sample) => sample.typescript / sample.python)),
  };
}

export const python: Section = {
  help: 'the Python package beside VecEnv.step, in alternating plays on one thread',
  async measure(small) {
    // Chosen by hand: more samples (rounds) and longer samples (steps) give steadier medians, and take longer.
    const [sizes, rounds, minSteps] = small ? [[16, 256], 1, 1] : [[16, 256, 4096, 65_536], 21, 4_000_000];
    const script = fileURLToPath(new URL('python-child.py', import.meta.url));
    const child = new LineProcess(PYTHON, [script], environment());
    try {
      const rows = [];
      for (const numEnvs of sizes) rows.push(await measureSize(child, numEnvs, rounds, minSteps));
      const head = ['environments', 'Python M steps/s', 'TypeScript M steps/s', 'ratio'];
      const lines = rows.map(({ numEnvs, pythonStepsPerSecond, typescriptStepsPerSecond, ratio }) => [
        numEnvs,
        ...[pythonStepsPerSecond, typescriptStepsPerSecond].map((rate) => digits(rate / 1e6, 3)),
        digits(ratio, 2),
      ]);
      return { figures: { rows }, text: table(head, lines) };
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      const text = `Python was not measured: ${error.message}. Install the package: pip install ./python`;
      return { figures: { missing: error.message }, text };
    } finally {
      await child.close();
    }
  },
};
