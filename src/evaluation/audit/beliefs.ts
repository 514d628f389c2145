/** The beliefs that players state in an audit. */
import { repeatActions } from '../../agents/policies/open-loop.js';
import { yieldTurn } from '../../engine/engine-calls.js';
import { type Env, openEnv } from '../../engine/node.js';
import { type Draw, threefry } from '../../engine/reference/threefry.js';
import { float32Decimal } from '../../shared/float32-decimal.js';
import { COMPONENT, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { type AuditProfiles, type AuditRequest, profileChoice, trainingSeeds } from './audit-options.js';

/** The kind of belief that a player states at every step. */
export type AuditBelief =
  | 'none'
  /** [0.5, 0.5, 0.5]. */
  | 'constant'
  /** The constant belief with the best score on training seeds. */
  | 'fitted'
  /** The median belief targets. */
  | 'median'
  /** The mean belief targets. */
  | 'mean'
  /** 0 or 1 at random, the same in all steps. */
  | 'extreme'
  /** Uniform in [0, 1], another at each step. */
  | 'random'
  /** The belief targets. */
  | 'truth'
  /** The belief that the player itself stated. */
  | 'own';

/** The constant belief that most raises each component that depends on beliefs, by the component's index. */
export const BELIEF_BY_COMPONENT: ReadonlyMap<number, AuditBelief> = new Map([
  [COMPONENT.beliefAccuracy, 'median'],
  [COMPONENT.beliefSkill, 'mean'],
]);

/** Returns whether a component depends on beliefs, not on actions. */
export const isBeliefComponent = (component: number): boolean => BELIEF_BY_COMPONENT.has(component);

/** The belief 'constant': the middle of each number's range. */
export const CONSTANT: readonly number[] = [0.5, 0.5, 0.5];

/** The constant beliefs that depend on the profiles. */
export interface FittedBeliefs {
  /** The constant belief with the best score, as shortest decimals of float32 numbers; null if stating none is as good. */
  readonly fitted: readonly number[] | null;
  /** The median targets, which minimise the mean absolute error. */
  readonly median: readonly number[];
  /** The mean targets, which minimise the mean squared error. */
  readonly mean: readonly number[];
}

/**
 * Step sizes of the search for the best constant belief. Chosen by hand: smaller steps find a better belief, and take longer.
 */
const STEP_SIZES = [0.1, 0.03, 0.01];

/**
 * Fits constant beliefs on the training seeds. The score of a belief depends on the grader, so the search plays whole
 * episodes with each candidate. It changes one number of the belief at a time, until no change raises the score.
 * @param sequence u8 [28]: the actions of the episodes.
 */
export async function fitBeliefs(
  { engine, weights, signal }: AuditRequest,
  sequence: Uint8Array,
  profiles: AuditProfiles,
): Promise<FittedBeliefs> {
  const seed = trainingSeeds();
  const numEnvs = seed.length;
  await using env = await openEnv({
    numEnvs,
    grader: weights,
    profiles: profileChoice(profiles, numEnvs),
    ...engine,
  });
  await env.reset({ seed });
  const targets = await env.beliefTargets();
  const columns = Array.from({ length: NUM_BELIEFS }, (_, k) =>
    targets.filter((_, i) => i % NUM_BELIEFS === k).sort(),
  );
  const median = columns.map((column) => column[Math.floor(column.length / 2)]);
  const mean = columns.map((column) => column.reduce((sum, value) => sum + value, 0) / column.length);
  const actions = repeatActions(sequence, numEnvs);
  const scoreOf = async (beliefs?: readonly number[]): Promise<number> => {
    // Lets signals and timers run.
    await yieldTurn();
    signal?.throwIfAborted();
    await env.reset({ seed });
    const { finalScores } = await env.run(actions, { beliefs });
    return finalScores.reduce((sum, score) => sum + score, 0) / numEnvs;
  };
  const fitted = await climb([CONSTANT, median, mean], scoreOf);
  return { median, mean, fitted: fitted?.map((value) => float32Decimal(Math.fround(value))) ?? null };
}

/**
 * Improves the best of `starts` by small changes until none raises the score. Returns null if no start scores more than
 * stating no belief.
 */
async function climb(
  starts: readonly (readonly number[])[],
  scoreOf: (belief?: readonly number[]) => Promise<number>,
): Promise<readonly number[] | null> {
  let best: readonly number[] | null = null;
  let highest = await scoreOf();
  const keepIfBetter = async (belief: readonly number[]): Promise<boolean> => {
    const score = await scoreOf(belief);
    if (score <= highest) return false;
    [best, highest] = [belief, score];
    return true;
  };
  const keepBetterNeighbour = async (step: number): Promise<boolean> => {
    if (best === null) return false;
    for (const neighbour of neighboursOf(best, step)) if (await keepIfBetter(neighbour)) return true;
    return false;
  };
  for (const start of starts) await keepIfBetter(start);
  for (const step of STEP_SIZES) while (await keepBetterNeighbour(step));
  return best;
}

const neighboursOf = (belief: readonly number[], step: number): number[][] =>
  belief.flatMap((_, k) =>
    [-step, step].map((change) =>
      belief.map((value, j) => (j === k ? Math.min(Math.max(value + change, 0), 1) : value)),
    ),
  );

/** Returns the `beliefs` of a run: three numbers, or f32 [n, 28, 3]; undefined for none. */
export async function statedBeliefs(
  belief: Exclude<AuditBelief, 'own'>,
  env: Env,
  seeds: Uint32Array,
  constants: FittedBeliefs,
): Promise<ArrayLike<number> | undefined> {
  switch (belief) {
    case 'none':
      return undefined;
    case 'constant':
      return CONSTANT;
    case 'fitted':
      return constants.fitted ?? undefined;
    case 'median':
    case 'mean':
      return constants[belief];
    case 'extreme':
      return extremeBeliefs(seeds);
    case 'random':
      return randomBeliefs(seeds);
    case 'truth':
      return repeatAtEveryStep(await env.beliefTargets());
  }
}

/**
 * The second word of Threefry's key, "NULL" in ASCII; the first is a seed. The world's streams have other numbers. The first
 * word of the counter is 0 for extreme and 1 for random beliefs.
 */
const STREAM = 0x4e554c4c;
/** The number of random bits for each number of a belief. One u32 has the bits of all three numbers. */
const FIELD_BITS = 10;
const LEVELS = 2 ** FIELD_BITS;

const draw: Draw = { x0: 0, x1: 0 };

/** Returns f32 [n, 28, 3]: 0 or 1, the same in every step. */
function extremeBeliefs(seeds: Uint32Array): Float32Array {
  const beliefs = new Float32Array(seeds.length * NUM_BELIEFS);
  for (const [i, seed] of seeds.entries()) {
    const { x0 } = threefry(seed, STREAM, 0, 0, draw);
    for (let k = 0; k < NUM_BELIEFS; k++) beliefs[i * NUM_BELIEFS + k] = (x0 >>> k) & 1;
  }
  return repeatAtEveryStep(beliefs);
}

/** Returns f32 [n, 28, 3]: uniform in [0, 1], another in every step. */
function randomBeliefs(seeds: Uint32Array): Float32Array {
  const beliefs = new Float32Array(seeds.length * NUM_STEPS * NUM_BELIEFS);
  let at = 0;
  for (const seed of seeds) {
    for (let step = 0; step < NUM_STEPS; step++) {
      const { x0 } = threefry(seed, STREAM, 1, step, draw);
      for (let k = 0; k < NUM_BELIEFS; k++) {
        beliefs[at++] = ((x0 >>> (k * FIELD_BITS)) & (LEVELS - 1)) / (LEVELS - 1);
      }
    }
  }
  return beliefs;
}

/** Repeats beliefs f32 [n, 3] at every step. Returns f32 [n, 28, 3]. */
function repeatAtEveryStep(beliefs: Float32Array): Float32Array {
  const sequence = new Float32Array(beliefs.length * NUM_STEPS);
  for (let offset = 0; offset < sequence.length; offset += NUM_BELIEFS) {
    const env = Math.floor(offset / (NUM_STEPS * NUM_BELIEFS));
    sequence.set(beliefs.subarray(env * NUM_BELIEFS, (env + 1) * NUM_BELIEFS), offset);
  }
  return sequence;
}
