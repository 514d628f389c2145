/** What is timed: a table of cases. A case's `play` is verified against the reference before it is timed. */
import type { RunBeliefs } from '../dist/backends/backend.js';
import { nativeBackend } from '../dist/backends/native.js';
import { NUM_STEPS } from '../dist/world/fields.js';
import type { Rig } from './rig.js';

export interface Case {
  /** As in the JSON: what is done, how. */
  readonly name: string;
  readonly backend: 'native' | 'reference';
  readonly kernel: string | null;
  readonly threads: number;
  readonly episodes: number;
  readonly writes: string;
  /** Whether `play` fills the rig's trajectory. */
  readonly records?: boolean;
  /** Plays every episode from reset to its grade: what is timed. */
  readonly play: (rig: Rig) => void;
}

const BYTES = {
  grades: 'grades',
  steps: 'grades, rewards, 22 observation numbers a step, row-major',
  all: 'grades and the full trajectory',
};
const noBeliefs: RunBeliefs | null = null;

const random = (rig: Rig) => {
  rig.batch.run({
    policy: { kind: 'random', policySeeds: null },
    beliefs: noBeliefs,
    stops: null,
    trajectory: null,
  });
};
const heuristic = (rig: Rig) => {
  rig.batch.run({ policy: { kind: 'heuristic' }, beliefs: noBeliefs, stops: null, trajectory: null });
};
const tape = (rig: Rig) => {
  rig.batch.run({
    policy: { kind: 'tape', actions: rig.tape },
    beliefs: noBeliefs,
    stops: null,
    trajectory: null,
  });
};
const recorded = (rig: Rig) => {
  const { tape: actions, trajectory } = rig;
  rig.batch.run({ policy: { kind: 'tape', actions }, beliefs: noBeliefs, stops: null, trajectory });
};
const stepwise = (rig: Rig) => {
  const request = { beliefs: null, given: null, stepMask: null, resetMask: null, resetSeeds: null };
  for (const actions of rig.columns) rig.batch.submit({ actions, ...request });
};

const EPISODES = 4096;
const MANY = 65_536;

const kernels = nativeBackend
  .kernels()
  .filter((kernel) => kernel.available)
  .map((kernel) => kernel.name);

const one = (kernel: string) => ({ backend: 'native' as const, kernel, threads: 1, episodes: EPISODES });
const many = (kernel: string, threads: number) => ({
  backend: 'native' as const,
  kernel,
  threads,
  episodes: MANY,
});
const reference = { backend: 'reference' as const, kernel: null, threads: 1, episodes: 256 };

function nativeCases(best: string): Case[] {
  return [
    ...kernels.flatMap((kernel): Case[] => [
      { name: 'fused random', ...one(kernel), writes: BYTES.grades, play: random },
      { name: 'fused heuristic', ...one(kernel), writes: BYTES.grades, play: heuristic },
      { name: 'fused tape', ...one(kernel), writes: BYTES.grades, play: tape },
      { name: 'fused tape, recorded', ...one(kernel), writes: BYTES.all, records: true, play: recorded },
      { name: 'step', ...one(kernel), writes: BYTES.steps, play: stepwise },
    ]),
    { name: 'fused random, 1 thread', ...many(best, 1), writes: BYTES.grades, play: random },
    { name: 'fused random, 2 threads', ...many(best, 2), writes: BYTES.grades, play: random },
  ];
}

export const CASES: readonly Case[] = [
  ...(kernels.length > 0 ? nativeCases(kernels[0]) : []),
  { name: 'fused random', ...reference, writes: BYTES.grades, play: random },
  { name: 'step', ...reference, writes: BYTES.steps, play: stepwise },
];

/** Steps that one play takes. */
export const stepsOf = (row: Case): number => row.episodes * NUM_STEPS;
