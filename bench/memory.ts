/** `--memory`: measures the memory of environments with observations, and of prompts that are made in batches. */
import { createVecEnv, OBSERVATION_SIZE } from '../dist/index.js';
import { STATE_WORDS } from '../dist/world/fields.js';
import { runNode } from './child.js';
import type { OnProgress } from './measure.js';
import { digits, table, verdict } from './report.js';
import { Mismatch } from './verify.js';

const MILLION = 1_000_000;
export interface MemoryPlan {
  /** The numbers of environments. */
  readonly episodes: readonly number[];
  /** The least number of prompts. */
  readonly prompts: number;
}
/** The target is for a million environments; 2^20 is the largest size of --sweep and --peers. */
export const FULL_MEMORY: MemoryPlan = { episodes: [MILLION, 2 ** 20], prompts: MILLION };
export const SMALL_MEMORY: MemoryPlan = { episodes: [2 ** 16], prompts: 2 ** 15 };
/** The number of steps of each environment. Chosen by hand: more steps take longer, but no more memory. */
const STEPS = 4;

/**
 * Targets in bytes, chosen by hand (docs/speed.md): the state of an environment, the resident memory of a million environments,
 * and the growth of the peak while prompts are made.
 */
const STATE_TARGET = 256;
const RESIDENT_TARGET = 600e6;
const PROMPTS_TARGET = 150e6;

/** What memory-child.js prints. */
interface ChildOutput {
  readonly backend: string;
  readonly startBytes: number;
  readonly peakBytes: number;
  readonly outputBytes: number;
  /** The observation of the last environment after the last step. */
  readonly last: readonly number[];
}

export interface MemoryRow {
  readonly episodes: number;
  readonly backend: string;
  /** The peak resident memory of the process, with Node, the package and all environments. */
  readonly peakBytes: number;
  /** The peak resident memory before the environments are opened. */
  readonly startBytes: number;
  readonly outputBytesPerEpisode: number;
  /** The growth of the peak per environment. */
  readonly bytesPerEpisode: number;
}

/** The memory of prompts that are made in batches, each of which is dropped before the next is made. */
export interface PromptMemory {
  readonly prompts: number;
  /** The bytes of all user messages. */
  readonly bytes: number;
  /** The peak resident memory of the process before anything is made, and at the end. */
  readonly startBytes: number;
  readonly peakBytes: number;
}

export interface Memory {
  readonly stateBytesPerEpisode: number;
  readonly rows: readonly MemoryRow[];
  readonly prompts: PromptMemory;
  readonly targets: {
    readonly stateBytesPerEpisode: MemoryTarget;
    /** The target for the row of a million environments. */
    readonly peakBytes: MemoryTarget;
    /** The target for the growth of the peak while prompts are made. */
    readonly promptBytes: MemoryTarget;
  };
}

/** A target in bytes. */
interface MemoryTarget {
  readonly bound: 'at most';
  readonly value: number;
  /** Whether the target is met; null if it was not measured. */
  readonly met: boolean | null;
}

const atMost = (value: number, bytes: number | undefined): MemoryTarget => ({
  bound: 'at most',
  value,
  met: bytes === undefined ? null : bytes <= value,
});

/** Measures the memory of at least `prompts` prompts, made in batches in a new process. */
export async function measurePromptMemory(prompts: number): Promise<PromptMemory> {
  const { stdout } = await runNode(['bench/prompt-memory-child.js', String(prompts)]);
  return JSON.parse(stdout) as PromptMemory;
}

/** Carries out the plan. @throws Mismatch if the last environment of a batch differs from the reference. */
export async function measureMemory(plan: MemoryPlan, onProgress: OnProgress): Promise<Memory> {
  const rows: MemoryRow[] = [];
  for (const episodes of plan.episodes) {
    onProgress(`memory of ${episodes} episodes`);
    const { stdout } = await runNode(['bench/memory-child.js', String(episodes), String(STEPS)]);
    const child = JSON.parse(stdout) as ChildOutput;
    checkLast(episodes, child.last);
    rows.push({
      episodes,
      backend: child.backend,
      peakBytes: child.peakBytes,
      startBytes: child.startBytes,
      outputBytesPerEpisode: child.outputBytes / episodes,
      bytesPerEpisode: (child.peakBytes - child.startBytes) / episodes,
    });
  }
  onProgress(`memory of ${plan.prompts} prompts`);
  const prompts = await measurePromptMemory(plan.prompts);
  const stateBytesPerEpisode = STATE_WORDS * Uint32Array.BYTES_PER_ELEMENT;
  const million = rows.find((row) => row.episodes === MILLION);
  return {
    stateBytesPerEpisode,
    rows,
    prompts,
    targets: {
      stateBytesPerEpisode: atMost(STATE_TARGET, stateBytesPerEpisode),
      peakBytes: atMost(RESIDENT_TARGET, million?.peakBytes),
      promptBytes: atMost(PROMPTS_TARGET, prompts.peakBytes - prompts.startBytes),
    },
  };
}

/** Compares the last environment with the reference. Environment i of the child plays seed i with action 0. */
function checkLast(episodes: number, last: readonly number[]): void {
  using env = createVecEnv({ numEnvs: 1, backend: 'reference' });
  let { observations } = env.reset({ seed: episodes - 1 });
  for (let t = 0; t < STEPS; t++) ({ observations } = env.step([0]));
  const where = `memory of ${episodes} episodes: Expected`;
  if (last.length !== OBSERVATION_SIZE) {
    throw new Mismatch(
      `${where} ${OBSERVATION_SIZE} numbers in the observation of the last environment, got ${last.length}.`,
    );
  }
  const index = Array.from(observations).findIndex((value, k) => value !== last[k]);
  if (index < 0) return;
  throw new Mismatch(
    `${where} observations[${index}] of the last environment to be ${observations[index]}, got ${last[index]}.`,
  );
}

const megabytes = (bytes: number): string => digits(bytes / 1e6, 0);

export function renderMemory({ stateBytesPerEpisode, rows, prompts, targets }: Memory): string {
  const head = [
    'episodes',
    'backend',
    'resident MB',
    'at the start',
    'bytes per episode',
    'of which outputs',
  ];
  const lines = rows.map((row) => [
    String(row.episodes),
    row.backend,
    megabytes(row.peakBytes),
    megabytes(row.startBytes),
    digits(row.bytesPerEpisode, 0),
    digits(row.outputBytesPerEpisode, 0),
  ]);
  const { stateBytesPerEpisode: state, peakBytes: resident, promptBytes } = targets;
  const judged = ({ value, met }: MemoryTarget, text: (value: number) => string) =>
    met === null ? [] : [`${text(value)}: ${verdict(met)}`];
  return [
    'Memory',
    table(head, lines, 2),
    ...judged(state, (value) => `${stateBytesPerEpisode} bytes of state per episode, at most ${value}`),
    ...judged(
      resident,
      (value) => `a million episodes with observations resident in at most ${megabytes(value)} MB`,
    ),
    `${prompts.prompts} prompts of ${megabytes(prompts.bytes)} MB in batches: the peak grows by ${megabytes(prompts.peakBytes - prompts.startBytes)} MB`,
    ...judged(promptBytes, (value) => `prompts in batches in at most ${megabytes(value)} MB`),
  ].join('\n');
}
