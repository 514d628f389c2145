/** Computes the inputs of the policy from public observations, for all environments of a batch. */
import { ACTION_NAMES, METER_NAMES, OBSERVATION, OBSERVATION_SIZE, RHYTHM } from 'rhythm-vec';

const METERS = METER_NAMES.length;
const ACTIONS = ACTION_NAMES.length;
const STEPS = 28;
const MORNING = 0;
const AFTERNOON = 1;

/**
 * Kinds of actions. Under the published rules, how the profile changes an action's effects depends only on the kind of the
 * action and, for work, on the time of day. So the mean anomalies of each kind contain the information about the profile.
 */
const KINDS = ['work-morning', 'work-afternoon', 'work-late', 'social', 'solo', 'guilty', 'other'] as const;

/** The kind of each action at each slot (time of day). */
const KIND_OF = RHYTHM.actions.map(({ tags }) =>
  [0, 1, 2, 3].map((slot): number => KINDS.indexOf(kindOf(tags, slot))),
);

function kindOf(tags: readonly string[], slot: number): (typeof KINDS)[number] {
  if (tags.includes('productive')) {
    if (slot === MORNING) return 'work-morning';
    return slot === AFTERNOON ? 'work-afternoon' : 'work-late';
  }
  return (['social', 'solo', 'guilty'] as const).find((tag) => tags.includes(tag)) ?? 'other';
}

/** The memory of a kind: the number of its actions, and the sums of their five anomalies. */
const KIND_SIZE = 1 + METERS;
/** Sums over the episode: the rewards, and the rewards times the change of each meter, which hint at the weights. */
const SUMS = 1 + METERS;
const MEMORY_SIZE = KINDS.length * KIND_SIZE + SUMS;

/** The number of inputs: the step and the last action one-hot, meters, their changes, the last reward, the memory. */
const INPUT_COUNT = STEPS + ACTIONS + 2 * METERS + 1 + MEMORY_SIZE;
/** Padded with zeros to a multiple of four, because jax-js multiplies matrices of other widths ten times slower. */
export const FEATURE_COUNT = 4 * Math.ceil(INPUT_COUNT / 4);

/** Factors that bring typical inputs near 1. */
const SCALE = { change: 5, reward: 0.3, anomaly: 15, count: 0.3, product: 0.5, rewardSum: 0.1 };

/** Keeps the memory of each environment's episode, and computes the inputs of the policy. */
export class Features {
  readonly #memory: Float32Array;
  readonly #numEnvs: number;

  constructor(numEnvs: number) {
    this.#numEnvs = numEnvs;
    this.#memory = new Float32Array(numEnvs * MEMORY_SIZE);
  }

  /**
   * Adds the observations of a reset or a step to the memory, and writes the inputs.
   * @param observations f32 [numEnvs, 22], row-major, all at the same step before the end.
   * @param inputs f32 [numEnvs, FEATURE_COUNT]: overwritten.
   */
  observe(observations: Float32Array, inputs: Float32Array): void {
    inputs.fill(0);
    for (let env = 0; env < this.#numEnvs; env++) {
      const observation = observations.subarray(env * OBSERVATION_SIZE, (env + 1) * OBSERVATION_SIZE);
      const memory = this.#memory.subarray(env * MEMORY_SIZE, (env + 1) * MEMORY_SIZE);
      updateMemory(memory, observation);
      writeInputs(inputs.subarray(env * FEATURE_COUNT, (env + 1) * FEATURE_COUNT), observation, memory);
    }
  }
}

function updateMemory(memory: Float32Array, observation: Float32Array): void {
  const step = observation[OBSERVATION.step];
  if (step === 0) {
    memory.fill(0);
    return;
  }
  const kind = KIND_OF[observation[OBSERVATION.lastAction]][(step - 1) % 4];
  const reward = observation[OBSERVATION.reward];
  memory[kind * KIND_SIZE] += 1;
  const sums = KINDS.length * KIND_SIZE;
  memory[sums] += reward;
  for (let k = 0; k < METERS; k++) {
    memory[kind * KIND_SIZE + 1 + k] += observation[OBSERVATION.anomalies + k];
    memory[sums + 1 + k] += reward * observation[OBSERVATION.deltas + k];
  }
}

function writeInputs(inputs: Float32Array, observation: Float32Array, memory: Float32Array): void {
  let at = 0;
  inputs[at + observation[OBSERVATION.step]] = 1;
  at += STEPS;
  const last = observation[OBSERVATION.lastAction];
  if (last >= 0) inputs[at + last] = 1;
  at += ACTIONS;
  for (let k = 0; k < METERS; k++) {
    inputs[at++] = 2 * observation[OBSERVATION.meters + k] - 1;
    inputs[at++] = SCALE.change * observation[OBSERVATION.deltas + k];
  }
  inputs[at++] = SCALE.reward * observation[OBSERVATION.reward];
  for (let kind = 0; kind < KINDS.length; kind++) {
    const count = memory[kind * KIND_SIZE];
    inputs[at++] = SCALE.count * count;
    // Divides by one more than the count, which shrinks the means of few actions towards 0.
    for (let k = 1; k <= METERS; k++) {
      inputs[at++] = (SCALE.anomaly * memory[kind * KIND_SIZE + k]) / (count + 1);
    }
  }
  const sums = KINDS.length * KIND_SIZE;
  inputs[at++] = SCALE.rewardSum * memory[sums];
  for (let k = 1; k <= METERS; k++) inputs[at++] = SCALE.product * memory[sums + k];
}
