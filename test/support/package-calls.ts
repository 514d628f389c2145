/** Draws calls of the API that TypeScript and Python share, and makes them on environments in TypeScript. */
import type { RecordedTrajectory } from '../../src/engine/backends/backend.js';
import { TRAJECTORY_FIELDS } from '../../src/engine/backends/outputs.js';
import { createVecEnv, type RunOptions, type VecEnv } from '../../src/engine/node.js';
import { AUTORESET_MODES } from '../../src/engine/vec-env/autoreset.js';
import type { VecEnvOptions } from '../../src/engine/vec-env/vec-env-options.js';
import { NUM_COMPONENTS, NUM_STEPS, OBSERVATION_FIELDS, PROFILE_NAMES } from '../../src/world/fields.js';
import { LAYOUTS, randomIndices, toStartStates } from './call-sequences.js';
import type { Random } from './random.js';

/** A call. Environments are numbered from 0, in the order in which `create` and `fork` open them. */
export interface Call {
  readonly name: 'create' | 'reset' | 'step' | 'run' | 'fork' | 'assign' | 'snapshot' | 'restore' | 'close';
  /** The number of the environment; that of the new environment for `create`. */
  readonly env: number;
  /** Arguments by their names in TypeScript. `source` is the number of an environment. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** The environments and snapshots of a sequence of calls, and the last result of each environment. */
export class Sequence {
  readonly envs: VecEnv[] = [];
  readonly results: (object | null)[] = [];
  readonly snapshots: Uint8Array[] = [];
  /** [low, size] of the allowed seeds of each environment. */
  readonly spans: (readonly [number, number])[] = [];

  /** Makes a call. @returns the trajectory of `run`, or null. @throws the error of the call. */
  perform({ name, env, args }: Call): RecordedTrajectory | null {
    const vecEnv = this.envs[env];
    if (name === 'create') {
      const options = args as unknown as VecEnvOptions;
      return this.#add(createVecEnv(options), options.seedRange ?? [0, 2 ** 32]);
    }
    if (name === 'fork') {
      const { indices, ...options } = args;
      return this.#add(vecEnv.fork(indices as Uint32Array, options), this.spans[env]);
    }
    if (name === 'close') vecEnv.close();
    else if (name === 'snapshot') this.snapshots.push(vecEnv.snapshot());
    else return this.#advance(name, vecEnv, env, args);
    return null;
  }

  #advance(name: Call['name'], vecEnv: VecEnv, env: number, args: Call['args']): RecordedTrajectory | null {
    if (name === 'run') {
      const { policy, source, indices, ...options } = args;
      const from = source === undefined ? {} : { from: { source: this.envs[source as number], indices } };
      const result = vecEnv.run(policy as 'random', { ...options, ...from } as RunOptions);
      this.results[env] = result;
      return result.trajectory;
    }
    if (name === 'reset') this.results[env] = vecEnv.reset(args);
    else if (name === 'step') {
      const { actions, ...options } = args;
      this.results[env] = vecEnv.step(actions as Uint8Array, options);
    } else if (name === 'assign') {
      this.results[env] = vecEnv.assign(this.envs[args.source as number], args.indices as Uint32Array);
    } else this.results[env] = vecEnv.restore(args.snapshot as Uint8Array);
    return null;
  }

  #add(env: VecEnv, span: readonly [number, number]): null {
    this.envs.push(env);
    this.spans.push(span);
    this.results.push(null);
    return null;
  }
}

const SIZES = [1, 3, 17, 40];
const FIELDS = OBSERVATION_FIELDS.map((field) => field.name);
const PROFILES = ['sampled', 'discrete', ...PROFILE_NAMES];
const GRADERS = ['v1', 'v2', 'v3'];
const RANGES = [undefined, undefined, [1000, 60], [2 ** 32 - 50, 50]] as const;
/** The names of calls that are drawn, except 'close'. Steps are drawn most often, so that many episodes end. */
const NAMES = [
  ...Array<Call['name']>(14).fill('step'),
  ...(['reset', 'reset', 'run', 'run', 'fork', 'assign', 'snapshot', 'restore'] as const),
];

