/** How many steps each slot has taken: what a batch must know to refuse a step, without asking the device. */
import { areFaulty, faultsOfFour } from '../../validate/actions.js';
import { NUM_ACTIONS, NUM_STEPS, STATE, STATE_WORDS } from '../../world/fields.js';
import type { Refusal, ResetRequest, RunRequest, StepRequest } from '../backend.js';

export class StepClock {
  readonly #steps: Uint8Array;
  /** The step that all slots are at, while they are. */
  #together: number | null = 0;

  constructor(numEnvs: number) {
    this.#steps = new Uint8Array(numEnvs);
  }

  at(slot: number): number {
    return this.#together ?? this.#steps[slot];
  }

  refuseStep({ actions, stepMask }: StepRequest): Refusal | null {
    if (this.#together !== null && this.#together < NUM_STEPS && areLegal(actions)) return null;
    for (let index = 0; index < this.#steps.length; index++) {
      if (stepMask !== null && stepMask[index] === 0) continue;
      if (actions[index] >= NUM_ACTIONS) return { code: 'illegal_action', index, value: actions[index] };
      if (this.at(index) >= NUM_STEPS) return { code: 'episode_over', index };
    }
    return null;
  }

  /** @param origin the clock and slots that the run begins from, if not its own. */
  refuseTape(
    { policy, stops }: RunRequest,
    origin: { clock: StepClock; indices: Uint32Array } | null,
  ): Refusal | null {
    if (policy.kind !== 'tape' || areLegal(policy.actions)) return null;
    for (let index = 0; index < this.#steps.length; index++) {
      const stop = stops?.[index] ?? NUM_STEPS;
      const begin = origin === null ? this.at(index) : origin.clock.at(origin.indices[index]);
      for (let step = begin; step < stop; step++) {
        const value = policy.actions[index * NUM_STEPS + step];
        if (value >= NUM_ACTIONS) return { code: 'illegal_action', index, step, value };
      }
    }
    return null;
  }

  hasReset({ mask, start }: Pick<ResetRequest, 'mask' | 'start'>): void {
    if (mask === null && start === undefined) {
      this.#together = 0;
      return;
    }
    this.#part();
    for (let i = 0; i < this.#steps.length; i++) {
      if (mask === null || mask[i] !== 0) this.#steps[i] = start?.steps[i] ?? 0;
    }
  }

  hasStepped({ stepMask, resetMask }: StepRequest): void {
    if (stepMask === null && this.#together !== null) {
      this.#together++;
    } else {
      this.#part();
      for (let i = 0; i < this.#steps.length; i++)
        if (stepMask === null || stepMask[i] !== 0) this.#steps[i]++;
    }
    if (resetMask !== null) this.hasReset({ mask: resetMask });
  }

  /** Of slots `first` to before `end`. */
  hasRun(stops: Uint8Array | null, first: number, end: number): void {
    if (stops === null && first === 0 && end === this.#steps.length) {
      this.#together = NUM_STEPS;
      return;
    }
    this.#part();
    for (let i = first; i < end; i++) this.#steps[i] = Math.max(this.#steps[i], stops?.[i] ?? NUM_STEPS);
  }

  /** Slots `first` to before `end` become copies of those of `source` that `indices` names. */
  gather(source: StepClock, indices: Uint32Array, first: number, end: number): void {
    if (source.#together !== null && first === 0 && end === this.#steps.length) {
      this.#together = source.#together;
      return;
    }
    const steps = source === this && source.#together === null ? source.#steps.slice() : source.#steps;
    const together = source.#together;
    this.#part();
    for (let i = first; i < end; i++) this.#steps[i] = together ?? steps[indices[i]];
  }

  load(words: Uint32Array): void {
    this.#together = null;
    for (let i = 0; i < this.#steps.length; i++) this.#steps[i] = words[i * STATE_WORDS + STATE.step];
  }

  #part(): void {
    if (this.#together !== null) this.#steps.fill(this.#together);
    this.#together = null;
  }
}

/** Whether every byte is an action's code. */
function areLegal(codes: Uint8Array): boolean {
  const lead = Math.min(codes.length, (4 - (codes.byteOffset % 4)) % 4);
  const words = new Uint32Array(codes.buffer, codes.byteOffset + lead, (codes.length - lead) >> 2);
  let wrong = 0;
  for (let k = 0; k < words.length; k++) wrong |= faultsOfFour(words[k]);
  if (areFaulty(wrong)) return false;
  for (let i = 0; i < lead; i++) if (codes[i] >= NUM_ACTIONS) return false;
  for (let i = lead + 4 * words.length; i < codes.length; i++) if (codes[i] >= NUM_ACTIONS) return false;
  return true;
}
