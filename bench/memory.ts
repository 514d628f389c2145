/** `--memory`: measures the memory of environments with observations, and of prompts that are made in batches. */
import { createVecEnv } from '../dist/index.js';
import { STATE_WORDS } from '../dist/world/fields.js';
import { runChild } from './child.js';
import { atMost, digits, type Ratio, reportOf, type Section, table } from './report.js';
import { progress } from './runner.js';
import { Mismatch } from './verify.js';

const MILLION = 1_000_000;
/** The number of steps of each environment. Chosen by hand: more steps take longer, but no more memory. */
const STEPS = 4;

/** The figures that measured-process.js prints about environments: bytes of resident memory and of outputs. */
interface Environments {
  readonly backend: string;
  /** The peak before the environments are opened. */
  readonly startBytes: number;
  /** The peak of the process, with Node, the package and all environments. */
  readonly peakBytes: number;
  readonly outputBytes: number;
  /** The observation of the last environment after the last step. */
  readonly last: readonly number[];
}

/** The memory of prompts that are made in batches, each of which is dropped before the next is made. */
interface PromptMemory {
  readonly prompts: number;
  /** The bytes of all user messages. */
  readonly bytes: number;
  /** The peak resident memory of the process before anything is made, and at the end. */
  readonly startBytes: number;
  readonly peakBytes: number;
}

/** Measures the memory of at least `prompts` prompts, made in batches in a new process. */
export const measurePromptMemory = (prompts: number) => runChild<PromptMemory>('prompts', prompts);

/** Measures environments in a new process. @throws Mismatch if the last environment differs from the reference. */
async function measureEnvironments(episodes: number) {
  await progress(`memory of ${episodes} episodes`);
  const { last, outputBytes, ...child } = await runChild<Environments>('environments', episodes, STEPS);
  // Environment i plays seed i with action 0.
  using env = createVecEnv({ numEnvs: 1, backend: 'reference' });
  let { observations } = env.reset({ seed: episodes - 1 });
  for (let t = 0; t < STEPS; t++) ({ observations } = env.step([0]));
  if (observations.join() !== last.join()) {
    throw new Mismatch(
      `memory of ${episodes} episodes: Expected the last environment to observe ${observations}, got ${last}.`,
    );
  }
  const bytesPerEpisode = (child.peakBytes - child.startBytes) / episodes;
  return { episodes, ...child, outputBytesPerEpisode: outputBytes / episodes, bytesPerEpisode };
}

const megabytes = (bytes: number): string => digits(bytes / 1e6, 0);

export const memory: Section = {
  help: 'the memory of a million environments, and of a million prompts',
  async measure(small) {
    const rows = [];
    // The target is for a million environments; 2^20 is the largest size of --sweep and --peers.
    for (const size of small ? [2 ** 16] : [MILLION, 2 ** 20]) rows.push(await measureEnvironments(size));
    await progress('memory of prompts');
    const prompts = await measurePromptMemory(small ? 2 ** 15 : MILLION);
    const growth = prompts.peakBytes - prompts.startBytes;
    const stateBytesPerEpisode = STATE_WORDS * Uint32Array.BYTES_PER_ELEMENT;
    const million = rows.find((row) => row.episodes === MILLION);
    // Targets in bytes, chosen by hand (docs/speed.md).
    const ratios: Ratio[] = [
      { name: 'state_bytes_per_episode', value: stateBytesPerEpisode, target: atMost(256) },
      ...(million ? [{ name: 'peak_bytes', value: million.peakBytes, target: atMost(600e6) }] : []),
      { name: 'prompt_bytes', value: growth, target: atMost(150e6) },
    ];
    const head = ['episodes', 'backend', 'resident MB', 'at the start', 'bytes each', 'of which outputs'];
    const lines = rows.map((row) => [
      ...[String(row.episodes), row.backend, megabytes(row.peakBytes), megabytes(row.startBytes)],
      ...[digits(row.bytesPerEpisode, 0), digits(row.outputBytesPerEpisode, 0)],
    ]);
    const texts = [
      'Memory',
      table(head, lines, 2),
      `${prompts.prompts} prompts of ${megabytes(prompts.bytes)} MB in batches: the peak grows by ${megabytes(growth)} MB`,
    ];
    return reportOf({ stateBytesPerEpisode, rows, prompts }, texts, ratios, small);
  },
};