/** Draws a call that creates an environment. @param env the environment's number. */
export function drawCreate(random: Random, env: number): Call {
  const numEnvs = random.pick(SIZES);
  const args = {
    numEnvs,
    threads: random.pick([1, 2]),
    layout: random.pick(LAYOUTS),
    copy: random.chance(0.3),
    autoreset: random.pick(AUTORESET_MODES),
    imagination: random.chance(0.2),
    profiles: random.pick(PROFILES),
    grader: random.pick(GRADERS),
    seedRange: random.pick(RANGES),
    observation: random.chance(0.4) ? undefined : drawObservation(random),
  };
  return { name: 'create', env, args };
}

function drawObservation(random: Random): object {
  const order = Array.from(random.permutation(FIELDS.length), (at) => FIELDS[at]);
  return {
    fields: random.chance(0.5) ? order.slice(random.integer(0, FIELDS.length - 1)) : undefined,
    oneHot: random.chance(0.5),
    scale: random.chance(0.5),
    history: random.chance(0.5),
  };
}

/** Draws a call on one of the environments of a sequence. */
export function drawCall(random: Random, { envs, results, snapshots, spans }: Sequence): Call {
  const number = random.integer(0, envs.length - 1);
  const env = envs[number];
  const source = random.integer(0, envs.length - 1);
  const name = random.chance(0.01) ? 'close' : random.pick(NAMES);
  if (name === 'restore' && snapshots.length === 0) return { name: 'snapshot', env: number, args: {} };
  const terminated = (results[number] as { terminated: Uint8Array } | null)?.terminated;
  const draw: Record<string, () => Call['args']> = {
    reset: () => drawReset(random, env.numEnvs, spans[number], results[number] !== null),
    step: () => drawStep(random, env, terminated ?? new Uint8Array(env.numEnvs)),
    run: () => ({
      ...drawRun(random, env),
      ...(random.chance(0.2) ? drawSource(random, env, envs, source) : {}),
    }),
    fork: () => drawFork(random, env, spans[number], terminated ?? new Uint8Array(env.numEnvs)),
    assign: () => drawSource(random, env, envs, source),
    restore: () => ({ snapshot: random.pick(snapshots) }),
  };
  return { name, env: number, args: draw[name]?.() ?? {} };
}

const drawSource = (random: Random, env: VecEnv, envs: readonly VecEnv[], source: number): Call['args'] => ({
  source,
  indices: randomIndices(random, envs[source].numEnvs, env.numEnvs),
});

function drawReset(
  random: Random,
  numEnvs: number,
  [low, size]: readonly [number, number],
  isPlaying: boolean,
): Call['args'] {
  const inRange = (seed: number): number => low + (seed % size);
  const firstSeed = low + random.integer(0, Math.max(0, size - numEnvs));
  const seeds = random.seeds(numEnvs).map(inRange);
  return {
    seed: random.chance(0.5) ? firstSeed : seeds,
    // Python accepts only 0 and 1 in a mask.
    mask: isPlaying && random.chance(0.5) ? random.mask(numEnvs, 0.5).map(Math.sign) : undefined,
    profiles: random.pick([
      undefined,
      random.pick(PROFILES),
      Array.from(seeds, () => random.pick(PROFILES)),
      random.profiles(numEnvs),
    ]),
    graders: random.pick([
      undefined,
      random.pick(GRADERS),
      Array.from(seeds, () => random.pick(GRADERS)),
      random.weights(NUM_COMPONENTS),
      random.graders(numEnvs),
    ]),
    start: random.chance(0.3) ? drawStart(random, numEnvs) : undefined,
  };
}

