/** The episodes that a student learns from: played by the teacher or the student, labelled by the teacher. */
import type { SteppedPlayer, SteppedPolicy } from '../../agents/policies/stepped-policies.js';
import { FEATURE_COUNT, Features } from '../../agents/student/features.js';
import type { Network } from '../../agents/student/network.js';
import { StudentPlayer } from '../../agents/student/student.js';
import { NODE } from '../../engine/backends/node.js';
import { yieldTurn } from '../../engine/engine-calls.js';
import type { Grader } from '../../engine/graders/grader.js';
import { beliefTarget, sampleProfile } from '../../engine/reference/profile.js';
import { openEnvOn } from '../../engine/vec-env/open-env.js';
import type { VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { NUM_BELIEFS, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import type { World } from '../../world/world.js';

/** Whole episodes of sampled profiles. */
export interface Played {
  /** u32 [n]. */
  readonly seeds: Uint32Array;
  /** u8 [n, 28]: the actions that were played. */
  readonly actions: Uint8Array;
}

/** Episodes with the teacher's action at each step. */
export interface Labelled extends Played {
  /** u8 [n, 28]: the actions that the teacher chooses after the same observations. */
  readonly labels: Uint8Array;
}

export const NO_EPISODES: Labelled = {
  seeds: new Uint32Array(),
  actions: new Uint8Array(),
  labels: new Uint8Array(),
};

/** Returns the episodes of two sets, in order. */
export const joined = (one: Labelled, other: Labelled): Labelled => ({
  seeds: Uint32Array.from([...one.seeds, ...other.seeds]),
  actions: Uint8Array.from([...one.actions, ...other.actions]),
  labels: Uint8Array.from([...one.labels, ...other.labels]),
});

/** Returns `count` episodes, from the episode at index `first` on. */
export const partOf = ({ seeds, actions, labels }: Labelled, first: number, count: number): Labelled => ({
  seeds: seeds.slice(first, first + count),
  actions: actions.slice(first * NUM_STEPS, (first + count) * NUM_STEPS),
  labels: labels.slice(first * NUM_STEPS, (first + count) * NUM_STEPS),
});

export interface LabelOptions {
  readonly teacher: SteppedPolicy<SteppedPlayer>;
  /** The network that plays the episodes; null if the teacher plays them. */
  readonly student: Network | null;
  readonly grader: Grader;
  readonly engine: Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;
  /** Ends the work: its reason is thrown between two steps. */
  readonly signal: AbortSignal;
}

/** Plays an episode of each seed, and records the teacher's choice at each step. @param seeds u32 [n]. */
export async function labelEpisodes(seeds: Uint32Array, options: LabelOptions): Promise<Labelled> {
  const { teacher, student, grader, engine, signal } = options;
  const numEnvs = seeds.length;
  await using env = await openEnvOn(NODE, { ...engine, numEnvs });
  const setting = { ...engine, numEnvs, grader, world: env.world };
  using labeller: SteppedPlayer = await teacher.open(setting);
  const player = student && new StudentPlayer(student, new Features(env.world.words, numEnvs), numEnvs);
  const playing = new Uint8Array(numEnvs).fill(1);
  await labeller.reset({ mask: playing.slice(), seeds: seeds.slice(), profiles: refuseProfiles });
  const [actions, labels] = [new Uint8Array(numEnvs * NUM_STEPS), new Uint8Array(numEnvs * NUM_STEPS)];
  let { observations } = await env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS; step++) {
    const view = { observations, playing, steps: new Uint8Array(numEnvs).fill(step) };
    const wanted = (await labeller.act(view)).actions;
    const chosen = player === null ? wanted : player.act(view).actions;
    for (let i = 0; i < numEnvs; i++) {
      actions[i * NUM_STEPS + step] = chosen[i];
      labels[i * NUM_STEPS + step] = wanted[i];
    }
    ({ observations } = await env.step(chosen));
    await yieldTurn();
    signal.throwIfAborted();
  }
  return { seeds, actions, labels };
}

/** Only a teacher that uses hidden profiles calls this function. `toTrainRequest` refuses such teachers. */
function refuseProfiles(): never {
  throw new Error('Expected a teacher that does not use hidden profiles.');
}

/** The inputs and belief targets of episodes. */
export interface Samples {
  /** f32 [n * 28, FEATURE_COUNT]: the student's inputs before each step. */
  readonly inputs: Float32Array;
  /** f32 [n, 3]: the true belief targets of each episode. */
  readonly targets: Float32Array;
}

/** Replays episodes and returns their samples. */
export async function samplesOf(
  { seeds, actions }: Played,
  world: World,
  engine: LabelOptions['engine'],
): Promise<Samples> {
  const numEnvs = seeds.length;
  await using env = await openEnvOn(NODE, { ...engine, numEnvs });
  const features = new Features(world.words, numEnvs);
  const [seen, inputs] = [numEnvs, numEnvs * NUM_STEPS].map((n) => new Float32Array(n * FEATURE_COUNT));
  let { observations } = await env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS; step++) {
    features.observe(observations, seen);
    for (let i = 0; i < numEnvs; i++) {
      const row = seen.subarray(i * FEATURE_COUNT, (i + 1) * FEATURE_COUNT);
      inputs.set(row, (i * NUM_STEPS + step) * FEATURE_COUNT);
    }
    ({ observations } = await env.step(Uint8Array.from(seeds, (_, i) => actions[i * NUM_STEPS + step])));
  }
  return { inputs, targets: targetsOf(seeds, world) };
}

/** Returns the belief targets of seeds, f32 [n, 3]. */
function targetsOf(seeds: Uint32Array, { params }: World): Float32Array {
  const profile = new Float32Array(PROFILE_SIZE);
  const targets = new Float32Array(seeds.length * NUM_BELIEFS);
  for (const [i, seed] of seeds.entries()) {
    sampleProfile(params, seed, profile);
    beliefTarget(params, profile, targets.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS));
  }
  return targets;
}
