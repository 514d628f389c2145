/** What a call returns: the batch's outputs, encoded as the agent sees them, as views or as copies. */
import type { Outputs } from '../backends/backend.js';
import { ObservationEncoder } from '../observe/encoder.js';
import { type EncodedField, RAW_FIELDS } from '../observe/fields.js';
import { HistoryRows } from '../observe/history.js';
import { isPlain, type ObservationOptions } from '../observe/options.js';
import type { World } from '../world/world.js';
import type { AutoresetPlan } from './autoreset.js';
import type { StepResult } from './options.js';

export interface ShownOptions {
  readonly world: World;
  readonly observation: ObservationOptions;
  readonly copy: boolean;
}

export class Shown {
  /** What an observation consists of. */
  readonly fields: readonly EncodedField[];
  /** The last steps of each slot, where observations have them. */
  readonly history: HistoryRows | null;
  readonly #outputs: Outputs;
  readonly #encoder: ObservationEncoder | null;
  readonly #result: StepResult;
  readonly #copy: boolean;
  /** u8 [numEnvs] for history: who stepped and did not begin anew. */
  readonly #stayed: Uint8Array;

  /** @throws InputError for the observation's options. */
  constructor(outputs: Outputs, { world, observation, copy }: ShownOptions) {
    const numEnvs = outputs.rewards.length;
    this.#encoder = isPlain(observation) ? null : new ObservationEncoder(world, observation, numEnvs);
    this.history = observation.history ? new HistoryRows(numEnvs) : null;
    this.fields = this.#encoder?.fields ?? RAW_FIELDS;
    this.#outputs = outputs;
    this.#copy = copy;
    this.#stayed = new Uint8Array(this.history === null ? 0 : numEnvs);
    this.#result = Object.freeze({ ...outputs, ...this.#encodedViews(), truncated: new Uint8Array(numEnvs) });
  }

  #encodedViews(): Partial<StepResult> {
    if (this.#encoder === null) return {};
    const { columnStride, rewards, finalObservations } = this.#outputs;
    const length = this.#encoder.size * (columnStride || rewards.length);
    return {
      observations: new Float32Array(length),
      finalObservations: finalObservations && new Float32Array(length),
    };
  }

  /** Whether the views are where they were allocated: a transferred buffer leaves them empty. */
  get attached(): boolean {
    const { observations, finalObservations, truncated } = this.#result;
    return (
      this.#outputs.rewards.length > 0 &&
      observations.length > 0 &&
      finalObservations?.length !== 0 &&
      truncated.length > 0
    );
  }

  /** What a call leaves that did not step. */
  current(): StepResult {
    this.refresh();
    return this.given();
  }

  /** Encodes what slots now are; no call but a step ends and begins an episode at once. */
  refresh(): void {
    this.#encode();
    this.#result.finalObservations?.fill(0);
  }

  /** After a reset of the slots in `mask`, null for all. */
  afterReset(mask: Uint8Array | null): StepResult {
    this.history?.clear(mask);
    return this.current();
  }

  /** After a step as planned. Nothing is allocated, unless copies are asked for. */
  afterStep(plan: Readonly<AutoresetPlan>): StepResult {
    if (this.#encoder !== null) {
      if (this.history !== null) this.#note(this.history, plan);
      this.#encodeFinal(plan.resetMask !== null);
      if (plan.resetMask !== null) this.history?.clear(plan.resetMask);
      this.#encode();
    }
    return this.given();
  }

  /**
   * After some outputs were read, not necessarily since the last step.
   * @param stepped whether a step was the last that happened: nothing else leaves final observations.
   */
  afterRead(names: readonly (keyof Outputs)[], stepped: boolean): void {
    if (names.includes('observations')) this.#encode();
    // With histories a step is encoded as it is taken: of what it ended, nobody knows the history any more.
    if (this.history !== null || !names.includes('finalObservations')) return;
    if (stepped) this.#encodeFinal(true);
    else this.#result.finalObservations?.fill(0);
  }

  /** Keeps the step just taken, as it was shown: by slots that began anew since, as their last. */
  #note(history: HistoryRows, { stepMask, resetMask }: Readonly<AutoresetPlan>): void {
    const { observations, finalObservations, finalMask, columnStride } = this.#outputs;
    if (resetMask === null || finalObservations === null) {
      history.push(observations, stepMask, columnStride);
      return;
    }
    for (let i = 0; i < this.#stayed.length; i++) {
      this.#stayed[i] = Number((stepMask === null || stepMask[i] !== 0) && resetMask[i] === 0);
    }
    history.push(observations, this.#stayed, columnStride);
    history.push(finalObservations, finalMask, columnStride);
  }

  /** @param some whether any slot may have ended. */
  #encodeFinal(some: boolean): void {
    const { finalObservations, finalMask, columnStride } = this.#outputs;
    const encoded = this.#result.finalObservations;
    // What nobody encodes is shown as it is.
    if (this.#encoder === null || finalObservations === null || encoded === null) return;
    encoded.fill(0);
    if (!some) return;
    this.#encoder.encode(finalObservations, columnStride, this.history, encoded, columnStride, finalMask);
  }

  #encode(): void {
    const { observations, columnStride } = this.#outputs;
    this.#encoder?.encode(
      observations,
      columnStride,
      this.history,
      this.#result.observations,
      columnStride,
      null,
    );
  }

  /** The views, or copies of them. */
  given(): StepResult {
    return this.#copy ? copyOf(this.#result) : this.#result;
  }
}

/** The same, in arrays of its own. */
export function copyOf(result: StepResult): StepResult {
  const copies = Object.entries(result).map(([name, value]) => [
    name,
    ArrayBuffer.isView(value) ? (value as Float32Array).slice() : value,
  ]);
  return Object.freeze(Object.fromEntries(copies));
}
