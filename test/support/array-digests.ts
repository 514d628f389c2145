/** Digests of the results of computations on arrays: encoded observations, rewards, a student's actions and beliefs. */
import { createHash } from 'node:crypto';
import { Network, OUTPUT_COUNT } from '../../src/agents/student/network.js';
import { readStudent } from '../../src/agents/student/student.js';
import { encodeStudent } from '../../src/agents/student/student-file.js';
import { toGrader } from '../../src/engine/graders/grader.js';
import { createVecEnv } from '../../src/engine/node.js';
import { rewardStack } from '../../src/rollouts/rewards/compute-rewards.js';
import { NUM_STEPS } from '../../src/world/fields.js';
import { createWorld } from '../../src/world/world.js';
import { Random } from './random.js';
import { changedWorld } from './worlds.js';

const WORLDS = [undefined, changedWorld(new Random('changed world')), changedWorld(new Random('another'))];
const NUM_ENVS = 37;
/** More steps than an episode has, so that some environments are reset. */
const STEPS = 35;

type Digest = (...arrays: (ArrayBufferView | null)[]) => void;

/** Returns the digest of all arrays that `compute` passes to its argument. */
function digest(compute: (add: Digest) => void): string {
  const hash = createHash('sha256');
  compute((...arrays) => {
    for (const array of arrays)
      if (array !== null) hash.update(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  });
  return hash.digest('hex');
}

const OBSERVATIONS = [
  { scale: true },
  { oneHot: true, fields: ['event', 'meters', 'day', 'slot', 'last_action'] },
  { history: true },
  { history: true, scale: true, fields: ['anomalies', 'reward', 'step'] },
  { history: true, scale: true, oneHot: true },
];

/** Encodes the observations of random steps. */
const encode = (add: Digest, spec: (typeof WORLDS)[number], k: number) => {
  const random = new Random(`encode ${k}`);
  const [layout, autoreset] = [random.pick(['row-major', 'column-major'] as const), 'same-step'] as const;
  const observation = OBSERVATIONS[k];
  using env = createVecEnv({ numEnvs: NUM_ENVS, world: spec, observation, layout, autoreset });
  const { observations, finalObservations } = env.reset({ seed: k });
  for (let step = 0; step < STEPS; step++) {
    add(observations, finalObservations);
    env.step(random.bytes(NUM_ENVS, 0, 9), {
      mask: random.chance(0.5) ? random.mask(NUM_ENVS, 0.8) : undefined,
    });
  }
};

const SHAPINGS = [{}, { repetition: true }, { exploration: true }, { repetition: true, exploration: true }];

/** Computes the rewards of random rows. */
const reward = (add: Digest, k: number) => {
  const random = new Random(`rewards ${k}`);
  const n = 500;
  const floats = (low: number, high: number) =>
    Float32Array.from({ length: n }, () => (random.chance(0.1) ? Number.NaN : random.real(low, high)));
  const rows = {
    actions: Array.from({ length: n }, () => random.integer(-1, 9)),
    given: Array.from({ length: n }, () => random.chance(0.7)),
    stepRewards: floats(-3, 3),
    beliefMae: floats(0, 1),
    beliefSkill: k === 0 ? undefined : floats(-1, 1),
    histories: random.bytes(n * NUM_STEPS, 0, k === 1 ? 2 : 9),
    stepIndices: random.bytes(n, 0, NUM_STEPS - 1),
  };
  const weights = { envReward: random.real(-2, 2), beliefSkill: random.pick([0, 0.3]) };
  add(...Object.values(rewardStack(rows, { shaping: SHAPINGS[k], weights })));
};

/** Plays a student with random weights: it plays some actions of its own, and random ones. */
const play = (add: Digest, spec: (typeof WORLDS)[number], k: number) => {
  const random = new Random(`student ${k}`);
  const sizes = [76, 24, 20, OUTPUT_COUNT];
  const layers = sizes.slice(1).map((size, layer) => ({
    weights: Float32Array.from({ length: sizes[layer] * size }, () => random.real(-0.5, 0.5)),
    bias: Float32Array.from({ length: size }, () => random.real(-0.2, 0.2)),
  }));
  const world = createWorld(spec);
  const grader = toGrader('v2');
  const manifest = { version: '0', worldDigest: world.digest, grader, training: {}, evaluation: {} };
  const student = readStudent(encodeStudent(manifest, new Network(layers)));
  const player = student.open({ numEnvs: NUM_ENVS, grader, world });
  using env = createVecEnv({ numEnvs: NUM_ENVS, world: spec });
  const { observations } = env.reset({ seed: 7 * k });
  for (let step = 0; step < NUM_STEPS; step++) {
    const playing = step > 20 ? random.mask(NUM_ENVS, 0.8) : new Uint8Array(NUM_ENVS).fill(1);
    const { actions, beliefs } = player.act({ observations, playing, steps: playing.map(() => step) });
    add(actions, beliefs);
    for (let i = 0; i < NUM_ENVS; i++) if (random.chance(0.5)) actions[i] = random.integer(0, 9);
    env.step(actions);
  }
};

/** Returns the digests by name. */
export function arrayDigests(): Record<string, string> {
  const digests: Record<string, string> = {};
  for (const [w, spec] of WORLDS.entries()) {
    for (const k of OBSERVATIONS.keys())
      digests[`observations ${k} of world ${w}`] = digest((add) => encode(add, spec, k));
    digests[`student of world ${w}`] = digest((add) => play(add, spec, w));
  }
  for (const k of SHAPINGS.keys()) digests[`rewards ${k}`] = digest((add) => reward(add, k));
  return digests;
}
