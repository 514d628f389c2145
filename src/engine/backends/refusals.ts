/**
 * Finds the invalid codes of steps, runs and replays, for backends in TypeScript. `StepClock` counts the steps of each environment,
 * so that a batch can refuse a step without waiting for the device.
 */

import { NUM_ACTIONS, NUM_STEPS, STATE, STATE_WORDS } from '../../world/fields.js';
import { hasIllegalBits, illegalBits } from '../validate/steps.js';
import type { Refusal, ReplayRequest, ResetRequest, RunRequest, StepRequest } from './backend.js';

/**
 * Returns the refusal of the first environment with an invalid code in its action sequence; null if there is none.
 * @param actions u8 [n, 28]. @param stops u8 [n]; null for 28. @param stepOf returns the step at which environment i begins.
 */
export function findSequenceRefusal(
  actions: Uint8Array,
  stops: Uint8Array | null,
  stepOf: (i: number) => number,
): Refusal | null {
  if (areLegal(actions)) return null;
  for (let index = 0; index < actions.length / NUM_STEPS; index++) {
    const refusal = findRefusal(actions, index, stepOf(index), stops?.[index] ?? NUM_STEPS);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** Returns the refusal of the first row of `order` with an invalid code in its history; null if there is none. */
export function findHistoryRefusal({ order, stops, histories }: ReplayRequest): Refusal | null {
  for (const row of order) {
    const refusal = findRefusal(histories, row, 0, stops[row]);
    if (refusal !== null) return refusal;
  }
  return null;
}

function findRefusal(codes: Uint8Array, index: number, first: number, end: number): Refusal | null {
  for (let step = first; step < end; step++) {
    const value = codes[index * NUM_STEPS + step];
    if (value >= NUM_ACTIONS) return { code: 'illegal_action', index, step, value };
  }
  return null;
}

/** The step of each environment of a batch. */
export class StepClock {
  readonly #steps: Uint8Array;
  /** The step of all environments; null if environments may be at different steps. */
  #commonStep: number | null = 0;

  constructor(numEnvs: number) {
    this.#steps = new Uint8Array(numEnvs);
  }

  /** Returns the number of steps that an environment's episode has taken. */
  at(env: number): number {
    return this.#commonStep ?? this.#steps[env];
  }

  /** Returns the first environment whose step is refused, and why; null if there is none. */
  findStepRefusal({ actions, stepMask }: StepRequest): Refusal | null {
    if (this.#commonStep !== null && this.#commonStep < NUM_STEPS && areLegal(actions)) return null;
    for (let index = 0; index < this.#steps.length; index++) {
      if (stepMask !== null && stepMask[index] === 0) continue;
      if (actions[index] >= NUM_ACTIONS) return { code: 'illegal_action', index, value: actions[index] };
      if (this.at(index) >= NUM_STEPS) return { code: 'episode_over', index };
    }
    return null;
  }

  /**
   * Returns the first invalid action of a run as a refusal; null if there is none. Checks each environment from its current
   * step to the step at which it stops.
   * @param origin the source of the copies in which the run plays; null if it plays in the batch's own environments.
   */
  findSequenceRefusal(
    { policy, stops }: Pick<RunRequest, 'policy' | 'stops'>,
    origin: { clock: StepClock; indices: Uint32Array } | null,
  ): Refusal | null {
    if (policy.kind !== 'sequence') return null;
    return findSequenceRefusal(policy.actions, stops, (i) =>
      origin === null ? this.at(i) : origin.clock.at(origin.indices[i]),
    );
  }

  /** Commits a reset: episodes begin at step 0, or at the steps of `start`. */
  commitReset({ mask, start }: Pick<ResetRequest, 'mask' | 'start'>): void {
    if (mask === null && start === undefined) {
      this.#commonStep = 0;
      return;
    }
    this.#separate();
    for (let i = 0; i < this.#steps.length; i++) {
      if (mask === null || mask[i] !== 0) this.#steps[i] = start?.steps[i] ?? 0;
    }
  }

  /** Commits a step, and the resets after it. */
  commitStep({ stepMask, resetMask }: StepRequest): void {
    if (stepMask === null && this.#commonStep !== null) {
      this.#commonStep++;
    } else {
      this.#separate();
      for (let i = 0; i < this.#steps.length; i++)
        if (stepMask === null || stepMask[i] !== 0) this.#steps[i]++;
    }
    if (resetMask !== null) this.commitReset({ mask: resetMask });
  }

  /** Commits a run of environments `first` to `end - 1`. */
  commitRun(stops: Uint8Array | null, first: number, end: number): void {
    if (stops === null && first === 0 && end === this.#steps.length) {
      this.#commonStep = NUM_STEPS;
      return;
    }
    this.#separate();
    for (let i = first; i < end; i++) this.#steps[i] = Math.max(this.#steps[i], stops?.[i] ?? NUM_STEPS);
  }

  /** Copies the steps of `source`'s environments at `indices` to environments `first` to `end - 1`. */
  gather(source: StepClock, indices: Uint32Array, first: number, end: number): void {
    if (source.#commonStep !== null && first === 0 && end === this.#steps.length) {
      this.#commonStep = source.#commonStep;
      return;
    }
    const steps = source === this && source.#commonStep === null ? source.#steps.slice() : source.#steps;
    const commonStep = source.#commonStep;
    this.#separate();
    for (let i = first; i < end; i++) this.#steps[i] = commonStep ?? steps[indices[i]];
  }

  /** Takes the steps from loaded states. @param words u32 [numEnvs, STATE_WORDS]. */
  load(words: Uint32Array): void {
    this.#commonStep = null;
    for (let i = 0; i < this.#steps.length; i++) this.#steps[i] = words[i * STATE_WORDS + STATE.step];
  }

  /** Stores the common step as the step of each environment. */
  #separate(): void {
    if (this.#commonStep !== null) this.#steps.fill(this.#commonStep);
    this.#commonStep = null;
  }
}

/** Returns whether every byte is an action's code. Tests whole words of memory, then the bytes before and after them. */
function areLegal(codes: Uint8Array): boolean {
  const lead = Math.min(codes.length, (4 - (codes.byteOffset % 4)) % 4);
  const words = new Uint32Array(codes.buffer, codes.byteOffset + lead, (codes.length - lead) >> 2);
  let bits = 0;
  for (let k = 0; k < words.length; k++) bits |= illegalBits(words[k]);
  if (hasIllegalBits(bits)) return false;
  for (let i = 0; i < lead; i++) if (codes[i] >= NUM_ACTIONS) return false;
  for (let i = lead + 4 * words.length; i < codes.length; i++) if (codes[i] >= NUM_ACTIONS) return false;
  return true;
}