/** Draws start states. Some have an entry that may be invalid; the reset ignores it if the mask leaves its environment out. */
function drawStart(random: Random, numEnvs: number): object {
  const start = toStartStates(random.starts(numEnvs));
  const at = random.integer(0, numEnvs - 1);
  const put = (list: ArrayLike<number> | undefined, value: number) => {
    if (list !== undefined) (list as Float32Array)[at] = value;
  };
  if (random.chance(0.1)) put(start.meters, random.pick([NaN, 1.5, -0.1, 2 ** -81]));
  if (random.chance(0.1)) put(start.steps as Uint8Array, 28);
  if (random.chance(0.1)) put(start.skill, random.pick([100, -100, Infinity]));
  if (random.chance(0.1)) put(start.well, random.pick([29, -0.5, NaN]));
  if (random.chance(0.1)) put(start.crashes, 141);
  if (random.chance(0.1)) put(start.beliefs, random.pick([NaN, 0.5]));
  return random.chance(0.2) ? { ...start, steps: random.integer(0, 27) } : start;
}

function drawStep(random: Random, { numEnvs, metadata }: VecEnv, terminated: Uint8Array): Call['args'] {
  const omitsEnded = metadata.autoresetMode === 'disabled' && random.chance(0.95);
  const { actions, beliefs, stepMask } = random.step(
    omitsEnded ? terminated : new Uint8Array(numEnvs),
    false,
  );
  if (random.chance(0.02)) actions[random.integer(0, numEnvs - 1)] = random.pick([10, 255]);
  if (beliefs !== null && random.chance(0.02))
    beliefs[random.integer(0, beliefs.length - 1)] = random.pick([NaN, Infinity]);
  return { actions, beliefs: beliefs ?? undefined, mask: stepMask ?? undefined };
}

function drawRun(random: Random, { numEnvs }: VecEnv): Call['args'] {
  const policy = random.pick(['random', 'heuristic', random.bytes(numEnvs * NUM_STEPS, 0, 9)]);
  const constant = Float32Array.from([1, 2, 3], () => random.real(-0.2, 1.2));
  return {
    policy,
    beliefs: random.pick([undefined, constant, random.beliefs(numEnvs * NUM_STEPS, 0.3).beliefs]),
    policySeeds: policy === 'random' && random.chance(0.5) ? random.seeds(numEnvs) : undefined,
    stops: random.chance(0.7) ? random.stops(numEnvs) : undefined,
    ...drawTrajectory(random),
  };
}

/** Draws the trajectory options of a run, sometimes with a field that is refused. */
function drawTrajectory(random: Random): Call['args'] {
  const fields = Array.from(random.permutation(TRAJECTORY_FIELDS.length), (at) => TRAJECTORY_FIELDS[at]);
  const some: string[] = fields.slice(random.integer(0, fields.length));
  if (random.chance(0.15)) some.push(random.pick(['rewards', 'reward']));
  return {
    trajectory: random.pick([undefined, false, true, some, some]),
    layout: random.pick([undefined, ...LAYOUTS]),
  };
}

function drawFork(
  random: Random,
  { numEnvs }: VecEnv,
  span: readonly [number, number],
  terminated: Uint8Array,
): Call['args'] {
  const count = random.pick(SIZES);
  const playing = Array.from(terminated.keys()).filter((env) => terminated[env] === 0);
  const imagines = random.chance(0.5);
  const picked = Uint32Array.from({ length: count }, () => random.pick(playing));
  return {
    indices:
      imagines && playing.length > 0 && random.chance(0.5) ? picked : randomIndices(random, numEnvs, count),
    imagination: imagines ? drawImagined(random, count, span) : random.pick([undefined, true, false]),
    autoreset: random.pick([undefined, ...AUTORESET_MODES]),
    threads: random.pick([undefined, 1, 2]),
  };
}

function drawImagined(random: Random, count: number, [low, size]: readonly [number, number]): object {
  const seeds = random.seeds(count).map((seed) => low + (seed % size));
  const profiles = random.profiles(count);
  if (random.chance(0.1)) profiles[0] = NaN;
  return {
    profiles: random.pick(['prior', profiles]),
    seed: random.chance(0.3) ? low + random.integer(0, Math.max(0, size - count)) : seeds,
  };
}
