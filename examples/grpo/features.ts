/** What the policy sees: numbers that it makes of public observations alone, for all slots at once. */
import { ACTION_NAMES, METER_NAMES, OBSERVATION, OBSERVATION_SIZE, RHYTHM } from 'rhythm-vec';

const METERS = METER_NAMES.length;
const ACTIONS = ACTION_NAMES.length;
const STEPS = 28;
const MORNING = 0;
const AFTERNOON = 1;

/**
 * People differ by kinds of action, and by the time of day where the action is work: the published rules say so. What an
 * action of each kind did to this person beyond what it does to anybody is what there is to be learned about them.
 */
const KINDS = ['work-morning', 'work-afternoon', 'work-late', 'social', 'solo', 'guilty', 'other'] as const;

/** By action, then slot of the day. */
const KIND_OF = RHYTHM.actions.map(({ tags }) =>
  [0, 1, 2, 3].map((slot): number => KINDS.indexOf(kindOf(tags, slot))),
);

function kindOf(tags: readonly string[], slot: number): (typeof KINDS)[number] {
  if (tags.includes('productive')) {
    if (slot === MORNING) return 'work-morning';
    return slot === AFTERNOON ? 'work-afternoon' : 'work-late';
  }
  const found = (['social', 'solo', 'guilty'] as const).find((tag) => tags.includes(tag));
  return found ?? 'other';
}

/** Of what is remembered of a kind: how often it was done, and the sums of the five anomalies that came of it. */
const KIND_SIZE = 1 + METERS;
/** Sums over the week: rewards; rewards times each meter's change, which hints at what the person values. */
const SUMS = 1 + METERS;
const MEMORY_SIZE = KINDS.length * KIND_SIZE + SUMS;

/** The step and the last action one-hot, the meters, their last changes, the last reward, and the memory. */
const USED = STEPS + ACTIONS + 2 * METERS + 1 + MEMORY_SIZE;
/** Zeros fill up to a multiple of four: matrices of other widths are multiplied some ten times slower by jax-js. */
export const FEATURE_COUNT = 4 * Math.ceil(USED / 4);

/** Brings typical numbers near 1, so that no input drowns the others. */
const SCALE = { change: 5, reward: 0.3, anomaly: 15, count: 0.3, product: 0.5, rewardSum: 0.1 };

/** Remembers each slot's week, and writes what the policy sees of it. */
export class Features {
  readonly #memory: Float32Array;
  readonly #slots: number;

  constructor(slots: number) {
    this.#slots = slots;
    this.#memory = new Float32Array(slots * MEMORY_SIZE);
  }

  /**
   * Takes the observations after a reset or a step, raw and row-major, and returns the policy's inputs.
   * @param observations f32 [slots, 22], all at the same step, which is not the end.
   * @param inputs f32 [slots, FEATURE_COUNT]: written over.
   */
  observe(observations: Float32Array, inputs: Float32Array): void {
    inputs.fill(0);
    for (let slot = 0; slot < this.#slots; slot++) {
      const seen = observations.subarray(slot * OBSERVATION_SIZE, (slot + 1) * OBSERVATION_SIZE);
      const memory = this.#memory.subarray(slot * MEMORY_SIZE, (slot + 1) * MEMORY_SIZE);
      remember(memory, seen);
      write(inputs.subarray(slot * FEATURE_COUNT, (slot + 1) * FEATURE_COUNT), seen, memory);
    }
  }
}

function remember(memory: Float32Array, seen: Float32Array): void {
  const step = seen[OBSERVATION.step];
  if (step === 0) {
    memory.fill(0);
    return;
  }
  const kind = KIND_OF[seen[OBSERVATION.lastAction]][(step - 1) % 4];
  const reward = seen[OBSERVATION.reward];
  memory[kind * KIND_SIZE] += 1;
  const sums = KINDS.length * KIND_SIZE;
  memory[sums] += reward;
  for (let k = 0; k < METERS; k++) {
    memory[kind * KIND_SIZE + 1 + k] += seen[OBSERVATION.anomalies + k];
    memory[sums + 1 + k] += reward * seen[OBSERVATION.deltas + k];
  }
}

function write(inputs: Float32Array, seen: Float32Array, memory: Float32Array): void {
  let at = 0;
  inputs[at + seen[OBSERVATION.step]] = 1;
  at += STEPS;
  const last = seen[OBSERVATION.lastAction];
  if (last >= 0) inputs[at + last] = 1;
  at += ACTIONS;
  for (let k = 0; k < METERS; k++) {
    inputs[at++] = 2 * seen[OBSERVATION.meters + k] - 1;
    inputs[at++] = SCALE.change * seen[OBSERVATION.deltas + k];
  }
  inputs[at++] = SCALE.reward * seen[OBSERVATION.reward];
  for (let kind = 0; kind < KINDS.length; kind++) {
    const count = memory[kind * KIND_SIZE];
    inputs[at++] = SCALE.count * count;
    // One more than the count: a mean of few is held back towards nobody in particular.
    for (let k = 1; k <= METERS; k++) {
      inputs[at++] = (SCALE.anomaly * memory[kind * KIND_SIZE + k]) / (count + 1);
    }
  }
  const sums = KINDS.length * KIND_SIZE;
  inputs[at++] = SCALE.rewardSum * memory[sums];
  for (let k = 1; k <= METERS; k++) inputs[at++] = SCALE.product * memory[sums + k];
}
